"""Counters as differences: the receiver's side."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from truerail.errors import BusMessageError, OutOfBoundsError
from truerail.link.messages import CountGroup, CountRow, Counts, Slot
from truerail.model import PortCounters
from truerail.model.bounds import bounded
from truerail.model.facts import Counter

Names = tuple[Counter, ...]
MOST_SLOTS = 1_000_000
"""Of one poller: ten times the devices of the largest fabric, and a collector or two."""


@dataclass(slots=True)
class _Held:
    slot: Slot
    names: tuple[Names, ...]
    values: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Counted:
    """One reading as it was sent, with the sender's times in Unix seconds."""

    device: str
    collector: str
    source: str
    row: CountRow
    facts: tuple[PortCounters, ...]


@dataclass(slots=True)
class CounterReader:
    """What one run of a poller has sent. `names` holds one tuple for equal lists of names, over all pollers."""

    names: dict[Names, Names] = field(default_factory=dict)
    _held: list[_Held] = field(default_factory=list)
    _last: int = 0

    def follows(self, counts: Counts) -> bool:
        """Whether the message before this one was read: otherwise its differences have no meaning."""
        return not counts.base or counts.base == self._last

    def read(self, counts: Counts, number: int) -> list[Counted]:
        """The readings of a message that `follows`. Raises BusMessageError; the next one that is read begins again."""
        if not counts.base:
            self._held = []
        self._last = -1
        made = (tuple(Counter(*one) for one in names) for names in counts.layouts)
        layouts = [self.names.setdefault(names, names) for names in made]
        self._held += [_defined(slot, layouts) for slot in counts.slots]
        if len(self._held) > MOST_SLOTS:
            raise BusMessageError(f"more than {MOST_SLOTS:,} slots of counters")
        found = [counted for group in counts.groups for counted in self._group(group)]
        self._last = number
        return found

    def _group(self, group: CountGroup) -> list[Counted]:
        rows = group.rows
        if any(not 0 <= row.slot < len(self._held) for row in rows):
            raise BusMessageError("counters of a slot that was not defined")
        held = [self._held[row.slot] for row in rows]
        size = held[0].values.size if held else 0
        if any(one.values.size != size for one in held) or len(group.data) != 8 * size * len(rows):
            raise BusMessageError(f"{len(group.data):,} bytes of counters for {len(rows)} slots")
        if not held:
            return []
        shuffled = np.frombuffer(group.data, np.uint8).reshape(8, -1)
        by_counter = np.ascontiguousarray(shuffled.T).view("<u8").reshape(size, len(rows))
        found = []
        for one, row, difference in zip(held, rows, by_counter.T, strict=True):
            one.values = one.values + difference
            found.append(Counted(one.slot.device, one.slot.collector, one.slot.source, row, _facts(one, row)))
        return found


def _defined(slot: Slot, layouts: list[Names]) -> _Held:
    if len(slot.ports) != len(slot.layouts) or any(not 0 <= at < len(layouts) for at in slot.layouts):
        raise BusMessageError(f"a slot of {slot.device!r} with {len(slot.ports)} ports and other lists of counters")
    names = tuple(layouts[at] for at in slot.layouts)
    return _Held(slot, names, np.zeros(sum(map(len, names)), np.uint64))


def _facts(held: _Held, row: CountRow) -> tuple[PortCounters, ...]:
    lags = row.lags or [None] * len(held.names)
    if len(lags) != len(held.names):
        raise BusMessageError(f"{len(lags)} lags for {len(held.names)} ports of {held.slot.device!r}")
    values, at, facts = held.values.tolist(), 0, []
    for port, names, lag in zip(held.slot.ports, held.names, lags, strict=True):
        facts.append(PortCounters(port, names, tuple(values[at : at + len(names)]), lag))
        at += len(names)
    try:
        return tuple(bounded(facts))
    except OutOfBoundsError as error:
        raise BusMessageError(str(error)) from None
