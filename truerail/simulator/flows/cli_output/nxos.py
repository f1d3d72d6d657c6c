"""What Cisco NX-OS prints: JSON of tables and rows with numbers as strings, and its table of pause frames."""

from json import dumps
from typing import Any

from truerail.simulator.flows.cli_output.counter_table import CounterTable
from truerail.simulator.flows.ledger import Q

_RULE = "-" * 117


def counters(sheet: CounterTable) -> str:
    """`show interface counters | json`: octets and unicast in one row, multicast and broadcast in the next."""
    found: dict[str, Any] = {}
    for way, of, size, packets in (("rx", "in", Q.RX_BYTES, Q.RX_PACKETS), ("tx", "out", Q.TX_BYTES, Q.TX_PACKETS)):
        rows = []
        for port, octets, count in zip(sheet.ports, sheet.of(size), sheet.of(packets), strict=True):
            rows.append({f"interface_{way}": port, f"eth_{of}bytes": str(octets), f"eth_{of}ucast": str(count)})
            rows.append({f"interface_{way}": port, f"eth_{of}mcast": "0", f"eth_{of}bcast": "0"})
        found[f"TABLE_{way}_counters"] = {f"ROW_{way}_counters": rows}
    return dumps(found) + "\n"


def queues(sheet: CounterTable) -> str:
    """`show queuing interface | json`: a row for each port, in it one for each kind of count."""
    kinds = (("Tx", "Pkts", Q.TX_PACKETS), ("Tx", "Byts", Q.TX_BYTES), ("Tail Drop", "Pkts", Q.QUEUE_DROPS),
             ("ECN", "Pkts", Q.ECN_MARKED_PACKETS))  # fmt: skip
    columns = [(kind, unit, sheet.of(quantity, rdma=True)) for kind, unit, quantity in kinds]
    rows = []
    for number, port in enumerate(sheet.ports):
        reported = [
            {"eq-stat-type": kind, "eq-stat-units": unit, "eq-uc-stat-value": str(values[number])}
            for kind, unit, values in columns
        ]
        entry = _table("qosgrp_egress_stats_entry", reported)
        group = _table("qosgrp_egress_stats", {"eq-qosgrp": str(sheet.priority), **entry})
        rows.append({"dir": "Egress", "if_name_str": port, **group})
    return dumps(_table("module", _table("queuing_interface", rows))) + "\n"


def _table(name: str, rows: object) -> dict[str, Any]:
    """A table of NX-OS' JSON: an object in place of a list where there is one row."""
    return {f"TABLE_{name}": {f"ROW_{name}": rows}}


def pfc(sheet: CounterTable) -> str:
    """`show interface priority-flow-control detail`."""
    received, sent = sheet.of(Q.RX_PAUSE_FRAMES, rdma=True), sheet.of(Q.TX_PAUSE_FRAMES, rdma=True)
    return "".join(_pfc_of(sheet, port, *frames) for port, *frames in zip(sheet.ports, received, sent, strict=True))


def _pfc_of(sheet: CounterTable, port: str, received: int, sent: int) -> str:
    labels = "  |  ".join(f"Priority{of}" for of in range(8))
    lines = [
        f"{port}:", "    Admin Mode: Auto", "    Oper Mode: On", f"    VL bitmap: ({1 << sheet.priority:x})",
        f"    Total Rx PFC Frames: {received}", f"    Total Tx PFC Frames: {sent}", _RULE, f"    |  {labels}  |", _RULE,
    ]  # fmt: skip
    for way, frames in (("Rx", received), ("Tx", sent)):
        cells = "|".join(str(frames if of == sheet.priority else 0).ljust(13) for of in range(8)).rstrip()
        lines += [f"{way}  |{cells}", _RULE]
    return "\n".join(lines[:-1]) + "\n\n"
