"""gNMI requests as commands, and paths as text: both as the client gnmic writes them.

`gnmic get --path /lldp/interfaces` is a Get, `gnmic subscribe --mode once --path /lldp/interfaces` a Subscribe of mode
ONCE; several paths make one request. A path may have an origin before a colon (`openconfig:/lldp`), and its elements
keys in brackets (`interface[name=Ethernet1/1]`, `*` for all). Nothing else is a request, so nothing else can be sent.

Source: gNMI's path conventions (openconfig/reference, rpc/gnmi/gnmi-path-strings.md).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

_REQUEST = re.compile(r"gnmic (get|subscribe --mode once)((?: --path \S+)+)")
_PATH = re.compile(r"(?:([a-z][a-z0-9_-]*):)?(/\S*)")
_KEYS = r"(?:\[[^=\[\]]+=(?:\\.|[^\]\\])*\])*"
_ELEMENT = re.compile(rf"/([^/\[\]]+)({_KEYS})")
_KEY = re.compile(r"\[([^=\[\]]+)=((?:\\.|[^\]\\])*)\]")


@dataclass(frozen=True, slots=True)
class Request:
    """What a command requests: by Get, or by Subscribe (`once`)."""

    once: bool
    paths: tuple["Path", ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A path: names of elements, each with its keys."""

    origin: str
    elements: tuple[tuple[str, Mapping[str, str]], ...]


class PathElement(Protocol):
    """An element of a path in gNMI's messages."""

    name: str
    key: Mapping[str, str]


def request(command: str) -> Request | None:
    """What a command requests; None where it is no request."""
    found = _REQUEST.fullmatch(command)
    paths = [_path(text) for text in found[2].split(" --path ")[1:]] if found else []
    if not found or None in paths:
        return None
    return Request(found[1] != "get", tuple(path for path in paths if path))


def _path(text: str) -> Path | None:
    found = _PATH.fullmatch(text)
    if not found or not re.fullmatch(rf"/|(?:/[^/\[\]]+{_KEYS})+", found[2]):
        return None
    elements = ((name, _KEY.findall(keys)) for name, keys in _ELEMENT.findall(found[2]))
    return Path(found[1] or "", tuple((name, {key: _plain(value) for key, value in keys}) for name, keys in elements))


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)


def as_text(elements: Iterable[PathElement]) -> str:
    """`interfaces/interface[name=Ethernet1/1]/state`: a device's path, without a leading slash."""
    return "/".join(element.name + "".join(_key(*pair) for pair in sorted(element.key.items())) for element in elements)


def without_keys(elements: Iterable[PathElement]) -> str:
    """`interfaces/interface/state`."""
    return "/".join(element.name for element in elements)


def _key(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("]", "\\]")
    return f"[{name}={escaped}]"
