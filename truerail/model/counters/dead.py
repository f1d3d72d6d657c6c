"""Members that are up and get nothing, and whether that may be chance: by the flows that are there at least, or by how
evenly the others are loaded.
"""

import numpy as np

from truerail.model.counters.balance import IDLE, Balance
from truerail.model.counters.flow_bounds import evenness_bound, flow_bounds
from truerail.model.counters.occupancy import idle_chance
from truerail.model.counters.siblings import polarized
from truerail.model.plan import LoadBalancing

EVEN = 0.25
"""Coefficient of variation up to which the other members are even (detection.md 2.5)."""
CHANCE = 1e-4
"""A member without flows by chance, less likely than this: a fabric has a thousand groups."""
LEAST_MEMBERS = 3
"""Of two members one idle is no pattern."""


def dead_members(b: Balance) -> dict[int, float]:
    """Groups with one dead member, and the chance that it is idle by chance. Computed once for each balance."""
    found: dict[int, float] | None = b.__dict__.get("_dead")
    if found is None:
        hashed = b.telemetry.wiring.index.plan.load_balancing is LoadBalancing.ECMP
        single = b.judged & (b.idle_members == 1) & (b.members >= LEAST_MEMBERS)
        for siblings in polarized(b):
            single[siblings.groups] = False
        chances = {group: _dead(b, group, hashed=hashed) for group in np.flatnonzero(single).tolist()}
        found = b.__dict__["_dead"] = {group: chance for group, chance in chances.items() if chance is not None}
    return found


def _dead(b: Balance, group: int, *, hashed: bool) -> float | None:
    """The chance that the group's one idle member is idle by chance; None where it may well be, or is not always so."""
    rows = b.uplinks(group)
    rows = rows[b.member[rows]]
    windows, idle = b.in_windows(rows), b.idle[rows]
    with np.errstate(invalid="ignore"):
        busy = windows[idle][0] >= IDLE * windows.mean(axis=0)
    others = b.load[rows[~idle]]
    by_speed = others / b.speed[rows[~idle]]
    uneven = min(float(x.std() / x.mean()) for x in (others, by_speed) if not np.isnan(x).any())
    if busy.any() or uneven > EVEN:
        return None
    if not hashed:
        return 0.0
    flows = flow_bounds(b)
    known = max(int(bound[group]) for bound in (flows.least, flows.from_below, flows.claimed))
    chance = idle_chance(max(known, evenness_bound(others)), len(rows), 1)
    return chance if chance < CHANCE else None
