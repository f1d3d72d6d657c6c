"""HPE Aruba AOS-CX: `show lldp neighbor-info detail`, `show interface physical` and `show interface`, all text.

Written from answers recorded in ntc-templates (aruba_aoscx). A port's name is `1/1/1`, also as its default description;
a neighbour without a name has an empty line.
"""

from collections.abc import Iterable

from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_neighbors, prints_text
from truerail.simulator.platforms._switches import answered, by_name, counted, links, prints_links, sends, speed_word
from truerail.simulator.traffic.ledger import CounterTable, Counts, Q

_LLDP = "show lldp neighbor-info detail"
_PHYSICAL = "show interface physical"
_INTERFACE = "show interface"
_RULE = "-" * 80
_WIDE = "-" * 137
_HEAD = (
    f"{_WIDE}\n"
    "                         Link    Admin        Speed           Flow-Control   PoE Power"
    "                                        Port\n"
    "Port      Type           Status  Config  Status | Config    Status | Config  (Watts)   State Information"
    "                      Description\n"
    f"{_WIDE}\n"
)


def lldp_text(neighbors: Iterable[Heard]) -> str:
    """The number of neighbours, then a block for each between lines of dashes."""
    blocks = [_block(heard) for heard in neighbors]
    head = f"""
LLDP Neighbor Information
=========================

Total Neighbor Entries          : {len(blocks)}
Total Neighbor Entries Deleted  : 0
Total Neighbor Entries Dropped  : 0
Total Neighbor Entries Aged-Out : 0

"""
    return head + "".join(blocks)


def _block(heard: Heard) -> str:
    speaker, port = heard.speaker, heard.port
    return f"""{_RULE}

Port                           : {heard.local}
Neighbor Entries               : 1
Neighbor Entries Deleted       : 0
Neighbor Entries Dropped       : 0
Neighbor Entries Age-Out       : 0
Neighbor System-Name           : {speaker.name}
Neighbor System-Description    : {speaker.description}
Neighbor Chassis-ID            : {speaker.chassis}
Neighbor Management-Address    : {next(iter(speaker.addresses), "")}
Chassis Capabilities Available : {"Bridge, Router" if speaker.router else "Station"}
Chassis Capabilities Enabled   : {"Router" if speaker.router else "Station"}
Neighbor Port-ID               : {port.id}
Neighbor Port-Desc             : {port.description}
TTL                            : {heard.ttl_seconds}

"""


def physical_text(links: Iterable[Link]) -> str:
    """A row for each port; a port without link has no speed."""
    return _HEAD + "".join(map(_row, links))


def _row(link: Link) -> str:
    speed = speed_word(link.gbps)
    state = speed if link.up else f"Waiting for link, {speed}" if link.module else f"No XCVR installed, {speed}"
    return (
        f"{link.name:10}{f'{speed}-DR4' if link.module else '--':15}{'up' if link.up else 'down':8}"
        f"{'down' if link.off else 'up':8}{speed if link.up else '--':9}{'n/a':10}{'--':9}{'off':8}{'--':10}"
        f"{state:39}{link.label or '--'}\n"
    )


def interface_text(ether: Ether, switch: str, sheet: CounterTable | None) -> str:
    """A paragraph for each port, with its counters."""
    of = counted(sheet)
    return "\n".join(_interface(link, of(link.name)) for link in links(ether, switch))


def _interface(link: Link, n: Counts) -> str:
    packets = (n[Q.RX_PACKETS], n[Q.TX_PACKETS])
    rows = {
        "Packets": packets,
        "  Unicast": packets,
        "Bytes": (n[Q.RX_BYTES], n[Q.TX_BYTES]),
        "Dropped": (n[Q.RX_DISCARDS], n[Q.TX_DISCARDS]),
        "Errors": (n[Q.RX_ERRORS], 0),
    }
    table = "".join(f" {name:16}{rx:21}{tx:21}{rx + tx:21}\n" for name, (rx, tx) in rows.items())
    described = f" Description: {link.label}\n" if link.label else ""
    return f"""Interface {link.name} is {"up" if link.up else "down"} 
 Admin state is {"down" if link.off else "up"}
 Link state: {"up" if link.up else "down"} for 1 month (since Tue Oct 20 22:11:41 UTC 2026)
 Link transitions: {2 * n[Q.LINK_DOWNS]}
{described} Persona:
 Hardware: Ethernet, MAC Address: 02:00:00:00:00:01
 MTU 9198
 Type {speed_word(link.gbps)}-DR4
 Full-duplex
 Speed {round(link.gbps * 1000) if link.up else 0} Mb/s
 Auto-negotiation is off
 Flow-control: off
 Error-control: off
 Rate collection interval: 300 seconds

 Statistic                          RX                   TX                Total
 ---------------- -------------------- -------------------- --------------------
{table}"""  # noqa: W291 - the device ends its first line with a blank


PLATFORM = Platform(
    description="Aruba R9A29A GL.10.13.1000",
    default_name="10000",
    maker="Aruba, CX 9300",
    management="mgmt",
    port_name=lambda number, shape: f"1/1/{number}",
    frames=sends(by_name),
    answers=answered({_LLDP: prints_neighbors(lldp_text), _PHYSICAL: prints_links(physical_text)}),
    steady={
        VERSION: prints_text("ArubaOS-CX\n(c) Copyright 2017-2024 Hewlett Packard Enterprise Development LP\n"),
        _PHYSICAL: prints_links(physical_text),
    },
    fleeting={_LLDP: prints_neighbors(lldp_text)},
    ports={_INTERFACE: interface_text},
)
