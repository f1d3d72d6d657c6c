"""What SONiC prints: its counters database, and the tables of its command line (sonic-utilities)."""

from collections.abc import Iterable, Sequence
from json import dumps
from typing import Any

from truerail.simulator.flows.cli_output.counter_table import CounterTable
from truerail.simulator.flows.ledger import Key, Q

_PRIORITIES = range(8)
_PORT: tuple[tuple[str, Key], ...] = (
    ("SAI_PORT_STAT_IF_IN_OCTETS", (Q.RX_BYTES, False)),
    ("SAI_PORT_STAT_IF_OUT_OCTETS", (Q.TX_BYTES, False)),
    ("SAI_PORT_STAT_IF_IN_UCAST_PKTS", (Q.RX_PACKETS, False)),
    ("SAI_PORT_STAT_IF_OUT_UCAST_PKTS", (Q.TX_PACKETS, False)),
    ("SAI_PORT_STAT_IF_IN_ERRORS", (Q.RX_ERRORS, False)),
    ("SAI_PORT_STAT_IF_IN_DISCARDS", (Q.RX_DISCARDS, False)),
    ("SAI_PORT_STAT_IF_OUT_DISCARDS", (Q.TX_DISCARDS, False)),
    ("SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES", (Q.FEC_CORRECTED, False)),
    ("SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES", (Q.FEC_UNCORRECTED, False)),
    ("SAI_PORT_STAT_IF_IN_FEC_SYMBOL_ERRORS", (Q.FEC_SYMBOLS, False)),
    ("SAI_PORT_STAT_PFC_{}_RX_PKTS", (Q.RX_PAUSE_FRAMES, True)),
    ("SAI_PORT_STAT_PFC_{}_TX_PKTS", (Q.TX_PAUSE_FRAMES, True)),
    ("SAI_PORT_STAT_PFC_{}_RX_PAUSE_DURATION_US", (Q.RX_PAUSE_US, True)),
    ("SAI_PORT_STAT_PFC_{}_TX_PAUSE_DURATION_US", (Q.TX_PAUSE_US, True)),
    ("SAI_PORT_STAT_PFC_{}_ON2OFF_RX_PKTS", (Q.RX_PAUSE_TRANSITIONS, True)),
)
_FIRST_OID = 0x1000000000002


def database(sheet: CounterTable) -> str:
    """`sonic-db-dump` of the ports: names to object ids, and what each object counts, as strings."""
    oids = {port: f"oid:{_FIRST_OID + number:#x}" for number, port in enumerate(sheet.ports)}
    columns = [(name.format(sheet.priority), sheet.of(key[0], rdma=key[1])) for name, key in _PORT]
    found: dict[str, Any] = {"COUNTERS_PORT_NAME_MAP": _hash(oids)}
    for number, port in enumerate(sheet.ports):
        found[f"COUNTERS:{oids[port]}"] = _hash({name: str(values[number]) for name, values in columns})
    return dumps(found, indent=2) + "\n"


def _hash(value: dict[str, str]) -> dict[str, Any]:
    return {"type": "hash", "value": value, "ttl": -0.001, "expireat": 0.0}


def pfc(sheet: CounterTable) -> str:
    """`show pfc counters`: a table of what was received, one of what was sent."""
    tables = []
    for way, quantity in (("Rx", Q.RX_PAUSE_FRAMES), ("Tx", Q.TX_PAUSE_FRAMES)):
        rows = [
            (port, *(_grouped(value if of == sheet.priority else 0) for of in _PRIORITIES))
            for port, value in zip(sheet.ports, sheet.of(quantity, rdma=True), strict=True)
        ]
        tables.append(table((f"Port {way}", *(f"PFC{of}" for of in _PRIORITIES)), rows))
    return "\n".join(tables)


def history(sheet: CounterTable) -> str:
    """`show pfc counters --history`: times in microseconds."""
    rows: list[tuple[str, ...]] = []
    ends, times = sheet.of(Q.RX_PAUSE_TRANSITIONS, rdma=True), sheet.of(Q.RX_PAUSE_US, rdma=True)
    for port, count, us in zip(sheet.ports, ends, times, strict=True):
        rows.append((port, f"PFC{sheet.priority}", _grouped(count), _grouped(us), "0", "N/A"))
    header = (
        "Port", "Priority", "RX Pause Transitions", "Total RX Pause Time US", "Recent RX Pause Time US",
        "Recent RX Pause Timestamp",
    )  # fmt: skip
    return table(header, rows)


def counters_json(sheet: CounterTable) -> str:
    """`show interfaces counters -j`: packets, errors, drops; no bytes."""
    names = {
        "RX_OK": Q.RX_PACKETS,
        "RX_ERR": Q.RX_ERRORS,
        "RX_DRP": Q.RX_DISCARDS,
        "TX_OK": Q.TX_PACKETS,
        "TX_DRP": Q.TX_DISCARDS,
    }
    columns = {name: sheet.of(quantity) for name, quantity in names.items()}
    found = {
        port: {"STATE": "U", **{name: _grouped(values[number]) for name, values in columns.items()}}
        for number, port in enumerate(sheet.ports)
    }
    return dumps(found, indent=4) + "\n"


def queues(sheet: CounterTable) -> str:
    """`show queue counters; show queue wredcounters; show priority-group drop counters`, a table of queues a port."""
    packets, size = sheet.of(Q.TX_PACKETS, rdma=True), sheet.of(Q.TX_BYTES, rdma=True)
    drops, marked = sheet.of(Q.QUEUE_DROPS, rdma=True), sheet.of(Q.ECN_MARKED_PACKETS, rdma=True)
    queue = f"UC{sheet.priority}"
    parts = [
        table(
            ("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"),
            [(port, queue, _grouped(packets[n]), _grouped(size[n]), _grouped(drops[n]), "N/A")],
        )
        for n, port in enumerate(sheet.ports)
    ]
    parts += [
        table(
            ("Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes"),
            [(port, queue, "N/A", "N/A", _grouped(marked[n]), "N/A")],
        )
        for n, port in enumerate(sheet.ports)
    ]
    groups = [(port, *("0" for _ in _PRIORITIES)) for port in sheet.ports]
    parts.append("Ingress PG dropped packets:\n" + table(("Port", *(f"PG{of}" for of in _PRIORITIES)), groups))
    return "\n".join(parts)


def watchdog(sheet: CounterTable) -> str:
    """`show pfcwd stats -e`: storms that were detected on the queue of RDMA's priority."""
    rows = [
        (f"{port}:{sheet.priority}", "stormed" if storms else "operational", f"{storms}/0", "0/0", "0/0", "0/0", "0/0")
        for port, storms in zip(sheet.ports, sheet.of(Q.WATCHDOG_STORMS, rdma=True), strict=True)
    ]
    header = (
        "QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP",
    )  # fmt: skip
    return table(header, rows)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as `tabulate` prints it in its simple style, all cells to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    ruled = [header, ["-" * width for width in widths], *lines[1:]]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n" for line in ruled
    )


def _grouped(value: int) -> str:
    return f"{value:,}"
