"""Members that are up and get nothing, and whether that may be chance: by the flows that are there at least, and by how
evenly the others are loaded, which few flows never are.
"""

import numpy as np

from truerail.model.kept import kept
from truerail.model.plan import LoadBalancing
from truerail.model.uplinks.balance import IDLE, Balance
from truerail.model.uplinks.flow_bounds import flow_bounds
from truerail.model.uplinks.occupancy import MOST_FLOWS, chi_square_below, idle_chance
from truerail.model.uplinks.siblings import polarized

EVEN = 0.25
"""Coefficient of variation up to which the others are even where switches steer or spray (detection.md 2.5)."""
CHANCE = 1e-4
"""A member without flows by chance, less likely than this: a fabric has a thousand groups."""
DOUBT = 1e-2
"""How often flows that are estimated and not counted may be fewer: chance must be below `CHANCE / DOUBT` even then."""
LEAST_MEMBERS = 3
"""Of two members one idle is no pattern."""
_TRIED = 64
"""How many numbers of flows are tried."""


@kept
def dead_members(b: Balance) -> dict[int, float]:
    """Groups with one dead member, and the chance that it is idle by chance. Computed once for each balance."""
    hashed = b.telemetry.wiring.index.plan.load_balancing is LoadBalancing.ECMP
    single = b.judged & (b.idle_members == 1) & (b.members >= LEAST_MEMBERS)
    for siblings in polarized(b):
        single[siblings.groups] = False
    chances = {group: _dead(b, group, hashed=hashed) for group in np.flatnonzero(single).tolist()}
    return {group: chance for group, chance in chances.items() if chance < CHANCE}


def _dead(b: Balance, group: int, *, hashed: bool) -> float:
    """The chance that the group's one idle member is idle by chance; 1 where it is not always so."""
    rows = b.uplinks(group)
    rows = rows[b.member[rows]]
    windows, idle = b.in_windows(rows), b.idle[rows]
    with np.errstate(invalid="ignore"):
        busy = windows[idle][0] >= IDLE * windows.mean(axis=0)
    if busy.any():
        return 1.0
    others = b.load[rows[~idle]]
    by_speed = others / b.speed[rows[~idle]]
    uneven = min(float(x.std() / x.mean()) for x in (others, by_speed) if not np.isnan(x).any())
    if not hashed:
        return float(uneven > EVEN)
    flows = flow_bounds(b)
    claimed = max(int(flows.from_below[group]), int(flows.claimed[group]), int(flows.least[group]))
    return max(_chance(len(rows), uneven, claimed), DOUBT * _chance(len(rows), uneven, int(flows.least[group])))


def _chance(members: int, uneven: float, least: int) -> float:
    """How likely one of these members is idle and the others so even, by any number of flows from the least on.

    Few flows leave a member idle but are uneven over the others, many are even but leave none. Given which members are
    in use, the others' squares follow chi-square, by the number of flows if they are equally large; of unequal ones
    there are more. Flows are whole, so that squares come in steps, half of one is granted.
    """
    others = members - 1
    tried = np.unique(np.geomspace(max(least, others), 2 * MOST_FLOWS, _TRIED).astype(np.int64))
    return max(
        idle_chance(flows, members, 1) * chi_square_below(uneven**2 * flows + others / flows, others - 1)
        for flows in tried.tolist()
    )
