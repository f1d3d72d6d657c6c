"""Counters as differences to the values that were sent before.

Source of the form: measured sizes of a host's counters, 15.5 kB as text, 2.1 kB as numbers, 1.1 kB as differences with
their bytes shuffled and compressed over 100 hosts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from truerail.errors import BusMessageError, OutOfBoundsError
from truerail.link.messages import CountGroup, CountRow, Counts, Slot
from truerail.model import PortCounters, Reading
from truerail.model.bounds import bounded
from truerail.model.facts import Counter

Names = tuple[Counter, ...]

# ----------------------------------------------------------------------------------------------------------------------
# The sender.

MOST_ROWS = 200
"""Of a message: 200 hosts of 8 ports are below the 1 MB that a bus takes."""


def is_counters(reading: Reading) -> bool:
    """Whether a reading has counters and nothing else: it is then sent as numbers."""
    return bool(reading.facts) and all(type(fact) is PortCounters for fact in reading.facts)


class CounterWriter:
    """What one receiver has of the counters: the slots it knows, and the values it was sent last."""

    def __init__(self) -> None:
        self._slots: dict[tuple[object, ...], int] = {}
        self._sent: list[NDArray[np.uint64]] = []

    @property
    def fresh(self) -> bool:
        """Whether the next message has no message before it."""
        return not self._sent

    def begin_again(self) -> None:
        """The receiver has nothing, or may have missed something: the next message has whole values."""
        self._slots.clear()
        self._sent.clear()

    def batches(self, readings: Sequence[Reading]) -> Iterator[list[Reading]]:
        """The readings in messages of at most `MOST_ROWS`, each with one reading of a device and collector at most."""
        batch: dict[tuple[str, str], Reading] = {}
        for reading in readings:
            key = reading.device, reading.collector
            if key in batch or len(batch) == MOST_ROWS:
                yield list(batch.values())
                batch = {}
            batch[key] = reading
        if batch:
            yield list(batch.values())

    def written(self, readings: Iterable[Reading], base: int) -> Counts:
        """One message with these readings, after the one with number `base`."""
        layouts: dict[Names, int] = {}
        slots: list[Slot] = []
        grouped: dict[tuple[Names, ...], list[tuple[CountRow, NDArray[np.uint64]]]] = {}
        base = 0 if self.fresh else base
        for reading in readings:
            facts: tuple[PortCounters, ...] = reading.facts  # type: ignore[assignment]  # see is_counters
            names = tuple(fact.counters for fact in facts)
            ports = tuple(fact.port for fact in facts)
            key = (reading.device, reading.collector, reading.source, ports, names)
            values = np.fromiter(chain.from_iterable(fact.values for fact in facts), np.uint64)
            at = self._slots.get(key)
            if at is None:
                at = self._slots[key] = len(self._sent)
                self._sent.append(np.zeros_like(values))
                indexes = [layouts.setdefault(one, len(layouts)) for one in names]
                slots.append(Slot(reading.device, reading.collector, reading.source, list(ports), indexes))
            difference = values - self._sent[at]
            self._sent[at] = values
            lags = [fact.lag_seconds for fact in facts]
            times = (reading.at.timestamp(), reading.read_at, reading.took_seconds)
            row = CountRow(at, *times, lags if any(lag is not None for lag in lags) else None)
            grouped.setdefault(names, []).append((row, difference))
        groups = [_group(rows) for rows in grouped.values()]
        return Counts(base, [[(name, priority) for name, priority in one] for one in layouts], slots, groups)


def _group(rows: Sequence[tuple[CountRow, NDArray[np.uint64]]]) -> CountGroup:
    by_counter = np.ascontiguousarray(np.stack([difference for _, difference in rows]).T)
    shuffled = np.ascontiguousarray(by_counter.astype("<u8").view(np.uint8).reshape(-1, 8).T)
    return CountGroup([row for row, _ in rows], shuffled.tobytes())


# ----------------------------------------------------------------------------------------------------------------------
# The receiver.

Counted = tuple[Slot, CountRow, tuple[PortCounters, ...]]
"""One reading as it was sent, with the sender's times in Unix seconds."""
MOST_SLOTS = 1_000_000
"""Of one poller: ten times the devices of the largest fabric, and a collector or two."""


@dataclass(slots=True)
class _Held:
    slot: Slot
    names: tuple[Names, ...]
    values: NDArray[np.uint64]


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
            found.append((one.slot, row, _facts(one, row)))
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
