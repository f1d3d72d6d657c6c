"""Native YAML: `defaults` and `devices`. docs/inventory.md explains every key."""

from dataclasses import replace

from truerail.files.together import one_each, spread, units
from truerail.inventory.inventory_checks import address_fault, device_name_fault
from truerail.inventory.inventory_error import InventoryFaults
from truerail.inventory.inventory_keys import DEFAULTS, DEVICE, NATIVE
from truerail.inventory.inventory_yaml_values import InventoryValues
from truerail.inventory.value import Inventory, shared_addresses
from truerail.inventory.yaml_access import read_access
from truerail.model import Role, Target
from truerail.model.platforms import APART
from truerail.model.yaml_tree import Node


def read_native(tree: Node, faults: InventoryFaults) -> Inventory:
    """The inventory in a tree. Faults are noted, the caller raises them."""
    values = InventoryValues(faults)
    sections = values.fields(tree, NATIVE)
    defaults = read_defaults(sections.get("defaults"), values)
    targets: dict[str, Target] = {}
    for entry in values.entries(sections.get("devices")):
        for target in _targets(entry, defaults, values):
            if target.name in targets:
                faults.add(entry.line, target.name, f"a duplicate device, first in line {targets[target.name].line}")
            targets.setdefault(target.name, target)
    if not targets and not faults.found:
        faults.add(tree.line, "", "no device")
    return Inventory(tuple(targets.values()), notes=tuple(shared_addresses([*targets.values()])), source=faults.file)


def read_defaults(node: Node | None, values: InventoryValues) -> dict[str, Node]:
    """The keys of `defaults`; their values are checked here once, so that a fault is reported with its own line."""
    if node is None or node.text == "":
        return {}
    keys = values.fields(node, DEFAULTS)
    read_access(keys, values)
    return keys


def _targets(entry: Node, defaults: dict[str, Node], values: InventoryValues) -> list[Target]:
    """The devices of one entry; what is a node set expands together with the names."""
    own = values.fields(entry, DEVICE)
    names = values.names(own.get("name"))
    for name in names:
        if fault := device_name_fault(name):
            values.faults.add(own["name"].line, name, fault)
    addresses = _addresses(own.get("address"), names, values)
    keys = {**defaults, **own}
    pods = spread(keys.get("pod"), len(names), values)
    racks = spread(keys.get("rack"), len(names), values)
    places = units(keys.get("unit"), racks, values)
    access = read_access(keys, values)
    if access.platform == "snmp" and "snmp" not in keys:
        values.faults.add(keys["platform"].line, "", "the platform is snmp: the key 'snmp' is missing")
    transport = _transport(access, own, values)
    if transport and "gnmi" not in keys:
        values.faults.add(keys["transport"].line, "", "the transport is gnmi: the key 'gnmi' is missing")
    return [
        replace(
            access,
            name=name,
            address=addresses[at],
            pod=pods[at],
            rack=racks[at],
            unit=places[at],
            transport=transport,
            gnmi=access.gnmi if transport else None,
            file=values.faults.file,
            line=entry.line,
        )
        for at, name in enumerate(names)
    ]


def _transport(access: Target, own: dict[str, Node], values: InventoryValues) -> str:
    """The transport of an entry. That of `defaults` is not for hosts: they do not speak gNMI."""
    if access.transport and (access.role is Role.HOST or access.platform in ("snmp", *APART)):
        if "transport" in own:
            what = access.platform or Role.HOST.value
            values.faults.add(own["transport"].line, "", f"the transport is gnmi: it is for switches, this is {what}")
        return ""
    return access.transport


def _addresses(node: Node | None, names: list[str], values: InventoryValues) -> list[str]:
    """One address a device: its name where the entry has none."""
    if node is None:
        return names
    addresses = one_each(node, len(names), values)
    for address in addresses:
        if address and (fault := address_fault(address)):
            values.faults.add(node.line, address, fault)
    return addresses
