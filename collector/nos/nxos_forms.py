"""Cisco NX-OS: LLDP and counters of ports."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.formats.counts import Tally, both_ways, count, own, summed, words
from collector.formats.documents import listed
from collector.formats.lldp_words import advertised, identified, local_port, neighbor, seconds
from collector.formats.text import lines, object_of
from truerail.errors import UnreadableError
from truerail.model import Counter, Neighbor, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours as Cisco NX-OS prints them in JSON.
#
# `show lldp neighbors [detail] | json`: `TABLE_nbor[_detail]` holds `ROW_nbor[_detail]`, which is an object where there
# is one neighbour and a list where there are several; numbers may be strings. Without `detail` the field `chassis_id`
# is the table's column "Device ID": the system name, or the chassis id of a neighbour that has none. With `detail` the
# field `ttl` is the text form's `Time remaining`: the rest of the time to live, which is not used as the time to live.

LLDP_KEYS = frozenset({"TABLE_nbor", "TABLE_nbor_detail", "neigh_hdr", "neigh_count"})


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in NX-OS JSON. Raises `UnreadableError` where there are fewer than `neigh_count`."""
    found = [
        row
        for suffix in ("", "_detail")
        for table in listed(answer.get(f"TABLE_nbor{suffix}") or None)
        for row in listed(table[f"ROW_nbor{suffix}"] or None)
    ]
    announced = seconds(answer.get("neigh_count")) or 0
    if len(found) < announced:
        raise UnreadableError(f"{len(found)} of {announced} neighbours: the answer is cut")
    yield from map(_neighbor, found)


def _neighbor(row: Mapping[str, Any]) -> Neighbor:
    chassis_id, chassis_type = identified(row.get("chassis_id"), row.get("chassis_type"))
    name = advertised(row.get("sys_name"))
    if "sys_name" not in row and chassis_type != "mac":
        name = chassis_id
    managed = (row.get("mgmt_addr"), row.get("mgmt_addr_ipv6"))
    far = (row.get("port_id"), row.get("port_type"), row.get("port_desc"), row.get("hold_time"), None)
    return neighbor(local_port(row["l_port_id"]), (chassis_id, chassis_type, name, *far), managed)


# ----------------------------------------------------------------------------------------------------------------------
# Port counters of Cisco NX-OS: `show interface [counters [errors]]`, its tables and its JSON; EOS' tables are alike.
#
# The JSON has a row for each port and pair of counters (`ROW_rx_counters`: octets and unicast in one, multicast and
# broadcast in the next), an object in place of a list for a single row, and numbers that may be strings. The text has a
# table for each such pair, its labels between two rulers. Both forms use the same words. EOS' table of errors has
# shorter ones, and a row of totals may follow its ports.

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
    (
        *("align-err", "stomped-crc", "undersize", "runts", "giants", "carri-sen", "intmactx-er", "intmacrx-er"),
        "deferred-tx",
    )
)
_EOS_ERRORS = words(
    {"fcs": "crc_errors", "align": "alignment_errors", "symbol": "symbol_errors", "rx": "rx_errors", "tx": "tx_errors"}
)
"""Labels that mean this beside others of errors: too short to show what a table is about."""
_ALL = {**both_ways("in", "out", {"pkts": "packets"}), **both_ways("eth_in", "eth_out", {"pkts": "packets"})}
_CASTS = {
    **both_ways("in", "out", {"ucastpkts": "packets", "mcastpkts": "packets", "bcastpkts": "packets"}),
    **both_ways("eth_in", "eth_out", {"ucast": "packets", "mcast": "packets", "bcast": "packets"}),
}
_KNOWN = {*_BOTH, *_ALL, *_CASTS}
_IN_TEXT = _TEXT_OWN.union(_KNOWN)
Ports = dict[str, dict[str, int | None]]


def port_from_json(found: Any) -> list[PortCounters] | None:
    """Counters of the ports in a document."""
    if not any(key in object_of(found) for key in ("TABLE_rx_counters", "TABLE_tx_counters", "TABLE_interface")):
        return None
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


def port_from_text(answer: str) -> list[PortCounters] | None:
    """Counters of the ports in tables. Raises `UnreadableError` if a row is cut."""
    if "port" not in answer.lower() or not any(_labels(line) for line in answer.split("\n")):
        return None
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


def _tallied(ports: Ports, own_words: Mapping[str, Counter]) -> list[PortCounters]:
    tally = Tally()
    for port, reported in ports.items():
        for word, value in reported.items():
            if counter := _BOTH.get(word) or own_words.get(word):
                tally.note(port, counter, value)
        for packets in (Counter("rx_packets"), Counter("tx_packets")):
            whole = summed(value for word, value in reported.items() if _ALL.get(word) == packets)
            parts = summed(value for word, value in reported.items() if _CASTS.get(word) == packets)
            tally.note(port, packets, parts if whole is None else whole)
    return tally.some()


# ----------------------------------------------------------------------------------------------------------------------
# Port counters in the paragraphs of NX-OS' `show interface`.
#
# Below a port's first line (`Ethernet1/1 is up`) `RX` and `TX` begin the counters of a direction, several to a line
# with blanks between them: `0 input error  0 short frame`. Source: recorded answers in genieparser and ntc-templates.
#
# Traps:
#
# - The rates above the counters, `3034 packets/sec`, are none.
# - `storm suppression bytes` are no bytes of the port, and `Stomped CRC` are frames that another switch had broken.
# - A port with received counters and none that it sent is cut: the answer is refused.

_PORT = re.compile(r"([A-Za-z][A-Za-z-]*\d[\d/.]*) is (?:up|down|administratively down)\b.{0,200}")
_WAY = re.compile(r"[ \t]+(rx|tx)[ \t]*", re.IGNORECASE)
_CELL = re.compile(
    r"(?<![\d,])(\d{1,3}(?:,\d{3})+|\d{1,20}) ([A-Za-z][A-Za-z/ -]{0,60}?)(?=[ \t]{2,}|[ \t]+\d|[ \t]*$)"
)
_RX = words(
    {
        "input packets": "rx_packets",
        "bytes": "rx_bytes",
        "input error": "rx_errors",
        "input errors": "rx_errors",
        "input discard": "rx_discards",
        "crc": "crc_errors",
        "crc/fcs": "crc_errors",
        "rx pause": "rx_global_pause_frames",
    }
)
_TX = words(
    {
        "output packets": "tx_packets",
        "bytes": "tx_bytes",
        "output error": "tx_errors",
        "output errors": "tx_errors",
        "output discard": "tx_discards",
        "tx pause": "tx_global_pause_frames",
    }
)


_COUNTED = re.compile(r"^[ \t]*\d+ input packets\b", re.MULTILINE)


def paragraph_from_text(answer: str) -> list[PortCounters] | None:
    """Counters of the ports. Raises `UnreadableError` if a port is cut, or for none.

    A last line without a line feed may be cut, and is skipped.
    """
    if not _COUNTED.search(answer):
        return None
    tally = Tally()
    port, names, begun = "", None, 0
    for number, line in enumerate([*lines(answer)[:-1], "End1 is down"], 1):
        named, way = _PORT.fullmatch(line), _WAY.fullmatch(line)
        if (named or way) and names is _RX and not (way and way[1].lower() == "tx"):
            raise UnreadableError("a port's counters are cut: none that it sent", line=begun, text=port)
        if named:
            port, names, begun = named[1], None, number
        elif way and port:
            names = _RX if way[1].lower() == "rx" else _TX
        elif names:
            for value, label in _CELL.findall(line):
                if counter := names.get(label.lower()):
                    tally.note(port, counter, count(value, line=number))
    return tally.some()
