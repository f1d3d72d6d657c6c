"""Port counters of AOS-CX: `show interface`, a paragraph for each port with a table of RX, TX and totals.

The table of rates above it has the same columns but no counters. `Link transitions` counts both ups and downs: it is
odd on ports that are up. Source: recorded answers in ntc-templates (aruba_aoscx).
"""

import re
from collections.abc import Sequence

from collector._tally import Tally, count
from truerail.errors import UnreadableError
from truerail.model import Counter
from truerail.model.facts import PortCounters

_PORT = re.compile(r"Interface (\S+) is (?:up|down)\b.*")
_TITLE = re.compile(r"^[ \t]*Statistic[ \t]+RX[ \t]+TX[ \t]+Total[ \t\r]*$", re.MULTILINE)
_BLANK = re.compile(r"[ \t-]*")
_ROW = re.compile(r"[ \t]*([A-Z][A-Za-z /]*?)[ \t]{2,}(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]*")
_TRANSITIONS = re.compile(r"[ \t]+Link transitions: (\d+)[ \t]*")
_CARRIER = Counter("carrier_transitions")
_NAMES = {
    "Packets": ("rx_packets", "tx_packets"),
    "Bytes": ("rx_bytes", "tx_bytes"),
    "Dropped": ("rx_discards", "tx_discards"),
    "Pause Frames": ("rx_global_pause_frames", "tx_global_pause_frames"),
    "Errors": ("rx_errors", "tx_errors"),
    "CRC/FCS": ("crc_errors", None),
}
_LAST = "Errors"
"""The last row that a table needs: only rows for the kinds of errors follow it."""


def is_text(answer: str) -> bool:
    """Whether the answer contains such a table."""
    return _TITLE.search(answer) is not None


def from_text(text: Sequence[str]) -> list[PortCounters]:
    """Counters of the ports. Raises `UnreadableError` if a table is cut."""
    tally = Tally()
    port, rows = "", None
    for number, line in enumerate(text, 1):
        begun = _PORT.fullmatch(line)
        if begun:
            _refuse_cut(rows, number)
            port, rows = begun[1], None
        elif _TITLE.fullmatch(line):
            rows = set[str]()
        elif rows is not None and not _BLANK.fullmatch(line):
            rows.add(_take(tally, port, line, number))
        elif port and (found := _TRANSITIONS.fullmatch(line)) and number < len(text):
            tally.note(port, _CARRIER, count(found[1], line=number))
    _refuse_cut(rows, len(text))
    return tally.some()


def _take(tally: Tally, port: str, line: str, number: int) -> str:
    """Adds a row of the table. Returns its label."""
    found = _ROW.fullmatch(line)
    if found is None or not port:
        raise UnreadableError(
            "a row of counters with too few cells, or of no port: the answer is cut", line=number, text=line
        )
    label, rx, tx, _ = found.groups()
    for name, cell in zip(_NAMES.get(label, ()), (rx, tx), strict=False):
        if name:
            tally.note(port, Counter(name), count(cell, line=number))
    return label


def _refuse_cut(rows: set[str] | None, number: int) -> None:
    if rows is not None and _LAST not in rows:
        raise UnreadableError("a port's table of counters is cut", line=number)
