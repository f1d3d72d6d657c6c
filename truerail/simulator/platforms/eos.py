"""Arista EOS, all of it as JSON: `show lldp neighbors detail`, where every port is listed, a silent one with an empty
list; `show interfaces status`; counters.
"""

from collections.abc import Iterable, Mapping
from json import dumps
from typing import Any

from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_text
from truerail.simulator.platforms._switches import as_pasted, by_name_alone, cisco_mac, links, prints_links, sends
from truerail.simulator.traffic.ledger import Columns, CounterTable, Q

_LLDP = "show lldp neighbors detail | json"
_STATUS = "show interfaces status | json"
_SKEW_SECONDS = -5 * 3600
"""How far a switch's clock may be behind."""
_CHASSIS_TYPES = {"mac": "macAddress", "local": "locallyAssigned"}
_TYPES = {"mac": "macAddress", "ifname": "interfaceName", "local": "local"}
_COUNTERS = {
    "inOctets": Q.RX_BYTES,
    "inUcastPkts": Q.RX_PACKETS,
    "outOctets": Q.TX_BYTES,
    "outUcastPkts": Q.TX_PACKETS,
    "inDiscards": Q.RX_DISCARDS,
    "outDiscards": Q.TX_DISCARDS,
}
_CASTS = {"inMulticastPkts": 0, "inBroadcastPkts": 0, "outMulticastPkts": 0, "outBroadcastPkts": 0}
_CHANGES = "linkStatusChanges"
_PFC: Columns = {"rxFrames": (Q.RX_PAUSE_FRAMES, True), "txFrames": (Q.TX_PAUSE_FRAMES, True)}


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer."""
    world = ether.world
    now = ether.now + (_SKEW_SECONDS if world.behaviours.hits("clock_skew", switch) else 0)
    short = world.behaviours.hits("eos_quoted_id", switch)
    zero = world.behaviours.value("down_speed") == "zero"
    found = {
        _LLDP: lldp_json(world.fabric.ports[switch], ether.neighbors(switch), now, short_macs=short),
        _STATUS: status_json(links(ether, switch), zero_when_down=zero),
    }
    return as_pasted(ether, switch, found)


def lldp_json(ports: Iterable[str], neighbors: Iterable[Heard], now: float, *, short_macs: bool = False) -> str:
    """The answer of a switch with these ports and the clock `now`, in seconds since the epoch.

    `short_macs` omits leading zeros in the groups of a MAC.
    """
    found: dict[str, dict[str, list[Any]]] = {port: {"lldpNeighborInfo": []} for port in ports}
    for heard in neighbors:
        info = _info(heard, now)
        if short_macs and info["chassisIdType"] == "macAddress":
            info["chassisId"] = ".".join(group.lstrip("0") or "0" for group in info["chassisId"].split("."))
        found.setdefault(heard.local, {"lldpNeighborInfo": []})["lldpNeighborInfo"].append(info)
    return dumps({"lldpNeighbors": found}, indent=4) + "\n"


def status_json(links: Iterable[Link], *, zero_when_down: bool = False) -> str:
    """The state and speed of every port, in b/s; without link the configured speed, or 0.

    A port that is administratively down is `disabled`, with or without a module (ANTA, interfaces.py).
    """
    found = {
        link.name: {
            "vlanInformation": {"interfaceMode": "routed", "interfaceForwardingModel": "routed"},
            "bandwidth": 0 if zero_when_down and not link.up else round(link.gbps * 1e9),
            "interfaceType": "400GBASE-DR4" if link.module else "Not Present",
            "description": link.label,
            "autoNegotiateActive": False,
            "duplex": "duplexFull",
            "linkStatus": "connected" if link.up else "disabled" if link.off else "notconnect",
            "lineProtocolStatus": "up" if link.up else "down" if link.module else "notPresent",
        }
        for link in links
    }
    return dumps({"interfaceStatuses": found}, indent=4) + "\n"


def _info(heard: Heard, now: float) -> dict[str, Any]:
    speaker, port = heard.speaker, heard.port
    port_id = cisco_mac(port.id, port.id_type)
    remote = {
        "portAndProtocolVlanEnabled": {},
        "interfaceId": port_id if port.id_type == "mac" else f'"{port_id}"',
        "interfaceId_v2": port_id,
        "unknownTlvs": [],
        "interfaceIdType": _TYPES[port.id_type],
        "interfaceDescription": port.description,
        "autoNegAdvertisedCapabilities": [],
        "protocolIdentityInfo": [],
        "portAndProtocolVlanSupported": {},
        "vlanNames": {},
        "unknownOrgDefinedTlvs": [],
    }
    if not port.description:
        del remote["interfaceDescription"]  # the TLV is absent
    return {
        "systemCapabilities": {"bridge": False, "router": speaker.router, "stationOnly": not speaker.router},
        "lastChangeTime": now - heard.age_seconds,
        "neighborInterfaceInfo": remote,
        "neighborDiscoveryTime": now - heard.age_seconds,
        "lastContactTime": now - 11,
        "chassisId": cisco_mac(speaker.chassis, speaker.chassis_type),
        **({"systemName": speaker.name} if speaker.name else {}),
        **({"systemDescription": speaker.description} if speaker.description else {}),
        "ttl": heard.ttl_seconds,
        "managementAddresses": [_address(address) for address in speaker.addresses],
        "chassisIdType": _CHASSIS_TYPES[speaker.chassis_type],
    }


def _address(address: str) -> dict[str, Any]:
    return {
        "oidString": "",
        "interfaceNumType": "ifIndex",
        "interfaceNum": 2,
        "address": address,
        "addressType": "ipv6" if ":" in address else "ipv4",
    }


def _printed(ports: Mapping[str, Any], key: str = "interfaces") -> str:
    return dumps({key: ports}, indent=2) + "\n"


def counters_json(sheet: CounterTable) -> str:
    """`show interfaces counters | json`."""
    return _printed({port: _CASTS | reported for port, reported in sheet.rows(_COUNTERS)})


def interfaces_json(sheet: CounterTable) -> str:
    """The counters of `show interfaces | json`: a link loss and its recovery are two changes."""
    rows = sheet.rows({**_COUNTERS, _CHANGES: Q.LINK_DOWNS})
    return _printed({port: {"interfaceCounters": row | {_CHANGES: 1 + 2 * row[_CHANGES]}} for port, row in rows})


def pfc_json(sheet: CounterTable) -> str:
    """`show priority-flow-control counters detail | json`."""
    return _printed({port: {"priorities": {str(sheet.priority): row}} for port, row in sheet.rows(_PFC)})


def ecn_json(sheet: CounterTable) -> str:
    """`show qos interfaces ecn counters queue | json`: numbers as strings, `-` for a queue without counters."""
    rows = sheet.rows({"{}": (Q.ECN_MARKED_PACKETS, True)})
    queues = {port: {"queueCounters": {"0": "-"} | {of: str(value) for of, value in row.items()}} for port, row in rows}
    return _printed(queues, "intfQueueCounters")


def _lldp_now(ether: Ether, switch: str) -> str:
    return lldp_json(ether.world.fabric.ports[switch], ether.neighbors(switch), ether.now)


PLATFORM = Platform(
    description="Arista Networks EOS version 4.31.2F running on an Arista Networks DCS-7060DX5-64S",
    maker="Arista Networks, 7060 Series",
    management="Management1",
    port_name=lambda number, shape: f"Ethernet{number}/1",
    frames=sends(by_name_alone),
    answers=answers,
    steady={
        VERSION: prints_text("Arista DCS-7060DX5-64S\nSoftware image version: 4.31.2F\n"),
        _STATUS: prints_links(status_json),
    },
    fleeting={_LLDP: _lldp_now},
    counters={
        "show interfaces counters | json": counters_json,
        "show interfaces | json": interfaces_json,
        "show priority-flow-control counters detail | json": pfc_json,
        "show qos interfaces ecn counters queue | json": ecn_json,
    },
)
