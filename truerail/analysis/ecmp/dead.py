"""Members that are up and get nothing, and whether that may be chance: by the minimum number of flows, and by the
evenness of the other members' loads, which few flows never produce.

One switch's scatter shows little about its flows, that of all its siblings shows much: leaves of one pod carry the same
jobs, one rail each. So the scatter of siblings with as much load is pooled with its own.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from truerail.analysis.ecmp.flow_bounds import FlowBounds
from truerail.analysis.ecmp.occupancy import MOST_FLOWS, chi_square_below, idle_chance
from truerail.analysis.ecmp.siblings import Siblings, families, polarized
from truerail.analysis.ecmp.uplink_balance import IDLE, Balance
from truerail.model.columns import Codes, distinct
from truerail.model.plan import LoadBalancing

EVEN = 0.25
"""Coefficient of variation up to which the others are even where switches steer or spray (detection.md 2.5)."""
CHANCE = 1e-4
"""A member is idle by chance only below this probability: a fabric has a thousand groups."""
DOUBT = 1e-2
"""How often an estimate of flows is wrong: from the hosts' claims or the tier below, and from siblings. Without one of
them chance must be below `CHANCE / DOUBT`, without both below `CHANCE / DOUBT**2`.
"""
MANY, DOUBT_OF_MANY = 3, 1e-3
"""From this many siblings on with as much load and as even, `DOUBT_OF_MANY` replaces `DOUBT`. Chosen by judgement."""
LEAST_MEMBERS = 3
"""Of two members one idle is no pattern."""
AS_MUCH = 1.5
"""Siblings with up to this many times as much load, or as little, have as many flows."""
FULL = 0.95
"""Share of its speed from which a member limits flows."""
UNLIKE = 0.1
"""A switch whose unevenness is less likely than this by chance, given its siblings' flows, has fewer flows than they
have.
"""
_TRIED = 64
"""The number of flow counts that are tried."""


class _Scatter(NamedTuple):
    """Unevenness of the loads of some members in use: coefficient of variation, and the number of members."""

    uneven: float
    members: int


def dead_members(b: Balance, flows: FlowBounds, siblings: Iterable[Siblings]) -> dict[int, float]:
    """Groups with one dead member, and the chance that it is idle by chance. `siblings` are the groups whose idle
    members a repeated hash may explain.
    """
    hashed = b.telemetry.wiring.index.plan.load_balancing is LoadBalancing.ECMP
    single = b.evaluated & (b.idle_members == 1) & (b.members >= LEAST_MEMBERS)
    for one in polarized(siblings):
        single[one.groups] = False
    family = families(b)
    chances = {group: _dead(b, flows, family, group, hashed=hashed) for group in np.flatnonzero(single).tolist()}
    return {group: chance for group, chance in chances.items() if chance < CHANCE}


def _dead(b: Balance, flows: FlowBounds, family: Codes, group: int, *, hashed: bool) -> float:
    """The chance that the group's one idle member is idle by chance; 1 where it is not always so."""
    rows = b.uplinks(group)
    rows = rows[b.member[rows]]
    windows, idle = b.in_windows(rows), b.idle[rows]
    if (windows[idle][0] >= IDLE * windows.mean(axis=0)).any():
        return 1.0
    own = _scatter(b, rows[~idle])
    if not hashed:
        return float(own.uneven > EVEN)
    members = len(rows)
    least = int(flows.least[group])
    claimed = max(int(flows.from_below[group]), int(flows.claimed[group]), least)
    pooled = _pooled(b, family, group, own)
    of_claims = DOUBT if claimed > least else 1.0
    of_siblings = (DOUBT_OF_MANY if len(pooled) > MANY else DOUBT) if len(pooled) > 1 else 1.0
    return max(
        _chance(members, pooled, claimed),
        of_claims * _chance(members, pooled, least),
        of_siblings * _chance(members, [own], claimed),
        of_claims * of_siblings * _chance(members, [own], least),
    )


def _scatter(b: Balance, rows: Codes) -> _Scatter:
    """The scatter of these members, as they are or relative to speed, whichever is more even. Unknown where one is
    full: dropped load makes few flows look even.
    """
    load = b.load[rows]
    if not (load < FULL * b.speed[rows]).all():
        return _Scatter(0.0, 1)
    uneven = min(float(x.std() / x.mean()) for x in (load, load / b.speed[rows]) if not np.isnan(x).any())
    return _Scatter(uneven, len(rows))


def _pooled(b: Balance, family: Codes, group: int, own: _Scatter) -> list[_Scatter]:
    """The group's scatter and that of the siblings with as much load; its own alone where it has fewer flows."""
    beside = np.flatnonzero(b.evaluated & (family == family[group]) & (b.idle_members <= 1))
    alike = (b.total[beside] <= AS_MUCH * b.total[group]) & (b.total[group] <= AS_MUCH * b.total[beside])
    found = []
    for other in beside[alike & (beside != group)].tolist():
        rows = b.uplinks(other)
        found.append(_scatter(b, rows[b.member[rows] & ~b.idle[rows]]))
    squares, freedom = sum(one.uneven**2 for one in found), sum(one.members - 1 for one in found)
    if not freedom or own.members == 1:
        return [own]
    unlike = 1 - chi_square_below(own.uneven**2 * freedom / max(squares, 1e-9), own.members - 1) < UNLIKE
    return [own] if unlike else [own, *found]


def _chance(members: int, scatters: Sequence[_Scatter], least: int) -> float:
    """The probability that one of these members is idle and the others are this even, for any number of flows from the
    least on.

    Few flows leave a member idle but are uneven over the others, many are even but leave none. Given which members are
    in use, the others' squares follow chi-square, by the number of flows if they are equally large; of unequal ones
    there are more. Flows are whole, so that squares come in steps, half of one is granted.
    """
    squares = sum(one.uneven**2 for one in scatters)
    steps, freedom = sum(one.members for one in scatters), sum(one.members - 1 for one in scatters)
    tried = distinct(np.geomspace(max(least, members - 1), 2 * MOST_FLOWS, _TRIED).astype(np.int64))
    return max(
        idle_chance(flows, members, 1)
        * (chi_square_below(squares * flows + steps / flows, freedom) if freedom else 1.0)
        for flows in tried.tolist()
    )
