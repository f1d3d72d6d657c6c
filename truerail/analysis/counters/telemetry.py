"""The counters of every planned port, from whichever source reports them.

Arrays have shape (planned ports, samples), the oldest sample first; NaN is "no data", never zero. Ports are the codes
of `PlanIndex`; a host's RDMA counters (`mlx5_3/1`) count for the port of their netdev.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.series import Key, SourceView, Sums, sums
from truerail.analysis.counters.window import STEP_SECONDS, CounterView
from truerail.model.columns import NONE, Codes, Mask, Numbers, RowsBy, distinct, grouped, ratio
from truerail.model.facts import PortCounters
from truerail.model.reading import Reading

LEAST_COVERAGE = 0.8
"""Minimum share of a window's samples for a valid rate (detection.md, counter hygiene)."""
LEAST_SAMPLES = 3


@dataclass(frozen=True)
class Telemetry:
    """Counters joined with the wiring; None if none were collected."""

    wiring: Wiring
    counters: CounterView | None
    _rows: dict[str, Codes] = field(default_factory=dict)
    _sums: dict[Key, Sums] = field(default_factory=dict)

    @cached_property
    def readings(self) -> Mapping[tuple[str, str], Sequence[Reading]]:
        """The readings that contain counters, by collector and device."""
        full = (reading for reading in self.wiring.seen.readings if reading.facts)
        counted = (reading for reading in full if type(reading.facts[0]) is PortCounters)
        return grouped(((reading.collector, reading.device), reading) for reading in counted)

    @property
    def ports(self) -> int:
        """Number of planned ports."""
        return self.wiring.index.planned_ports

    @property
    def samples(self) -> int:
        """Number of samples, at most the window's."""
        return 0 if self.counters is None else len(self.counters.order)

    @property
    def pace(self) -> float:
        """Usual seconds between two samples."""
        return STEP_SECONDS if self.counters is None else self.counters.pace

    def mean_rate(
        self, quantity: Quantity, priority: int | None = None, last: int | None = None, ports: Codes | None = None
    ) -> Floats:
        """Rate per second over the last samples, by the time that they really cover: of some ports, or all planned."""
        gained, span = self.part(quantity, priority, np.arange(self.ports) if ports is None else ports, last)
        known = ~np.isnan(gained) & ~np.isnan(span)
        return ratio(np.where(known, gained, 0).sum(axis=1), np.where(known, span, 0).sum(axis=1)).astype(np.float32)

    def part(
        self, quantity: Quantity, priority: int | None, ports: Codes, last: int | None = None
    ) -> tuple[Floats, Floats]:
        """Increments and intervals of some ports only, shapes (len(ports), samples): a hundredth of the whole fabric's
        cost.

        Ports are codes in any order and number; an unplanned port (-1, say) has no data.
        """
        if self.counters is None:
            return (np.full((len(ports), 0), np.nan, dtype=np.float32),) * 2
        order = self.counters.order[_last(last)]
        gained, span = (np.full((len(ports), len(order)), np.nan, dtype=np.float32) for _ in range(2))
        best = np.zeros(len(ports), dtype=np.int64)
        planned = (ports >= 0) & (ports < self.ports)
        for rows_of, source, gains in self._counting((quantity, priority)):
            rows = np.where(planned, rows_of[np.where(planned, ports, 0)], NONE)
            at = np.flatnonzero(rows >= 0)
            values = gains.of(order, rows[at])
            known = (~np.isnan(values)).sum(axis=1)
            better = known > best[at]
            at, values = at[better], values[better]
            best[at] = known[better]
            gained[at] = values
            span[at] = np.where(np.isnan(values), np.nan, source.span.of(order, rows[at]))
        return gained, span

    def reaches(self, quantity: Quantity, priority: int | None, per_second: float | Numbers, last: int) -> Mask:
        """Ports whose rate reached `per_second`, and was not zero, in any of the last samples. Shape (planned ports,);
        one threshold for all ports or one for each. Missing data does not reach it.
        """
        found = np.zeros(self.ports, dtype=bool)
        order = self.counters.order[_last(last)].tolist() if self.counters else ()
        for rows, source, gains in self._counting((quantity, priority)):
            of_row = np.full(len(source.ports), NONE, dtype=np.int64)
            of_row[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
            for sample in order:
                gained, span = gains.columns[sample], source.span.columns[sample]
                moving = np.flatnonzero((gained > 0) & (of_row >= 0))
                port = of_row[moving]
                least = per_second[port] if isinstance(per_second, np.ndarray) else per_second
                found[port[gained[moving] >= least * span[moving]]] = True
        return found

    def summed(self, quantity: Quantity, priority: int | None = None) -> Sums:
        """Sum, seconds and number of samples of each planned port over the whole window.

        Summed before the join: a tenth of the cost of `mean_rate`.
        """
        key = (quantity, priority)
        if key not in self._sums:
            self._sums[key] = self._sum_up(key)
        return self._sums[key]

    def reduced(
        self, quantity: Quantity, priority: int | None, width: int, measure: Callable[[Samples, Samples], Floats]
    ) -> Floats:
        """Applies `measure` to increments and intervals of all rows, samples as `CounterView.order` numbers them, which
        gives shape (rows, width), and joins the result into (planned ports, width). Measured before the join, as in
        `summed`.
        """
        found = np.full((self.ports, width), np.nan, dtype=np.float32)
        best = np.zeros(self.ports, dtype=np.int64)
        for rows, source, gains in self._counting((quantity, priority)):
            measured = measure(gains, source.span)
            reported = (~np.isnan(measured)).sum(axis=1)
            port = np.flatnonzero(rows >= 0)
            port = port[reported[rows[port]] > best[port]]
            found[port], best[port] = measured[rows[port]], reported[rows[port]]
        return found

    def reported_as(self, port: int) -> list[tuple[str, str, str]]:
        """Sources of a planned port's counters: collector, device, and the port as the device names it."""
        if self.counters is None:
            return []
        sources = self.counters.sources.items()
        rows = [(name, source, int(self._rows_of(name, source)[port])) for name, source in sources]
        return [(name, *source.ports[row]) for name, source, row in rows if row >= 0]

    def _sum_up(self, key: Key) -> Sums:
        found = Sums(np.full(self.ports, np.nan), np.full(self.ports, np.nan), np.zeros(self.ports, dtype=np.int64))
        for rows, source, gains in self._counting(key):
            gained, seconds, samples = sums(gains, source.span)
            port = np.flatnonzero(rows >= 0)
            better = samples[rows[port]] > found.samples[port]
            port, row = port[better], rows[port[better]]
            found.gained[port], found.seconds[port], found.samples[port] = gained[row], seconds[row], samples[row]
        return found

    def tells(self, quantity: Quantity, priority: int | None, last: int) -> Mask:
        """Ports with data of this quantity, zero included, in any of the last samples. Shape (planned ports,)."""
        found = np.zeros(self.ports, dtype=bool)
        order = self.counters.order[_last(last)].tolist() if self.counters else ()
        for rows, _, gains in self._counting((quantity, priority)):
            for sample in order:
                found[rows >= 0] |= ~np.isnan(gains.columns[sample][rows[rows >= 0]])
        return found

    def full(self) -> dict[Quantity, Codes]:
        """Ports with a counter stuck at its maximum, by quantity: later increments are unknown. Codes ascending."""
        found: dict[Quantity, list[Codes]] = {}
        for name, source in self.counters.sources.items() if self.counters else ():
            rows = self._rows_of(name, source)
            for quantity, full in source.full.items():
                found.setdefault(quantity, []).append(np.flatnonzero((rows >= 0) & np.isin(rows, full)))
        return {quantity: distinct(np.concatenate(ports)) for quantity, ports in found.items()}

    def speaks(self, device: int, last: int) -> bool:
        """Whether any planned port of a device has data in the last samples."""
        if self.counters is None:
            return False
        order = self.counters.order[_last(last)]
        ports = self.ports_of(device)
        for name, source in self.counters.sources.items():
            rows = self._rows_of(name, source)[ports]
            if (~np.isnan(source.span.of(order, rows[rows >= 0]))).any():
                return True
        return False

    def priorities(self, *quantities: Quantity) -> tuple[int | None, ...]:
        """Priorities on which any of these is counted anywhere; None for a counter over all priorities."""
        if self.counters is None:
            return ()
        counted = (key for source in self.counters.sources.values() for key in source.series)
        found = {priority for quantity, priority in counted if quantity in quantities}
        return tuple(sorted(found, key=lambda p: -1 if p is None else p))

    def counts(self, *quantities: Quantity) -> bool:
        """Whether any port counts any of these."""
        return bool(self.priorities(*quantities))

    def speed(self) -> Numbers:
        """Link speed of each planned port in bytes per second: as the device reports it, else as planned; or NaN."""
        return self._speed.copy()

    def ports_of(self, device: int) -> Codes:
        """Planned ports of a device, ascending."""
        return self._by_device.at(device)

    @cached_property
    def _by_device(self) -> RowsBy:
        return RowsBy(self.wiring.index.ports.device_of(np.arange(self.ports)))

    @cached_property
    def _speed(self) -> Numbers:
        index = self.wiring.index
        reported = self.wiring.states.speed_gbps[: self.ports]
        planned = np.full(self.ports, np.nan)
        for end in (index.b, index.a):
            valid = end >= 0
            planned[end[valid]] = index.speed_gbps[valid]
        return np.where(np.isnan(reported), planned, reported) * 1e9 / 8

    def _counting(self, key: Key) -> Iterator[tuple[Codes, SourceView, Samples]]:
        """Each source with this counter: the row of each planned port (-1 without one), the source and its samples."""
        for name, source in self.counters.sources.items() if self.counters else ():
            if (samples := source.series.get(key)) is not None:
                yield self._rows_of(name, source), source, samples

    def _rows_of(self, name: str, source: SourceView) -> Codes:
        """The source's row of every planned port; -1 if it has none."""
        if name not in self._rows:
            self._rows[name] = _rows(self.wiring, source, self.ports)
        return self._rows[name]


def _rows(wiring: Wiring, source: SourceView, ports: int) -> Codes:
    """Row of every planned port; -1 if it has none."""
    identity, spelled, codes = wiring.identity, source.spelled, wiring.index.ports.name_codes
    device = np.array([identity.filed(name) for name in spelled.devices], dtype=np.int64)[spelled.device]
    # an RDMA device's port, `mlx5_3/1`, is that of its netdev; a switch's ports may be called Ethernet1/1
    called = codes(name.removesuffix("/1") if "/" in name else None for name in spelled.names)[spelled.name]
    of_rdma = identity.names.rdma_called(device, called)
    other = np.where(of_rdma >= 0, NONE, codes(spelled.names)[spelled.name])
    port = np.maximum(of_rdma, identity.local_ports(device, other))
    rows = np.full(ports, NONE, dtype=np.int64)
    planned = (port >= 0) & (port < ports)
    rows[port[planned]] = np.flatnonzero(planned)
    return rows


def _last(count: int | None) -> slice:
    return slice(None) if count is None else slice(-count, None)
