"""NICs that carry less than expected, compared with the NICs of their rail in other hosts, minute after minute.

What a NIC lacks in the two directions is combined by certainty (weights of inverse variance): a slow NIC lacks equally
in both, and where collisions scatter one direction, the other still shows it. Arrays have shape (hosts, NICs of a host)
and, last, windows.
"""

from typing import NamedTuple

import numpy as np

from rules._held_up import Directions
from truerail.analysis.counters.rail_balance import (
    FLAGGED_WINDOWS,
    FLOOR,
    IDLE,
    LEAST_NICS,
    LEAST_PEERS,
    OUTLIER,
    SHORTFALL,
    Numbers,
    Rails,
    means,
    medians,
)
from truerail.model.columns import Mask

IN_STEP, ONE_LEVEL = 1.05, 1.01
"""Maximum ratio between the rates of a host's NICs, and between neighbouring host levels, where one job moves all of
them in step: 1.04 and 1.007 in the simulator's synchronous collectives, with a slow NIC in them. Chosen by judgement.
"""
LINE_RATE = 0.9
"""Share of the line rate from which no NIC slows down the others."""


class Lagging(NamedTuple):
    """NICs that stand out below their peers, and those that carry as little while their peers scatter too much to
    decide, shapes (hosts, NICs of a host); rails with data on enough NICs to compare them, and rails with traffic.
    """

    found: Mask
    doubtful: Mask
    compared: int
    rails: int


def lagging(ways: Directions) -> Lagging:
    """NICs that carry less than their peers."""
    rails, compared, busy = ways.rails, 0, 0
    found, doubtful = (np.zeros(rails.port.shape, dtype=bool) for _ in range(2))
    own, scatter = _own(ways)
    for rail in np.unique(rails.rail[rails.rail >= 0]).tolist():
        on = rails.rail == rail
        known = (~np.isnan(rails.share[on & rails.busy[:, None]])).sum(axis=0) >= LEAST_PEERS
        compared += int(known.sum() >= FLAGGED_WINDOWS)
        busy += bool((rails.use[on] >= IDLE).any())
        at = on & rails.evaluated[:, None]
        found[at] = _low(own[at], scatter[at, None])
        doubtful[at] = ~found[at] & _low(own[at])
    return Lagging(found, doubtful, compared, busy)


def in_step(rails: Rails) -> Mask:
    """Evaluated hosts that move in step with another one below the line rate, as synchronous jobs do: the slowest NIC
    sets the rate of all, and the rates do not show whether there is a slow one. Shape (hosts,).
    """
    found = np.zeros(len(rails.host), dtype=bool)
    hosts = np.flatnonzero(rails.evaluated)
    level = means(rails.use[hosts])
    use = np.where(np.isnan(rails.use[hosts]), level[:, None], rails.use[hosts])
    even = (use.max(axis=1, initial=0.0) <= IN_STEP * use.min(axis=1, initial=np.inf)) & (level < LINE_RATE)
    hosts, level = hosts[even], level[even]
    order = np.argsort(level)
    near = level[order][1:] <= ONE_LEVEL * level[order][:-1]
    beside = np.r_[near, False] | np.r_[False, near]
    found[hosts[order]] = beside[: len(hosts)]
    return found


def _own(ways: Directions) -> tuple[Numbers, Numbers]:
    """What each NIC carries in each window, as a share of the expected rate; and its standard error."""
    rails, alike = ways.rails, ways.alike
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(np.isnan(ways.lack), 0.0, alike.scatter**-2)[..., None]
        own = np.stack([_by_window(carried, alike.expected[way]) for way, carried in enumerate((rails.tx, rails.rx))])
        mean = np.where(weight > 0, weight * own, 0.0).sum(axis=0) / weight.sum(axis=0)
        return mean, weight.sum(axis=0)[..., 0] ** -0.5


def _by_window(carried: Numbers, expected: Numbers) -> Numbers:
    """The expected rate follows the host's median NIC."""
    level = medians(carried, LEAST_NICS)
    return np.asarray(carried / level[:, None, :] * (means(level)[:, None] / expected)[:, :, None])


def _low(own: Numbers, scatter: Numbers | None = None) -> Mask:
    """Of one rail's NICs, shape (NICs, windows), those that are low in enough windows and in their newest one;
    without `scatter`, regardless of how much their peers differ.

    Peers that carry more than expected (other jobs load this rail more) are not a reference: the further they are above
    it, the less certain the comparison.
    """
    middle = np.fmin(medians(own[None], LEAST_PEERS)[0], 1.0)
    apart = 1.4826 * medians(np.abs(own - middle)[None], LEAST_PEERS)[0]
    with np.errstate(invalid="ignore"):
        limit = SHORTFALL * middle
        if scatter is not None:
            limit = np.fmin(OUTLIER * np.fmax(np.fmax(apart, FLOOR * middle), scatter * middle), limit)
        flagged = own - middle < limit
    last = own.shape[1] - 1 - np.argmax(~np.isnan(own)[:, ::-1], axis=1)
    still = flagged[np.arange(len(own)), last]  # a link that was down and is back is not a straggler
    return np.asarray((flagged.sum(axis=1) >= FLAGGED_WINDOWS) & still, dtype=bool)
