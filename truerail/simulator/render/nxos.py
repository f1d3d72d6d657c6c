"""Cisco NX-OS, `show lldp neighbors detail` as text and as JSON. Local ports are short (`Eth1/5`), remote ones long."""

from collections.abc import Iterable
from json import dumps

from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.words import cisco_mac

_TYPES = {"mac": "3", "ifname": "5", "local": "7"}
_HEAD = (
    "Capability codes:\n"
    "  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device\n"
    "  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other\n"
    "Device ID            Local Intf      Hold-time  Capability  Port ID  \n\n"
)


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
