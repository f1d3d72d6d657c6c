"""MAC tables and inventories of modules, as switches print them: written from recordings, apart from what reads them.

Beside the hosts' entries a table has what real ones have: the switch's own MACs, uplinks with the MACs of half the
fabric, a tunnel to another switch.
"""

from collections.abc import Callable, Iterator
from json import dumps

from truerail.model import Port
from truerail.simulator.fabric.world import World, mac
from truerail.simulator.platforms._switches import cisco_mac

_VLAN = 100
Row = tuple[str, str, str]
"""A MAC, its port, `dynamic` or `static`."""


def answers(world: World, machine: str) -> dict[str, str]:
    """Command to answer of a switch; Linux machines have the numbers of modules in `ethtool -m` already."""
    if world.is_host(machine):
        return {}
    found: dict[str, str] = {}
    platform = world.platform(machine)
    if world.stations and platform in _TABLES:
        command, table = _TABLES[platform]
        found[command] = table(list(_rows(world, machine)))
    if world.serials and platform in _MODULES:
        command, modules = _MODULES[platform]
        plugged = [port for port in world.fabric.ports[machine] if world.has_module(Port(machine, port))]
        found[command] = modules([(port, world.serials.get(Port(machine, port), "")) for port in plugged])
    return found


def _rows(world: World, switch: str) -> Iterator[Row]:
    own = world.switch_mac(switch, 0)
    yield own, _name(world, switch, "cpu"), "static"
    others = [mac for jack, macs in world.stations.items() if jack.device != switch for mac in macs[:1]][:8]
    for port in world.fabric.ports[switch]:
        jack = Port(switch, port)
        for address in world.stations.get(jack, ()):
            yield address, port, "dynamic"
        if jack in world.far and not world.is_host(world.far[jack].device) and world.carrier(jack):
            yield from ((address, port, "dynamic") for address in others)
    yield mac(0x020000000000 + world.fabric.order[switch]), _name(world, switch, "tunnel"), "dynamic"


def _name(world: World, switch: str, which: str) -> str:
    names = {
        "cumulus": ("bridge", "vni100"),
        "sonic": ("1000000000fff", "VxLAN DIP: 10.0.0.9"),
        "eos": ("Cpu", "Vxlan1"),
        "nxos": ("sup-eth1(R)", "nve1(10.0.0.9)"),
        "junos": ("irb.100", "vtep.32769"),
    }
    return names[world.platform(switch)][which == "tunnel"]


def _bridge(rows: list[Row]) -> str:
    """`bridge fdb show` of iproute2."""
    lines = [
        f"{mac} dev {port} vlan {_VLAN} master bridge {'permanent' if kind == 'static' else ''}"
        if port != "vni100"
        else f"{mac} dev {port} dst 10.0.0.9 self extern_learn"
        for mac, port, kind in rows
    ]
    return "\n".join(["33:33:00:00:00:01 dev eth0 self permanent", *lines]) + "\n"


def _sonic(rows: list[Row]) -> str:
    """`show mac` (sonic-utilities, `scripts/fdbshow`)."""
    lines = [
        "  No.    Vlan  MacAddress         Port           Type",
        "-----  ------  -----------------  -------------  -------",
    ]
    for number, (address, port, kind) in enumerate(rows, 1):
        lines.append(f"{number:5}  {_VLAN:6}  {address.upper()}  {port:13}  {kind.capitalize()}")
    return "\n".join([*lines, f"Total number of entries {len(rows)}"]) + "\n"


def _eos(rows: list[Row]) -> str:
    """`show mac address-table | json`."""
    entries = [
        {"macAddress": address, "interface": port, "entryType": kind, "vlanId": _VLAN, "moves": 1, "lastMove": 1.7e9}
        for address, port, kind in rows
    ]
    return dumps({"unicastTable": {"tableEntries": entries}, "multicastTable": {"tableEntries": []}}, indent=4) + "\n"


def _nxos(rows: list[Row]) -> str:
    """`show mac address-table`."""
    head = [
        "Legend: ",
        "        * - primary entry, G - Gateway MAC, (R) - Routed MAC, O - Overlay MAC",
        "        age - seconds since last seen,+ - primary entry using vPC Peer-Link,",
        "        (T) - True, (F) - False, C - ControlPlane MAC, ~ - vsan",
        "   VLAN     MAC Address      Type      age     Secure NTFY Ports",
        "---------+-----------------+--------+---------+------+----+------------------",
    ]
    lines = []
    for address, port, kind in rows:
        mark, age = ("G", "-") if kind == "static" else ("*", "0")
        lines.append(f"{mark}  {_VLAN:>4}     {cisco_mac(address)}   {kind:8} {age:9} F      F    {port}")
    return "\n".join([*head, *lines]) + "\n"


def _junos(rows: list[Row]) -> str:
    """`show ethernet-switching table | display json`."""

    def data(value: str) -> list[dict[str, str]]:
        return [{"data": value}]

    entries = [
        {
            "l2ng-l2-mac-address": data(address),
            "l2ng-l2-vlan-id": data(str(_VLAN)),
            "l2ng-l2-mac-flags": data("S" if kind == "static" else "D"),
            "l2ng-l2-mac-logical-interface": data(port if "." in port else f"{port}.0"),
        }
        for address, port, kind in rows
    ]
    return dumps({"l2ng-l2ald-rtb-macdb": [{"l2ng-l2ald-mac-entry-vlan": entries}]}, indent=1) + "\n"


def _eeprom(modules: list[tuple[str, str]]) -> str:
    """`show interfaces transceiver eeprom` of SONiC."""
    return "".join(
        f"{port}: SFP EEPROM detected\n        Connector: No separable connector\n        Vendor Name: VENDOR\n"
        f"        Vendor PN: MCP4Y10-N002\n        Vendor SN: {serial}\n"
        for port, serial in modules
    )


def _slots(modules: list[tuple[str, str]]) -> str:
    """`show interfaces transceiver | json` of EOS."""
    found = {port: {"mediaType": "400GBASE-CR8", "vendorSn": serial, "displayName": port} for port, serial in modules}
    return dumps({"interfaces": found}, indent=4) + "\n"


def _details(modules: list[tuple[str, str]]) -> str:
    """`show interface transceiver` of NX-OS."""
    return "".join(
        f"{port}\n    transceiver is present\n    type is QSFP-DD-400G-CU2M\n    name is VENDOR\n"
        f"    part number is MCP4Y10-N002\n    serial number is {serial}\n\n"
        for port, serial in modules
    )


def _hardware(modules: list[tuple[str, str]]) -> str:
    """`show chassis hardware` of Junos."""
    head = "Hardware inventory:\nItem             Version  Part number  Serial number     Description\n"
    rows = [
        f"    Xcvr {port.rpartition('/')[2]:<4}    REV 01   740-120001   {serial or 'NON':17} QSFP56-DD-400GBASE-CR8\n"
        for port, serial in modules
    ]
    slots = "FPC 0            REV 01   650-1        BUILTIN           QFX5240\n"
    slots += "  PIC 0                   BUILTIN      BUILTIN           64X800G\n"
    return f"{head}{slots}{''.join(rows)}"


_TABLES: dict[str, tuple[str, Callable[[list[Row]], str]]] = {
    "cumulus": ("bridge fdb show", _bridge),
    "sonic": ("show mac", _sonic),
    "eos": ("show mac address-table | json", _eos),
    "nxos": ("show mac address-table", _nxos),
    "junos": ("show ethernet-switching table | display json", _junos),
}
_MODULES: dict[str, tuple[str, Callable[[list[tuple[str, str]]], str]]] = {
    "sonic": ("show interfaces transceiver eeprom", _eeprom),
    "eos": ("show interfaces transceiver | json", _slots),
    "nxos": ("show interface transceiver", _details),
    "junos": ("show chassis hardware", _hardware),
}
