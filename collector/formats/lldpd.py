"""lldpd's list of neighbours in the forms its clients print: json, json0, xml, keyvalue and plain.

Source: lldpd's `src/client/{json,xml,kv,text}_writer.c` and real daemons (0.7 to 1.0.16). Traps:

- `json` collapses a list of one to its only item, so `interface` is an object for one neighbour and a list for several,
  and a chassis stands under its system name, or directly where it has none; `json0` never collapses.
- `xml` is the tree of `json0`: attributes and children are its keys, an element's text its `value`.
- Two neighbours on one port are two items under the same name: they are never merged.
- The time to live moved from chassis to port in lldpd 0.9.
- `show interfaces` and `show statistics` have the same outer shape but describe the device itself: refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from collector.formats.lldpd_text import neighbors_from_json0, neighbors_from_keyvalue, neighbors_from_plain, seconds
from collector.formats.text import decode, small_count
from truerail.errors import UnreadableError
from truerail.model import Neighbor

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["neighbors_from_json", "neighbors_from_keyvalue", "neighbors_from_plain", "neighbors_from_xml"]

_EMPTY = frozenset(("label", "value"))
"""Keys that a list without neighbours may have: the label in XML."""
_DEPTH = 3
"""Depth of the values below the root: interface, chassis or port, id."""


def neighbors_from_json(answer: str) -> Iterable[Neighbor]:
    """Neighbours in the answer of `lldpctl -f json` or `-f json0`, recognised by shape. Raises `UnreadableError`."""
    found = neighbors_from_json0(answer)
    return [_neighbor(port, seen) for port, seen in _interfaces(decode(answer))] if found is None else found


def own_ids(document: Any) -> Iterator[tuple[str, str]]:
    """Ports and the ids that they send, except MACs, in the answer of `lldpcli -f json show interfaces`.

    Raises `UnreadableError` for a list of neighbours.
    """
    for port, own in _interfaces(document):
        subject = f"interface {port}"
        own = _object(own, subject)
        if "status" not in own or "rid" in own:
            raise UnreadableError(f"{subject} carries no status: not what lldpd says of its own ports")
        sent = _object(own.get("port"), f"port on {subject}").get("id")
        text, kind = _identity(sent, "port on interface ", port)
        if kind != "mac":
            yield port, text


def neighbors_from_xml(root: Element) -> Iterator[Neighbor]:
    """Neighbours in the answer of `lldpctl -f xml`. Raises `UnreadableError` for XML about something else."""
    for port, seen in _interfaces({root.tag: _as_json0(root, _DEPTH)}):
        yield _neighbor(port, seen)


def _as_json0(element: Element, depth: int) -> dict[str, Any]:
    """What json0 would print in place of `element`."""
    found: dict[str, Any] = dict(element.attrib)
    if element.text and element.text.strip():
        found["value"] = element.text.strip()
    for child in element if depth else ():
        siblings = found.setdefault(child.tag, [])
        if type(siblings) is list:
            siblings.append(_as_json0(child, depth - 1))
    return found


def _interfaces(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if type(root) is not dict or "lldp" not in root:
        raise UnreadableError("no `lldp` at the top: not lldpd's list of neighbours")
    for item in _items(root["lldp"]):
        group = _object(item, "lldp")
        if "interface" not in group and group.keys() - _EMPTY:
            raise UnreadableError("no `interface` below `lldp`: not lldpd's list of neighbours", text=", ".join(group))
        for entry in _items(group.get("interface")):
            name = _object(entry, "interface").get("name")
            if type(name) is str:
                yield name, entry
            else:
                yield from ((port, seen) for port, both in entry.items() for seen in _items(both))


def _items(value: Any) -> list[Any]:
    return value if type(value) is list else [] if value is None else [value]


def _object(value: Any, *name: str) -> dict[str, Any]:
    """The object, alone or as the only item of a list. `name`, in parts, is for the error message."""
    if type(value) is list and len(value) == 1:
        value = value[0]
    if type(value) is not dict:
        raise UnreadableError(f"{''.join(name)} is not an object")
    return value


def _text(value: Any) -> str | None:
    """`"x"`, `{"value": "x"}` and `[{"value": "x"}]` are all `x`; nothing and empty text are None."""
    if type(value) is str:
        return value or None
    if value is None:
        return None
    if type(value) is list:
        value = value[0] if value else None
    if type(value) is dict:
        value = value.get("value")
    return value if type(value) is str and value else str(value) if type(value) is int else None


def _neighbor(port: str, seen: Any) -> Neighbor:
    seen = _object(seen, "interface ", port)
    own = "rid" not in seen and ("status" in seen or seen.get("via") == "unknown")  # unknown: lldpd before 1.0.9
    if "chassis" not in seen or "port" not in seen or own:
        raise UnreadableError(f"interface {port} carries no neighbour: not a list of neighbours")
    chassis = _object(seen["chassis"], "chassis on interface ", port)
    far_port = _object(seen["port"], "port on interface ", port)
    name = _text(chassis.get("name"))
    if not _is_identity(chassis.get("id")):
        if len(chassis) != 1:
            raise UnreadableError(f"chassis on interface {port} carries no id")
        ((name, chassis),) = chassis.items()
        chassis = _object(chassis, "chassis on interface ", port)
    addresses = chassis.get("mgmt-ip")
    return Neighbor(
        port,
        *_identity(chassis.get("id"), "chassis on interface ", port),
        name or None,
        *_identity(far_port.get("id"), "port on interface ", port),
        _text(far_port.get("descr")),
        small_count(_text(far_port.get("ttl")) or _text(chassis.get("ttl"))),
        seconds(seen.get("age")),
        tuple([text for address in _items(addresses) if (text := _text(address))]) if addresses is not None else (),
        seen.get("via"),
    )


def _is_identity(value: Any) -> bool:
    """True for a chassis id, False for a chassis whose system name happens to be `id`."""
    if type(value) is list:
        return True
    return type(value) is dict and type(value.get("type")) is str


def _identity(value: Any, what: str, port: str) -> tuple[str, str]:
    """An id and its type."""
    found = _object(value, "id of the ", what, port)
    kind, text = found.get("type"), found.get("value")
    if type(text) is int:
        text = str(text)
    if type(kind) is not str or type(text) is not str or not text:
        raise UnreadableError(f"id of the {what}{port} is incomplete")
    return text, kind
