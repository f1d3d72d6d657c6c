"""What every NIC would carry, beside its host's other NICs and those that congestion slows as much.

A host's median NIC alone is no measure where flows collide: half of a host's NICs may stand behind crowded uplinks, and
what one of them lacks is then hidden, or feigned. So what a NIC carries is taken as a product of its host's level, its
rail's usual share, and what is left to those that are told as much of congestion, for each byte. The factors are found
in turn, as medians (Tukey's median polish, Exploratory Data Analysis, 1977). Notices go with the rate: they are what
holds a flow at its share ("ECN or Delay", CoNEXT 2016, section 3). Arrays have shape (2, hosts, NICs of a host);
direction 0 is what a NIC sends, 1 what it receives.
"""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.rails import BUSY, FLOOR, LEAST_NICS, LEAST_PEERS, Numbers, Rails, means, medians
from truerail.model.columns import Codes, Mask

MORE_THAN_PEERS = 1.5
"""Times as much as others are told to slow down: what all have explains nobody's lag. Judgement."""
CROWD = 2 * LEAST_PEERS + 1
"""NICs that are told as much as one: the nearest ones, half of them told less and half more."""
ONE_JOB = 1.25
"""Hosts whose levels, in order, lie no further apart may do the same work, congestion counted in. Judgement."""
ROUNDS = 4
"""The factors move by less than the least scatter after as many."""


@dataclass(frozen=True)
class Alike:
    """`rate` is what a NIC carries and `expected` what it would, in bytes per second, NaN where its host carries too
    little that way; `scatter` is the standard error of that, as a share. `known` is where enough are told as much of
    congestion; `paused` for what share of the time those are paused, 0 elsewhere.
    """

    rate: Numbers
    expected: Numbers
    scatter: Numbers
    known: Mask
    paused: Numbers

    @property
    def lack(self) -> Numbers:
        """The share of what is expected that a NIC lacks."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(1 - self.rate / self.expected)

    def share(self, at: tuple[int, int]) -> float:
        """What a host's NIC carries in both directions, as a share of what is expected where that is judged."""
        return float(np.nansum(self.rate[:, *at]) / np.nansum(self.expected[:, *at]))


@dataclass(frozen=True)
class _Crowd:
    """NICs that congestion is told of: `host` and `nic` of each, the numbers of those `near` it, shape (NICs, CROWD),
    and whether those are told as much (`alike`): beyond the one that is told most there is nobody.
    """

    host: Codes
    nic: Codes
    near: Codes
    alike: Mask

    def middle(self, values: Numbers, otherwise: float) -> Numbers:
        """The median of those that are told as much; `values` have shape (hosts, NICs of a host)."""
        return np.where(self.alike, np.median(self._of(values), axis=1), otherwise)

    def scatter(self, values: Numbers) -> Numbers:
        """Root mean square of what they are apart from their median, as a share of it. Not a robust one: where one in
        ten carries little by the chance of its collisions, another may.
        """
        of = self._of(values)
        apart = of / np.median(of, axis=1, keepdims=True) - 1
        return np.where(self.alike, np.sqrt((apart**2).mean(axis=1)), FLOOR)

    def _of(self, values: Numbers) -> Numbers:
        return np.asarray(values[self.host, self.nic][self.near])


def alike_of(rails: Rails, signs: Numbers, paused: Numbers) -> Alike:
    """What is expected of each NIC. `signs` are what it is told of congestion, counted per second, of the same shape as
    `Alike.rate`, NaN where nobody tells; `paused` is a share of the time, of shape (hosts, NICs of a host).
    """
    rate = np.stack([means(rails.tx), means(rails.rx)])
    level = levels(rate)
    with np.errstate(invalid="ignore"):
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
    """The upper median of each host's NICs, shape (2, hosts, 1): what slows a NIC slows, and nothing speeds it up."""
    count = (~np.isnan(values)).sum(axis=2, keepdims=True)
    upper = np.take_along_axis(np.sort(values, axis=2), np.minimum(count // 2, values.shape[2] - 1), axis=2)
    return np.where(count >= LEAST_NICS, upper, np.nan)


def of_peers(rails: Rails, values: Numbers, otherwise: float) -> Numbers:
    """The median over the judged NICs of each NIC's rail, where there are enough of them."""
    found = np.full(values.shape, otherwise)
    for rail in np.unique(rails.rail[rails.rail >= 0]).tolist():
        at = rails.rail == rail
        peers = values[:, at & rails.judged[:, None]]
        middle = medians(peers[:, :, None], LEAST_PEERS)
        found[:, at] = np.where(np.isnan(middle), otherwise, middle)
    return found


def _polished(rails: Rails, rate: Numbers, crowds: list[_Crowd]) -> tuple[Numbers, Numbers]:
    """What each NIC would carry, with and without congestion. A rail that other jobs load more says nothing of one that
    a host loads as its others.
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
    """How far a host's NICs are from what is expected of them, as a robust standard deviation, shape (2, hosts, 1): no
    NIC can be compared with others that differ among themselves.
    """
    apart = medians(np.moveaxis(np.abs(own - 1), 0, 2), LEAST_NICS)
    return np.asarray(1.4826 * apart.T[:, :, None])


def _crowd(rails: Rails, rate: Numbers, level: Numbers, signs: Numbers) -> _Crowd:
    """The NICs of one direction, each among those of the hosts that may do the same work."""
    with np.errstate(invalid="ignore", divide="ignore"):
        told = signs / rate
    host, nic = np.nonzero(rails.judged[:, None] & (told > 0) & np.isfinite(told))
    work, told = _work(level)[host], told[host, nic]
    order = np.lexsort((told, work))
    host, nic, work, told = host[order], nic[order], work[order], told[order]
    begin, end = np.searchsorted(work, work, side="left"), np.searchsorted(work, work, side="right")
    first = np.clip(np.arange(len(work)) - CROWD // 2, begin, np.maximum(end - CROWD, begin))
    near = np.minimum(first[:, None] + np.arange(CROWD), max(len(work) - 1, 0))
    alike = (end - begin >= CROWD) & (told <= MORE_THAN_PEERS * told[near[:, CROWD // 2]])
    return _Crowd(host, nic, near, np.asarray(alike, dtype=bool))


def _work(level: Numbers) -> Codes:
    """Hosts that may do the same work, as numbers, by the order of their levels."""
    order = np.argsort(level)
    ordered = level[order]
    found = np.zeros(len(level), dtype=np.int64)
    with np.errstate(invalid="ignore"):
        found[order] = np.cumsum(np.r_[0, ordered[1:] > ONE_JOB * ordered[:-1]])[: len(level)]
    return found
