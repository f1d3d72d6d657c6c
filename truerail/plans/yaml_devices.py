"""The device groups of a YAML plan: `hosts`, `leaves`, `spines`, `superspines`."""

from dataclasses import dataclass, field

from truerail.files.yaml_values import Values, one_each, several_each, spread, units
from truerail.model import Device, Panel, Role
from truerail.model.yaml_tree import Node
from truerail.plans.numbers import MOST_GPUS
from truerail.plans.plan_keys import HOSTS, PANELS, SECTIONS, SWITCHES

Nics = list[tuple[str, ...]]
"""A host's NICs in rail order, each with its ports in plane order."""


@dataclass
class Groups:
    """The device sections: devices by name, and the NICs of each host."""

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


def read_panels(node: Node | None, values: Values) -> dict[str, Panel]:
    """The patch panels that have a place."""
    found: dict[str, Panel] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, PANELS)
        names = values.names(keys.get("nodes"))
        racks = spread(keys.get("rack"), len(names), values)
        found |= zip(names, map(Panel, racks, units(keys.get("unit"), racks, values)), strict=True)
    return found


def _read_entry(entry: Node, role: Role, groups: Groups, values: Values) -> None:
    keys = values.fields(entry, HOSTS if role is Role.HOST else SWITCHES)
    if "nodes" not in keys:
        return
    names = values.names(keys["nodes"])
    new = _devices(names, role, keys, values, entry.line)
    for name, device in zip(names, new, strict=True):
        if "/" in name:
            values.faults.add(keys["nodes"].line, name, "a device's name must not contain '/'")
        if name in groups.devices:
            values.faults.add(keys["nodes"].line, name, "a duplicate device")
        groups.devices[name] = device
    if role is Role.HOST:
        nics = _nics(keys.get("nics"), values)
        groups.nics.update(dict.fromkeys(names, nics))


def _devices(names: list[str], role: Role, keys: dict[str, Node], values: Values, line: int) -> list[Device]:
    """One device a name; what is a node set expands together with the names."""
    count = len(names)
    pods, racks = (spread(keys.get(key), count, values) for key in ("pod", "rack"))
    places = units(keys.get("unit"), racks, values)
    addresses = one_each(keys.get("address"), count, values)
    lists = ("aliases", "chassis_ids", "serials")
    aliases, chassis, serials = (several_each(keys.get(key), count, values) for key in lists)
    platform = values.text(keys.get("platform"))
    gpus = values.number(keys.get("gpus"), MOST_GPUS)
    return [
        Device(
            *(name, role, pods[i], addresses[i], platform, racks[i], places[i]),
            *(aliases[i], chassis[i], serials[i], gpus, line),
        )
        for i, name in enumerate(names)
    ]


def _nics(node: Node | None, values: Values) -> Nics:
    """A list in rail order; an item may be a list of its own: the ports of one NIC, plane by plane."""
    nics: Nics = []
    for one in [] if node is None else [node] if node.items is None else node.items:
        if one.items is None:
            nics += [(name,) for name in values.names(one)]
        else:
            nics.append(tuple(values.names(one)))
    return nics
