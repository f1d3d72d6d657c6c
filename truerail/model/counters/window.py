"""The last samples of every counter, as arrays: what the counter rules look at.

A sample is what was counted between two readings, with the time that really lay between them: never the nominal
interval. What is missing is NaN, never 0. Ports are rows, samples columns, the oldest first.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import cast

import numpy as np
import numpy.typing as npt

from truerail.model.counters.hygiene import Floats, Raw, counted
from truerail.model.counters.quantities import Column, Kind, Quantity, columns_of, kind_of
from truerail.model.facts import Counter, PortCounters
from truerail.model.snapshot import Codes, Reading

SAMPLES = 30
STEP_SECONDS = 10.0
FROZEN_SAMPLES = 3
"""Readings for which a device whose counters all stand still is taken for one that answers from a cache."""
Key = tuple[Quantity, int | None]


class Series:
    """One counted thing of all ports of one source. Shapes (rows,) and (rows, samples)."""

    def __init__(self, column: Column, rows: int, samples: int) -> None:
        self.column = column
        self.kind = kind_of(column.quantity)
        self.last: Raw = np.zeros(rows, dtype=np.uint64)
        self.last_at = np.full(rows, np.nan)
        self.gained: Floats = np.full((rows, samples), np.nan, dtype=np.float32)

    def grow(self, rows: int) -> None:
        """Makes room for more ports."""
        more = rows - len(self.last)
        self.last = np.concatenate([self.last, np.zeros(more, dtype=np.uint64)])
        self.last_at = np.concatenate([self.last_at, np.full(more, np.nan)])
        self.gained = _taller(self.gained, rows)


class Source:
    """The counters of one collector. `ports[row]` is (device, the port as the device names it)."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.ports: list[tuple[str, str]] = []
        self.series: dict[Key, Series] = {}
        self.span: Floats = np.full((0, samples), np.nan, dtype=np.float32)
        self.at = np.full(0, np.nan)
        self.still = np.zeros(0, dtype=np.int64)
        self._row: dict[tuple[str, str], int] = {}
        self._rows_of: dict[tuple[str, tuple[Counter, ...]], tuple[tuple[str, ...], Codes]] = {}

    def rows(self, device: str, counters: tuple[Counter, ...], names: tuple[str, ...]) -> Codes:
        """The rows of a device's ports; new ones are added. The same ports in the same order cost one comparison."""
        known = self._rows_of.get((device, counters))
        if known is not None and known[0] == names:
            return known[1]
        rows = np.fromiter((self._row_of(device, name) for name in names), dtype=np.int64, count=len(names))
        self._rows_of[device, counters] = (names, rows)
        return rows

    def _row_of(self, device: str, name: str) -> int:
        row = self._row.setdefault((device, name), len(self.ports))
        if row == len(self.ports):
            self.ports.append((device, name))
        return row

    def fit(self) -> None:
        """Makes the arrays as long as there are ports."""
        rows = len(self.ports)
        if rows > len(self.at):
            more = rows - len(self.at)
            self.span = _taller(self.span, rows)
            self.at = np.concatenate([self.at, np.full(more, np.nan)])
            self.still = np.concatenate([self.still, np.zeros(more, dtype=np.int64)])
            for series in self.series.values():
                series.grow(rows)

    def of(self, column: Column) -> Series:
        """The series of a column, made where there is none yet."""
        key = (column.quantity, column.priority)
        if key not in self.series:
            self.series[key] = Series(column, len(self.ports), self.samples)
        return self.series[key]

    def clear(self, sample: int) -> None:
        """Empties a sample, to be filled anew."""
        self.span[:, sample] = np.nan
        for series in self.series.values():
            series.gained[:, sample] = np.nan


class Window:
    """The counters of a fabric over the last `samples` times `step_seconds`, in bounded memory.

    200,000 ports with 12 counters and 30 samples take about 320 MB.
    """

    def __init__(self, samples: int = SAMPLES, step_seconds: float = STEP_SECONDS) -> None:
        self.samples = samples
        self.step_seconds = step_seconds
        self.sources: dict[str, Source] = {}
        self.begun = np.full(samples, np.nan)
        """When each sample began, in Unix seconds."""
        self.head = -1

    def put(self, readings: Iterable[Reading]) -> None:
        """Takes in the counters of a round. Readings without counters are left out."""
        told = [r for r in readings if r.facts and not r.error and type(r.facts[0]) is PortCounters]
        if not told:
            return
        self._advance(max(_time(r) for r in told))
        for name, of in groupby(sorted(told, key=_collector), key=_collector):
            source = self.sources.setdefault(name, Source(self.samples))
            for counters, chunk in _chunks(of, source):
                _take(source, counters, chunk, self.head)

    def _advance(self, at: float) -> None:
        """Begins a new sample, unless the last one has just begun."""
        if self.head >= 0 and at - self.begun[self.head] < self.step_seconds / 2:
            return
        self.head = (self.head + 1) % self.samples
        self.begun[self.head] = at
        for source in self.sources.values():
            source.clear(self.head)

    @property
    def order(self) -> Codes:
        """The samples from the oldest to the newest; those that never began are left out."""
        order = (self.head + 1 + np.arange(self.samples)) % self.samples
        return np.asarray(order[~np.isnan(self.begun[order])])

    def columns(self) -> Iterator[tuple[str, Source, Series]]:
        """Everything that is counted, with its source."""
        for name, source in self.sources.items():
            for series in source.series.values():
                yield name, source, series


def _time(reading: Reading) -> float:
    return reading.read_at or reading.at.timestamp()


def _collector(reading: Reading) -> str:
    return reading.collector


Chunk = list[tuple[Codes, Sequence[tuple[int, ...]], float]]


def _chunks(readings: Iterable[Reading], source: Source) -> Iterator[tuple[tuple[Counter, ...], Chunk]]:
    """Facts with equal counters together, whatever device they come from: rows, values, time."""
    found: dict[tuple[Counter, ...], Chunk] = {}
    for reading in readings:
        facts = cast("tuple[PortCounters, ...]", reading.facts)
        for counters, of in groupby(facts, key=_counters):
            ports = list(of)
            rows = source.rows(reading.device, counters, tuple(port.port for port in ports))
            found.setdefault(counters, []).append((rows, [port.values for port in ports], _time(reading)))
    source.fit()
    yield from found.items()


def _counters(fact: PortCounters) -> tuple[Counter, ...]:
    return fact.counters


def _take(source: Source, counters: tuple[Counter, ...], chunk: Chunk, sample: int) -> None:
    """Differences one chunk against what was read before."""
    rows = np.concatenate([rows for rows, _, _ in chunk])
    values = np.array([row for _, rows_of, _ in chunk for row in rows_of], dtype=np.uint64)
    at = np.repeat([at for _, _, at in chunk], [len(rows) for rows, _, _ in chunk])
    device = np.repeat(np.arange(len(chunk)), [len(rows) for rows, _, _ in chunk])
    used = [(source.of(column), values[:, n]) for n, column in enumerate(columns_of(counters)) if column]
    gains = [(series, now, _gained(series, rows, now, at)) for series, now in used]
    frozen = _frozen(source, rows, device, gains, len(chunk))
    live = ~frozen
    source.span[rows[live], sample] = _added(source.span[rows[live], sample], (at - source.at[rows])[live])
    for series, now, gained in gains:
        series.gained[rows[live], sample] = _added(series.gained[rows[live], sample], gained[live])
        series.last[rows[live]], series.last_at[rows[live]] = now[live], at[live]
    source.at[rows[live]] = at[live]


def _gained(series: Series, rows: Codes, now: Raw, at: npt.NDArray[np.float64]) -> Floats:
    """What each port counted since its last reading. A gauge gives its level."""
    if series.kind is Kind.GAUGE:
        return now.astype(np.float32)
    known = ~np.isnan(series.last_at[rows])
    seconds = np.where(known, at - series.last_at[rows], 0.0)
    column = series.column
    return counted(series.last[rows], now, seconds, quantity=column.quantity, kind=series.kind, bits=column.bits)


def _frozen(
    source: Source,
    rows: Codes,
    device: Codes,
    gains: Sequence[tuple[Series, Raw, Floats]],
    devices: int,
) -> npt.NDArray[np.bool_]:
    """Rows of devices that answer from a cache: no counter of any port moved, and they moved before.

    Agents refresh their counters every 5 to 30 seconds; two polls in between give the same values, then a double step.
    Such a reading counts as none. After some in a row the device is believed: then nothing flows.
    """
    moved = np.zeros(len(rows), dtype=bool)
    known = np.zeros(len(rows), dtype=bool)
    for series, _, gained in gains:
        if series.kind is Kind.TRAFFIC:
            moved |= gained > 0
            known |= ~np.isnan(gained)
    moves = np.zeros(devices, dtype=bool)
    np.logical_or.at(moves, device, moved | ~known)
    source.still[rows] = np.where(moves[device], 0, source.still[rows] + 1)
    return ~moves[device] & (source.still[rows] < FROZEN_SAMPLES)


def _added(before: Floats, more: npt.NDArray[np.floating]) -> Floats:
    """What a sample holds after another reading within it."""
    return np.where(np.isnan(before), more, before + more).astype(np.float32)


def _taller(array: Floats, rows: int) -> Floats:
    more = np.full((rows - len(array), array.shape[1]), np.nan, dtype=np.float32)
    return np.concatenate([array, more])
