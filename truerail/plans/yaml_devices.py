"""The device groups of a YAML plan: `hosts`, `leaves`, `spines`, `superspines`."""

from dataclasses import dataclass, field

from truerail.model import Device, Role
from truerail.plans.numbers import MOST_GPUS, MOST_UNITS
from truerail.plans.yaml_tree import Node
from truerail.plans.yaml_values import Values

SECTIONS = {
    "hosts": Role.HOST,
    "leaves": Role.LEAF,
    "spines": Role.SPINE,
    "superspines": Role.SUPERSPINE,
}
_COMMON = ("nodes", "pod", "rack", "unit", "address", "platform", "aliases", "chassis_ids")
_OF_HOSTS = (*_COMMON, "gpus", "nics")

Nics = list[tuple[str, ...]]
"""A host's NICs in rail order, each with its ports in plane order."""


@dataclass
class Groups:
    """What the device sections say: devices by name, and the NICs of each host."""

    devices: dict[str, Device] = field(default_factory=dict)
    nics: dict[str, Nics] = field(default_factory=dict)

    def of_role(self, role: Role) -> list[str]:
        """The names of the devices of one role, in the order of the file."""
        return [device.name for device in self.devices.values() if device.role is role]


def read_groups(sections: dict[str, Node], values: Values) -> Groups:
    """The devices of all four sections."""
    groups = Groups()
    for section, role in SECTIONS.items():
        for entry in values.entries(sections.get(section)):
            _read_entry(entry, role, groups, values)
    return groups


def _read_entry(entry: Node, role: Role, groups: Groups, values: Values) -> None:
    keys = values.fields(entry, _OF_HOSTS if role is Role.HOST else _COMMON, needs=("nodes",))
    if "nodes" not in keys:
        return
    names = values.names(keys["nodes"])
    new = _devices(names, role, keys, values, entry.line)
    for name, device in zip(names, new, strict=True):
        if "/" in name:
            values.faults.add(keys["nodes"].line, name, "a device's name must not contain '/'")
        if name in groups.devices:
            values.faults.add(keys["nodes"].line, name, "the device is there twice")
        groups.devices[name] = device
    if role is Role.HOST:
        nics = _nics(keys.get("nics"), values)
        groups.nics.update(dict.fromkeys(names, nics))


def _devices(names: list[str], role: Role, keys: dict[str, Node], values: Values, line: int) -> list[Device]:
    """One device a name; what is a node set expands together with the names."""
    count = len(names)
    pods = _spread(keys.get("pod"), count, values)
    racks = _spread(keys.get("rack"), count, values)
    units = _units(keys.get("unit"), racks, values)
    addresses = _one_each(keys.get("address"), count, values)
    aliases = _several_each(keys.get("aliases"), count, values)
    chassis = _several_each(keys.get("chassis_ids"), count, values)
    platform = values.text(keys.get("platform"))
    gpus = values.number(keys.get("gpus"), MOST_GPUS)
    return [
        Device(name, role, pods[i], addresses[i], platform, racks[i], units[i], aliases[i], chassis[i], gpus, line)
        for i, name in enumerate(names)
    ]


def _spread(node: Node | None, count: int, values: Values) -> list[str]:
    """Pods or racks over the devices: consecutive devices share one, 16 racks for 64 hosts are 4 hosts a rack."""
    groups = values.names(node)
    if not groups or node is None or not count:
        return [""] * count
    each = -(-count // len(groups))
    if -(-count // each) != len(groups):
        values.wrong(node, f"{len(groups)} names for {count} devices leave some without a device")
        return [""] * count
    return [groups[i // each] for i in range(count)]


def _units(node: Node | None, racks: list[str], values: Values) -> list[int | None]:
    """Rack units: one number, or one for each place in a rack, used again in every rack."""
    units = values.numbers(node, MOST_UNITS)
    if not units or node is None:
        return [None] * len(racks)
    if len(units) == 1:
        return [units[0] for _ in racks]
    places: list[int | None] = []
    filled: dict[str, int] = {}
    for rack in racks:
        place = filled.get(rack, 0)
        filled[rack] = place + 1
        places.append(units[place] if place < len(units) else None)
    if None in places:
        values.wrong(node, f"{len(units)} units for {max(filled.values())} devices in one rack")
    return places


def _one_each(node: Node | None, count: int, values: Values) -> list[str]:
    names = values.names(node)
    if node is None:
        return [""] * count
    if len(names) != count:
        values.wrong(node, f"expected one for each of {count} devices, found {len(names)}")
        return [""] * count
    return names


def _several_each(node: Node | None, count: int, values: Values) -> list[tuple[str, ...]]:
    """Node sets that each expand together with the devices: a list of two gives every device two."""
    if node is None:
        return [()] * count
    columns = [_one_each(one, count, values) for one in ([node] if node.items is None else node.items)]
    return list(zip(*columns, strict=True)) if columns else [()] * count


def _nics(node: Node | None, values: Values) -> Nics:
    """A list in rail order; an item may be a list of its own: the ports of one NIC, plane by plane."""
    nics: Nics = []
    for one in [] if node is None else [node] if node.items is None else node.items:
        if one.items is None:
            nics += [(name,) for name in values.names(one)]
        else:
            nics.append(tuple(values.names(one)))
    return nics
