"""Cisco NX-OS, as text and as JSON: `show interface status`, and `show lldp neighbors detail`, whose local ports are
short (`Eth1/5`) and remote ones long.
"""

from collections.abc import Iterable
from json import dumps

from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.links import Link, speed_word
from truerail.simulator.render.words import cisco_mac

_TYPES = {"mac": "3", "ifname": "5", "local": "7"}
_HEAD = (
    "Capability codes:\n"
    "  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device\n"
    "  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other\n"
    "Device ID            Local Intf      Hold-time  Capability  Port ID  \n\n"
)
_RULER = "-" * 80
_COLUMNS = "{:<13} {:<18} {:<9} {:<9} {:<7} {:<7} {}"


def _local(name: str) -> str:
    return name.replace("Ethernet", "Eth")


def _port_id(heard: Heard) -> str:
    return cisco_mac(heard.port.id) if heard.port.id_type == "mac" else heard.port.id


def _chassis(heard: Heard) -> str:
    speaker = heard.speaker
    return cisco_mac(speaker.chassis) if speaker.chassis_type == "mac" else speaker.chassis


def _addresses(heard: Heard) -> tuple[str, str]:
    """The IPv4 and the IPv6 management address."""
    old = [address for address in heard.speaker.addresses if ":" not in address]
    new = [address for address in heard.speaker.addresses if ":" in address]
    return (old or ["not advertised"])[0], (new or ["not advertised"])[0]


def lldp_text(neighbors: Iterable[Heard]) -> str:
    """The text, one block a neighbour, and the count that ends it."""
    blocks = [_block(heard) for heard in neighbors]
    return _HEAD + "".join(blocks) + f"Total entries displayed: {len(blocks)}\n"


def _block(heard: Heard) -> str:
    speaker, capability = heard.speaker, "R" if heard.speaker.router else "S"
    address, address_v6 = _addresses(heard)
    return f"""Chassis id: {_chassis(heard)}
Port id: {_port_id(heard)}
Local Port id: {_local(heard.local)}
Port Description: {heard.port.description or "null"}
System Name: {speaker.name or "null"}
System Description: {speaker.description or "null"}
Time remaining: {heard.ttl_seconds - heard.age_seconds % 30} seconds
System Capabilities: B, {capability}
Enabled Capabilities: {capability}
Management Address: {address}
Management Address IPV6: {address_v6}
Vlan ID: not advertised


"""


def status_text(links: Iterable[Link]) -> str:
    """The table of states and speeds; what is too long for its column is cut."""
    head = _COLUMNS.format("Port", "Name", "Status", "Vlan", "Duplex", "Speed", "Type")
    rows = [_COLUMNS.format(_local(link.name), *_cells(link)) for link in links]
    return "\n".join((_RULER, head, _RULER, *rows)) + "\n"


def _cells(link: Link) -> tuple[str, ...]:
    state = "connected" if link.up else "disabled" if link.off else "notconnec"
    kind = "QDD-400G-DR4-S" if link.module else "--"
    return (link.label[:18] or "--", state, "routed", "full", speed_word(link.gbps), kind)


def status_json(links: Iterable[Link]) -> str:
    """The same on one line, ports under their long names."""
    rows = [
        {
            "interface": link.name,
            **({"name": link.label} if link.label else {}),
            "state": "connected" if link.up else "disabled" if link.off else "notconnect",
            "vlan": "routed",
            "duplex": "full",
            "speed": speed_word(link.gbps),
            "type": "QDD-400G-DR4-S" if link.module else "--",
        }
        for link in links
    ]
    return dumps({"TABLE_interface": {"ROW_interface": rows}}) + "\n"


def lldp_json(neighbors: Iterable[Heard]) -> str:
    """The JSON on one line: a list of several rows, or the row itself where there is one."""
    rows = [_row(heard) for heard in neighbors]
    if not rows:
        return dumps({"neigh_hdr": "neigh_hdr", "neigh_count": "0"}) + "\n"
    table = {"ROW_nbor_detail": rows[0] if len(rows) == 1 else rows}
    return dumps({"neigh_hdr": "neigh_hdr", "TABLE_nbor_detail": table, "neigh_count": str(len(rows))}) + "\n"


def _row(heard: Heard) -> dict[str, str]:
    speaker, capability = heard.speaker, "R" if heard.speaker.router else "S"
    address, address_v6 = _addresses(heard)
    return {
        "chassis_type": "4" if speaker.chassis_type == "mac" else "7",
        "chassis_id": _chassis(heard),
        "port_type": _TYPES[heard.port.id_type],
        "port_id": _port_id(heard),
        "l_port_id": _local(heard.local),
        "port_desc": heard.port.description or "null",
        "sys_name": speaker.name or "null",
        "sys_desc": speaker.description or "null",
        "ttl": str(heard.ttl_seconds - heard.age_seconds % 30),
        "system_capability": f"B, {capability}",
        "enabled_capability": capability,
        "mgmt_addr_type": "IPV4",
        "mgmt_addr": address,
        "mgmt_addr_ipv6_type": "null",
        "mgmt_addr_ipv6": address_v6,
        "vlan_id": "not advertised",
    }


def brief_json(neighbors: Iterable[Heard]) -> str:
    """`show lldp neighbors | json native`: the system name stands as the chassis id (suzieq, nxos_spine01)."""
    rows = [
        {
            "chassis_type": "Locally Assigned" if heard.speaker.name else "Mac Address",
            "chassis_id": heard.speaker.name or _chassis(heard),
            "l_port_id": _local(heard.local),
            "hold_time": heard.ttl_seconds,
            "system_capability": "BR",
            "enabled_capability": "BR" if heard.speaker.router else "S",
            "port_type": {"mac": "Mac Address", "ifname": "Interface Name", "local": "Locally Assigned"}[
                heard.port.id_type
            ],
            "port_id": _port_id(heard),
            "mgmt_addr_type": "IPV4",
            "mgmt_addr": _addresses(heard)[0],
            "mgmt_addr_ipv6_type": "802",
            "mgmt_addr_ipv6": _addresses(heard)[1],
        }
        for heard in neighbors
    ]
    return dumps({"neigh_hdr": "neigh_hdr", "TABLE_nbor": {"ROW_nbor": rows}, "neigh_count": len(rows)}) + "\n"


def interface_text(links: Iterable[Link], *, no_module: bool) -> str:
    """`show interface`: what a port that is down lacks stands in brackets, what the operator wants in the next line.

    The words are those of genieparser's recordings (nxos, show interface); `no_module` says `XCVR not inserted` of each
    port that is down, whoever switched it off.
    """
    return "".join(_interface(link, no_module) for link in links)


def _interface(link: Link, no_module: bool) -> str:
    if link.up:
        first = f"{link.name} is up\nadmin state is up, Dedicated Interface"
    elif link.off:
        why = "XCVR not inserted" if no_module else "Administratively down"
        first = f"{link.name} is down ({why})\nadmin state is down, Dedicated Interface"
    else:
        why = "XCVR not inserted" if no_module and not link.module else "Link not connected"
        first = f"{link.name} is down ({why})\nadmin state is up, Dedicated Interface"
    label = f"  Description: {link.label}\n" if link.label else ""
    speed = f"  full-duplex, {link.gbps:g} Gb/s" if link.up else "  auto-duplex, auto-speed"
    return f"""{first}
  Hardware: 400000/800000 Ethernet, address: 707d.b9a3.0001 (bia 707d.b9a3.0001)
{label}  MTU 9216 bytes, BW {link.gbps * 1e6:.0f} Kbit , DLY 10 usec
  reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, medium is broadcast
  Port mode is routed
{speed}, media type is 400G
  Beacon is turned off
"""
