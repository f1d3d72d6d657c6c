"""What each NIC is expected to carry, compared with its host's other NICs and with NICs that are equally congested.

The median NIC of a host is not a sufficient reference where flows collide: half of a host's NICs may be behind crowded
uplinks, which hides what one of them lacks, or simulates a lack. So the rate of a NIC is the product of its host's
level, its rail's usual share, and the share left to NICs with as many congestion signs per byte. The factors are
computed in turn, as medians (Tukey's median polish, Exploratory Data Analysis, 1977). Notices are proportional to the
rate: they hold a flow at its share ("ECN or Delay", CoNEXT 2016, section 3). Arrays have shape (2, hosts, NICs of a
host); direction 0 is what a NIC sends, 1 what it receives.
"""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.rail_balance import BUSY, FLOOR, LEAST_NICS, LEAST_PEERS, Rails, means, medians
from truerail.model.columns import Codes, Mask, Numbers, distinct

MORE_THAN_PEERS = 1.5
"""Multiple of the congestion signs of its peers: signs that all NICs get do not explain why one lags. Chosen by
judgement.
"""
CROWD = 2 * LEAST_PEERS + 1
"""NICs with about as many congestion signs as one NIC: the nearest ones, half of them with fewer and half with more."""
ONE_JOB = 1.25
"""Hosts whose sorted levels differ by no more than this factor may do the same work, congestion included. Chosen by
judgement.
"""
ROUNDS = 4
"""After this many rounds the factors move by less than the least scatter."""


@dataclass(frozen=True)
class Alike:
    """`rate` is what a NIC carries and `expected` what it should carry, in bytes per second, NaN where its host carries
    too little in that direction; `scatter` is the standard error of `expected`, as a share. `known` is where enough
    NICs have as many congestion signs; `paused` is the share of the time for which those are paused, 0 elsewhere.
    """

    rate: Numbers
    expected: Numbers
    scatter: Numbers
    known: Mask
    paused: Numbers

    @property
    def lack(self) -> Numbers:
        """The share of the expected rate that a NIC lacks."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(1 - self.rate / self.expected)

    def share(self, at: tuple[int, int]) -> float:
        """What a NIC carries in both directions, as a share of the expected rate where that is evaluated."""
        return float(np.nansum(self.rate[:, *at]) / np.nansum(self.expected[:, *at]))


@dataclass(frozen=True)
class _Crowd:
    """NICs with congestion signs: `host` and `nic` of each, the numbers of the NICs `near` it, shape (NICs, CROWD), and
    whether those have as many signs (`alike`): above the NIC with the most signs there is no other.
    """

    host: Codes
    nic: Codes
    near: Codes
    alike: Mask

    def middle(self, values: Numbers, otherwise: float) -> Numbers:
        """The median of the NICs with as many signs; `values` have shape (hosts, NICs of a host)."""
        return np.where(self.alike, np.median(self._of(values), axis=1), otherwise)

    def scatter(self, values: Numbers) -> Numbers:
        """Root mean square of the deviations from the median, as a share of it. It is not a robust measure: where one
        NIC in ten carries little because of chance collisions, another may too.
        """
        of = self._of(values)
        apart = of / np.median(of, axis=1, keepdims=True) - 1
        return np.where(self.alike, np.sqrt((apart**2).mean(axis=1)), FLOOR)

    def _of(self, values: Numbers) -> Numbers:
        return np.asarray(values[self.host, self.nic][self.near])


def alike_of(rails: Rails, signs: Numbers, paused: Numbers) -> Alike:
    """The expected rate of each NIC. `signs` are its congestion signs, counted per second, of the same shape as
    `Alike.rate`, NaN where there is no data; `paused` is a share of the time, of shape (hosts, NICs of a host).
    """
    rate = np.stack([means(rails.tx), means(rails.rx)])
    level = levels(rate)
    rate = np.where(level >= BUSY * rails.speed / 2, rate, np.nan)
    crowds = [_crowd(rails, rate[way], level[way, :, 0], signs[way]) for way in (0, 1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        expected, unslowed = _polished(rails, rate, crowds)
        scatter = np.fmax(_apart(rate / expected), np.full(rate.shape, FLOOR))
    known, pauses = np.zeros(rate.shape, dtype=bool), np.zeros(rate.shape)
    for way, crowd in enumerate(crowds):
        at = way, crowd.host, crowd.nic
        scatter[at] = np.fmax(scatter[at], crowd.scatter(rate[way] / unslowed[way]))
        known[at] = crowd.alike
        pauses[at] = crowd.middle(np.nan_to_num(paused), 0.0)
    return Alike(rate, expected, scatter, known, pauses)


def levels(values: Numbers) -> Numbers:
    """The upper median of each host's NICs, shape (2, hosts, 1): faults slow a NIC down, and nothing speeds it up."""
    count = (~np.isnan(values)).sum(axis=2, keepdims=True)
    upper = np.take_along_axis(np.sort(values, axis=2), np.minimum(count // 2, values.shape[2] - 1), axis=2)
    return np.where(count >= LEAST_NICS, upper, np.nan)


def of_peers(rails: Rails, values: Numbers, otherwise: float) -> Numbers:
    """The median over the evaluated NICs of each NIC's rail, where there are enough of them."""
    found = np.full(values.shape, otherwise)
    for rail in distinct(rails.rail[rails.rail >= 0]).tolist():
        at = rails.rail == rail
        peers = values[:, at & rails.evaluated[:, None]]
        middle = medians(peers[:, :, None], LEAST_PEERS)
        found[:, at] = np.where(np.isnan(middle), otherwise, middle)
    return found


def _polished(rails: Rails, rate: Numbers, crowds: list[_Crowd]) -> tuple[Numbers, Numbers]:
    """What each NIC should carry, with and without congestion. A rail that other jobs load more says nothing about a
    rail that a host loads like its others.
    """
    usual, slowed = np.ones(rate.shape), np.ones(rate.shape)
    for _ in range(ROUNDS):
        level = levels(rate / (usual * slowed))
        usual = of_peers(rails, rate / (level * slowed), 1.0)
        usual = np.where(usual > 0, np.fmin(usual, 1.0), 1.0)
        for way, crowd in enumerate(crowds):
            slowed[way, crowd.host, crowd.nic] = crowd.middle(rate[way] / (level * usual)[way], 1.0)
    unslowed = levels(rate / (usual * slowed)) * usual
    return unslowed * slowed, unslowed


def _apart(own: Numbers) -> Numbers:
    """How far a host's NICs are from their expected rates, as a robust standard deviation, shape (2, hosts, 1): a NIC
    cannot be compared with NICs that differ among themselves.
    """
    apart = medians(np.moveaxis(np.abs(own - 1), 0, 2), LEAST_NICS)
    return np.asarray(1.4826 * apart.T[:, :, None])


def _crowd(rails: Rails, rate: Numbers, level: Numbers, signs: Numbers) -> _Crowd:
    """The NICs of one direction, each grouped with the NICs of hosts that may do the same work."""
    with np.errstate(invalid="ignore", divide="ignore"):
        reported = signs / rate
    host, nic = np.nonzero(rails.evaluated[:, None] & (reported > 0) & np.isfinite(reported))
    work, reported = _work(level)[host], reported[host, nic]
    order = np.lexsort((reported, work))
    host, nic, work, reported = host[order], nic[order], work[order], reported[order]
    begin, end = np.searchsorted(work, work, side="left"), np.searchsorted(work, work, side="right")
    first = np.clip(np.arange(len(work)) - CROWD // 2, begin, np.maximum(end - CROWD, begin))
    near = np.minimum(first[:, None] + np.arange(CROWD), max(len(work) - 1, 0))
    alike = (end - begin >= CROWD) & (reported <= MORE_THAN_PEERS * reported[near[:, CROWD // 2]])
    return _Crowd(host, nic, near, np.asarray(alike, dtype=bool))


def _work(level: Numbers) -> Codes:
    """Hosts that may do the same work, as group numbers in the order of their levels."""
    order = np.argsort(level)
    ordered = level[order]
    found = np.zeros(len(level), dtype=np.int64)
    found[order] = np.cumsum(np.r_[0, ordered[1:] > ONE_JOB * ordered[:-1]])[: len(level)]
    return found
