"""Counters as differences: the sender's side.

Source of the form: measured sizes of a host's counters, 15.5 kB as text, 2.1 kB as numbers, 1.1 kB as differences with
their bytes shuffled and compressed over 100 hosts.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from truerail.link.messages import CountGroup, CountRow, Counts, Slot
from truerail.model import PortCounters, Reading

MOST_ROWS = 200
"""Of a message: 200 hosts of 8 ports are below the 1 MB that a bus takes."""
Names = tuple[tuple[str, int | None], ...]


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
