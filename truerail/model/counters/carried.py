"""What every planned port carried, in a few windows of a minute: the bytes of its link, by whichever end counts them.

What one end sends the other receives, so each direction has two counters. The larger is taken: a host's own may leave
RDMA out (`ip -s link` and sysfs statistics do), a switch's may be read late, and a counter that stands still is no
proof that nothing flows. Arrays have shape (planned ports, windows), bytes per second; NaN is "not told".
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.model.counters.hygiene import Floats
from truerail.model.counters.quantities import Quantity
from truerail.model.counters.telemetry import LEAST_COVERAGE, LEAST_SAMPLES, Telemetry
from truerail.model.index import NONE
from truerail.model.snapshot import Codes
from truerail.model.wiring import Wiring

WINDOWS = 5
"""A window of 30 samples of 10 s makes five of a minute, over which the seconds of a training step average out
(detection.md 2.6).
"""
LEAST_WINDOWS = 4
"""Fewer do not tell a habit from a moment (detection.md 2.5)."""


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


TOO_FEW = f"counters of fewer than {LEAST_WINDOWS * LEAST_SAMPLES} samples: too few to tell a habit from a moment"


def carried_of(telemetry: Telemetry) -> Carried:
    """What each planned port carried. Computed once for each telemetry, kept with it."""
    found: Carried | None = telemetry.__dict__.get("_carried")
    if found is None:
        found = telemetry.__dict__["_carried"] = _carried(telemetry)
    return found


def _carried(telemetry: Telemetry) -> Carried:
    peer = peers(telemetry.wiring)
    sent, received = (_own(telemetry, quantity) for quantity in (Quantity.TX_BYTES, Quantity.RX_BYTES))
    return Carried(np.fmax(sent, _at(received, peer)), np.fmax(received, _at(sent, peer)), peer)


def peers(wiring: Wiring) -> Codes:
    """The port at the other end of every planned port's link: as seen, else as planned; -1 if it is no planned one."""
    index, ports = wiring.index, wiring.index.planned_ports
    peer = np.full(ports, NONE, dtype=np.int64)
    both = (index.a >= 0) & (index.b >= 0)
    peer[index.a[both]], peer[index.b[both]] = index.b[both], index.a[both]
    seen = wiring.partner[:ports]
    peer = np.where(seen >= 0, seen, peer)
    return np.where(peer < ports, peer, NONE)


def _at(values: Floats, port: Codes) -> Floats:
    return np.asarray(np.where((port >= 0)[:, None], values[port], np.float32(np.nan)), dtype=np.float32)


def _own(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """By the port's own counters; where it has none over all priorities, by their sum."""
    order = np.arange(0) if telemetry.window is None else telemetry.window.order
    windows = min(WINDOWS, len(order) // LEAST_SAMPLES)
    which = _sorted_into(order, windows if windows >= LEAST_WINDOWS else 0)

    def rates(priority: int | None) -> Floats:
        return telemetry.reduced(quantity, priority, which.shape[1], lambda gained, span: _rates(gained, span, which))

    found = rates(None)
    silent = np.isnan(found).all(axis=1)
    priorities = [p for p in telemetry.priorities(quantity) if p is not None]
    if silent.any() and priorities:
        by_priority = [rates(p)[silent] for p in priorities]
        told = ~np.isnan(by_priority).all(axis=0)
        found[silent] = np.where(told, np.nansum(by_priority, axis=0), np.nan)
    return found


def _sorted_into(order: Codes, windows: int) -> Floats:
    """Which sample counts for which window, shape (samples, windows): the last ones, equally many for each."""
    each = len(order) // max(windows, 1)
    which = np.zeros((int(order.max(initial=-1)) + 1, windows), dtype=np.float32)
    for window in range(windows):
        at = len(order) - (windows - window) * each
        which[order[at : at + each], window] = 1
    return which


def _rates(gained: Floats, span: Floats, which: Floats) -> Floats:
    """Samples, shape (rows, samples), as rates in windows, shape (rows, windows); NaN where a window has gaps."""
    gained, span = gained[:, : len(which)], span[:, : len(which)]
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.asarray((gained @ which) / (span @ which), dtype=np.float32)
        gaps = np.flatnonzero(np.isnan(rate).any(axis=1))
        known = ~np.isnan(gained[gaps]) & ~np.isnan(span[gaps])
        filled = (np.where(known, gained[gaps], 0) @ which) / (np.where(known, span[gaps], 0) @ which)
    rate[gaps] = np.where(known @ which >= LEAST_COVERAGE * which.sum(axis=0), filled, np.nan)
    return rate


def overall(rates: Floats) -> npt.NDArray[np.float64]:
    """Bytes per second over all windows, shape (ports,); NaN where fewer than `LEAST_WINDOWS` are told."""
    told = ~np.isnan(rates)
    count = told.sum(axis=1)
    total = np.where(told, rates, 0).sum(axis=1, dtype=np.float64)
    return np.where(count >= LEAST_WINDOWS, total / np.maximum(count, 1), np.nan)
