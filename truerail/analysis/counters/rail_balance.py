"""Balance of load over each host's rails, and each NIC compared with the other NICs of its rail.

A NIC's load is what it sends and receives, in bytes per second, in windows of a minute. Jobs differ in how much they
send, so each NIC is divided by its host's median NIC, and this share is compared with that of the same rail in other
hosts. Shapes: hosts (H), NICs of a host (N, padded), windows (W); NaN is "no data".
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerail.analysis.counters.carried import Carried
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import NONE, Array, Codes, Mask, Numbers, ratio

BUSY = 0.10
"""Minimum mean share of the line rate on a host's NICs for the host to be evaluated (detection.md 3)."""
LOW = 0.85
"""Share of the host's median below which a NIC is low (detection.md 3)."""
IDLE, ACTIVE = 0.01, 0.20
"""A NIC below the first share of its speed is idle; that matters where the host's median is above the second."""
LEAST_NICS = 3
"""Minimum number of NICs for a median."""
ALIKE_LEVEL = 1.05
"""Hosts of one job load their NICs alike: their medians, in order, lie no further apart than this factor."""
ALIKE_HOSTS, ALIKE_SHARE = 3, 0.8
"""If this many hosts of one level, and this share of them, have the same low rails, the workload is the reason
(detection.md 3).
"""
FLOOR = 0.02
"""Minimum scatter of peers, as a share of their median: where all are equal the median deviation is 0."""
OUTLIER, SHORTFALL = -3.5, -0.15
"""Robust z-score (Iglewicz and Hoaglin, 1993) and shortfall against the peers' median that flag a NIC."""
LEAST_PEERS = 8
FLAGGED_WINDOWS = 3
"""Windows, of five, in which a NIC must be flagged: gives no false alarm in the simulations of detection.md 3."""


@dataclass(frozen=True)
class Rails:
    """`port` has shape (H, N), -1 where a host has fewer NICs; `tx`, `rx`, `load` and `share` (H, N, W)."""

    carried: Carried
    host: Codes
    port: Codes
    rail: Codes
    """Rail and plane as one number, shape (H, N)."""
    tx: Numbers
    rx: Numbers
    speed: Numbers
    """Both directions together, shape (H, N)."""

    @cached_property
    def load(self) -> Numbers:
        """Bytes per second that each NIC sends and receives."""
        return np.asarray(self.tx + self.rx)

    @cached_property
    def median(self) -> Numbers:
        """Load of the host's median NIC in each window, shape (H, W); NaN with data of fewer than three NICs."""
        return medians(self.load, LEAST_NICS)

    @cached_property
    def share(self) -> Numbers:
        """Each NIC's load as a share of its host's median."""
        return ratio(self.load, self.median[:, None, :])

    @cached_property
    def use(self) -> Numbers:
        """Each NIC's load over all windows as a share of its speed, shape (H, N)."""
        return ratio(means(self.load), self.speed)

    @cached_property
    def typical(self) -> Numbers:
        """Each NIC's share over all windows, shape (H, N)."""
        return means(self.share)

    @cached_property
    def busy(self) -> Mask:
        """Hosts with enough load to be evaluated, on all their NICs but one: a job on fewer GPUs leaves more idle."""
        idle = (self.use < IDLE).sum(axis=1)
        enough = np.nan_to_num(means(self.use)) >= BUSY
        return np.asarray(enough & (idle <= 1) & ~np.isnan(self.median).all(axis=1), dtype=bool)

    @cached_property
    def worked(self) -> Mask:
        """Hosts whose low rails are also low in neighbouring hosts: the workload causes it, not the NIC."""
        low = self.typical < LOW
        bits = (low << np.arange(low.shape[1])).sum(axis=1)
        found = np.zeros(len(bits), dtype=bool)
        hosts = np.flatnonzero(self.busy)
        if len(hosts):
            hosts = hosts[np.argsort(means(self.median)[hosts])]
            level = means(self.median)[hosts]
            job = np.cumsum(np.r_[0, level[1:] > ALIKE_LEVEL * level[:-1]])
            size = np.bincount(job)[job]
            _, kind, same = np.unique(np.stack([job, bits[hosts]]), axis=1, return_inverse=True, return_counts=True)
            found[hosts] = (size >= ALIKE_HOSTS) & (same[kind] >= ALIKE_SHARE * size) & (bits[hosts] > 0)
        return found

    @property
    def active(self) -> Mask:
        """Hosts that carry traffic."""
        return np.asarray((self.use >= IDLE).any(axis=1), dtype=bool)

    @cached_property
    def evaluated(self) -> Mask:
        """Hosts on which an uneven load is meaningful."""
        return self.busy & ~self.worked


def rails_of(telemetry: Telemetry, carried: Carried) -> Rails:
    """Rails of every host."""
    index = telemetry.wiring.index
    cable = np.flatnonzero(index.from_host & (index.a >= 0) & (index.rail >= 0))
    cable = cable[np.lexsort((index.plane[cable], index.rail[cable], index.a_device[cable]))]
    host, first, row = np.unique(index.a_device[cable], return_index=True, return_inverse=True)
    place = np.arange(len(cable)) - first[row] if len(cable) else cable
    shape = (len(host), int(place.max(initial=-1)) + 1)
    port, rail = np.full(shape, NONE, dtype=np.int64), np.full(shape, NONE, dtype=np.int64)
    tx, rx = (np.full((*shape, carried.windows), np.nan) for _ in range(2))
    speed = np.full(shape, np.nan)
    planes = int(index.plane.max(initial=NONE)) + 2
    ports = index.a[cable]
    port[row, place], rail[row, place] = ports, index.rail[cable] * planes + index.plane[cable] + 1
    tx[row, place], rx[row, place] = carried.tx[ports], carried.rx[ports]
    speed[row, place] = 2 * telemetry.speed()[ports]
    return Rails(carried, host, port, rail, tx, rx, speed)


def medians(values: Array, least: int) -> Numbers:
    """Medians over the second axis, NaN ignored: (H, N, W) to (H, W); NaN with fewer than `least` values."""
    known = (~np.isnan(values)).sum(axis=1)
    ordered = np.sort(values, axis=1)
    low, high = np.maximum(known - 1, 0) // 2, known // 2
    if not values.shape[1]:
        return np.full(known.shape, np.nan)
    high = np.minimum(high, values.shape[1] - 1)
    middle = [np.take_along_axis(ordered, at[:, None, :], axis=1)[:, 0, :] for at in (low, high)]
    return np.where(known >= least, (middle[0] + middle[1]) / 2, np.nan)


def means(values: Numbers) -> Numbers:
    """Mean over the last axis, NaN ignored."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0).sum(axis=-1), known.sum(axis=-1))
