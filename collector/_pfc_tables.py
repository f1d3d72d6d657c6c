"""Pause frames in the tables of `sonic-cli`, VRP and Comware.

| network OS | command | rests on |
|---|---|---|
| sonic-cli | `show qos priority-flow-control statistics` | SONiC's design of PFC (sonic-net/SONiC, `doc/`) |
| VRP | `display dcb pfc`, `display abs-pfc` | documentation alone: Huawei's CloudEngine command reference |
| Comware | `display priority-flow-control interface` | documentation alone: H3C's command reference (S9855) |

Traps:

- sonic-cli prints two tables with equal headers: the line above each says `received` or `transmitted`. Both are always
  printed, for the same ports. Its third table, of the watchdog, is read by `watchdog_counters`.
- VRP prints two lines for each queue, the received frames in the first, those that were sent below them. Rates are
  skipped.
- Comware prints a row for each priority that has PFC; `Dot1pList` (early releases) is empty where `Prio` says the same.
  A port without PFC has no numbers.
"""

import re
from collections.abc import Sequence

from collector._tally import Tally, count, priority
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_TITLE = re.compile(r"[ \t]*Flow Control frames (received|transmitted)[ \t]*")
_TITLES = re.compile(f"^{_TITLE.pattern}$", re.MULTILINE)
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
_VRP = re.compile(r"^[ \t]*Interface[ \t]+Queue[ \t]+Received\(Frames\)", re.MULTILINE)
_VRP_FIRST = re.compile(
    r"[ \t]*(?P<port>\d*[A-Za-z][\w/:-]*\d)[ \t]+(?P<queue>[0-7])[ \t]+(?P<frames>\d+)((?:[ \t]+\d+)*)[ \t]*"
)
_VRP_ALIKE = re.compile(r"[ \t]*(?P<queue>[0-7])[ \t]+(?P<frames>\d+)((?:[ \t]+\d+)+)[ \t]*")
_VRP_BELOW = re.compile(r"[ \t]+(?P<frames>\d+)((?:[ \t]+\d+)*)[ \t]*")
_COMWARE = re.compile(
    r"^(?P<before>[ \t]*Interface[ \t]+AdminMode[ \t]+OperMode[ \t]+Dot1pList[ \t]+)Prio[ \t]+Recv[ \t]+Send",
    re.MULTILINE,
)
_COMWARE_ROW = re.compile(
    r"[ \t]*(?:(?P<port>[A-Za-z][\w/:-]*\d)[ \t]+(?:Enabled|Disabled|Auto)[ \t]+(?:Enabled|Disabled))?"
    r"(?P<rest>(?:[ \t]+[\d,-]+)*)[ \t]*"
)
_CELLS = 5
"""Prio, Recv, Send, Inpps, Outpps."""


def is_table(answer: str) -> bool:
    """Whether an answer has such a table of pause frames."""
    return any(sign.search(answer.replace("\r", "")) for sign in (_TITLES, _VRP, _COMWARE))


def has_watchdog(answer: str) -> bool:
    """Whether an answer has sonic-cli's table of the watchdog."""
    return _WATCHDOG.search(answer) is not None


def watchdog_counters(text: Sequence[str]) -> list[PortCounters]:
    """The storms of each port and priority. Raises `UnreadableError` if a row is cut."""
    tally, inside = Tally(), False
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


def counters(text: Sequence[str]) -> list[PortCounters]:
    """The frames of each port and priority. Raises `UnreadableError` if a table is cut, or for none."""
    whole = "\n".join(text)
    if _TITLES.search(whole):
        return _of_sonic(text)
    if _VRP.search(whole):
        return _of_vrp(text)
    tally = Tally()
    for port, rows in _comware(text):
        for number, cells in rows:
            of = priority(cells[0])
            tally.note(port, Counter("rx_pause_frames", of), count(cells[1], line=number))
            tally.note(port, Counter("tx_pause_frames", of), count(cells[2], line=number))
    return tally.some()


def _of_sonic(text: Sequence[str]) -> list[PortCounters]:
    tally = Tally()
    seen: dict[str, set[str]] = {way: set() for way in _FRAMES}
    way, labels = "", list[str]()
    for number, line in enumerate(text, 1):
        title, named = _TITLE.fullmatch(line), _LABELS.fullmatch(line)
        cells = line.split()
        if title:
            way, labels = title[1], []
        elif named and way:
            labels = named[1].split()
        elif not cells:
            labels = []
        elif labels and not _RULER.fullmatch(line):
            if number == len(text) and cells[-1] != "0":
                cells[-1] = "N/A"  # a last value without a line feed may be cut
            if len(cells) != len(labels) + 1:
                raise UnreadableError("a row of pause frames that is cut", line=number, text=line)
            if cells[0] == "CPU":  # no port
                continue
            seen[way].add(cells[0])
            tally.row(cells[0], [Counter(_FRAMES[way], priority(label)) for label in labels], cells[1:], line=number)
    if seen["received"] != seen["transmitted"]:
        missing = sorted(seen["received"] ^ seen["transmitted"])
        raise UnreadableError(
            f"{len(missing)} of the ports are in one of the tables received and transmitted only, {missing[0]} first"
        )
    return tally.some()


def _of_vrp(text: Sequence[str]) -> list[PortCounters]:
    tally = Tally()
    port, of, waits = "", None, False
    for number, line in enumerate(text, 1):
        first = _VRP_FIRST.fullmatch(line)
        below = _VRP_BELOW.fullmatch(line) if waits and not first else None
        alike = _VRP_ALIKE.fullmatch(line) if port and not waits and not first else None
        found = first or below or alike
        if first:
            port = first["port"]
        if found and not below:
            of = priority(found["queue"])
        if found and number == len(text) and not found[found.lastindex or 0]:
            raise UnreadableError("a queue's frames without a line feed: the answer may be cut", line=number, text=line)
        if found:
            tally.note(port, Counter(_FRAMES["transmitted" if below else "received"], of), count(found["frames"]))
            waits = not below
        elif waits:
            raise UnreadableError("a queue without the line of the frames that it sent", line=number, text=line)
    if waits:
        raise UnreadableError("the last queue has no line of the frames that it sent", line=len(text), text=text[-1])
    return tally.some()


def _comware(text: Sequence[str]) -> list[tuple[str, list[tuple[int, list[str]]]]]:
    """Each port, and its rows. The number below `Prio` begins the cells that every row has."""
    found: list[tuple[str, list[tuple[int, list[str]]]]] = []
    prio = 0
    for number, line in enumerate(text, 1):
        header = _COMWARE.match(line)
        if header:
            prio = header.end("before")
        row = _COMWARE_ROW.fullmatch(line) if prio and not header and line.strip(" -") else None
        if row and row["port"]:
            found.append((row["port"], []))
        cells = line[prio:].split() if row and found else []
        if cells and (len(cells) != _CELLS or line[prio].isspace()):
            raise UnreadableError("a row of pause frames that is cut", line=number, text=line)
        if cells:
            found[-1][1].append((number, cells))
    return found
