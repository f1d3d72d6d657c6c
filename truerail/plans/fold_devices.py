"""Devices of a plan folded into groups, as the device sections of native YAML have them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from truerail.files.nodesets import fold
from truerail.files.yaml_text import Entry, quoted
from truerail.model import Device, Plan, Role
from truerail.model.columns import grouped
from truerail.plans.numbers import plain

Nics = tuple[tuple[str, ...], ...]


def nics_of(plan: Plan) -> dict[str, Nics]:
    """Each host's ports by rail and plane; only for hosts whose rails and planes count from 0 without gaps."""
    ports: dict[str, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    for cable in plan.host_cables:
        if cable.rail is not None:
            ports[cable.a.device][cable.rail].setdefault(cable.plane or 0, cable.a.name)
    found: dict[str, Nics] = {}
    for host, rails in ports.items():
        whole = sorted(rails) == list(range(len(rails)))
        if whole and all(sorted(planes) == list(range(len(planes))) for planes in rails.values()):
            found[host] = tuple(tuple(rails[rail][plane] for plane in sorted(rails[rail])) for rail in sorted(rails))
    return found


def device_entries(plan: Plan, role: Role, nics: dict[str, Nics]) -> list[Entry]:
    """The entries of one role's section: devices that share everything but name, pod, rack, unit and address."""
    groups: dict[tuple[object, ...], list[Device]] = defaultdict(list)
    for device in plan.of_role(role):
        reported = (bool(device.pod), bool(device.rack), device.unit is not None, bool(device.address))
        lists = (len(device.aliases), len(device.chassis_ids), len(device.serials))
        groups[device.platform, device.gpus, nics.get(device.name), reported, lists].append(device)
    return [_entry(part, nics, units) for group in groups.values() for part, units in _by_units(group)]


def _by_units(group: list[Device]) -> Iterator[tuple[list[Device], list[int]]]:
    """The group with the units of a rack, where all its racks have the same; else a group for each unit."""
    units = _units_by_place(group)
    if units or group[0].unit is None:
        yield group, units
        return
    parts = grouped((device.unit or 0, device) for device in group)
    for unit, part in parts.items():
        yield part, [unit]


def _entry(group: list[Device], nics: dict[str, Nics], by_place: Sequence[int]) -> Entry:
    first = group[0]
    return {
        "nodes": fold([device.name for device in group]),
        "pod": _runs([device.pod for device in group]),
        "rack": _runs([device.rack for device in group]),
        "unit": fold([str(unit) for unit in by_place]),
        "address": fold([device.address for device in group]) if first.address else "",
        "platform": first.platform,
        "aliases": _columns([device.aliases for device in group]),
        "chassis_ids": _columns([device.chassis_ids for device in group]),
        "serials": _columns([device.serials for device in group]),
        "gpus": plain(first.gpus),
        "nics": _nics(nics.get(first.name, ())),
    }


def _runs(names: list[str]) -> str:
    """`p[1-4]` where the names come in equal runs, as a reader shares them out again; else one name a device."""
    if not names[0]:
        return ""
    distinct = list(dict.fromkeys(names))
    each = -(-len(names) // len(distinct))
    shared = [distinct[min(at // each, len(distinct) - 1)] for at in range(len(names))]
    return fold(distinct if shared == names else names)


def _units_by_place(devices: Sequence[Device]) -> list[int]:
    """The units of a rack in the order of its devices, if they are the same in every rack; else empty."""
    units: list[int] = []
    filled: dict[str, int] = defaultdict(int)
    for device in devices:
        place = filled[device.rack]
        filled[device.rack] += 1
        if device.unit is None or place > len(units):
            return []
        if place == len(units):
            units.append(device.unit)
        if units[place] != device.unit:
            return []
    return units


def _columns(lists: list[tuple[str, ...]]) -> list[str]:
    return [fold(column) for column in zip(*lists, strict=True)]


def _nics(nics: Nics) -> str | list[str]:
    if all(len(ports) == 1 for ports in nics):
        return fold([ports[0] for ports in nics])
    return [f"[{', '.join(_in_flow(port) for port in ports)}]" for ports in nics]


def _in_flow(name: str) -> str:
    text = quoted(name)
    return f'"{text}"' if (text == name and not name.isascii()) or "," in text or "[" in text else text
