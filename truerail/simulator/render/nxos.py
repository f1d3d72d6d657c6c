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


def lldp_text(neighbors: Iterable[Heard]) -> str:
    """The text, one block a neighbour, and the count that ends it."""
    blocks = [_block(heard) for heard in neighbors]
    return _HEAD + "".join(blocks) + f"Total entries displayed: {len(blocks)}\n"


def _block(heard: Heard) -> str:
    speaker, capability = heard.speaker, "R" if heard.speaker.router else "S"
    return f"""Chassis id: {cisco_mac(speaker.chassis)}
Port id: {_port_id(heard)}
Local Port id: {_local(heard.local)}
Port Description: {heard.port.description or "null"}
System Name: {speaker.name}
System Description: {speaker.description}
Time remaining: {heard.ttl_seconds - heard.age_seconds % 30} seconds
System Capabilities: B, {capability}
Enabled Capabilities: {capability}
Management Address: {speaker.address}
Management Address IPV6: not advertised
Vlan ID: not advertised


"""


def status_text(links: Iterable[Link]) -> str:
    """The table of states and speeds; what is too long for its column is cut."""
    head = _COLUMNS.format("Port", "Name", "Status", "Vlan", "Duplex", "Speed", "Type")
    rows = [_COLUMNS.format(_local(link.name), *_cells(link)) for link in links]
    return "\n".join((_RULER, head, _RULER, *rows)) + "\n"


def _cells(link: Link) -> tuple[str, ...]:
    state, kind = ("connected", "QDD-400G-DR4-S") if link.up else ("notconnec", "--")
    return (link.label[:18] or "--", state, "routed", "full", speed_word(link.gbps), kind)


def status_json(links: Iterable[Link]) -> str:
    """The same on one line, ports under their long names."""
    rows = [
        {
            "interface": link.name,
            **({"name": link.label} if link.label else {}),
            "state": "connected" if link.up else "notconnect",
            "vlan": "routed",
            "duplex": "full",
            "speed": speed_word(link.gbps),
            "type": "QDD-400G-DR4-S" if link.up else "--",
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
    return {
        "chassis_type": "4",
        "chassis_id": cisco_mac(speaker.chassis),
        "port_type": _TYPES[heard.port.id_type],
        "port_id": _port_id(heard),
        "l_port_id": _local(heard.local),
        "port_desc": heard.port.description or "null",
        "sys_name": speaker.name,
        "sys_desc": speaker.description,
        "ttl": str(heard.ttl_seconds - heard.age_seconds % 30),
        "system_capability": f"B, {capability}",
        "enabled_capability": capability,
        "mgmt_addr_type": "IPV4",
        "mgmt_addr": speaker.address,
        "mgmt_addr_ipv6_type": "null",
        "mgmt_addr_ipv6": "not advertised",
        "vlan_id": "not advertised",
    }
