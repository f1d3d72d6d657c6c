"""A process that writes messages of the bus as another version does: TRUERAIL_TEST_VERSION is `newer` or `older`.

Fields are only ever appended: the next version has one more in each message and in each fact, and the one before left
out what it did not know, here all fields at the end that have their default.
"""

import os
from typing import Any

import msgspec

from truerail.bus import codec

VERSION = "TRUERAIL_TEST_VERSION"
LATER = "a later field"


def write_as_another_version() -> None:
    """From now on, where the environment says so."""
    if version := os.environ.get(VERSION):
        codec._ENCODER = _Encoder(version == "newer")  # type: ignore[assignment]  # it has what is used of one


class _Encoder:
    def __init__(self, newer: bool) -> None:
        self._newer, self._encode = newer, msgspec.msgpack.Encoder().encode

    def encode(self, value: Any) -> bytes:
        """In place of the encoder of `codec`."""
        if self._newer and isinstance(value, list) and value and hasattr(value[0], "_fields"):
            return self._encode([[*fact, LATER] for fact in value])
        return self._encode(self._other(value))

    def _other(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._other(one) for one in value]
        if not isinstance(value, msgspec.Struct):
            return value
        kept = [(name, self._other(getattr(value, name))) for name in value.__struct_fields__]
        if not value.__struct_config__.array_like:
            return {**dict(kept), **({"later_field": LATER} if self._newer else {})}
        if self._newer:
            return [*(one for _, one in kept), LATER]
        known = msgspec.structs.fields(type(value))
        while not known[-1].required and _default(known[-1]) == kept[-1][1]:
            known, kept = known[:-1], kept[:-1]
        return [one for _, one in kept]


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
