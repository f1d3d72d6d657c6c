"""SONiC: its ports announce their alias as a local id; tables as wide as their widest cell (sonic-utilities
`scripts/lldpshow`, `scripts/intfutil`); counters from its database.
"""

from collections.abc import Iterable, Sequence
from json import dumps
from typing import Any

from truerail.simulator.behaviours.chosen import Behaviours
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Announced, Frame, Heard, Tells
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_text
from truerail.simulator.platforms._switches import (
    MTU,
    SwitchPort,
    as_pasted,
    is_asked_otherwise,
    links,
    sends,
    speed_word,
)
from truerail.simulator.platforms.linux import ip_link, lldpctl
from truerail.simulator.platforms.linux.switch import OS_RELEASE, interfaces
from truerail.simulator.traffic.ledger import Columns, CounterTable, Q

_LLDP_TABLE = "show lldp table"
_LLDPCTL = "docker exec lldp lldpctl -f json0"
_STATUS = "show interfaces status"
_FEC_STATS = "show interfaces counters fec-stats"
_PORT_COUNTERS = "sonic-db-dump -n COUNTERS_DB -y -k 'COUNTERS[_:][Po][Oi][Rd][T:][_0][Nx][A1][M0]*'"
_QUEUE_COUNTERS = "show queue counters; show queue wredcounters; show priority-group drop counters; :"
SUB_PORTS = {"4x200G": 4, "8x100G": 8}
"""Breakout modes of a cage of eight lanes, and the ports that one makes (x86_64-nvidia_sn5600-r0/platform.json,
doc/platform of the 128-port CPO switch): `etp1a` to `etp1h`.
"""
_ALIASES = {
    "ethn_n": "Eth1/{}",  # Celestica, Dell
    "gige": "hundredGigE1/{}",  # Dell
    "number": "{}",  # Delta, Marvell
    "ethernet_n": "Ethernet{}",  # Arista 7050QX-32S: the alias of Ethernet0 is Ethernet1
    "ethernet_n_1": "Ethernet{}/1",  # Arista 7060DX5
    "eth_port": "Eth{0}(Port{0})",  # Accton
    "centec": "eth-0-{}",
}
_STATUS_HEADER = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
_LLDP_HEADER = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
_PRIORITIES = range(8)
_PORT: Columns = {
    "SAI_PORT_STAT_IF_IN_OCTETS": Q.RX_BYTES,
    "SAI_PORT_STAT_IF_OUT_OCTETS": Q.TX_BYTES,
    "SAI_PORT_STAT_IF_IN_UCAST_PKTS": Q.RX_PACKETS,
    "SAI_PORT_STAT_IF_OUT_UCAST_PKTS": Q.TX_PACKETS,
    "SAI_PORT_STAT_IF_IN_ERRORS": Q.RX_ERRORS,
    "SAI_PORT_STAT_IF_IN_DISCARDS": Q.RX_DISCARDS,
    "SAI_PORT_STAT_IF_OUT_DISCARDS": Q.TX_DISCARDS,
    "SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES": Q.FEC_CORRECTED,
    "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": Q.FEC_UNCORRECTED,
    "SAI_PORT_STAT_IF_IN_FEC_SYMBOL_ERRORS": Q.FEC_SYMBOLS,
    "SAI_PORT_STAT_PFC_{}_RX_PKTS": (Q.RX_PAUSE_FRAMES, True),
    "SAI_PORT_STAT_PFC_{}_TX_PKTS": (Q.TX_PAUSE_FRAMES, True),
    "SAI_PORT_STAT_PFC_{}_RX_PAUSE_DURATION_US": (Q.RX_PAUSE_US, True),
    "SAI_PORT_STAT_PFC_{}_TX_PAUSE_DURATION_US": (Q.TX_PAUSE_US, True),
    "SAI_PORT_STAT_PFC_{}_ON2OFF_RX_PKTS": (Q.RX_PAUSE_TRANSITIONS, True),
}
_QUEUE: Columns = {
    "Counter/pkts": (Q.TX_PACKETS, True),
    "Counter/bytes": (Q.TX_BYTES, True),
    "Drop/pkts": (Q.QUEUE_DROPS, True),
    "EcnMarked/pkts": (Q.ECN_MARKED_PACKETS, True),
}
_QUEUE_LABELS = (
    ("Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"),
    ("WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes"),
)
"""Of the tables of `show queue counters` and `show queue wredcounters`; what is not counted is `N/A`."""
_FEC_HEADER = (
    "IFACE", "STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR", "FEC_PRE_BER", "FEC_POST_BER", "FEC_PRE_BER_MAX",
    "FLR(O)", "FLR(P) (Accuracy)", "FEC_MAX_T",
)  # fmt: skip
_FEC_COLUMNS = {"202411": 7, "202505": len(_FEC_HEADER)}
_WIRE_BITS = 1.0625
"""Bits on the wire for each bit of data (port_rates.lua: 53.125 Gb/s a lane of 50G)."""
_LOST_FRAME_BITS = 1e-8
"""`rs_average_frame_ber` of port_rates.lua: what each lost frame adds to the rate after FEC, over all bits."""
_AT_LINK_UP = 4
"""Frames lost while a good port came up (sonic-utilities PR#4124)."""
_FIRST_OID = 0x1000000000002


def alias(scheme: str, number: int, *, cage_ports: int = 1) -> str:
    """The alias of the port with this number, counted from 1, by a vendor's scheme (sonic-buildimage
    device/*/port_config.ini, dockers/docker-lldp/lldpmgrd); `cage_ports` share a cage.
    """
    cage, place = divmod(number - 1, cage_ports)
    if cage_ports > 2 and scheme in ("ethernet_n", "ethernet_n_1"):
        return f"Ethernet{cage + 1}/{1 + place * 8 // cage_ports}"  # Arista counts lanes behind the cage
    if cage_ports > 2 and scheme == "ethn_n":
        return f"Eth1/{cage + 1}/{place + 1}"  # Enterprise SONiC, interface-naming standard-ext; not confirmed
    if scheme in _ALIASES:
        return _ALIASES[scheme].format(number)
    return f"etp{cage + 1}{'abcdefgh'[place]}" if cage_ports > 1 else f"etp{number}"


def configured_alias(number: int, behaviours: Behaviours) -> str:
    """The alias of the port with this number, by the configured scheme and breakout mode."""
    split = sub_ports(behaviours)
    halves = 2 if "sonic_breakout" in behaviours else 1
    return alias(behaviours.value("sonic_alias"), number, cage_ports=split if split > 1 else halves)


def sub_ports(behaviours: Behaviours) -> int:
    """Ports per cage of eight lanes, by the configured breakout mode."""
    return SUB_PORTS.get(behaviours.value("sonic_split"), 1)


def announced(port: SwitchPort) -> Frame:
    """lldpmgrd's settings: the alias, and the description of CONFIG_DB; without one lldpd sends the netdev's name.

    Before lldpmgrd has configured the port: the chassis MAC, the same on every port (sonic-buildimage#4300).
    """
    if port.behaviours.hits("sonic_mac_portid", port.switch, port.number):
        return Frame(port.speaker, Announced("mac", port.speaker.chassis, port.name))
    own = configured_alias(port.number, port.behaviours)
    configured = own if port.behaviours.value("descr") == "alias" else port.label
    tells = Tells.PORT if port.is_read or not configured else Tells.DEVICE
    return Frame(port.speaker, Announced("local", own, configured or port.name), tells=tells)


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer."""
    heard = ether.neighbors(switch)
    by_table = is_asked_otherwise(ether.world, switch)
    found = {
        **({_LLDP_TABLE: lldp_table(heard)} if by_table else {_LLDPCTL: lldpctl.json0(heard)}),
        "ip -j -d link": ip_link.link(interfaces(ether, switch)),
        _STATUS: _status_now(ether, switch),
        **({_FEC_STATS: fec_stats(ether, switch)} if "fec_rates" in ether.world.behaviours else {}),
    }
    return as_pasted(ether, switch, found)


def _status_now(ether: Ether, switch: str) -> str:
    return status(links(ether, switch), ether.world.behaviours)


def lldp_table(neighbors: Iterable[Heard]) -> str:
    """The table. It has a neighbour's port id and description, but not the type of the id."""
    rows = [
        (heard.local, heard.speaker.name, heard.port.id, "R" if heard.speaker.router else "O", heard.port.description)
        for heard in neighbors
    ]
    widths = [max(len(row[column]) for row in (_LLDP_HEADER, *rows)) for column in range(len(_LLDP_HEADER))]
    lines = [
        "Capability codes: (R) Router, (B) Bridge, (O) Other",
        _line(_LLDP_HEADER, widths),
        _line(["-" * width for width in widths], widths),
        *(_line(row, widths) for row in rows),
        "-" * 50,
        f"Total entries displayed:  {len(rows)}",
    ]
    return "\n".join(lines) + "\n"


def status(found: Iterable[Link], behaviours: Behaviours) -> str:
    """`show interfaces status` in tabulate's style "simple"; lanes by the configured breakout mode."""
    lanes = 8 // sub_ports(behaviours)
    return table(_STATUS_HEADER, [_row(number, link, behaviours, lanes) for number, link in enumerate(found, 1)])


def _row(number: int, link: Link, behaviours: Behaviours, width: int) -> tuple[str, ...]:
    first = width * (number - 1)
    lanes = ",".join(map(str, range(first, first + width)))
    oper = "up" if link.up else "down"
    kind = "OSFP 8X Pluggable Transceiver" if link.module else "N/A"
    return (
        link.name, lanes, speed_word(link.gbps), str(MTU), "rs" if link.up else "N/A",
        configured_alias(number, behaviours), "routed", oper,
        "down" if link.off else "up", kind, "N/A",
    )  # fmt: skip


def fec_stats(ether: Ether, switch: str) -> str:
    """`show interfaces counters fec-stats` of a switch whose links work well (sonic-swss `port_rates.lua`): before FEC
    1e-12 to 8e-7, corrected codewords for a day to a year.
    """
    behaviours = ether.world.behaviours
    columns = _FEC_COLUMNS[behaviours.value("fec_rates")]
    rows = [_fec_row(link, switch, behaviours)[:columns] for link in links(ether, switch)]
    return table(_FEC_HEADER[:columns], rows)


def _fec_row(link: Link, switch: str, behaviours: Behaviours) -> tuple[str, ...]:
    if not link.up:
        return (link.name, "X" if link.off else "D", "0", "0", "0", *("0.00e+00",) * 3, "0", "0", "-1")
    at = (switch, link.name)
    bits = link.gbps * 1e9 * _WIRE_BITS
    level = 10 ** (-12 + 5.9 * behaviours.draw("ber", *at))
    corrected = int(level * bits * 86400 * 365 ** behaviours.draw("fec_days", *at))
    lost = int((_AT_LINK_UP + 1) * behaviours.draw("fec_lost", *at))
    first = behaviours.hits("first_ber", switch)
    before = corrected / bits if first else level
    after = lost * _LOST_FRAME_BITS / bits if "post_ber_formula" in behaviours else 0.0
    rates = (before, after, max(before, corrected / bits))
    symbols = _grouped(corrected + 16 * lost)
    return (link.name, "U", _grouped(corrected), _grouped(lost), symbols, *(f"{r:.2e}" for r in rates), "0", "0", "3")


def _line(cells: Iterable[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def database(sheet: CounterTable) -> str:
    """`sonic-db-dump` of the ports: names to object ids, and each object's counters, as strings."""
    oids = {port: f"oid:{_FIRST_OID + number:#x}" for number, port in enumerate(sheet.ports)}
    found: dict[str, Any] = {"COUNTERS_PORT_NAME_MAP": _hash(oids)}
    for port, row in sheet.rows(_PORT):
        found[f"COUNTERS:{oids[port]}"] = _hash({name: str(value) for name, value in row.items()})
    return dumps(found, indent=2) + "\n"


def _hash(value: dict[str, str]) -> dict[str, Any]:
    return {"type": "hash", "value": value, "ttl": -0.001, "expireat": 0.0}


def pfc_tables(sheet: CounterTable) -> str:
    """`show pfc counters`: a table of received pauses, and one of sent ones."""
    tables = []
    for way, quantity in (("Rx", Q.RX_PAUSE_FRAMES), ("Tx", Q.TX_PAUSE_FRAMES)):
        rows = [
            (port, *(_grouped(value if of == sheet.priority else 0) for of in _PRIORITIES))
            for port, value in zip(sheet.ports, sheet.of(quantity, rdma=True), strict=True)
        ]
        tables.append(table((f"Port {way}", *(f"PFC{of}" for of in _PRIORITIES)), rows))
    return "\n".join(tables)


def counters_json(sheet: CounterTable) -> str:
    """`show interfaces counters -j`: packets, errors, drops; no bytes."""
    names = {
        "RX_OK": Q.RX_PACKETS,
        "RX_ERR": Q.RX_ERRORS,
        "RX_DRP": Q.RX_DISCARDS,
        "TX_OK": Q.TX_PACKETS,
        "TX_DRP": Q.TX_DISCARDS,
    }
    found = {
        port: {"STATE": "U", **{name: _grouped(value) for name, value in row.items()}}
        for port, row in sheet.rows(names)
    }
    return dumps(found, indent=4) + "\n"


def queue_tables(sheet: CounterTable) -> str:
    """`show queue counters; show queue wredcounters; show priority-group drop counters`, a table of queues per port."""
    queue = f"UC{sheet.priority}"
    parts = [
        table(
            ("Port", "TxQ", *labels),
            [(port, queue, *(_grouped(row[label]) if label in row else "N/A" for label in labels))],
        )
        for labels in _QUEUE_LABELS
        for port, row in sheet.rows(_QUEUE)
    ]
    groups = [(port, *("0" for _ in _PRIORITIES)) for port in sheet.ports]
    parts.append("Ingress PG dropped packets:\n" + table(("Port", *(f"PG{of}" for of in _PRIORITIES)), groups))
    return "\n".join(parts)


def watchdog_table(sheet: CounterTable) -> str:
    """`show pfcwd stats -e`: storms detected on the queue of RDMA's priority."""
    rows = [
        (f"{port}:{sheet.priority}", "stormed" if storms else "operational", f"{storms}/0", "0/0", "0/0", "0/0", "0/0")
        for port, storms in zip(sheet.ports, sheet.of(Q.WATCHDOG_STORMS, rdma=True), strict=True)
    ]
    header = (
        "QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP",
    )  # fmt: skip
    return table(header, rows)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in `tabulate`'s simple style, all cells right-aligned."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    ruled = [header, ["-" * width for width in widths], *lines[1:]]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n" for line in ruled
    )


def _grouped(value: int) -> str:
    return f"{value:,}"


PLATFORM = Platform(
    description=(
        "SONiC Software Version: SONiC.202311.2 - HwSku: ACS-MSN4700 - Distribution: Debian 11.9 - "
        "Kernel: 5.10.0-23-2-amd64"
    ),
    default_name="sonic",
    port_name=lambda number, shape: f"Ethernet{shape.sonic_lanes * (number - 1)}",
    runs_lldpd=True,
    frames=sends(announced),
    answers=answers,
    steady={
        **ip_link.tools(interfaces),
        VERSION: prints_text("\nSONiC Software Version: SONiC.202311.2\nDistribution: Debian 11.9\n"),
        OS_RELEASE: prints_text("ID=debian\n"),
        _STATUS: _status_now,
    },
    fleeting=lldpctl.tools("docker exec lldp "),
    counters={
        _PORT_COUNTERS: database,
        _QUEUE_COUNTERS: queue_tables,
        "show interfaces counters -j": counters_json,
        "show pfc counters": pfc_tables,
        "show pfcwd stats -e": watchdog_table,
        "show pfcwd stats": watchdog_table,
    },
)
