"""Nokia SR Linux: its state tree as JSON, `info from state system lldp | as json` and `info from state interface *`.

Written from Nokia's YANG models (nokia/srlinux-yang-models: srl_nokia-lldp, srl_nokia-interfaces). A port that is down
keeps its configured speed and gives the reason.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any

from truerail.model import Port
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_text
from truerail.simulator.platforms._switches import answered, by_name, counted, links, sends, speed_word
from truerail.simulator.traffic.ledger import CounterTable, Counts, Q

_LLDP = "info from state system lldp | as json"
_INTERFACES = "info from state interface * | as json"
_TYPES = {"mac": "MAC_ADDRESS", "ifname": "INTERFACE_NAME", "local": "LOCAL"}
_COUNTERS = {
    "in-packets": Q.RX_PACKETS,
    "in-octets": Q.RX_BYTES,
    "in-error-packets": Q.RX_ERRORS,
    "in-discarded-packets": Q.RX_DISCARDS,
    "out-packets": Q.TX_PACKETS,
    "out-octets": Q.TX_BYTES,
    "out-discarded-packets": Q.TX_DISCARDS,
    "carrier-transitions": Q.LINK_DOWNS,
}
_PER = {"carrier-transitions": 2}
"""A link that went down came up before or after."""
_MTU = 9232


def _lldp(ether: Ether, switch: str) -> str:
    return lldp_json(ether.world.fabric.ports[switch], ether.neighbors(switch))


def lldp_json(ports: Iterable[str], neighbors: Iterable[Heard]) -> str:
    """Every port, with its neighbours if it has any."""
    found: dict[str, dict[str, Any]] = {port: {"name": port, "admin-state": "enable"} for port in ports}
    for heard in neighbors:
        port = found.setdefault(heard.local, {"name": heard.local, "admin-state": "enable"})
        port.setdefault("neighbor", []).append(_neighbor(heard))
    return dumps({"system": {"lldp": {"admin-state": "enable", "interface": list(found.values())}}}, indent=2) + "\n"


def _neighbor(heard: Heard) -> dict[str, Any]:
    speaker, port = heard.speaker, heard.port
    leaves = {
        "id": speaker.chassis.upper(),
        "first-message": "2026-11-20T12:00:00.000Z",
        "last-update": "2026-11-20T13:59:48.000Z",
        "system-name": speaker.name,
        "system-description": speaker.description,
        "chassis-id": speaker.chassis.upper() if speaker.chassis_type == "mac" else speaker.chassis,
        "chassis-id-type": _TYPES[speaker.chassis_type],
        "port-id": port.id.upper() if port.id_type == "mac" else port.id,
        "port-id-type": _TYPES[port.id_type],
        "port-description": port.description,
    }
    addresses = [{"address": address, "type": "IPv6" if ":" in address else "IPv4"} for address in speaker.addresses]
    return {name: value for name, value in leaves.items() if value} | {"management-address": addresses}


def interfaces_json(ether: Ether, switch: str, sheet: CounterTable | None = None) -> str:
    """The state, the speed and the counters of every port."""
    of = counted(sheet)
    serials = ether.world.serials
    ports = [_interface(one, of(one.name), serials.get(Port(switch, one.name), "")) for one in links(ether, switch)]
    return dumps({"interface": ports}, indent=2) + "\n"


def _interface(link: Link, n: Counts, serial: str) -> dict[str, Any]:
    reason = "port-admin-disabled" if link.off else "lower-layer-down" if link.module else "trans-not-present"
    return {
        "name": link.name,
        **({"description": link.label} if link.label else {}),
        "admin-state": "disable" if link.off else "enable",
        "mtu": _MTU,
        "oper-state": "up" if link.up else "down",
        **({} if link.up else {"oper-down-reason": reason}),
        "ethernet": {"port-speed": speed_word(link.gbps), "hw-mac-address": "1A:48:00:FF:00:01"},
        **({"transceiver": _module(serial)} if link.module else {}),
        "statistics": {name: str(n[quantity] * _PER.get(name, 1)) for name, quantity in _COUNTERS.items()},
    }


def _module(serial: str) -> dict[str, Any]:
    leaves = {"form-factor": "QSFPDD", "ethernet-pmd": "400GBASE-CR4", "connector-type": "no-separable-connector"}
    leaves |= {"vendor": "VENDOR", "vendor-part-number": "MCP4Y10-N002"}
    return leaves | ({"vendor-serial-number": serial} if serial else {})


PLATFORM = Platform(
    description="SRLinux-v24.7.2-319-g64b71941f7 7220 IXR-D5 Copyright (c) 2000-2020 Nokia",
    maker="Nokia, 7220 IXR",
    management="mgmt0",
    port_name=lambda number, shape: f"ethernet-1/{number}",
    frames=sends(by_name),
    answers=answered({_LLDP: _lldp, _INTERFACES: interfaces_json}),
    steady={VERSION: prints_text("Hostname             : leaf\nChassis Type         : 7220 IXR-D5\n")},
    fleeting={_LLDP: _lldp},
    ports={_INTERFACES: interfaces_json},
)
