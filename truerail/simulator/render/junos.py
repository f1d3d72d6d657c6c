"""Juniper Junos, every leaf of the XML tree as a list of one `data`: `show lldp neighbors detail | display json` and
`show interfaces media | display json`.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any
from xml.sax.saxutils import escape

from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.links import Link

_CHASSIS_TYPES = {"mac": "Mac address", "local": "Locally assigned"}
_TYPES = {"mac": "Mac address", "ifname": "Interface name", "local": "Locally assigned"}


def lldp_json(neighbors: Iterable[Heard]) -> str:
    """The answer; one that hears nobody has no entries."""
    entries = [_entry(index, heard) for index, heard in enumerate(neighbors, 1)]
    attributes = {"xmlns": "http://xml.juniper.net/junos/22.4R0/lldp-mtx", "junos:style": "detail"}
    information: dict[str, Any] = {"attributes": attributes}
    if entries:
        information["lldp-neighbor-information"] = entries
    return dumps({"lldp-neighbors-information": [information]}, indent=4) + "\n"


def media_json(links: Iterable[Link]) -> str:
    """The state and speed of every port; without link it is the speed that the port is configured for."""
    attributes = {"xmlns": "http://xml.juniper.net/junos/22.4R0/junos-interface", "junos:style": "normal"}
    ports = [_port(link) for link in links]
    return dumps({"interface-information": [{"attributes": attributes, "physical-interface": ports}]}, indent=4) + "\n"


def _port(link: Link) -> dict[str, Any]:
    leaves = {
        "name": link.name,
        "admin-status": "down" if link.off else "up",
        "oper-status": "up" if link.up else "down",
        **({"description": link.label} if link.label else {}),
        "link-level-type": "Ethernet",
        "mtu": "9230",
        "speed": f"{link.gbps:g}Gbps",
    }
    return {name: [{"data": value}] for name, value in leaves.items()}


def brief_xml(neighbors: Iterable[Heard]) -> str:
    """`show lldp neighbors | display xml` without a remote port id (napalm, junos_qfx5110)."""
    entries = "".join(
        f"""    <lldp-neighbor-information>
        <lldp-local-port-id>{heard.local}</lldp-local-port-id>
        <lldp-local-parent-interface-name>-</lldp-local-parent-interface-name>
        <lldp-remote-chassis-id-subtype>{_CHASSIS_TYPES[heard.speaker.chassis_type]}</lldp-remote-chassis-id-subtype>
        <lldp-remote-chassis-id>{heard.speaker.chassis}</lldp-remote-chassis-id>
{_leaf("port-description", heard.port.description)}{_leaf("system-name", heard.speaker.name)}\
    </lldp-neighbor-information>
"""
        for heard in neighbors
    )
    return f"<lldp-neighbors-information>\n{entries}</lldp-neighbors-information>\n"


def _leaf(name: str, value: str) -> str:
    return f"        <lldp-remote-{name}>{escape(value)}</lldp-remote-{name}>\n" if value else ""


def _entry(index: int, heard: Heard) -> dict[str, Any]:
    speaker, port = heard.speaker, heard.port
    capability = "Router " if speaker.router else "Station Only "
    leaves = {
        "lldp-index": str(index),
        "lldp-ttl": str(heard.ttl_seconds),
        "lldp-timemark": "Fri Nov 20 14:00:00 2026",
        "lldp-age": str(heard.age_seconds % 30),
        "lldp-local-interface": heard.local,
        "lldp-local-parent-interface-name": "-",
        "lldp-local-port-id": str(516 + heard.number),
        "lldp-local-port-ageout-count": "0",
        "lldp-remote-chassis-id-subtype": _CHASSIS_TYPES[speaker.chassis_type],
        "lldp-remote-chassis-id": speaker.chassis,
        "lldp-remote-port-id-subtype": _TYPES[port.id_type],
        "lldp-remote-port-id": port.id,
        **({"lldp-remote-port-description": port.description} if port.description else {}),
        **({"lldp-remote-system-name": speaker.name} if speaker.name else {}),
    }
    entry: dict[str, Any] = {name: [{"data": value}] for name, value in leaves.items()}
    if speaker.description:
        entry["lldp-system-description"] = [{"lldp-remote-system-description": [{"data": speaker.description}]}]
    for state in ("supported", "enabled"):
        entry[f"lldp-remote-system-capabilities-{state}"] = [{"data": capability}]
    if speaker.addresses:
        entry["lldp-remote-management-address"] = [{"data": address} for address in speaker.addresses]
    return entry
