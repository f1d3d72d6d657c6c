"""Arista EOS: `show lldp neighbors detail | json`, where every port is listed, a silent one with an empty list; and
`show interfaces status | json`.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any

from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.links import Link
from truerail.simulator.render.words import cisco_mac

_TYPES = {"mac": "macAddress", "ifname": "interfaceName", "local": "local"}


def lldp_json(ports: Iterable[str], neighbors: Iterable[Heard], now: float) -> str:
    """The answer of a switch with these ports whose clock says `now`, in seconds since the epoch."""
    found: dict[str, dict[str, list[Any]]] = {port: {"lldpNeighborInfo": []} for port in ports}
    for heard in neighbors:
        found.setdefault(heard.local, {"lldpNeighborInfo": []})["lldpNeighborInfo"].append(_info(heard, now))
    return dumps({"lldpNeighbors": found}, indent=4) + "\n"


def status_json(links: Iterable[Link]) -> str:
    """The state and speed of every port, in b/s; without link it is the speed that the port is configured for."""
    found = {
        link.name: {
            "vlanInformation": {"interfaceMode": "routed", "interfaceForwardingModel": "routed"},
            "bandwidth": round(link.gbps * 1e9),
            "interfaceType": "400GBASE-DR4" if link.up else "Not Present",
            "description": link.label,
            "autoNegotiateActive": False,
            "duplex": "duplexFull",
            "linkStatus": "connected" if link.up else "notconnect",
            "lineProtocolStatus": "up" if link.up else "notPresent",
        }
        for link in links
    }
    return dumps({"interfaceStatuses": found}, indent=4) + "\n"


def _info(heard: Heard, now: float) -> dict[str, Any]:
    speaker, port = heard.speaker, heard.port
    port_id = cisco_mac(port.id) if port.id_type == "mac" else port.id
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
    address = {
        "oidString": "",
        "interfaceNumType": "ifIndex",
        "interfaceNum": 2,
        "address": speaker.address,
        "addressType": "ipv4",
    }
    return {
        "systemCapabilities": {"bridge": False, "router": speaker.router, "stationOnly": not speaker.router},
        "lastChangeTime": now - heard.age_seconds,
        "neighborInterfaceInfo": remote,
        "neighborDiscoveryTime": now - heard.age_seconds,
        "lastContactTime": now - 11,
        "chassisId": cisco_mac(speaker.chassis),
        "systemName": speaker.name,
        "systemDescription": speaker.description,
        "ttl": heard.ttl_seconds,
        "managementAddresses": [address],
        "chassisIdType": "macAddress",
    }
