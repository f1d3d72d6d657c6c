"""Arista EOS: `show lldp neighbors detail | json`, where every port is listed, a silent one with an empty list; and
`show interfaces status | json`.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any

from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.links import Link
from truerail.simulator.render.words import cisco_mac

_CHASSIS_TYPES = {"mac": "macAddress", "local": "locallyAssigned"}
_TYPES = {"mac": "macAddress", "ifname": "interfaceName", "local": "local"}


def lldp_json(ports: Iterable[str], neighbors: Iterable[Heard], now: float, *, short_macs: bool = False) -> str:
    """The answer of a switch with these ports whose clock says `now`, in seconds since the epoch.

    `short_macs` leaves the zeros out that a group of a MAC begins with.
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

    A port that is switched off is `disabled`; whether a module is in it is another question (ANTA, interfaces.py).
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
    if not port.description:
        del remote["interfaceDescription"]  # the TLV is absent
    return {
        "systemCapabilities": {"bridge": False, "router": speaker.router, "stationOnly": not speaker.router},
        "lastChangeTime": now - heard.age_seconds,
        "neighborInterfaceInfo": remote,
        "neighborDiscoveryTime": now - heard.age_seconds,
        "lastContactTime": now - 11,
        "chassisId": cisco_mac(speaker.chassis) if speaker.chassis_type == "mac" else speaker.chassis,
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
