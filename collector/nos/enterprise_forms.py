"""Systems of which few forms are read: AOS-CX, Comware, VRP, Dell OS10, sonic-cli."""

import re

from collector.formats.counts import Tally, count, priority
from collector.formats.table import sure
from collector.formats.text import is_prompt, lines
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# Port counters of AOS-CX: `show interface`, a paragraph for each port with a table of RX, TX and totals.
#
# The table of rates above it has the same columns but no counters. `Link transitions` counts both ups and downs: it is
# odd on ports that are up. Source: recorded answers in ntc-templates (aruba_aoscx).

_AOSCX_PORT = re.compile(r"Interface (\S+) is (?:up|down)\b.*")
_AOSCX_TITLE = re.compile(r"^[ \t]*Statistic[ \t]+RX[ \t]+TX[ \t]+Total[ \t\r]*$", re.MULTILINE)
_BLANK = re.compile(r"[ \t-]*")
_AOSCX_ROW = re.compile(r"[ \t]*([A-Z][A-Za-z /]*?)[ \t]{2,}(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]*")
_TRANSITIONS = re.compile(r"[ \t]+Link transitions: (\d+)[ \t]*")
_CARRIER = Counter("carrier_transitions")
_AOSCX_NAMES = {
    "Packets": ("rx_packets", "tx_packets"),
    "Bytes": ("rx_bytes", "tx_bytes"),
    "Dropped": ("rx_discards", "tx_discards"),
    "Pause Frames": ("rx_global_pause_frames", "tx_global_pause_frames"),
    "Errors": ("rx_errors", "tx_errors"),
    "CRC/FCS": ("crc_errors", None),
}
_LAST = "Errors"
"""The last row that a table needs: only rows for the kinds of errors follow it."""


def aoscx_from_text(answer: str) -> list[PortCounters] | None:
    """Counters of the ports. Raises `UnreadableError` if a table is cut."""
    if not _AOSCX_TITLE.search(answer):
        return None
    tally, text = Tally(), lines(answer)
    port, rows = "", None
    for number, line in enumerate(text, 1):
        if begun := _AOSCX_PORT.fullmatch(line):
            _refuse_cut(rows, number)
            port, rows = begun[1], None
        elif _AOSCX_TITLE.fullmatch(line):
            rows = set[str]()
        elif rows is not None and not _BLANK.fullmatch(line):
            rows.add(_take(tally, port, line, number))
        elif port and (found := _TRANSITIONS.fullmatch(line)) and number < len(text):
            tally.note(port, _CARRIER, count(found[1], line=number))
    _refuse_cut(rows, len(text))
    return tally.some()


def _take(tally: Tally, port: str, line: str, number: int) -> str:
    """Adds a row of the table. Returns its label."""
    found = _AOSCX_ROW.fullmatch(line)
    if found is None or not port:
        raise UnreadableError(
            "a row of counters with too few cells, or of no port: the answer is cut", line=number, text=line
        )
    label, rx, tx, _ = found.groups()
    for name, cell in zip(_AOSCX_NAMES.get(label, ()), (rx, tx), strict=False):
        if name:
            tally.note(port, Counter(name), count(cell, line=number))
    return label


def _refuse_cut(rows: set[str] | None, number: int) -> None:
    if rows is not None and _LAST not in rows:
        raise UnreadableError("a port's table of counters is cut", line=number)


# ----------------------------------------------------------------------------------------------------------------------
# Comware's `display counters inbound interface` and `outbound`: the same table, its direction in the command above it.
#
# Source: H3C's command reference, answers in public test data. Traps: a value of too many digits is `Overflow`, one
# that the port lacks `--`: neither is reported. The table of rates has other labels.

_COUNTED_ASKED = re.compile(r"\bdis\w*[ \t]+count\w*[ \t]+(in|out)\w*[ \t]+int")
_COUNTED_HEAD = re.compile(r"[ \t]*Interface((?:[ \t]+(?:Total|Broadcast|Multicast|Err)[ \t]*\(pkts\)){4})[ \t]*")
_COUNTED_SIGN = re.compile(f"^{_COUNTED_HEAD.pattern}$", re.MULTILINE)
_COUNTED_ROW = re.compile(r"[ \t]*([A-Za-z][\w/:.-]*\d)((?:[ \t]+(?:\d{1,20}|Overflow|--)){4})[ \t]*")
_BEGUN = re.compile(r"[ \t]*[A-Za-z][\w/:.-]*\d(?:[ \t]+[\d\w-]+){0,3}[ \t]*")
_COUNTED_NAMES = {"in": ("rx_packets", "rx_errors"), "out": ("tx_packets", "tx_errors")}


def counted_from_text(answer: str) -> list[PortCounters] | None:
    """Counters of the ports. Raises `UnreadableError` for a table without its command, and for a cut row.

    A last line without a line feed may be cut, and is skipped.
    """
    if not _COUNTED_SIGN.search(answer.replace("\r", "")):
        return None
    tally = Tally()
    way, inside = "", False
    for number, line in enumerate(lines(answer)[:-1], 1):
        asked, row = _COUNTED_ASKED.search(line), _COUNTED_ROW.fullmatch(line)
        if asked:
            way, inside = asked[1], False
        elif _COUNTED_HEAD.fullmatch(line):
            if not way:
                raise UnreadableError("counters whose direction no line names", line=number, text=line)
            inside = True
        elif inside and row:
            total, _, _, errors = (None if cell == "Overflow" else count(cell) for cell in row[2].split())
            for name, value in zip(_COUNTED_NAMES[way], (total, errors), strict=True):
                tally.note(row[1], Counter(name), value)
        elif inside and _BEGUN.fullmatch(line) and not is_prompt(line):
            raise UnreadableError("a row of counters that is cut", line=number, text=line)
    return tally.some()


# ----------------------------------------------------------------------------------------------------------------------
# Dell OS10's `show queuing statistics interface`: a table of queues under the name of its port.
#
# Source: answers of real switches, quoted in a thread of the Linux netdev mailing list. The command takes one port, so
# answers are read from captures; several may follow each other. ECN marks are not in it.

_OS10_HEAD = re.compile(
    r"^[ \t]*Queue[ \t]+Packets[ \t]+Bytes[ \t]+Dropped-Packets[ \t]+Dropped-Bytes[ \t]*$", re.MULTILINE
)
_OS10_PORT = re.compile(r"[ \t]*Interface[ \t]+(?P<port>[A-Za-z][\w/:-]*\d)[ \t]*")
_OS10_ROW = re.compile(r"[ \t]*(?P<queue>[0-7])(?P<cells>(?:[ \t]+\d{1,20}){4})[ \t]*")
_CUT = re.compile(r"[ \t]*\d[\d \t]*")
_COUNTERS = ("queue_packets", "queue_bytes", "queue_drops", "queue_drop_bytes")


def os10_from_table(answer: str) -> list[PortCounters] | None:
    """The counters of each port and queue. Raises `UnreadableError` for a cut row, or for a table without its port.

    A last number that neither a blank nor a line's end follows may be cut.
    """
    if not _OS10_HEAD.search(answer.replace("\r", "")):
        return None
    tally, text, port = Tally(), lines(answer), ""
    for number, line in enumerate(text, 1):
        if named := _OS10_PORT.fullmatch(line):
            port = named["port"]
        elif _OS10_HEAD.fullmatch(line) and not port:
            raise UnreadableError("a table of queues without its port", line=number, text=line)
        elif (row := _OS10_ROW.fullmatch(line)) and (number < len(text) or not line[-1].isdigit()):
            of = [Counter(name, int(row["queue"])) for name in _COUNTERS]
            tally.row(port, of, row["cells"].split(), line=number)
        elif _CUT.fullmatch(line):
            raise UnreadableError("a row of queues that is cut", line=number, text=line)
    return tally.some()


# ----------------------------------------------------------------------------------------------------------------------
# Pause frames of `sonic-cli`: `show qos priority-flow-control statistics`. Rests on SONiC's design of PFC
# (sonic-net/SONiC, `doc/`).
#
# It prints two tables with equal headers: the line above each says `received` or `transmitted`. Both are always
# printed, for the same ports. Its third table, of the watchdog, is read by `watchdog_counters`.

_PFC_TITLE = re.compile(r"[ \t]*Flow Control frames (received|transmitted)[ \t]*")
_TITLES = re.compile(f"^{_PFC_TITLE.pattern}$", re.MULTILINE)
_FRAMES = {"received": "rx_pause_frames", "transmitted": "tx_pause_frames"}
_LABELS = re.compile(r"[ \t]*(?:Port|Interface)((?:[ \t]+PFC[0-7])+)[ \t]*")
_RULER = re.compile(r"[ \t-]+")
_WATCHDOG = re.compile(r"^[ \t]*(?:Port|Interface)[ \t]+Queue[ \t]+Status[ \t]+Detected[ \t]+Restored\b", re.MULTILINE)
_WATCHED = re.compile(
    r"[ \t]*(?P<port>[A-Z][\w/.-]*\d)[ \t]+(?P<queue>\d{1,2})[ \t]+\S+(?P<cells>(?:[ \t]+\d{1,20}){10})[ \t]*"
)
_WATCHED_BEGUN = re.compile(r"[ \t]*[A-Z][\w/.-]*\d[ \t]+\d{1,2}\b.*")
_WATCHDOG_NAMES = {0: "watchdog_storms", 3: "watchdog_tx_drops", 5: "watchdog_rx_drops"}
"""Numbers of the cells behind the status: storms detected, restored, packets sent, dropped, received, dropped."""


def watchdog_from_text(answer: str) -> list[PortCounters] | None:
    """The storms of each port and priority in sonic-cli's table. Raises `UnreadableError` if a row is cut."""
    if not _WATCHDOG.search(answer):
        return None
    tally, text, inside = Tally(), lines(answer), False
    for number, line in enumerate(text, 1):
        row = _WATCHED.fullmatch(line) if inside else None
        if _WATCHDOG.match(line):
            inside = True
        elif row and (number < len(text) or line.endswith((" ", "0"))):
            cells, of = row["cells"].split(), priority(row["queue"])
            for at, name in _WATCHDOG_NAMES.items() if of is not None else ():
                tally.note(row["port"], Counter(name, of), count(cells[at], line=number))
        elif inside and _WATCHED_BEGUN.fullmatch(line):
            raise UnreadableError("a row of the watchdog that is cut", line=number, text=line)
    return tally.facts()


def pfc_from_table(answer: str) -> list[PortCounters] | None:
    """The frames of each port and priority. Raises `UnreadableError` if a table is cut or missing, or for none."""
    if not _TITLES.search(answer.replace("\r", "")):
        return None
    tally, text = Tally(), lines(answer)
    seen: dict[str, set[str]] = {way: set() for way in _FRAMES}
    way, labels = "", list[str]()
    for number, line in enumerate(text, 1):
        title, named = _PFC_TITLE.fullmatch(line), _LABELS.fullmatch(line)
        cells = line.split()
        if title:
            way, labels = title[1], []
        elif named and way:
            labels = named[1].split()
        elif not cells:
            labels = []
        elif labels and not _RULER.fullmatch(line):
            cells = sure(cells, last=number == len(text))
            if len(cells) != len(labels) + 1:
                raise UnreadableError("a row of pause frames that is cut", line=number, text=line)
            if cells[0] == "CPU":  # no port
                continue
            seen[way].add(cells[0])
            tally.row(cells[0], [Counter(_FRAMES[way], priority(label)) for label in labels], cells[1:], line=number)
    if missing := sorted(seen["received"] ^ seen["transmitted"]):
        raise UnreadableError(
            f"{len(missing)} of the ports are in one of the tables received and transmitted only, {missing[0]} first"
        )
    return tally.some()
