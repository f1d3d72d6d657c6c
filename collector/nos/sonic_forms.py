"""SONiC: LLDP, the tables of its counters, and its database."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from collector.formats.counts import Tally, both_ways, count, own, priority, words
from collector.formats.documents import unwrapped
from collector.formats.lldp_words import advertised, identified, neighbor
from collector.formats.table import Table, rows, tables
from collector.formats.text import asks, blocks, is_prompt, lines, object_of, sections
from truerail.errors import UnreadableError
from truerail.model import Command, Counter, Neighbor, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# SONiC's neighbours: the blocks of `sonic-cli`, and `show lldp table` in its plain form.
#
# The table is read row by row as slices, in a third of the time of `lldp_tables`: only as SONiC itself prints it, whole
# and nothing beside it: title, labels, a ruler below them, cells in their columns, the total. Anything else is left to
# the parser for all tables (None), with the same facts where both read it.
# Source: sonic-utilities `scripts/lldpshow`, which lays out the table with tabulate's "simple" format.

_LLDP_TITLE = "Capability codes: (R) Router, (B) Bridge, (O) Other"
_LABELS = ["LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"]
_RUN = re.compile("-+")
_CLOSING = re.compile("-{10,}")
_TOTAL = re.compile(r"Total entries displayed: {1,4}(\d{1,6})")
_PORT = re.compile(r"[Ee]th[a-z]*\d[\d/]*")
_INTERFACE = re.compile(r"Interface:[ \t]+(\S+?),via:[ \t]*LLDP[ \t]*")
_VALUE = re.compile(r"[ \t]+(ChassisID|SysName|PortID|PortDescr):[ \t]*(.*?)[ \t]*")
_FRAMED = ("ChassisID", "", "SysName", "PortID", "", "PortDescr", "", "")
_LLDP_RULER = re.compile(r"-{20,}[ \t]*")


def neighbors_from_cli(rows: Sequence[str]) -> list[Neighbor] | None:
    """The neighbours that `sonic-cli` shows (`lldp_neighbor_show.j2` of SONiC's management framework), a block for
    each between rulers; None for anything else. Raises `UnreadableError` if the last block is cut.
    """
    found: list[Neighbor] = []
    for begun, below in blocks(rows, _INTERFACE):
        values: dict[str, str] = {}
        for keyed in filter(None, map(_VALUE.fullmatch, below)):
            values.setdefault(keyed[1], keyed[2])
        found.append(neighbor(begun[1], map(values.get, _FRAMED)))
    if found and not any(map(_LLDP_RULER.fullmatch, below)):
        raise UnreadableError("a neighbour without the ruler below it: the answer is cut", text=begun[1])
    return found or None


def neighbors_from_table(answer: str) -> list[Neighbor] | None:
    """The neighbours in a plain table, in its order; None for anything else."""
    if not answer.startswith(_LLDP_TITLE):
        return None
    lines = answer.split("\n")
    if len(lines) < 6 or lines[0] != _LLDP_TITLE or lines[1].split() != _LABELS or "\r" in answer or "\t" in answer:
        return None
    head, ruler, rows = lines[1], lines[2], lines[3:-3]
    starts = [run.start() for run in _RUN.finditer(ruler)]
    total = _TOTAL.fullmatch(lines[-2])
    if starts != [head.index(label) for label in _LABELS] or ruler.strip("- ") or len(ruler) < len(head.rstrip()):
        return None
    if lines[-1] or total is None or int(total[1]) != len(rows) or not _CLOSING.fullmatch(lines[-3]):
        return None
    found = []
    _, name_at, id_at, capability_at, description_at = starts
    for row in rows:
        port, name, port_id = row[:name_at].strip(), row[name_at:id_at].strip(), row[id_at:capability_at].strip()
        gaps = row[name_at - 2 : name_at] + row[id_at - 2 : id_at] + row[capability_at - 2 : capability_at]
        gaps += row[description_at - 2 : description_at]
        if not (name and port_id and _PORT.fullmatch(port)) or gaps.strip(" "):
            return None
        described = advertised(row[description_at:])
        found.append(Neighbor(port, None, None, advertised(name), *identified(port_id), described))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Port counters of SONiC as `portstat` prints them: table, `-j`, and the long text of one port (`detailed`).
#
# Packets, errors and drops only; no bytes. Cells in bytes per second and percent are rates and are skipped. A table or
# document of errors without drops and states is about router interfaces (`intfstat`), not about ports. `sonic-cli`
# prints the columns between rulers without gaps (`show interface counters`, its template `show_interface_counters.j2`).

_COLUMNS = {
    **both_ways("rx_", "tx_", {"ok": "packets", "err": "errors", "drp": "discards", "ovr": "overruns"}),
    **words({"fec_corr": "fec_corrected", "fec_uncorr": "fec_uncorrected", "fec_symbol_err": "fec_symbols"}),
}
_DETAILS = words(
    {"Total Packets Received Without Errors": "rx_packets", "Total Packets Transmitted Successfully": "tx_packets"}
)
_DETAIL = re.compile(r"[ \t]*([A-Z][^.]{3,60})\.{3,}[ \t]*(\S.*?)[ \t]*")
_CLI = re.compile(r"^[ \t]*Interface[ \t]+State[ \t]+RX_OK\b", re.MULTILINE)
_PORT_RULER = re.compile(r"[ \t-]+")
_ASKED = asks("show", "detailed")
_PORT_TITLE = "Packets Received "
"""Title of each packet size: other tools fill lines with dots too."""
_CLEARED = "Time Since Counters Last Cleared"


def _routes(labels: Container[str]) -> bool:
    """Whether labels in lower case are those of a router interface."""
    return "rx_err" in labels and "rx_drp" not in labels and "state" not in labels


def port_from_tables(answer: str) -> list[PortCounters] | None:
    """Counters of the ports in tables."""
    tally, any_of_ports = Tally(), False
    for table in tables(answer):
        port = table.column("iface")
        places = [at for at, label in enumerate(table.labels) if label in _COLUMNS]
        if port < 0 or not places or _routes(table.labels):
            continue
        any_of_ports = True
        counters = [_COLUMNS[table.labels[at]] for at in places]
        for line, cells in table.rows:
            tally.row(cells[port], counters, [cells[at] for at in places], line=line)
    return tally.facts() if any_of_ports else None


def port_from_cli(answer: str) -> list[PortCounters] | None:
    """Counters of the ports in the table of `sonic-cli`. Raises `UnreadableError` if a row is cut.

    A last line without a line feed may be cut, and is skipped.
    """
    if not _CLI.search(answer):
        return None
    tally, labels = Tally(), list[str]()
    for number, line in enumerate(lines(answer)[:-1], 1):
        cells = line.split()
        if _CLI.match(line):
            labels = line.lower().split()
        elif is_prompt(line):
            labels = []
        elif labels and cells and not _PORT_RULER.fullmatch(line):
            if len(cells) != len(labels):
                raise UnreadableError("a row of fewer cells than labels: cut", line=number, text=line)
            for label, cell in zip(labels, cells, strict=True):
                if label in _COLUMNS:
                    tally.note(cells[0], _COLUMNS[label], count(cell, line=number))
    return tally.some()


def port_from_json(found: Any) -> list[PortCounters] | None:
    """Counters of the ports in `portstat -j`, which has the columns of the table. Other keys (`cached_time`) are
    skipped.
    """
    if not any("RX_OK" in cells or "FEC_CORR" in cells for cells in map(object_of, object_of(found).values())):
        return None
    tally = Tally()
    for port, cells in found.items():
        reported = {label.lower(): value for label, value in cells.items()} if isinstance(cells, dict) else {}
        for label, value in reported.items() if not _routes(reported) else ():
            if label in _COLUMNS:
                tally.note(port, _COLUMNS[label], count(value))
    return tally.some()


def port_from_details(answer: str) -> list[PortCounters] | None:
    """Counters in lines of `Packets Received 64 Octets......... 0`; the command above them names the port.

    A last line without a line feed is skipped: its number may have more digits.
    """
    if "....." not in answer or _PORT_TITLE not in answer:
        return None
    tally = Tally()
    for section in sections(lines(answer[: answer.rfind("\n") + 1]), "show", _ASKED):
        for at, line in enumerate(section.lines, section.line):
            found = _DETAIL.fullmatch(line)
            if found and found[1] != _CLEARED:
                counter = _DETAILS.get(found[1]) or own(found[1])
                tally.note(section.port, counter, count(found[2], line=at))
    return tally.some()


# ----------------------------------------------------------------------------------------------------------------------
# SONiC's pause frames: `show pfc counters` (`pfcstat`), a table `Port Rx` and a table `Port Tx`, and its `--history`.
#
# Both tables are always printed, for the same ports. A single table, or fewer ports in one, is a cut answer. History
# has a row for each port and priority, its times in microseconds, in early releases in milliseconds.

_WAYS = {"port rx": "rx_pause_frames", "port tx": "tx_pause_frames"}
_TRANSITIONS = "rx pause transitions"
_TIMES = {"total rx pause time us": 1, "total rx pause time ms": 1000}
"""Microseconds in a unit of each column."""


def pfc_from_tables(answer: str) -> list[PortCounters] | None:
    """The frames of the ports in both tables, or their history. Raises `UnreadableError` if a table or some of its
    ports are missing.
    """
    found = tables(answer)
    if any(table.labels[0] in _WAYS for table in found):
        return _frames(found)
    return _history(found) if any(_TRANSITIONS in table.labels for table in found) else None


def _frames(found: Sequence[Table]) -> list[PortCounters]:
    tally = Tally()
    seen: dict[str, set[str]] = {way: set() for way in _WAYS}
    for table in found:
        way = table.labels[0]
        named = [Counter(_WAYS.get(way, ""), priority(label)) for label in table.labels[1:]]
        for row in table.rows if way in _WAYS else ():
            seen[way].add(row.cells[0])
            tally.row(row.cells[0], named, row.cells[1:], line=row.line)
    if missing := sorted(seen["port rx"] ^ seen["port tx"]):
        raise UnreadableError(
            f"{len(missing)} of the ports are in one of the tables Rx and Tx only, {missing[0]} first"
        )
    return tally.facts()


def _history(found: Sequence[Table]) -> list[PortCounters]:
    """Number and duration of pauses by port. Ports without history (`N/A`) have no fact."""
    tally = Tally()
    for line, (port, of, transitions) in rows(found, "port", "priority", _TRANSITIONS):
        tally.note(port, Counter("rx_pause_transitions", priority(of)), count(transitions, line=line))
    for label, unit in _TIMES.items():
        for line, (port, of, total) in rows(found, "port", "priority", label):
            paused = count(total, line=line)
            tally.note(port, Counter("rx_pause_us", priority(of)), None if paused is None else paused * unit)
    return tally.facts()


# ----------------------------------------------------------------------------------------------------------------------
# SONiC's queues: `show queue counters [--voq]`, `show queue wredcounters`, `show priority-group drop counters`.
#
# A chassis of several devices names the ports of its virtual output queues `leaf-0|asic0|Ethernet0`. The output of
# `--trim` does not count a queue's packets. Queues are `UC3`, on other hardware `ALL3` or `VOQ3`; multicast queues,
# `MC10`, have counters with names of their own. The watermarks of priority groups have the same table as their drops:
# the line above it tells them apart.

_QUEUE = re.compile(r"(UC|ALL|VOQ|MC)([0-9]{1,2})", re.IGNORECASE)
_NAMES = {
    "counter/pkts": "queue_packets", "totalpacket": "queue_packets",
    "counter/bytes": "queue_bytes", "totalbytes": "queue_bytes",
    "drop/pkts": "queue_drops", "droppacket": "queue_drops",
    "drop/bytes": "queue_drop_bytes", "dropbytes": "queue_drop_bytes",
    "wreddrp/pkts": "wred_drops", "wreddroppacket": "wred_drops",
    "wreddrp/bytes": "wred_drop_bytes", "wreddropbytes": "wred_drop_bytes",
    "ecnmarked/pkts": "ecn_marked_packets", "ecnmarkedpacket": "ecn_marked_packets",
    "credit-wd-del/pkts": "credit_watchdog_drops", "creditwdpkts": "credit_watchdog_drops",
    "ecnmarked/bytes": "ecn_marked_bytes", "ecnmarkedbytes": "ecn_marked_bytes",
}  # fmt: skip


def _has_queues(table: Table) -> bool:
    """Whether this is a table of what queues counted or priority groups dropped."""
    if table.labels[0] != "port" or table.labels[1:2] not in (("txq",), ("voq",), ("pg0",)):
        return False
    return "drop" in table.title.lower() if "pg0" in table.labels else not _NAMES.keys().isdisjoint(table.labels)


def queue_from_tables(answer: str) -> list[PortCounters] | None:
    """Counters of the queues and priority groups in tables. Raises `UnreadableError` for an invalid cell."""
    found = list(filter(_has_queues, tables(answer)))
    tally = Tally()
    for table in found:
        if "pg0" not in table.labels:
            _note_queues(tally, table)
        else:
            groups = [Counter("rx_discards", priority(label)) for label in table.labels[1:]]
            for line, cells in table.rows:
                tally.row(cells[0], groups, cells[1:], line=line)
    return tally.facts() if found else None


def _note_queues(tally: Tally, table: Table) -> None:
    places = [at for at, label in enumerate(table.labels) if label in _NAMES]
    labels = tuple(table.labels[at] for at in places)
    for line, cells in (row for row in table.rows if row.cells[0] != "CPU"):  # no port
        tally.row(cells[0], _of_queue(cells[1], labels), [cells[at] for at in places], line=line)


def queue_from_json(found: Any) -> list[PortCounters] | None:
    """Counters of the queues in `queuestat -j` or `wredstat -j`, by port. Other keys (`time`) are skipped."""
    if not any(any(map(_QUEUE.fullmatch, queues)) for queues in map(object_of, object_of(found).values())):
        return None
    tally = Tally()
    for port, queues in found.items():
        for queue, reported in queues.items() if isinstance(queues, dict) else ():
            for label, value in reported.items() if isinstance(reported, dict) else ():
                if label in _NAMES:
                    (counter,) = _of_queue(queue, (label,))
                    tally.note(port, counter, count(value))
    return tally.facts()


@lru_cache(maxsize=4096)
def _of_queue(queue: str, labels: tuple[str, ...]) -> tuple[Counter, ...]:
    found = _QUEUE.fullmatch(queue)
    if found is None:
        raise UnreadableError("not the name of a queue", text=queue)
    before = "mc_" if found[1].upper() == "MC" else ""
    return tuple(Counter(before + _NAMES[label], int(found[2])) for label in labels)


# ----------------------------------------------------------------------------------------------------------------------
# SONiC's counters in its database: one JSON document of `sonic-db-dump`.
#
# `COUNTERS_PORT_NAME_MAP` maps ports to object ids, `COUNTERS:oid:0x1...` contains a port's counters under SAI's names
# (`saiport.h`), as strings. One Redis pattern matches both keys and, since ids of ports begin with 1 (their type in
# SAI), none of the queues (0x15...). Unlike the command line, the database has bytes, pause durations, and values that
# are independent of every user's `sonic-clear`.

DUMP = Command("sonic-db-dump -n COUNTERS_DB -y -k 'COUNTERS[_:][Po][Oi][Rd][T:][_0][Nx][A1][M0]*'", ("sonic",))
"""Run once for all its parsers."""

_MAP = "COUNTERS_PORT_NAME_MAP"
_IN, _OUT = "SAI_PORT_STAT_IF_IN_", "SAI_PORT_STAT_IF_OUT_"
_OF_PORT = {
    **both_ways(_IN, _OUT, {"OCTETS": "bytes", "ERRORS": "errors", "DISCARDS": "discards"}),
    **both_ways("SAI_PORT_STAT_PAUSE_RX_", "SAI_PORT_STAT_PAUSE_TX_", {"PKTS": "global_pause_frames"}),
    **words(
        {
            "SAI_PORT_STAT_IF_IN_FEC_CORRECTED_BITS": "corrected_bits",
            "SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES": "fec_corrected",
            "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": "fec_uncorrected",
            "SAI_PORT_STAT_IF_IN_FEC_SYMBOL_ERRORS": "fec_symbols",
        }
    ),
}
_PACKETS = both_ways(_IN, _OUT, {"UCAST_PKTS": "packets", "NON_UCAST_PKTS": "packets"})
_PFC = re.compile(r"(SAI|EST)_PORT_STAT_PFC_([0-7])_(\w+)")
_PFC_COUNTERS = {
    "RX_PKTS": "rx_pause_frames",
    "TX_PKTS": "tx_pause_frames",
    "RX_PAUSE_DURATION_US": "rx_pause_us",
    "TX_PAUSE_DURATION_US": "tx_pause_us",
    "ON2OFF_RX_PKTS": "rx_pause_transitions",
}


def port_from_dump(answer: str) -> list[PortCounters] | None:
    """Counters of every port over all priorities. Raises `UnreadableError`."""
    if _MAP not in answer:
        return None
    tally = Tally()
    for port, values in _dumped(answer):
        for name, value in values.items():
            if name in _OF_PORT:
                tally.note(port, _OF_PORT[name], count(value))
            elif name in _PACKETS:
                tally.add(port, _PACKETS[name], count(value))
    return tally.some()


def pfc_from_dump(answer: str) -> list[PortCounters] | None:
    """Counters of every port by priority, measured rather than estimated where both are reported. Raises
    `UnreadableError`."""
    if _MAP not in answer:
        return None
    tally = Tally()
    for port, values in _dumped(answer):
        for name in sorted(name for name in values if name[4:18] == "PORT_STAT_PFC_"):
            if counter := _pfc(name):
                tally.note(port, counter, count(values[name]))
    return tally.some()


@lru_cache(maxsize=1024)
def _pfc(name: str) -> Counter | None:
    """Estimates (EST) sort first, so measured values replace them."""
    found = _PFC.fullmatch(name)
    return Counter(_PFC_COUNTERS[found[3]], int(found[2])) if found and found[3] in _PFC_COUNTERS else None


def _dumped(answer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each port and the database entry of its object. A port without an entry has no counters yet."""
    database = unwrapped(answer)
    names = _hash(database, _MAP)
    if not names:
        raise UnreadableError("no port in COUNTERS_PORT_NAME_MAP: several ASICs have databases of their own")
    for port, oid in names.items():
        yield port, _hash(database, f"COUNTERS:{oid}")


def _hash(database: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    entry = database.get(key, {})
    found = entry.get("value", entry)
    if not isinstance(found, dict):
        raise UnreadableError("not a hash of the database", text=key)
    return found
