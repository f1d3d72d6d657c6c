"""How evenly every switch spreads its load over its uplinks, compared with chance for the number of flows.

A fixed limit on busiest over mean fires on healthy AI traffic: 32 flows over 8 uplinks reach 1.75 in every second case
and 2.25 in one of twenty (detection.md 2.3). So the load is shown beside the value that a fair hash of the fewest
possible flows exceeds in one case of a hundred.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, lgamma, log, log1p, sqrt

import numpy as np

from truerail.analysis.ecmp.flow_bounds import FlowBounds
from truerail.analysis.ecmp.occupancy import MOST_FLOWS
from truerail.analysis.ecmp.siblings import Siblings, unclear
from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.model.columns import Codes, Mask, Numbers
from truerail.model.plan import LoadBalancing, Plan

RARE = 0.01
"""How often a fair hash exceeds `expected`, at most."""


@dataclass(frozen=True)
class Spread:
    """Of each switch with uplinks, shape (switches,); ratios are NaN where unknown."""

    switch: Codes
    """Device codes."""
    peak: Numbers
    """Load of the busiest uplink over the mean of all, over the windows that rules evaluate."""
    expected: Numbers
    """The value that chance allows for the fewest possible flows. Unknown where nothing bounds the flows, and where the
    fabric does not hash flows.
    """
    evaluated: Mask
    """Whether the switch carries enough, enough of it is counted, and its flows are bounded, so that rules can decide
    whether it is even.
    """


def spread_of(plan: Plan, balance: Balance, bounds: FlowBounds, siblings: Iterable[Siblings]) -> Spread:
    """The spread of every switch. Work that grows with the uplinks."""
    hashed = plan.load_balancing is LoadBalancing.ECMP
    flows = np.maximum(bounds.rates, bounds.from_below)
    expected = peak_by_chance(flows, balance.members) if hashed else np.full(len(balance.switch), np.nan)
    enough = bool(balance.carried.enough)
    peak = np.where(balance.reported & (balance.total > 0), balance.peak, np.nan)
    evaluated = balance.evaluated & enough & (~np.isnan(expected) | (not hashed))
    for one in unclear(siblings) if enough else ():
        evaluated[one.groups] = False
    return Spread(balance.switch, peak, np.where(np.isnan(peak), np.nan, expected), evaluated)


def peak_by_chance(flows: Numbers, members: Codes) -> Numbers:
    """Busiest over mean that a fair hash of this many equal flows over this many members exceeds in at most one case of
    a hundred; NaN where there is no flow or one member. Shapes (n,).
    """
    pairs = zip(np.floor(np.minimum(flows, MOST_FLOWS)).tolist(), members.tolist(), strict=True)
    known = (_peak(int(count), size) if count >= 1 and size > 1 else np.nan for count, size in pairs)
    return np.fromiter(known, dtype=np.float64, count=len(flows))


@lru_cache(maxsize=65536)
def _peak(flows: int, members: int) -> float:
    """The flows of one member are binomial; the probability that any of them has as many is at most the sum
    over all.
    """
    share, mean = 1 / members, flows / members
    counts = range(ceil(mean), min(flows, ceil(mean + 20 * sqrt(mean) + 20)) + 1)
    whole = lgamma(flows + 1)
    ways = ((n, whole - lgamma(n + 1) - lgamma(flows - n + 1)) for n in counts)
    chances = [exp(of + n * log(share) + (flows - n) * log1p(-share)) for n, of in ways]
    tails = np.cumsum(chances[::-1])[::-1] * members
    return max(counts[0] - 1 + int(np.count_nonzero(tails > RARE)), mean) / mean
