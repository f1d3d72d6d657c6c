"""Port counters of Cisco NX-OS: `show interface [counters [errors]]`, its tables and its JSON; EOS' tables are alike.

The JSON has a row for each port and pair of counters (`ROW_rx_counters`: octets and unicast in one, multicast and
broadcast in the next), an object in place of a list for a single row, and numbers that may be strings. The text has a
table for each such pair, its labels between two rulers. Both forms use the same words. EOS' table of errors has shorter
ones, and a row of totals may follow its ports.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector._answer import lines
from collector._documents import listed
from collector._tally import Tally, Words, count, own, summed, words
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_RULER = re.compile(r"[ \t]*-{3,}(?:[ \t]+-{3,})*[ \t]*")
_TOTALS = "totals"
_PROMPT = re.compile(r"[^\s|]{1,80}[#>][ \t]*(?:show .*)?")
_PORT_KEYS = ("interface", "interface_rx", "interface_tx")
_BOTH = words(
    {
        "eth_inbytes": "rx_bytes", "inoctets": "rx_bytes",
        "eth_outbytes": "tx_bytes", "outoctets": "tx_bytes",
        "eth_inerr": "rx_errors", "eth_rcv_err": "rx_errors", "rcv-err": "rx_errors",
        "eth_outerr": "tx_errors", "eth_xmit_err": "tx_errors", "xmit-err": "tx_errors",
        "eth_indiscard": "rx_discards", "eth_indisc": "rx_discards", "indiscards": "rx_discards",
        "eth_outdiscard": "tx_discards", "eth_outdisc": "tx_discards", "outdiscards": "tx_discards",
        "eth_crc": "crc_errors", "eth_fcs_err": "crc_errors", "fcs-err": "crc_errors",
        "eth_symbol_err": "symbol_errors", "symbol-err": "symbol_errors",
        "eth_inpause": "rx_global_pause_frames", "eth_outpause": "tx_global_pause_frames",
    }
)  # fmt: skip
_TEXT_OWN = frozenset(
    {
        "align-err",
        "stomped-crc",
        "undersize",
        "runts",
        "giants",
        "carri-sen",
        "intmactx-er",
        "intmacrx-er",
        "deferred-tx",
    }
)
_EOS_ERRORS = words(
    {"fcs": "crc_errors", "align": "alignment_errors", "symbol": "symbol_errors", "rx": "rx_errors", "tx": "tx_errors"}
)
"""Labels that mean this beside others of errors: too short to show what a table is about."""
_ALL = {"inpkts": "rx", "eth_inpkts": "rx", "outpkts": "tx", "eth_outpkts": "tx"}
_CASTS = {
    f"{before}{way}{cast}{after}": counted
    for before, after, names in (("", "pkts", ("ucast", "mcast", "bcast")), ("eth_", "", ("ucast", "mcast", "bcast")))
    for way, counted in (("in", "rx"), ("out", "tx"))
    for cast in names
}
_KNOWN = {*_BOTH, *_ALL, *_CASTS}
_IN_TEXT = _TEXT_OWN.union(_KNOWN)
Ports = dict[str, dict[str, int | None]]


def is_json(found: Mapping[str, Any]) -> bool:
    """Whether this is NX-OS' JSON of counters."""
    return any(key in found for key in ("TABLE_rx_counters", "TABLE_tx_counters", "TABLE_interface"))


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of the ports in this document."""
    ports: Ports = {}
    for row in _rows(found):
        port = next((str(row[key]) for key in _PORT_KEYS if key in row), "")
        reported = {word: count(value) for word, value in row.items() if word in _KNOWN}
        if port and reported:
            ports.setdefault(port, {}).update(reported)
    return _tallied(ports, {})


def _rows(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows below `TABLE_x`/`ROW_x`, at one level."""
    for table in (value for key, value in found.items() if key.startswith("TABLE_")):
        for part in listed(table):
            for name, row in part.items():
                yield from listed(row) if name.startswith("ROW_") else ()


def is_text(answer: str) -> bool:
    """Whether the answer contains a table of NX-OS' counters."""
    return "port" in answer.lower() and any(_labels(line) for line in answer.split("\n"))


def from_text(answer: str) -> list[PortCounters]:
    """Counters of the ports in these tables. Raises `UnreadableError` if a row is cut."""
    ports: Ports = {}
    text = lines(answer)
    labels: list[str] = []
    for at, line in enumerate(text, 1):
        cells = line.split()
        if not cells or _PROMPT.fullmatch(line.strip()):
            labels = []
        elif cells[0].lower() == "port":
            labels = cells[1:] if _labels(line) else []
        elif line.startswith("="):
            labels = []
        elif labels and cells[0].lower() != _TOTALS and not _RULER.fullmatch(line):
            ports.setdefault(cells[0], {}).update(_row(labels, cells[1:], at, cut=at == len(text)))
    return _tallied(ports, {word: own(word) for word in _TEXT_OWN} | _EOS_ERRORS)


def _labels(line: str) -> bool:
    """Whether a line is the header of a table of counters."""
    port, *labels = line.lower().split() or [""]
    return port == "port" and not _IN_TEXT.isdisjoint(labels)


def _row(labels: list[str], cells: list[str], line: int, *, cut: bool) -> dict[str, int | None]:
    if len(cells) != len(labels):
        raise UnreadableError(f"a row of {len(cells)} of {len(labels)} counters: cut", line=line, text=" ".join(cells))
    reported = {label.lower(): count(cell, line=line) for label, cell in zip(labels, cells, strict=True)}
    if cut and cells[-1] != "0":
        reported[labels[-1].lower()] = None
    return reported


def _tallied(ports: Ports, own_words: Words) -> list[PortCounters]:
    tally = Tally()
    for port, reported in ports.items():
        for word, value in reported.items():
            counter = _BOTH.get(word) or own_words.get(word)
            if counter:
                tally.note(port, counter, value)
        for way in ("rx", "tx"):
            whole = summed(value for word, value in reported.items() if _ALL.get(word) == way)
            parts = summed(value for word, value in reported.items() if _CASTS.get(word) == way)
            tally.note(port, Counter(f"{way}_packets"), parts if whole is None else whole)
    return tally.some()
