"""Data of one collector in a window: ports by samples. A sample is a slot in a ring: `Window.order`.

`Series` and `Source` change with every round, a `SourceView` and its samples never: a view shares the samples, and the
source copies what it writes to again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats, Raw, Seconds, middle
from truerail.analysis.counters.quantities import Column, Kind, Quantity, kind_of
from truerail.analysis.counters.ring import Ring, Samples
from truerail.model.columns import Codes, Mask, Numbers, factorize, ratio
from truerail.model.facts import Counter

Key = tuple[Quantity, int | None]


@dataclass(eq=False)
class Series:
    """One counter of all ports of one source. `last` and `last_at` have shape (rows,): the newest value, and the Unix
    time at which it was read.
    """

    column: Column
    last: Raw
    last_at: Seconds
    gained: Ring

    @cached_property
    def kind(self) -> Kind:
        """How its values are read."""
        return kind_of(self.column.quantity)

    def grow(self, rows: int) -> None:
        """Extends the arrays to more ports."""
        self.last = np.concatenate([self.last, np.zeros(rows - len(self.last), dtype=np.uint64)])
        self.last_at = _longer(self.last_at, rows)
        self.gained.grow(rows)

    def only(self, rows: Codes) -> "Series":
        """The series of some ports."""
        return Series(self.column, self.last[rows], self.last_at[rows], self.gained.only(rows))

    def copy(self) -> "Series":
        """A series of its own with the same values."""
        return Series(self.column, self.last.copy(), self.last_at.copy(), self.gained.copy())


@dataclass(frozen=True, slots=True)
class Spelled:
    """Devices and names of a source's ports, each listed once, and their codes, shape (rows,)."""

    devices: Sequence[str]
    device: Codes
    names: Sequence[str]
    name: Codes


@dataclass(frozen=True, slots=True)
class SourceView:
    """The counters of one collector at an evaluation: as `Source`, with read-only arrays and containers."""

    ports: Sequence[tuple[str, str]]
    spelled: Spelled
    series: Mapping[Key, Samples]
    """The increments of each counter; the levels of a gauge."""
    span: Samples
    pace: float
    full: Mapping[Quantity, Codes]


class Source:
    """The counters of one collector. `ports[row]` is (device, the port as the device names it)."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.ports: list[tuple[str, str]] = []
        self.series: dict[Key, Series] = {}
        self.span = Ring(0, samples)
        """Interval of each sample in seconds."""
        self.at: Seconds = np.full(0, np.nan)
        """Time of each port's last reading, in Unix seconds."""
        self.moved_at: Seconds = np.full(0, np.nan)
        """Last time at which a counter of the device increased: see `intake`."""
        self.stirred_at: Seconds = np.full(0, np.nan)
        """Last time at which the port's own traffic counters increased, likewise. Not preserved across a restart."""
        self.paces: Floats = np.full(samples, np.nan, dtype=np.float32)
        """Usual interval of each sample in seconds."""
        self.full: dict[Quantity, Codes] = {}
        """Rows whose counter was stuck at its maximum in the last reading, ascending."""
        self._row: dict[tuple[str, str], int] = {}
        self._spelled = Spelled((), np.empty(0, dtype=np.int64), (), np.empty(0, dtype=np.int64))
        self._view: SourceView | None = None
        """The view of what was written last."""
        self._rows_of: dict[tuple[str, tuple[Counter, ...]], tuple[tuple[str, ...], Codes]] = {}

    @property
    def spelled(self) -> "Spelled":
        """Ports as codes of few names. Recomputed when ports are added."""
        if len(self._spelled.device) < len(self.ports):
            (device, devices), (name, names) = (factorize(port[end] for port in self.ports) for end in (0, 1))
            self._spelled = Spelled(tuple(devices), _fixed(device), tuple(names), _fixed(name))
        return self._spelled

    @property
    def pace(self) -> float:
        """Usual interval between two readings of a port in seconds; 0 before any port has two."""
        known = self.paces[~np.isnan(self.paces)]
        return middle(known) if len(known) else 0.0

    def rows(self, device: str, counters: tuple[Counter, ...], names: tuple[str, ...]) -> Codes:
        """Rows of a device's ports; new ports are added. The same ports in the same order cost one comparison."""
        known = self._rows_of.get((device, counters))
        if known is not None and known[0] == names:
            return known[1]
        rows = np.fromiter((self.row(device, name) for name in names), dtype=np.int64, count=len(names))
        self._rows_of[device, counters] = (names, rows)
        return rows

    def row(self, device: str, name: str) -> int:
        """Row of a port, added if it is new; `fit` extends the arrays."""
        row = self._row.setdefault((device, name), len(self.ports))
        if row == len(self.ports):
            self.ports.append((device, name))
        return row

    def fit(self) -> None:
        """Extends the arrays to the number of ports."""
        rows = len(self.ports)
        if rows > len(self.at):
            self.span.grow(rows)
            self.at, self.moved_at = _longer(self.at, rows), _longer(self.moved_at, rows)
            self.stirred_at = _longer(self.stirred_at, rows)
            for series in self.series.values():
                series.grow(rows)

    def of(self, column: Column) -> Series:
        """Series of a column, created if missing."""
        key = (column.quantity, column.priority)
        if key not in self.series:
            rows = len(self.ports)
            last, last_at = np.zeros(rows, dtype=np.uint64), np.full(rows, np.nan)
            self.series[key] = Series(column, last, last_at, Ring(rows, self.samples))
        return self.series[key]

    def note_full(self, quantity: Quantity, rows: Codes, full: Mask) -> None:
        """Records which of these rows, just read, have their counter at its maximum."""
        before = self.full.get(quantity, rows[:0])
        if full.any() or len(before):
            self.full[quantity] = np.union1d(np.setdiff1d(before, rows), rows[full])

    def clear(self, sample: int) -> None:
        """Clears a sample, to be filled again."""
        self.paces[sample] = np.nan
        for ring in self._rings():
            ring.clear(sample)

    def close(self, sample: int) -> None:
        """Nothing more is written to a sample."""
        for ring in self._rings():
            ring.close(sample)

    def _rings(self) -> Iterator[Ring]:
        yield self.span
        yield from (series.gained for series in self.series.values())

    def only(self, which: Mask) -> "Source":
        """The source with some of its ports."""
        rows = np.flatnonzero(which)
        found = Source(self.samples)
        for row in rows.tolist():
            found.row(*self.ports[row])
        found.span, found.at, found.moved_at = self.span.only(rows), self.at[rows], self.moved_at[rows]
        found.stirred_at = self.stirred_at[rows]
        found.paces = self.paces.copy()
        found.series = {key: series.only(rows) for key, series in self.series.items()}
        return found

    def move(self, seconds: float) -> None:
        """Moves all times."""
        for times in (self.at, self.moved_at, self.stirred_at, *(series.last_at for series in self.series.values())):
            times += seconds

    def copy(self) -> "Source":
        """A source with the same values, to be stored: it takes in no answers."""
        found = Source(self.samples)
        found.ports, found.span, found.paces = list(self.ports), self.span.copy(), self.paces.copy()
        found.at, found.moved_at = self.at.copy(), self.moved_at.copy()
        found.series = {key: series.copy() for key, series in self.series.items()}
        return found

    def view(self) -> SourceView:
        """The same as it is now, until `part`."""
        if self._view is None:
            series = {key: series.gained.view() for key, series in self.series.items()}
            full = {quantity: _fixed(rows) for quantity, rows in self.full.items()}
            views, span = MappingProxyType(series), self.span.view()
            self._view = SourceView(tuple(self.ports), self.spelled, views, span, self.pace, MappingProxyType(full))
        return self._view

    def part(self) -> None:
        """Parts from its view: it is written to."""
        self._view = None


A = TypeVar("A", bound=npt.NDArray[Any])


def _fixed(array: A) -> A:
    """The array itself, read-only from now on."""
    array.setflags(write=False)
    return array


def _longer(array: Seconds, rows: int) -> Seconds:
    return np.concatenate([array, np.full(rows - len(array), np.nan)])


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of ports over a window, shapes (planned ports,): NaN, and 0 samples, with no data."""

    gained: Numbers
    seconds: Numbers
    samples: Codes

    @property
    def rate(self) -> Numbers:
        """Rate per second; NaN with no data."""
        return ratio(self.gained, self.seconds)

    def nothing(self, seconds: float) -> Mask:
        """Ports that counted nothing in at least these seconds."""
        return np.asarray((self.gained == 0) & (self.seconds >= seconds), dtype=bool)


def sums(gained: Samples, span: Samples) -> tuple[Numbers, Numbers, Codes]:
    """Per row: the sum, the seconds and the number of samples with data."""
    rows = len(span.columns[0])
    total, seconds, samples = np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=np.int64)
    for more, time in zip(gained.columns, span.columns, strict=True):
        known = np.flatnonzero(~np.isnan(more + time))
        which = slice(None) if len(known) == rows else known
        total[which] += more[which]
        seconds[which] += time[which]
        samples[which] += 1
    total[samples == 0] = seconds[samples == 0] = np.nan
    return total, seconds, samples
