"""Switches of one tier and pod beside each other: whether what they leave idle can be chance, and whether it is one
pattern. A hash that is the same at two tiers leaves the same number of members idle on every sibling.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from truerail.model.counters.balance import Balance
from truerail.model.counters.flow_bounds import FlowBounds, flow_bounds
from truerail.model.counters.occupancy import LEAST, classes_chance, idle_chance, joint_chance
from truerail.model.index import factorize
from truerail.model.snapshot import Codes

PAIRS_CHANCE = 1e-3
"""Where only the tier below tells how many flows there are, the idle members must be this unlikely also for a hash that
leaves the UDP ports out, to which all flows of two hosts are one.
"""


@dataclass(frozen=True)
class Siblings:
    """Judged groups of one tier, pod and number of uplinks, and the chances that what they leave idle is chance."""

    groups: Codes
    idle: Codes
    """Idle members of each."""
    members: Codes
    chance: float
    """All of it together."""
    single: tuple[float, ...]
    """Each switch for itself, by the flows that are sure."""
    classes: int
    """Disjoint classes into which the members in use fall; 0 where they overlap in part."""
    unrouted: Codes
    """Members of each whose neighbour has no traffic at all: routing may leave them out, so they are no evidence."""

    @property
    def idle_share(self) -> float:
        """The median share of idle members."""
        return float(np.median(self.idle / self.members))

    @property
    def apart(self) -> int:
        """By how many idle members the siblings differ."""
        return int(self.idle.max() - self.idle.min())


def siblings_of(b: Balance) -> Iterator[Siblings]:
    """Judged groups beside each other, of which some leave members idle. One alone is its own family."""
    devices, tiers = list(b.telemetry.wiring.index.plan.devices.values()), b.telemetry.wiring.index.devices.tier
    uplinks = np.bincount(b.group, minlength=len(b.switch)).tolist()
    keys = [(tiers[code], devices[code].pod, uplinks[g]) for g, code in enumerate(b.switch.tolist())]
    family, _ = factorize(keys)
    order = np.flatnonzero(b.judged)
    order = order[np.argsort(family[order], kind="stable")]
    bounds = np.flatnonzero(np.diff(family[order], prepend=-1, append=-1))
    for groups in np.split(order, bounds[1:-1]) if len(order) else ():
        if b.idle_members[groups].any():
            yield _family(b, flow_bounds(b), groups)


def _family(b: Balance, flows: FlowBounds, groups: Codes) -> Siblings:
    used, unrouted = _patterns(b, groups)
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
    return Siblings(groups, b.idle_members[groups], b.members[groups], chance, single, classes, unrouted)


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
