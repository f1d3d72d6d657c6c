"""Juniper Junos, every leaf of the XML tree as a list of one `data`: `show lldp neighbors detail | display json`,
`show interfaces media | display json` and `show interfaces extensive | display json`.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any
from xml.sax.saxutils import escape

from truerail.simulator.fabric.builder import Shape
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Announced, Frame, Heard, Tells
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_neighbors, prints_text
from truerail.simulator.platforms._switches import SwitchPort, as_pasted, by_name, links, prints_links, sends
from truerail.simulator.traffic.ledger import Columns, CounterTable, Q

_LLDP = "show lldp neighbors detail | display json"
_MEDIA = "show interfaces media | display json"
_INDEX_OFFSET = 516
_MEMBER_PORTS = 12
"""Ports of each box of a stack."""
_CHASSIS_TYPES = {"mac": "Mac address", "local": "Locally assigned"}
_TYPES = {"mac": "Mac address", "ifname": "Interface name", "local": "Locally assigned"}
_GROUPS: dict[str, Columns] = {
    "ethernet-mac-statistics": {
        "input-bytes": Q.RX_BYTES,
        "output-bytes": Q.TX_BYTES,
        "input-packets": Q.RX_PACKETS,
        "output-packets": Q.TX_PACKETS,
    },
    "input-error-list": {"input-errors": Q.RX_ERRORS, "input-drops": Q.RX_DISCARDS},
    "output-error-list": {"carrier-transitions": Q.LINK_DOWNS, "output-drops": Q.TX_DISCARDS},
    "ethernet-fec-statistics": {"fec_ccw_count": Q.FEC_CORRECTED, "fec_nccw_count": Q.FEC_UNCORRECTED},
}
_PFC: Columns = {"input-mac-pfc-frames": (Q.RX_PAUSE_FRAMES, True), "output-mac-pfc-frames": (Q.TX_PAUSE_FRAMES, True)}
_QUEUE: Columns = {
    "queue-counters-trans-packets": (Q.TX_PACKETS, True),
    "queue-counters-trans-bytes": (Q.TX_BYTES, True),
    "queue-counters-total-drop-packets": (Q.QUEUE_DROPS, True),
}
_Data = list[dict[str, str]]


def port_name(number: int, shape: Shape) -> str:
    """`et-0/0/4`; the ports of a stack begin with the number of their box."""
    member, place = divmod(number - 1, _MEMBER_PORTS) if shape.stacked else (0, number - 1)
    return f"et-{member}/0/{place}"


def announced(port: SwitchPort) -> Frame:
    """The interface index as a local id, or the port's name; the configured description, or the name."""
    if port.behaviours.value("junos_portid") == "ifname":
        return by_name(port)
    tells = Tells.PORT if port.is_read or not port.label else Tells.DEVICE
    index = str(_INDEX_OFFSET + port.number)
    return Frame(port.speaker, Announced("local", index, port.label or port.name), tells=tells)


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer."""
    heard = ether.neighbors(switch)
    brief = ether.world.behaviours.hits("junos_no_portid", switch)
    lldp = {"show lldp neighbors | display xml": brief_xml(heard)} if brief else {_LLDP: lldp_json(heard)}
    return as_pasted(ether, switch, lldp | {_MEDIA: media_json(links(ether, switch))})


def lldp_json(neighbors: Iterable[Heard]) -> str:
    """The answer; without neighbours it has no entries."""
    entries = [_entry(index, heard) for index, heard in enumerate(neighbors, 1)]
    attributes = {"xmlns": "http://xml.juniper.net/junos/22.4R0/lldp-mtx", "junos:style": "detail"}
    information: dict[str, Any] = {"attributes": attributes}
    if entries:
        information["lldp-neighbor-information"] = entries
    return dumps({"lldp-neighbors-information": [information]}, indent=4) + "\n"


def media_json(links: Iterable[Link]) -> str:
    """The state and speed of every port; without link the configured speed."""
    attributes = {"xmlns": "http://xml.juniper.net/junos/22.4R0/junos-interface", "junos:style": "normal"}
    ports = [_media_port(link) for link in links]
    return dumps({"interface-information": [{"attributes": attributes, "physical-interface": ports}]}, indent=4) + "\n"


def _media_port(link: Link) -> dict[str, Any]:
    leaves = {
        "name": link.name,
        "admin-status": "down" if link.off else "up",
        "oper-status": "up" if link.up else "down",
        **({"description": link.label} if link.label else {}),
        "link-level-type": "Ethernet",
        "mtu": "9230",
        "speed": f"{link.gbps:g}Gbps",
    }
    return {name: _data(value) for name, value in leaves.items()}


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
        "lldp-local-port-id": str(_INDEX_OFFSET + heard.number),
        "lldp-local-port-ageout-count": "0",
        "lldp-remote-chassis-id-subtype": _CHASSIS_TYPES[speaker.chassis_type],
        "lldp-remote-chassis-id": speaker.chassis,
        "lldp-remote-port-id-subtype": _TYPES[port.id_type],
        "lldp-remote-port-id": port.id,
        **({"lldp-remote-port-description": port.description} if port.description else {}),
        **({"lldp-remote-system-name": speaker.name} if speaker.name else {}),
    }
    entry: dict[str, Any] = {name: _data(value) for name, value in leaves.items()}
    if speaker.description:
        entry["lldp-system-description"] = [{"lldp-remote-system-description": _data(speaker.description)}]
    for state in ("supported", "enabled"):
        entry[f"lldp-remote-system-capabilities-{state}"] = _data(capability)
    if speaker.addresses:
        entry["lldp-remote-management-address"] = [{"data": address} for address in speaker.addresses]
    return entry


def extensive_json(sheet: CounterTable) -> str:
    """Every port with its MAC's counters, its pause frames by priority and its queues."""
    columns = {**_PFC, **_QUEUE}
    for group in _GROUPS.values():
        columns |= group
    ports = [_counted_port(sheet, port, row) for port, row in sheet.rows(columns)]
    return dumps({"interface-information": [{"physical-interface": ports}]}, indent=2) + "\n"


def _counted_port(sheet: CounterTable, port: str, reported: dict[str, int]) -> dict[str, Any]:
    return {
        "name": _data(port),
        **{name: [_values(words, reported)] for name, words in _GROUPS.items()},
        "ethernet-mac-pfc-statistics": [{"mac-pfc-dot1p": _data(sheet.priority), **_values(_PFC, reported)}],
        "queue-counters": [{"queue": [{"queue-number": _data(sheet.priority), **_values(_QUEUE, reported)}]}],
    }


def _values(words: Columns, reported: dict[str, int]) -> dict[str, _Data]:
    return {name: _data(reported[name]) for name in words}


def _data(value: object) -> _Data:
    return [{"data": str(value)}]


PLATFORM = Platform(
    description="Juniper Networks, Inc. qfx5220-32cd Ethernet Switch, kernel JUNOS 22.4R3-S2.11-EVO",
    maker="Juniper Networks, Inc., QFX Series",
    management="re0:mgmt-0",
    index_offset=_INDEX_OFFSET,
    port_name=port_name,
    frames=sends(announced),
    answers=answers,
    steady={VERSION: prints_text("Model: qfx5220-32cd\nJunos: 22.4R3-S2.11-EVO\n"), _MEDIA: prints_links(media_json)},
    fleeting={_LLDP: prints_neighbors(lldp_json)},
    counters={"show interfaces extensive | display json": extensive_json},
)
