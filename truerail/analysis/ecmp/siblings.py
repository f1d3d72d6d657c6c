"""Switches of one tier and pod compared: whether their idle members can be chance, and whether they form one pattern. A
hash that is the same at two tiers leaves the same number of members idle on every sibling.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import comb, exp, log

import numpy as np

from truerail.analysis.ecmp.confined import Numbered, Pattern, Places, patterns
from truerail.analysis.ecmp.flow_bounds import FlowBounds, senders
from truerail.analysis.ecmp.occupancy import LEAST, classes_chance, idle_chance, joint_chance
from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.model.columns import Codes, Mask, Numbers, distinct, factorize
from truerail.model.plan import Role

CHANCE = 1e-6
"""A lower probability is not chance (detection.md 2.5: no false alarm in 10,000 simulated switches)."""
IDLE_SHARE = 0.5
"""The smallest share that a common divisor leaves idle, that of 2."""
APART, APART_SHARE = 1, 0.1
"""Siblings leave equally many members idle, within one member or a tenth of all (detection.md 2.5)."""
DOUBT = 1e-3
"""How often a number of flows that is estimated and not counted may be wrong, or routing may lead only over members
that some sibling uses: the observation must be less likely than `CHANCE / DOUBT` even then.
"""
KINDS = 5
"""Kinds of patterns that are tested, each with its share of the chance."""
WEIGHTED_SIBLINGS, WEIGHTED_WITHIN = 3, 0.05
"""Shares that differ by no more than this, on this many siblings and in every window, are weights and no hash."""


@dataclass(frozen=True)
class Siblings:
    """Evaluated groups of one tier, pod and number of uplinks, and the probability that their idle members are
    chance."""

    groups: Codes
    idle: Codes
    """Idle members of each."""
    members: Codes
    chance: float
    """The probability of all of it together."""
    classes: int
    """Disjoint classes into which the members in use fall; 0 where they overlap in part."""


def polarized(siblings: Iterable[Siblings]) -> tuple[Siblings, ...]:
    """Those whose idle members match a repeated hash, and are not chance."""
    return tuple(one for one in siblings if one.chance < CHANCE)


def unclear(siblings: Iterable[Siblings]) -> tuple[Siblings, ...]:
    """Those whose idle members match a repeated hash, or are chance: undecided."""
    return tuple(one for one in siblings if one.chance >= CHANCE)


def siblings_of(b: Balance, flows: FlowBounds) -> tuple[Siblings, ...]:
    """Siblings whose idle members a repeated hash explains, each with its likeliest explanation."""
    several = list(_several(b))
    numbered = Numbered(b) if several else None
    every = [_likeliest(_Family(b, flows, numbered, groups)) for groups in several if numbered]
    return tuple(one for one in every if one is not None)


def _several(b: Balance) -> Iterator[Codes]:
    """Sibling groups that are evaluated, of which two or more have idle members."""
    family = families(b)
    order = np.flatnonzero(b.evaluated & hashed_twice(b))
    order = order[np.argsort(family[order], kind="stable")]
    bounds = np.flatnonzero(np.diff(family[order], prepend=-1, append=-1))
    for groups in np.split(order, bounds[1:-1]) if len(order) else ():
        if np.count_nonzero(b.idle_members[groups]) > 1:
            yield groups


def hashed_twice(b: Balance) -> Mask:
    """Groups above another hashing tier, or with bundles of parallel links, whose member is chosen by a second hash."""
    pairs = np.unique(b.group * (int(b.above.max(initial=0)) + 1) + b.above, return_index=True)[1]
    bundled = np.bincount(b.group[pairs], minlength=len(b.switch)) < np.bincount(b.group, minlength=len(b.switch))
    tiers = np.array(b.telemetry.wiring.index.devices.tier, dtype=np.int64)
    return np.asarray((tiers[b.switch] > Role.LEAF.tier) | bundled, dtype=bool)


Routed = Callable[[Codes], Mask]
"""Which of some uplinks are members that routing may lead over."""


class _Family:
    """Siblings with the known bounds of their flows: counted from below (`least`), and estimated (`bold`)."""

    def __init__(self, b: Balance, flows: FlowBounds, numbered: Numbered, groups: Codes) -> None:
        self.b, self.flows, self.numbered, self.groups = b, flows, numbered, groups
        self.least = flows.least
        self.bold = np.maximum(flows.least, np.maximum(flows.from_below, flows.claimed))
        self.leaves = b.telemetry.wiring.index.devices.tier[int(b.switch[groups[0]])] <= Role.LEAF.tier
        self.independent = not flows.sprayed[groups].any()
        self.rows = [rows[b.member[rows]] for rows in map(b.uplinks, groups.tolist())]
        self.busy = [b.position[rows[~b.idle[rows]]] for rows in self.rows]
        self._used = distinct(np.concatenate(self.busy))

    def reached(self, rows: Codes) -> Mask:
        """Members to neighbours that any traffic reaches."""
        return np.asarray(self.b.member[rows] & self.b.reached[rows])

    def used(self, rows: Codes) -> Mask:
        """Members at places that some sibling uses. Leaves all use the same ones, so there it shows nothing."""
        return np.asarray(self.b.member[rows] & np.isin(self.b.position[rows], self._used))

    @property
    def most(self) -> "_Family":
        """The same without the one that uses most, where there are three or more: it may be the one that differs."""
        if len(self.groups) < 3:
            return self
        widest = int(np.argmax([len(busy) for busy in self.busy]))
        return _Family(self.b, self.flows, self.numbered, np.delete(self.groups, widest))


def _likeliest(family: _Family) -> Siblings | None:
    """The explanation by a repeated hash that chance explains least."""
    siblings = [family.numbered.sibling(group) for group in family.groups.tolist()]
    found = [_kept_to(family, one) for one in patterns(siblings) if one.classes > 1]
    count = _any_members(family)
    if count is not None and (family.leaves or count.chance < CHANCE):
        found.append(count)
    return min(found, key=lambda one: one.chance, default=None)


def _kept_to(family: _Family, pattern: Pattern) -> Siblings:
    """Siblings of which each uses only its own members: chance does that with few members, or with few flows.

    Sets of members in use are drawn at random in their sizes, whatever the flows are; and their sizes are the smaller,
    the fewer flows there are. Both are e-values, the second before the first, so their product bounds the chance.
    """
    b, groups = family.b, pattern.groups
    nics = senders(b, family.numbered.nics(groups), float(b.total[groups].sum()))

    def chance(flows: Codes, routed: Routed) -> float:
        sizes = [_sizes(family, routed, *one) for one in zip(groups.tolist(), pattern.allowed, strict=True)]
        single = [comb(of, used) / comb(may, used) for of, may, used in sizes]
        fewer = [idle_chance(n, of, of - may) for n, (of, may, _) in zip(flows[groups].tolist(), sizes, strict=True)]
        each = sum(log(one) for one in single) - sum(log(one) for one in fewer)
        together = nics * min(log(of / may) for of, may, _ in sizes)
        return exp(min(0.0, pattern.ways + log(KINDS) - max(each, together)))

    counted = max(chance(family.bold, family.reached), DOUBT * chance(family.least, family.reached))
    doubted = DOUBT * chance(family.bold, family.used)
    return Siblings(groups, b.idle_members[groups], b.members[groups], max(counted, doubted), pattern.classes)


def _sizes(family: _Family, routed: Routed, group: int, allowed: Places) -> tuple[int, int, int]:
    """The number of members of a group, of those allowed, and of those in use."""
    rows = family.b.uplinks(group)
    rows = rows[routed(rows)]
    may = np.isin(family.numbered.number[rows], sorted(allowed))
    return len(rows), int(np.count_nonzero(may)), int(np.count_nonzero(~family.b.idle[rows]))


def _any_members(family: _Family) -> Siblings | None:
    """Siblings that leave equally many members idle, whichever they are; None where they do not."""
    b, groups = family.b, family.groups
    idle, members = b.idle_members[groups], b.members[groups]
    if np.median(idle / members) < IDLE_SHARE or np.ptp(idle) > max(APART, APART_SHARE * int(members.max())):
        return None
    used = [frozenset(busy.tolist()) for busy in family.busy]
    if not family.leaves and len(used) > 2 and frozenset.intersection(*used):
        return None  # a repeated hash leaves siblings at other places other members: these are routed so
    pattern, classes = classes_chance(int(members[0]), used) if np.ptp(members) == 0 else (1.0, 0)

    found = max(_idle(family, family.bold, family.reached), DOUBT * _idle(family, family.least, family.reached))
    if not family.leaves:
        found = max(found, DOUBT * _idle(family.most, family.bold, family.most.used))
    return Siblings(groups, idle, members, min(1.0, KINDS * (_both(found, pattern) if classes > 1 else found)), classes)


def _idle(family: _Family, flows: Codes, routed: Routed) -> float:
    """The probability that this many flows leave this many of these members idle."""
    of = [rows[routed(rows)] for rows in family.rows]
    sizes = [(len(rows), int(np.count_nonzero(family.b.idle[rows]))) for rows in of]
    single = [idle_chance(n, *size) for n, size in zip(flows[family.groups].tolist(), sizes, strict=True)]
    return joint_chance(single) if family.independent else max(single)


def _both(one: float, other: float) -> float:
    """The probability that two independent chances are together as small as these (Fisher's method for two)."""
    product = max(one * other, LEAST)
    return min(one, product * (1 - log(product)))


def weighted(b: Balance, groups: Codes) -> Mask:
    """Which of these groups share their load as their siblings do, uplink by uplink and window by window."""
    found = np.zeros(len(groups), dtype=bool)
    family = families(b)
    for number in distinct(family[groups]).tolist():
        beside = np.flatnonzero(b.evaluated & (family == number))
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
    keys = ((tiers[code], devices[code].pod, uplinks[g]) for g, code in enumerate(b.switch.tolist()))
    return factorize(keys)[0]
