"""Port counters of SONiC as `portstat` prints them: table, `-j`, and the long text of one port (`detailed`).

Packets, errors and drops only; no bytes. Cells in bytes per second and percent are rates and are skipped. A table or
document of errors without drops and states is about router interfaces (`intfstat`), not about ports. `sonic-cli` prints
the columns between rulers without gaps (`show interface counters`, its template `show_interface_counters.j2`).
"""

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from collector._answer import lines
from collector._ruled_table import Table
from collector._sections import asks, is_prompt, sections
from collector._tally import Tally, count, own, words
from truerail.errors import UnreadableError
from truerail.model import PortCounters

_COLUMNS = words(
    {
        "rx_ok": "rx_packets",
        "rx_err": "rx_errors",
        "rx_drp": "rx_discards",
        "rx_ovr": "rx_overruns",
        "tx_ok": "tx_packets",
        "tx_err": "tx_errors",
        "tx_drp": "tx_discards",
        "tx_ovr": "tx_overruns",
        "fec_corr": "fec_corrected",
        "fec_uncorr": "fec_uncorrected",
        "fec_symbol_err": "fec_symbols",
    }
)
_DETAILS = words(
    {
        "Total Packets Received Without Errors": "rx_packets",
        "Total Packets Transmitted Successfully": "tx_packets",
    }
)
_DETAIL = re.compile(r"[ \t]*([A-Z][^.]{3,60})\.{3,}[ \t]*(\S.*?)[ \t]*")
_CLI = re.compile(r"^[ \t]*Interface[ \t]+State[ \t]+RX_OK\b", re.MULTILINE)
_RULER = re.compile(r"[ \t-]+")
_ASKED = asks("show", "detailed")
_TITLE = "Packets Received "
"""Title of each packet size: other tools fill lines with dots too."""
_CLEARED = "Time Since Counters Last Cleared"


def is_table(table: Table) -> bool:
    """Whether this is a table of port counters."""
    return "iface" in table.labels and not _COLUMNS.keys().isdisjoint(table.labels) and not _routes(table.labels)


def _routes(labels: Container[str]) -> bool:
    """Whether labels in lower case are those of a router interface."""
    return "rx_err" in labels and "rx_drp" not in labels and "state" not in labels


def from_tables(found: Sequence[Table]) -> list[PortCounters]:
    """Counters of the ports in these tables."""
    tally = Tally()
    for table in found:
        port = table.column("iface")
        places = [at for at, label in enumerate(table.labels) if label in _COLUMNS]
        counters = [_COLUMNS[table.labels[at]] for at in places]
        for line, cells in table.rows:
            tally.row(cells[port], counters, [cells[at] for at in places], line=line)
    return tally.facts()


def is_cli(answer: str) -> bool:
    """Whether this is the table of `sonic-cli`."""
    return _CLI.search(answer) is not None


def from_cli(text: Sequence[str]) -> list[PortCounters]:
    """Counters of the ports in that table. Raises `UnreadableError` if a row is cut.

    A last line without a line feed may be cut, and is skipped.
    """
    tally, labels = Tally(), list[str]()
    for number, line in enumerate(text[:-1], 1):
        cells = line.split()
        if _CLI.match(line):
            labels = line.lower().split()
        elif is_prompt(line):
            labels = []
        elif labels and cells and not _RULER.fullmatch(line):
            if len(cells) != len(labels):
                raise UnreadableError("a row of fewer cells than labels: cut", line=number, text=line)
            for label, cell in zip(labels, cells, strict=True):
                if label in _COLUMNS:
                    tally.note(cells[0], _COLUMNS[label], count(cell, line=number))
    return tally.some()


def is_details(answer: str) -> bool:
    """Whether this is the long text of one port."""
    return "....." in answer and _TITLE in answer


def is_json(found: Mapping[str, Any]) -> bool:
    """Whether this is `portstat -j`: ports with the columns of the table."""
    return any(isinstance(cells, dict) and ("RX_OK" in cells or "FEC_CORR" in cells) for cells in found.values())


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of the ports in this document. Other keys (`cached_time`) are skipped."""
    tally = Tally()
    for port, cells in found.items():
        reported = {label.lower(): value for label, value in cells.items()} if isinstance(cells, dict) else {}
        for label, value in reported.items() if not _routes(reported) else ():
            if label in _COLUMNS:
                tally.note(port, _COLUMNS[label], count(value))
    return tally.some()


def from_details(answer: str) -> list[PortCounters]:
    """Counters in lines of `Packets Received 64 Octets......... 0`; the command above them names the port.

    A last line without a line feed is skipped: its number may have more digits.
    """
    tally = Tally()
    for section in sections(lines(answer[: answer.rfind("\n") + 1]), "show", _ASKED):
        for at, line in enumerate(section.lines, section.line):
            found = _DETAIL.fullmatch(line)
            if found and found[1] != _CLEARED:
                counter = _DETAILS.get(found[1]) or own(found[1])
                tally.note(section.port, counter, count(found[2], line=at))
    return tally.some()
