"""Bytes carried by each planned port over a few one-minute windows, from the counters of either end.

What one end sends the other receives, so each direction has two counters. The larger value is used: a host's own
counter may leave RDMA out (`ip -s link` and sysfs statistics do), a switch's may be read late, and a counter that
stands still does not prove that no traffic flows. Arrays have shape (planned ports, windows), bytes per second; NaN is
"no data".
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from truerail.analysis.counters.hygiene import MOST_PACES, Floats, own_pace
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.telemetry import LEAST_COVERAGE, LEAST_SAMPLES, Telemetry
from truerail.model.columns import Codes, Numbers, ratio

WINDOWS = 5
"""30 samples of 10 s make five one-minute windows, which average out the seconds of a training step (detection.md 2.6).
"""
LEAST_WINDOWS = 4
"""Fewer windows cannot separate a lasting pattern from a burst (detection.md 2.5)."""

USUAL = 1.5
"""A sample that lasts this many times longer than its port's other samples spans a gap and is not used for any single
minute.
"""


@dataclass(frozen=True)
class Carried:
    """Bytes per second sent and received by each planned port, per window and over all windows. `peer` is the code of
    the port at the other end.
    """

    tx: Floats
    rx: Floats
    peer: Codes

    @property
    def windows(self) -> int:
        """Number of windows; 0 if there are too few samples for `LEAST_WINDOWS`."""
        return int(self.tx.shape[1])

    @property
    def enough(self) -> bool:
        """Whether the counter history is long enough to evaluate."""
        return self.windows >= LEAST_WINDOWS


WINDOW_SECONDS = 30.0
"""Minimum length of a window: three samples of 10 s, or one of 30 s and more."""
TOO_FEW = f"counters of fewer than {LEAST_WINDOWS} windows of {WINDOW_SECONDS:.0f} seconds: too short a time"


def carried_of(telemetry: Telemetry) -> Carried:
    """Bytes per second carried by each planned port."""
    return carried_in(telemetry, Quantity.TX_BYTES, Quantity.RX_BYTES)


def carried_in(telemetry: Telemetry, sends: Quantity, receives: Quantity) -> Carried:
    """The same from these two counters, in their unit."""
    peer = telemetry.wiring.peers.planned
    sent, received = (_own(telemetry, quantity) for quantity in (sends, receives))
    return Carried(np.fmax(sent, _at(received, peer)), np.fmax(received, _at(sent, peer)), peer)


def _at(values: Floats, port: Codes) -> Floats:
    return np.asarray(np.where((port >= 0)[:, None], values[port], np.float32(np.nan)), dtype=np.float32)


def _own(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """From the port's own counter over all priorities, or from the sum of its per-priority counters where that is
    missing.
    """
    held = telemetry.counters
    cut = _cut(np.arange(0) if held is None else held.order, 1.0 if held is None else held.pace)

    def rates(priority: int | None) -> Floats:
        return telemetry.reduced(quantity, priority, cut.windows, lambda gained, span: _rates(gained, span, cut))

    found = rates(None)
    silent = np.isnan(found).all(axis=1)
    priorities = [p for p in telemetry.priorities(quantity) if p is not None]
    if silent.any() and priorities:
        by_priority = [rates(p)[silent] for p in priorities]
        reported = ~np.isnan(by_priority).all(axis=0)
        found[silent] = np.where(reported, np.nansum(by_priority, axis=0), np.nan)
    return found


@dataclass(frozen=True)
class _Cut:
    """Assigns samples to windows, the oldest sample first. `which`, shape (samples, windows), marks the samples of each
    window: the last ones, equally many for each. `order` are the samples as the ring numbers them, `pace` the usual
    seconds between two.
    """

    order: Codes
    which: Floats
    pace: float

    @property
    def windows(self) -> int:
        return int(self.which.shape[1])


def _cut(order: Codes, pace: float) -> _Cut:
    windows = min(WINDOWS, len(order) // ceil(WINDOW_SECONDS / max(pace, WINDOW_SECONDS / LEAST_SAMPLES)))
    windows = windows if windows >= LEAST_WINDOWS else 0
    number = np.arange(len(order)) - len(order) % max(windows, 1)
    which = number[:, None] // max(len(order) // max(windows, 1), 1) == np.arange(windows)
    return _Cut(order, which.astype(np.float32), pace)


def _rates(gained: Samples, span: Samples, cut: _Cut) -> Floats:
    """Rates per window, shape (rows, windows); NaN where it has gaps."""
    with np.errstate(invalid="ignore"):
        rate = ratio(gained.of(cut.order) @ cut.which, span.of(cut.order) @ cut.which).astype(np.float32)
    gaps = np.flatnonzero(np.isnan(rate).any(axis=1))
    found = gained.of(cut.order, gaps)
    some = ~np.isnan(found).all(axis=1)
    rate[gaps[some]] = _with_gaps(found[some], span.of(cut.order, gaps[some]), cut)
    return rate


def _with_gaps(gained: Floats, span: Floats, cut: _Cut) -> Floats:
    """The same for rows with missing samples. Here the samples are in time order.

    If a device is polled, or refreshes its counters, less often than rounds come, one sample covers several rounds and
    gives its rate to all of them. A window is valid if enough of its polls are covered. A poll without a sample of its
    own because the previous one was lost is where the next sample begins.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = gained / span
        covered = np.where(span < USUAL * own_pace(span, cut.pace)[:, None], span / np.float32(cut.pace), 0)
    several = np.flatnonzero((covered > USUAL).any(axis=1))
    rate[several] = _spread(rate[several], covered[several])
    known = ~np.isnan(rate)
    polled = known.copy()
    polled[:, :-1] |= known[:, 1:]
    enough = (polled @ cut.which >= LEAST_COVERAGE * cut.which.sum(axis=0)) & (known @ cut.which > 0)
    return np.where(enough, ratio(np.where(known, rate, 0) @ cut.which, known @ cut.which), np.nan)


def _spread(rate: Floats, covered: Floats) -> Floats:
    """Fills the rates of samples, shape (rows, samples), back over the polls that a later sample covers; `covered` is
    the number of polls that each one covers.
    """
    found = rate.copy()
    for back in range(1, min(MOST_PACES, int(covered.max(initial=0) + 0.5))):
        empty = np.isnan(found[:, :-back]) & (covered[:, back:] > back + 0.5)
        np.copyto(found[:, :-back], rate[:, back:], where=empty)
    return found


def overall(rates: Floats) -> Numbers:
    """Bytes per second over all windows, shape (ports,); NaN with data in fewer than `LEAST_WINDOWS` windows."""
    reported = ~np.isnan(rates)
    count = reported.sum(axis=1)
    total = np.where(reported, rates, 0).sum(axis=1, dtype=np.float64)
    return np.where(count >= LEAST_WINDOWS, total / np.maximum(count, 1), np.nan)
