"""A device's notifications as the JSON that `gnmic get` prints: a list with `updates`, each a `Path` and its `values`.

Timestamps are left out: an answer that says the same as the last one then is the same, and is not parsed again. Values
in JSON are taken as the device wrote them, other values become JSON.

Source: gNMI's messages (openconfig/gnmi, proto/gnmi/gnmi.proto).
"""

import base64
from collections.abc import Iterable
from typing import Any

import orjson

from truerail.transport.gnmi_paths import as_text, without_keys

_IN_JSON = ("json_ietf_val", "json_val")


class NotJsonError(ValueError):
    """A value that says it is JSON, and is not. Names its path."""


def updates_of(notification: Any) -> list[bytes]:
    """The updates of one notification, each as JSON. Raises `NotJsonError`."""
    before = tuple(notification.prefix.elem)
    return [_update((*before, *update.path.elem), update.val) for update in notification.update]


def as_answer(updates: Iterable[bytes]) -> str:
    """All updates of a request as one answer."""
    return (b'[{"updates": [\n' + b",\n".join(updates) + b"\n]}]\n").decode(errors="replace")


def _update(elements: tuple[Any, ...], value: Any) -> bytes:
    path = as_text(elements)
    return orjson.dumps({"Path": path, "values": {without_keys(elements): orjson.Fragment(_json(path, value))}})


def _json(path: str, value: Any) -> bytes:
    kind = value.WhichOneof("value")
    if kind not in _IN_JSON:
        return orjson.dumps(_plain(value, kind))
    text = bytes(getattr(value, kind))
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise NotJsonError(f"its value of {path} is not JSON: {error.msg} at byte {error.pos}") from None
    return text


def _plain(value: Any, kind: str | None) -> Any:
    """A scalar, or a list of scalars; None for a value that is neither."""
    if kind == "leaflist_val":
        return [_plain(one, one.WhichOneof("value")) for one in value.leaflist_val.element]
    if kind == "decimal_val":
        return value.decimal_val.digits / 10**value.decimal_val.precision
    if kind == "bytes_val":
        return base64.b64encode(value.bytes_val).decode()
    return getattr(value, kind) if kind and kind not in ("any_val", "proto_bytes") else None
