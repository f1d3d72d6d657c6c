"""Dell OS10: `show lldp neighbors detail`, `show interface status` and `show interface`, all text.

Written from answers recorded in canu and in public clients. What a neighbour does not send reads `Not Advertised`; the
table of ports shortens their names to `Eth 1/1/1` and has no administrative state; a paragraph begins with that state.
"""

from collections.abc import Iterable

from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_neighbors, prints_text
from truerail.simulator.platforms._switches import (
    answered,
    by_name_alone,
    counted,
    links,
    prints_links,
    sends,
    speed_word,
)
from truerail.simulator.traffic.ledger import CounterTable, Counts, Q

_LLDP = "show lldp neighbors detail"
_STATUS = "show interface status"
_INTERFACE = "show interface"
_NONE = "Not Advertised"
_CHASSIS = {"mac": "Mac address (4)", "local": "Locally assigned (7)"}
_PORTS = {"mac": "Mac address (3)", "ifname": "Interface name (5)", "local": "Locally assigned (7)"}
_RULE = "-" * 98
_HEAD = "Port            Description     Status   Speed    Duplex   Mode Vlan Tagged-Vlans"


def lldp_text(neighbors: Iterable[Heard]) -> str:
    """A block for each neighbour, under it a line of dashes."""
    return "".join(map(_block, neighbors))


def _block(heard: Heard) -> str:
    speaker, port = heard.speaker, heard.port
    hours, seconds = divmod(heard.age_seconds, 3600)
    addresses = "".join(
        f"Remote Management Address (IPv{6 if ':' in address else 4}): {address}\n" for address in speaker.addresses
    )
    return f"""Remote Chassis ID Subtype: {_CHASSIS[speaker.chassis_type]}
Remote Chassis ID: {speaker.chassis}
Remote Port Subtype: {_PORTS[port.id_type]}
Remote Port ID: {port.id}
Remote Port Description: {port.description or _NONE}
Local Port ID: {heard.local}
Locally assigned remote Neighbor Index: {heard.number + 1}
Remote TTL: {heard.ttl_seconds}
Information valid for next {heard.ttl_seconds - heard.age_seconds % max(1, heard.ttl_seconds // 4)} seconds
Time since last information change of this neighbor: {hours:02}:{seconds // 60:02}:{seconds % 60:02}
Remote System Name: {speaker.name or _NONE}
Remote System Desc: {speaker.description or _NONE}
{addresses}{"-" * 75}
"""


def interface_text(ether: Ether, switch: str, sheet: CounterTable | None = None) -> str:
    """A paragraph for each port, with its counters."""
    of = counted(sheet)
    return "\n\n".join(_interface(link, of(link.name)) for link in links(ether, switch)) + "\n"


def _interface(link: Link, n: Counts) -> str:
    described = f"Description: {link.label}\n" if link.label else ""
    first, second = "down" if link.off else "up", "up" if link.up else "down"
    return f"""Ethernet {link.name.removeprefix("ethernet")} is {first}, line protocol is {second}
{described}Hardware is Eth, address is 02:00:00:00:00:31
    Current address is 02:00:00:00:00:31
Interface index is 40
MTU 9216 bytes, IP MTU 9184 bytes
LineSpeed {speed_word(link.gbps)}, Auto-Negotiation off
Flowcontrol rx off tx off
Last clearing of "show interface" counters: 48 weeks 4 days 23:12:22
Queuing strategy: fifo
Input statistics:
     {n[Q.RX_PACKETS]} packets, {n[Q.RX_BYTES]} octets
     0 Multicasts, 0 Broadcasts, {n[Q.RX_PACKETS]} Unicasts
     0 runts, 0 giants, 0 throttles
     0 CRC, 0 overrun, {n[Q.RX_DISCARDS]} discarded
Output statistics:
     {n[Q.TX_PACKETS]} packets, {n[Q.TX_BYTES]} octets
     0 Multicasts, 0 Broadcasts, {n[Q.TX_PACKETS]} Unicasts
     0 throttles, {n[Q.TX_DISCARDS]} discarded, 0 Collisions,  wred drops
Rate Info(interval 30 seconds):
     Input 0 Mbits/sec, 1 packets/sec, 0% of line rate
     Output 0 Mbits/sec, 7 packets/sec, 0% of line rate
Time since last interface status change: 7 weeks 6 days 03:21:10
"""


def status_text(links: Iterable[Link]) -> str:
    """A row for each port; a port without link has speed 0."""
    rows = [
        f"Eth {link.name.removeprefix('ethernet'):12}{link.label[:15]:16}{'up' if link.up else 'down':9}"
        f"{speed_word(link.gbps) if link.up else '0':9}{'full':9}{'A':5}{'1':5}-"
        for link in links
    ]
    return "\n".join([_RULE, _HEAD, _RULE, *rows, _RULE]) + "\n"


PLATFORM = Platform(
    description="Dell EMC Networking OS10 Enterprise. Copyright (c) 1999-2024 by Dell Inc. System Description: OS10",
    default_name="OS10",
    maker="Dell, Z9664F-ON",
    management="mgmt1/1/1",
    port_name=lambda number, shape: f"ethernet1/1/{number}",
    frames=sends(by_name_alone),
    answers=answered({_LLDP: prints_neighbors(lldp_text), _INTERFACE: interface_text}),
    steady={
        VERSION: prints_text("Dell SmartFabric OS10 Enterprise\nCopyright (c) 1999-2024 by Dell Inc.\n"),
        _STATUS: prints_links(status_text),
    },
    fleeting={_LLDP: prints_neighbors(lldp_text)},
    ports={_INTERFACE: interface_text},
)
