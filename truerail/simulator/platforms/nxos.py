"""Cisco NX-OS, as text and as JSON: `show interface status`, `show lldp neighbors detail`, whose local ports are short
(`Eth1/5`) and remote ones long, and counters: tables and rows with numbers as strings.
"""

from collections.abc import Iterable
from dataclasses import replace
from json import dumps
from typing import Any

from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Announced, Frame, Heard
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_neighbors, prints_text
from truerail.simulator.platforms._switches import (
    SwitchPort,
    as_pasted,
    cisco_mac,
    is_asked_otherwise,
    links,
    prints_links,
    sends,
    speed_word,
)
from truerail.simulator.traffic.ledger import CounterTable, Q

_LLDP = "show lldp neighbors detail"
_LLDP_JSON = "show lldp neighbors detail | json"
_STATUS = "show interface status"
_STATUS_JSON = "show interface status | json"
_TYPES = {"mac": "3", "ifname": "5", "local": "7"}
_HEAD = (
    "Capability codes:\n"
    "  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device\n"
    "  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other\n"
    "Device ID            Local Intf      Hold-time  Capability  Port ID  \n\n"
)
_RULER = "-" * 80
_COLUMNS = "{:<13} {:<18} {:<9} {:<9} {:<7} {:<7} {}"
_RULE = "-" * 117


def announced(port: SwitchPort) -> Frame:
    """The port's name, long or short; the chassis id is the port's MAC on some releases."""
    name = port.name.replace("Ethernet", "Eth") if "nxos_short_portid" in port.behaviours else port.name
    per_port = port.behaviours.hits("chassis_per_port", port.switch)
    speaker = replace(port.speaker, chassis=port.mac) if per_port else port.speaker
    return Frame(speaker, Announced("ifname", name, port.label or port.name))


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer."""
    return as_pasted(ether, switch, _neighbors(ether, switch) | _states(ether, switch))


def _neighbors(ether: Ether, switch: str) -> dict[str, str]:
    heard = ether.neighbors(switch)
    if ether.world.behaviours.hits("nxos_brief_name_as_chassis", switch):
        return {"show lldp neighbors | json native": brief_json(heard)}
    if is_asked_otherwise(ether.world, switch):
        return {_LLDP: lldp_text(heard)}
    return {_LLDP_JSON: lldp_json(heard)}


def _states(ether: Ether, switch: str) -> dict[str, str]:
    found, behaviours = links(ether, switch), ether.world.behaviours
    no_module = behaviours.hits("nxos_two_lines", switch)
    if no_module or behaviours.hits("nxos_word", switch):
        return {"show interface": interface_text(found, no_module=no_module)}
    if is_asked_otherwise(ether.world, switch):
        return {_STATUS: status_text(found)}
    return {_STATUS_JSON: status_json(found)}


def _local(name: str) -> str:
    return name.replace("Ethernet", "Eth")


def _port_id(heard: Heard) -> str:
    return cisco_mac(heard.port.id, heard.port.id_type)


def _chassis(heard: Heard) -> str:
    return cisco_mac(heard.speaker.chassis, heard.speaker.chassis_type)


def _addresses(heard: Heard) -> tuple[str, str]:
    """The IPv4 and the IPv6 management address."""
    old = [address for address in heard.speaker.addresses if ":" not in address]
    new = [address for address in heard.speaker.addresses if ":" in address]
    return (old or ["not advertised"])[0], (new or ["not advertised"])[0]


def lldp_text(neighbors: Iterable[Heard]) -> str:
    """The text, one block per neighbour, and the final count."""
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
    """The table of states and speeds; text too long for its column is truncated."""
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
    """The JSON on one line: a list of several rows, or a single row itself."""
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
    """`show lldp neighbors | json native`: the chassis id is the system name (suzieq, nxos_spine01)."""
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
    """`show interface`: the reason of a port that is down in brackets, its admin state in the next line.

    The words are those of genieparser's recordings (nxos, show interface); `no_module` prints `XCVR not inserted` for
    each port that is down, even administratively.
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


def counters_json(sheet: CounterTable) -> str:
    """`show interface counters | json`: octets and unicast in one row, multicast and broadcast in the next."""
    found: dict[str, Any] = {}
    for way, of, size, packets in (("rx", "in", Q.RX_BYTES, Q.RX_PACKETS), ("tx", "out", Q.TX_BYTES, Q.TX_PACKETS)):
        rows = []
        for port, octets, count in zip(sheet.ports, sheet.of(size), sheet.of(packets), strict=True):
            rows.append({f"interface_{way}": port, f"eth_{of}bytes": str(octets), f"eth_{of}ucast": str(count)})
            rows.append({f"interface_{way}": port, f"eth_{of}mcast": "0", f"eth_{of}bcast": "0"})
        found[f"TABLE_{way}_counters"] = {f"ROW_{way}_counters": rows}
    return dumps(found) + "\n"


def queues_json(sheet: CounterTable) -> str:
    """`show queuing interface | json`: a row for each port, in it one for each kind of count."""
    kinds = (("Tx", "Pkts", Q.TX_PACKETS), ("Tx", "Byts", Q.TX_BYTES), ("Tail Drop", "Pkts", Q.QUEUE_DROPS),
             ("ECN", "Pkts", Q.ECN_MARKED_PACKETS))  # fmt: skip
    columns = [(kind, unit, sheet.of(quantity, rdma=True)) for kind, unit, quantity in kinds]
    rows = []
    for number, port in enumerate(sheet.ports):
        reported = [
            {"eq-stat-type": kind, "eq-stat-units": unit, "eq-uc-stat-value": str(values[number])}
            for kind, unit, values in columns
        ]
        entry = _table("qosgrp_egress_stats_entry", reported)
        group = _table("qosgrp_egress_stats", {"eq-qosgrp": str(sheet.priority), **entry})
        rows.append({"dir": "Egress", "if_name_str": port, **group})
    return dumps(_table("module", _table("queuing_interface", rows))) + "\n"


def _table(name: str, rows: object) -> dict[str, Any]:
    """A table of NX-OS' JSON: an object in place of a list for a single row."""
    return {f"TABLE_{name}": {f"ROW_{name}": rows}}


def pfc_text(sheet: CounterTable) -> str:
    """`show interface priority-flow-control detail`."""
    received, sent = sheet.of(Q.RX_PAUSE_FRAMES, rdma=True), sheet.of(Q.TX_PAUSE_FRAMES, rdma=True)
    return "".join(_pfc_of(sheet, port, *frames) for port, *frames in zip(sheet.ports, received, sent, strict=True))


def _pfc_of(sheet: CounterTable, port: str, received: int, sent: int) -> str:
    labels = "  |  ".join(f"Priority{of}" for of in range(8))
    lines = [
        f"{port}:", "    Admin Mode: Auto", "    Oper Mode: On", f"    VL bitmap: ({1 << sheet.priority:x})",
        f"    Total Rx PFC Frames: {received}", f"    Total Tx PFC Frames: {sent}", _RULE, f"    |  {labels}  |", _RULE,
    ]  # fmt: skip
    for way, frames in (("Rx", received), ("Tx", sent)):
        cells = "|".join(str(frames if of == sheet.priority else 0).ljust(13) for of in range(8)).rstrip()
        lines += [f"{way}  |{cells}", _RULE]
    return "\n".join(lines[:-1]) + "\n\n"


PLATFORM = Platform(
    description="Cisco Nexus Operating System (NX-OS) Software 10.3(4a)",
    maker="Cisco Systems, Nexus 9000",
    default_name="switch",
    management="mgmt0",
    port_name=lambda number, shape: f"Ethernet1/{number}",
    frames=sends(announced),
    answers=answers,
    steady={
        VERSION: prints_text("Cisco Nexus Operating System (NX-OS) Software\n  NXOS: version 10.3(4a)\n"),
        _STATUS_JSON: prints_links(status_json),
        _STATUS: prints_links(status_text),
    },
    fleeting={_LLDP_JSON: prints_neighbors(lldp_json), _LLDP: prints_neighbors(lldp_text)},
    counters={
        "show interface counters | json": counters_json,
        "show interface priority-flow-control detail": pfc_text,
        "show queuing interface | json": queues_json,
    },
)
