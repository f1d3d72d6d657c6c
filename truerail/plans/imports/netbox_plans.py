"""Cable lists of NetBox and Nautobot, by REST and by GraphQL: cables, or interfaces with what they are connected to.

Each reader takes the parsed file and returns its rows, or None where the file is of another format.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from truerail.plans.imports.cable_tables import length_m
from truerail.plans.imports.import_row import End, ImportRow, Rows, dicts, get, text

_CABLES: Final = ("cable_list", "cables")
_DEVICES: Final = ("device_list", "devices")
_FRONTS: Final = ("front_port_list", "front_ports", "frontports")
_INTERFACES: Final = ("interface_list", "interfaces")
"""What a query by GraphQL asks for, in NetBox and in Nautobot."""
_ENDS_OF_CABLE: Final = frozenset(("a_terminations", "termination_a", "terminations"))
_CONNECTED: Final = ("connected_endpoints", "connected_endpoint", "connected_interface")
"""What an interface's cable leads to, through patch panels. Without any of them, link peers are the other end."""


def cables(data: Any) -> Rows | None:
    """The answer of cables (`a_terminations` since NetBox 3.3, `termination_a` before and in Nautobot), also by
    GraphQL, where NetBox' terminations say of which end they are.
    """
    found = _listed(data, *_CABLES)
    if not any(_ENDS_OF_CABLE.intersection(cable) for cable in found):
        return None
    nodes = {text(of.get("name")): of for of in _within(data, *_DEVICES)}
    rows = Rows(inside=_inside(data, found), nodes={name: _end(nodes, of, {}) for name, of in nodes.items()})
    for cable in found:
        unit = cable.get("length_unit")
        length = length_m(text(cable.get("length")), text(get(unit, "value") or unit))
        where = f"cable {text(cable.get('id'))}"
        a, b = (_cable_end(cable, side) for side in "ab")
        if a.device or b.device:
            rows.add(ImportRow(a, b, label=text(cable.get("label")), length_m=length, where=where))
        else:
            rows.leave_out("not a cable, because neither end is one port with a name", where)
    rows.notes += _further_pages(data)
    return rows


def _further_pages(data: Any) -> list[str]:
    """The note where REST's answer is one of several pages."""
    if not get(data, "next") and not get(data, "previous"):
        return []
    return [f"a page of {len(dicts(get(data, 'results'))):,} of {text(get(data, 'count'))}: the others are not read"]


def _listed(data: Any, *keys: str) -> list[Mapping[str, Any]]:
    """The records of an answer: a list, the `results` of REST, or what GraphQL has below one of the keys."""
    return dicts(data if isinstance(data, list) else get(data, "results")) or _within(data, *keys)


def _within(data: Any, *keys: str) -> list[Mapping[str, Any]]:
    """What GraphQL, or a mapping of several answers, has below the first of the keys."""
    places = (get(data, *path) for key in keys for path in (("data", key), (key,), (key, "results")))
    return next(filter(None, map(dicts, places)), [])


def _inside(data: Any, cables: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], tuple[str, str]]:
    """The rear port and position behind each front port of patch panels, where the file has front ports: by themselves,
    or with their devices. NetBox 4.5 has `rear_ports` with ids, whose names the ends of cables have.
    """
    fronts = [(get(one, "device", "name"), one) for one in _within(data, *_FRONTS)]
    fronts += [
        (of.get("name"), one) for of in _within(data, *_DEVICES) for key in _FRONTS for one in dicts(of.get(key))
    ]
    ends = (one for cable in cables for side in "ab" for one in _terminations(cable, side))
    names = {text(one.get("object_id")): text(get(one, "object", "name")) for one in ends if "rear" in _kind(one)}
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for device, one in fronts:
        way = next(iter(dicts(one.get("rear_ports"))), one)
        rear = way.get("rear_port")
        name = text(get(rear, "name")) or names.get(text(get(rear, "id") or rear), "")
        if name:
            found[text(device), text(one.get("name"))] = name, text(way.get("rear_port_position")) or "1"
    return found


def _cable_end(cable: Mapping[str, Any], side: str) -> End:
    """The end, where it is one port; a cable with several ports at an end (breakout) is listed as none."""
    found = _terminations(cable, side)
    if len(found) != 1:
        return End("", "")
    port = found[0].get("object") or found[0].get("termination") or found[0]
    kind = _kind(found[0]) or text(cable.get(f"termination_{side}_type"))
    return End(text(get(port, "device", "name")), text(get(port, "name")), kind=kind)


def _terminations(cable: Mapping[str, Any], side: str) -> list[Mapping[str, Any]]:
    found = dicts(cable.get(f"{side}_terminations")) or dicts([cable.get(f"termination_{side}")])
    return found or [one for one in dicts(cable.get("terminations")) if text(one.get("cable_end")).lower() == side]


def _kind(end: Mapping[str, Any]) -> str:
    """`dcim.frontport` by REST, `FrontPortType` by GraphQL, also of a termination."""
    port = end.get("object") or end.get("termination") or end
    return text(end.get("object_type") or end.get("termination_type") or get(port, "__typename")).lower()


def interfaces(data: Any) -> Rows | None:
    """The answer of interfaces: each with its device and the endpoint that its cable leads to."""
    found = [(one.get("device"), one) for one in _listed(data, *_INTERFACES) if isinstance(one.get("device"), Mapping)]
    rows = _connections(found)
    if rows is not None:
        rows.notes += _further_pages(data)
    return rows


def devices(data: Any) -> Rows | None:
    """GraphQL's answer of devices with their interfaces, each cable at both ends."""
    found = [one for key in _DEVICES for one in dicts(get(data, "data", key))]
    return _connections([(device, one) for device in found for one in dicts(device.get("interfaces"))])


def _connections(found: Sequence[tuple[Any, Mapping[str, Any]]]) -> Rows | None:
    """The cables of interfaces, each with its device. One that leads to several ports (breakout), or to none, is
    listed; one that has no cable is not.
    """
    if not any(key in one for _, one in found for key in (*_CONNECTED, "link_peers")):
        return None
    known = {text(get(device, "name")): device for device, _ in found}
    rows = Rows()
    for device, one in found:
        near, far = _end(known, device, one), _endpoints(one)
        where = f"interface {near.device}/{near.port}"
        if not near.device:
            rows.leave_out("not a cable, because its device has no name here; Nautobot gives it with depth=1", where)
        elif len(far) == 1:
            label = text(get(one, "cable", "label"))
            rows.add(ImportRow(near, _end(known, far[0].get("device"), far[0]), label=label, where=where))
        elif far:
            rows.leave_out("not a cable, because it leads to several ports", where)
        elif one.get("cable"):
            rows.leave_out("not a cable, because it leads to no port", where)
    return rows


def _endpoints(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What an interface is connected to: by the first of the keys that names a device."""
    asked = [one[key] for key in _CONNECTED if key in one] or [one.get("link_peers")]
    ends = [dicts(value if isinstance(value, list) else [value]) for value in asked]
    return next((found for found in ends if any("device" in end for end in found)), ends[0])


def _end(known: Mapping[str, Mapping[str, Any]], device: Any, port: Mapping[str, Any]) -> End:
    name = text(get(device, "name"))
    of = known.get(name, {})
    unit = text(of.get("position")).removesuffix(".0")
    place = (text(get(of, "rack", "name")), int(unit) if unit.isdecimal() else None)
    kind = text(get(of, "role", "name")) or text(get(of, "device_role", "name"))
    return End(name, text(port.get("name")), *place, kind)
