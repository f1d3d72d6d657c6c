"""Switches of one tier and pod beside each other: whether what they leave idle can be chance, and whether it is one
pattern. A hash that is the same at two tiers leaves the same number of members idle on every sibling.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from truerail.model.counters.balance import Balance, Numbers
from truerail.model.counters.flow_bounds import FlowBounds, flow_bounds
from truerail.model.counters.occupancy import LEAST, classes_chance, idle_chance, joint_chance
from truerail.model.index import Mask, factorize
from truerail.model.plan import Role
from truerail.model.snapshot import Codes

CHANCE = 1e-6
"""Less likely than this is no chance (detection.md 2.5: no false alarm in 10,000 simulated switches)."""
IDLE_SHARE = 0.5
"""The smallest share that a common divisor leaves idle, that of 2."""
APART, APART_SHARE = 1, 0.1
"""Siblings leave as many members idle, but for one or a tenth of all (detection.md 2.5)."""
PAIRS_CHANCE = 1e-3
"""Where only the tier below tells how many flows there are, the idle members must be this unlikely also for a hash that
leaves the UDP ports out, to which all flows of two hosts are one.
"""
WEIGHTED_SIBLINGS, WEIGHTED_WITHIN = 3, 0.05
"""Shares that differ by no more than this, on so many siblings and in every window, are weights and no hash."""


@dataclass(frozen=True)
class Siblings:
    """Judged groups of one tier, pod and number of uplinks, and the chances that what they leave idle is chance."""

    groups: Codes
    idle: Codes
    """Idle members of each."""
    members: Codes
    chance: float
    """All of it together."""
    classes: int
    """Disjoint classes into which the members in use fall; 0 where they overlap in part."""

    @property
    def idle_share(self) -> float:
        """The median share of idle members."""
        return float(np.median(self.idle / self.members))

    @property
    def apart(self) -> int:
        """By how many idle members the siblings differ."""
        return int(self.idle.max() - self.idle.min())


def polarized(b: Balance) -> tuple[Siblings, ...]:
    """Those siblings whose idle members are what a repeated hash leaves. Computed once for each balance."""
    found: tuple[Siblings, ...] | None = b.__dict__.get("_polarized")
    if found is None:
        found = b.__dict__["_polarized"] = tuple(one for one in siblings_of(b) if _repeats(b, one))
    return found


def _repeats(b: Balance, one: Siblings) -> bool:
    return (
        len(one.groups) > 1
        and one.idle_share >= IDLE_SHARE
        and one.apart <= max(APART, APART_SHARE * int(one.members.max()))
        and one.chance < CHANCE
        and _hashed_twice(b, int(one.groups[0]))
    )


def _hashed_twice(b: Balance, group: int) -> bool:
    """Above another hashing tier, or within bundles of parallel links, whose member is chosen by a second hash."""
    rows = b.uplinks(group)
    leaf = b.telemetry.wiring.index.devices.tier[int(b.switch[group])] <= Role.LEAF.tier
    return not leaf or len(set(b.above[rows].tolist())) < len(rows)


def siblings_of(b: Balance) -> Iterator[Siblings]:
    """Judged groups beside each other, of which some leave members idle. One alone is its own family."""
    family = families(b)
    order = np.flatnonzero(b.judged)
    order = order[np.argsort(family[order], kind="stable")]
    bounds = np.flatnonzero(np.diff(family[order], prepend=-1, append=-1))
    for groups in np.split(order, bounds[1:-1]) if len(order) else ():
        if b.idle_members[groups].any():
            yield _family(b, flow_bounds(b), groups)


def _family(b: Balance, flows: FlowBounds, groups: Codes) -> Siblings:
    used, unrouted = _patterns(b, groups)  # routing may leave those out, so they are no evidence
    members, idle = b.members[groups] - unrouted, b.idle_members[groups] - unrouted

    def chances(count: Codes) -> tuple[float, ...]:
        return tuple(map(idle_chance, count[groups].tolist(), members.tolist(), idle.tolist()))

    single = chances(flows.least)
    alike = len(set(members.tolist())) == 1
    pattern, classes = classes_chance(int(members[0]), used) if alike else (1.0, 0)
    independent = not flows.sprayed[groups].any()
    chance = joint_chance(single) if independent else max(single)
    if independent and np.median(chances(flows.pairs)) < PAIRS_CHANCE:
        bolder = np.maximum(flows.least, flows.from_below)
        if classes > 1:
            bolder = np.maximum(bolder, flows.claimed)
        chance = min(chance, joint_chance(chances(bolder)))
    chance = _both(chance, pattern) if classes > 1 else chance
    return Siblings(groups, b.idle_members[groups], b.members[groups], chance, classes)


def _both(one: float, other: float) -> float:
    """How likely two independent chances as small as these are together (Fisher's method for two)."""
    product = max(one * other, LEAST)
    return min(one, product * (1 - log(product)))


def _patterns(b: Balance, groups: Codes) -> tuple[list[frozenset[int]], Codes]:
    """The members in use of each group, as places in the plan's order; and how many members of each are at places that
    lead every sibling to a neighbour of which no traffic is seen.
    """
    used: list[frozenset[int]] = []
    left_out: list[frozenset[int]] = []
    for group in groups.tolist():
        rows = b.uplinks(group)
        used.append(frozenset(b.position[rows[b.member[rows] & ~b.idle[rows]]].tolist()))
        left_out.append(frozenset(b.position[rows[~b.reached[rows]]].tolist()))
    never = frozenset.intersection(*left_out)
    lost = b.member & np.isin(b.position, sorted(never))
    return used, np.asarray(b.sum(lost)[groups], dtype=np.int64)


def weighted(b: Balance, groups: Codes) -> Mask:
    """Which of these groups share their load as their siblings do, uplink by uplink and window by window."""
    found = np.zeros(len(groups), dtype=bool)
    family = families(b)
    for number in np.unique(family[groups]).tolist():
        beside = np.flatnonzero(b.judged & (family == number))
        shares = [_shares(b, group) for group in beside.tolist()]
        if len(beside) >= WEIGHTED_SIBLINGS and len({len(share) for share in shares}) == 1:
            of_all = np.concatenate(shares, axis=1)
            apart = np.nanmax(of_all, axis=1) - np.nanmin(of_all, axis=1)
            found |= (family[groups] == number) & bool((apart <= WEIGHTED_WITHIN * np.nanmax(of_all, axis=1)).all())
    return found


def _shares(b: Balance, group: int) -> Numbers:
    """Each member's share of the group's load in each window, shape (members, windows)."""
    rows = b.uplinks(group)
    loads = b.in_windows(rows[b.member[rows]])
    return np.asarray(loads / loads.sum(axis=0), dtype=np.float64)


def families(b: Balance) -> Codes:
    """The family of each group: switches of one tier, pod and number of uplinks."""
    devices, tiers = list(b.telemetry.wiring.index.plan.devices.values()), b.telemetry.wiring.index.devices.tier
    uplinks = np.bincount(b.group, minlength=len(b.switch)).tolist()
    return factorize((tiers[code], devices[code].pod, uplinks[g]) for g, code in enumerate(b.switch.tolist()))[0]
