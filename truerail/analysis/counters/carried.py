"""What every planned port carried, in a few windows of a minute: the bytes of its link, by whichever end counts them.

What one end sends the other receives, so each direction has two counters. The larger is taken: a host's own may leave
RDMA out (`ip -s link` and sysfs statistics do), a switch's may be read late, and a counter that stands still is no
proof that nothing flows. Arrays have shape (planned ports, windows), bytes per second; NaN is "not told".
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling.peers import peers_of
from truerail.analysis.counters.hygiene import MOST_PACES, Floats, own_pace
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import LEAST_COVERAGE, LEAST_SAMPLES, Telemetry
from truerail.model.columns import Codes
from truerail.model.kept import kept

WINDOWS = 5
"""A window of 30 samples of 10 s makes five of a minute, over which the seconds of a training step average out
(detection.md 2.6).
"""
LEAST_WINDOWS = 4
"""Fewer do not tell a habit from a moment (detection.md 2.5)."""

USUAL = 1.5
"""A sample that lasts so much longer than others of its port stands for a gap, and says nothing of any one minute."""


@dataclass(frozen=True)
class Carried:
    """Sent and received by each planned port in each window, and over all of them. `peer` is the other end's code."""

    tx: Floats
    rx: Floats
    peer: Codes

    @property
    def windows(self) -> int:
        """How many windows there are; 0 where too few samples are there for `LEAST_WINDOWS`."""
        return int(self.tx.shape[1])

    @property
    def enough(self) -> bool:
        """Whether the counters go back far enough to be judged."""
        return self.windows >= LEAST_WINDOWS


WINDOW_SECONDS = 30.0
"""A window is at least so long: three samples of 10 s, or one of 30 s and more."""
TOO_FEW = (
    f"counters of fewer than {LEAST_WINDOWS} windows of {WINDOW_SECONDS:.0f} seconds: "
    "too few to tell a habit from a moment"
)


@kept
def carried_of(telemetry: Telemetry) -> Carried:
    """What each planned port carried. Computed once for each telemetry, kept with it."""
    return carried_in(telemetry, Quantity.TX_BYTES, Quantity.RX_BYTES)


def carried_in(telemetry: Telemetry, sends: Quantity, receives: Quantity) -> Carried:
    """The same by these counters, in their unit."""
    peer = peers_of(telemetry.wiring).planned
    sent, received = (_own(telemetry, quantity) for quantity in (sends, receives))
    return Carried(np.fmax(sent, _at(received, peer)), np.fmax(received, _at(sent, peer)), peer)


def _at(values: Floats, port: Codes) -> Floats:
    return np.asarray(np.where((port >= 0)[:, None], values[port], np.float32(np.nan)), dtype=np.float32)


def _own(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """By the port's own counters; where it has none over all priorities, by their sum."""
    window = telemetry.window
    cut = _cut(np.arange(0) if window is None else window.order, 1.0 if window is None else window.pace)

    def rates(priority: int | None) -> Floats:
        return telemetry.reduced(quantity, priority, cut.windows, lambda gained, span: _rates(gained, span, cut))

    found = rates(None)
    silent = np.isnan(found).all(axis=1)
    priorities = [p for p in telemetry.priorities(quantity) if p is not None]
    if silent.any() and priorities:
        by_priority = [rates(p)[silent] for p in priorities]
        told = ~np.isnan(by_priority).all(axis=0)
        found[silent] = np.where(told, np.nansum(by_priority, axis=0), np.nan)
    return found


@dataclass(frozen=True)
class _Cut:
    """Samples, the oldest first, as `which` of them count for which window, shape (samples, windows): the last ones,
    equally many for each. `order` are their columns, `pace` the seconds that usually lie between two.
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


def _rates(gained: Floats, span: Floats, cut: _Cut) -> Floats:
    """Samples, shape (rows, samples), as rates in windows, shape (rows, windows); NaN where a window has gaps."""
    in_ring = np.zeros((int(cut.order.max(initial=-1)) + 1, cut.windows), dtype=np.float32)
    in_ring[cut.order] = cut.which
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.asarray((gained[:, : len(in_ring)] @ in_ring) / (span[:, : len(in_ring)] @ in_ring), dtype=np.float32)
    gaps = np.flatnonzero(np.isnan(rate).any(axis=1))
    gaps = gaps[~np.isnan(gained[gaps]).all(axis=1)]
    rate[gaps] = _with_gaps(gained[gaps][:, cut.order], span[gaps][:, cut.order], cut)
    return rate


def _with_gaps(gained: Floats, span: Floats, cut: _Cut) -> Floats:
    """The same where samples are missing, which are in the order of time here.

    Of a device that is polled, or counts anew, less often a sample covers several, and tells of all of them. A window
    is told if enough of its polls are there: a poll without a sample of its own, because the one before it is lost, is
    where the next sample begins.
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
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(enough, (np.where(known, rate, 0) @ cut.which) / (known @ cut.which), np.nan)


def _spread(rate: Floats, covered: Floats) -> Floats:
    """Rates of samples, shape (rows, samples), also where a later one covers them; `covered` is how many each does."""
    found = rate.copy()
    for back in range(1, min(MOST_PACES, int(covered.max(initial=0) + 0.5))):
        empty = np.isnan(found[:, :-back]) & (covered[:, back:] > back + 0.5)
        np.copyto(found[:, :-back], rate[:, back:], where=empty)
    return found


def overall(rates: Floats) -> npt.NDArray[np.float64]:
    """Bytes per second over all windows, shape (ports,); NaN where fewer than `LEAST_WINDOWS` are told."""
    told = ~np.isnan(rates)
    count = told.sum(axis=1)
    total = np.where(told, rates, 0).sum(axis=1, dtype=np.float64)
    return np.where(count >= LEAST_WINDOWS, total / np.maximum(count, 1), np.nan)
