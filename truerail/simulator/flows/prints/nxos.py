"""What Cisco NX-OS prints: JSON of tables and rows with numbers as strings, and its table of pause frames."""

from json import dumps
from typing import Any

from truerail.simulator.flows.ledger import Q
from truerail.simulator.flows.prints.sheet import Sheet

_RULE = "-" * 117


def counters(sheet: Sheet) -> str:
    """`show interface counters | json`: octets and unicast in one row, multicast and broadcast in the next."""
    found: dict[str, Any] = {}
    for way, of, size, packets in (("rx", "in", Q.RX_BYTES, Q.RX_PACKETS), ("tx", "out", Q.TX_BYTES, Q.TX_PACKETS)):
        rows = []
        for port, octets, count in zip(sheet.ports, sheet.of(size), sheet.of(packets), strict=True):
            rows.append({f"interface_{way}": port, f"eth_{of}bytes": str(octets), f"eth_{of}ucast": str(count)})
            rows.append({f"interface_{way}": port, f"eth_{of}mcast": "0", f"eth_{of}bcast": "0"})
        found[f"TABLE_{way}_counters"] = {f"ROW_{way}_counters": rows}
    return dumps(found) + "\n"


def pfc(sheet: Sheet) -> str:
    """`show interface priority-flow-control detail`."""
    received, sent = sheet.of(Q.RX_PAUSE_FRAMES, rdma=True), sheet.of(Q.TX_PAUSE_FRAMES, rdma=True)
    return "".join(_pfc_of(sheet, port, *frames) for port, *frames in zip(sheet.ports, received, sent, strict=True))


def _pfc_of(sheet: Sheet, port: str, received: int, sent: int) -> str:
    labels = "  |  ".join(f"Priority{of}" for of in range(8))
    lines = [
        f"{port}:", "    Admin Mode: Auto", "    Oper Mode: On", f"    VL bitmap: ({1 << sheet.priority:x})",
        f"    Total Rx PFC Frames: {received}", f"    Total Tx PFC Frames: {sent}", _RULE, f"    |  {labels}  |", _RULE,
    ]  # fmt: skip
    for way, frames in (("Rx", received), ("Tx", sent)):
        cells = "|".join(str(frames if of == sheet.priority else 0).ljust(13) for of in range(8)).rstrip()
        lines += [f"{way}  |{cells}", _RULE]
    return "\n".join(lines[:-1]) + "\n\n"
