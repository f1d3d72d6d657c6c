"""SONiC's pause frames: `show pfc counters` (`pfcstat`), a table `Port Rx` and a table `Port Tx`, and its `--history`.

Both tables are always printed, for the same ports. A single table, or fewer ports in one, is a cut answer. History has
a row for each port and priority, its times in microseconds, in early releases in milliseconds.
"""

from collections.abc import Sequence

from collector._ruled_table import Table, rows
from collector._tally import Tally, count, priority
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_WAYS = {"port rx": "rx_pause_frames", "port tx": "tx_pause_frames"}
_TRANSITIONS = "rx pause transitions"
_TIMES = {"total rx pause time us": 1, "total rx pause time ms": 1000}
"""Microseconds in a unit of each column."""


def counters(found: Sequence[Table]) -> list[PortCounters]:
    """The frames of the ports in both tables. Raises `UnreadableError` if a table or some of its ports are missing."""
    tally = Tally()
    seen: dict[str, set[str]] = {way: set() for way in _WAYS}
    for table in found:
        way = table.labels[0]
        named = [Counter(_WAYS.get(way, ""), priority(label)) for label in table.labels[1:]]
        for row in table.rows if way in _WAYS else ():
            seen[way].add(row.cells[0])
            tally.row(row.cells[0], named, row.cells[1:], line=row.line)
    if seen["port rx"] != seen["port tx"]:
        missing = sorted(seen["port rx"] ^ seen["port tx"])
        raise UnreadableError(
            f"{len(missing)} of the ports are in one of the tables Rx and Tx only, {missing[0]} first"
        )
    return tally.facts()


def is_frames(found: Sequence[Table]) -> bool:
    """Whether any of these tables has pause frames."""
    return any(table.labels[0] in _WAYS for table in found)


def is_history(found: Sequence[Table]) -> bool:
    """Whether any of these tables has the history of pauses."""
    return any(_TRANSITIONS in table.labels for table in found)


def history(found: Sequence[Table]) -> list[PortCounters]:
    """Number and duration of pauses by port. Ports without history (`N/A`) have no fact."""
    tally = Tally()
    for line, (port, of, transitions) in rows(found, "port", "priority", _TRANSITIONS):
        tally.note(port, Counter("rx_pause_transitions", priority(of)), count(transitions, line=line))
    for label, unit in _TIMES.items():
        for line, (port, of, total) in rows(found, "port", "priority", label):
            paused = count(total, line=line)
            tally.note(port, Counter("rx_pause_us", priority(of)), None if paused is None else paused * unit)
    return tally.facts()
