"""How switches spread flows over their links: hashes that repeat the tier below, and members that no flow takes.

*Polarization*: the uplink that a leaf chose shows which link the next switch chooses. Judged leaf by leaf, by mutual
information, because switches of one tier may have seeds of their own.

*Idle members*: links on a shortest way that no flow has taken, where each flow took another one by chance.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log2

import numpy as np
import numpy.typing as npt

from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import Losses
from truerail.model.columns import NONE, Codes, Mask, Numbers, distinct

# ----------------------------------------------------------------------------------------------------------------------
# Mutual information of two choices, and the chance that independent choices show as much.
#
# Few flows show much information by chance: 0.5 of 2 bits for 16 flows over 4 x 4 members. So the observed information
# is compared with that of the same choices, shuffled.


SHUFFLES = 20_000
COUNTED = 10
"""Shuffles with as much information from which on their share is the chance; below, a gamma distribution with the
shuffles' mean and variance continues their tail.
"""
LEAST_FLOWS = 8
_BLOCK = 2000
_SEED = 20_241


@dataclass(frozen=True)
class Dependence:
    """How much one choice shows of another: `bits` of `possible`, and the `chance` of as much by chance."""

    flows: int
    bits: float
    possible: float
    chance: float

    @property
    def half(self) -> bool:
        """Whether it is at least half of what is possible."""
        return self.possible > 0 and self.bits >= self.possible / 2


def information(first: Codes, second: npt.NDArray[np.int64]) -> Numbers:
    """Bits of mutual information of `first`, shape (flows,), with each row of `second`, shape (rows, flows). Both are
    small numbers from 0 on.
    """
    rows, flows = second.shape
    ones, twos = int(first.max()) + 1, int(second.max()) + 1
    cell = first * twos + second + (np.arange(rows) * ones * twos)[:, None]
    table = np.bincount(cell.ravel(), minlength=rows * ones * twos).reshape(rows, ones, twos) / flows
    return _entropy(table.sum(axis=2)) + _entropy(table.sum(axis=1)) - _entropy(table.reshape(rows, -1))


def _entropy(shares: Numbers) -> Numbers:
    """Bits of the distributions in the rows."""
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1))


def dependence(first: Codes, second: Codes) -> Dependence:
    """How much two columns of codes show of each other. The shuffles, which take a tenth of a second, are drawn only
    where it is half of what is possible: below that the chance is given as 1.
    """
    one, two = (np.unique(column, return_inverse=True)[1].astype(np.int64) for column in (first, second))
    flows, fewest = len(one), min(int(one.max(initial=0)), int(two.max(initial=0))) + 1
    possible = log2(fewest)
    if flows < LEAST_FLOWS or fewest < 2:
        return Dependence(flows, 0.0, possible, 1.0)
    found = Dependence(flows, float(information(one, two[None])[0]), possible, 1.0)
    return Dependence(flows, found.bits, possible, _chance(one, two, found.bits)) if found.half else found


def _chance(one: Codes, two: Codes, bits: float) -> float:
    rng = np.random.default_rng(_SEED)  # the same choices give the same chance
    blocks = (np.tile(two, (_BLOCK, 1)) for _ in range(SHUFFLES // _BLOCK))
    shuffled = np.concatenate([information(one, rng.permuted(block, axis=1)) for block in blocks])
    as_much = int((shuffled >= bits - 1e-12).sum())
    if as_much >= COUNTED:
        return (1 + as_much) / (1 + SHUFFLES)
    return min((1 + as_much) / (1 + SHUFFLES), gamma_tail(bits, float(shuffled.mean()), float(shuffled.var())))


def gamma_tail(value: float, mean: float, variance: float) -> float:
    """The chance that a gamma variable with this mean and variance is as large, bounded from above (Chernoff); 1 up to
    its mean.
    """
    if value <= mean or variance <= 0:
        return 1.0
    shape = mean * mean / variance
    ratio = value / mean
    return float(np.exp(-shape * (ratio - 1 - np.log(ratio))))


# ----------------------------------------------------------------------------------------------------------------------
# How switches spread flows over their links: hashes that repeat the tier below, and members that no flow takes.


ALPHA = 1e-4
"""Chance of a false finding, over all leaves, or all members, together (probe.md, section 4)."""
FLOWS_FOR = ((8, 64), (16, 128), (32, 256))
"""Members of a switch, and the flows of a leaf that show polarization among as many (probe.md, section 4)."""
FLOWS_BEYOND = 8
"""Flows for each member where there are more."""
ANSWERED = 0.75
"""Share of these flows whose two hops must be known: some answers are always missing."""


def flows_for(members: int) -> int:
    """The flows of a leaf that polarization among this many members needs."""
    return next((flows for most, flows in FLOWS_FOR if members <= most), FLOWS_BEYOND * members)


@dataclass(frozen=True)
class Spread:
    """What a sweep shows of one leaf. `members` is the larger number of links of the two choices."""

    leaf: int
    found: Dependence
    members: int
    switches: Codes
    """The switches of the second choice."""

    @property
    def enough(self) -> bool:
        """Whether its flows would show a repeated hash."""
        return self.found.flows >= ANSWERED * flows_for(self.members)


@dataclass(frozen=True)
class IdleMember:
    """A link that no flow takes: of `flows` that could have taken it; the chance of that."""

    segment: int
    flows: int
    chance: float


@dataclass(frozen=True)
class Choices:
    """The choices of all leaves and switches."""

    paths: FlowPaths
    spreads: tuple[Spread, ...]
    idle: tuple[IdleMember, ...]
    tested: Codes
    """Edges, as places in `PlanGraph.edges`, of which enough flows show that they are in use, or that they are not."""
    of: Codes
    """Edges of switches with a choice for some tried flow."""

    @cached_property
    def polarized(self) -> tuple[Spread, ...]:
        """The leaves whose choice shows the next one."""
        return tuple(one for one in self.spreads if one.found.half and one.found.chance < ALPHA / len(self.spreads))

    @cached_property
    def unclear(self) -> tuple[Spread, ...]:
        """Leaves with too few flows."""
        sure = {one.leaf for one in self.polarized}
        return tuple(one for one in self.spreads if not (one.enough or one.leaf in sure))


def choices_of(paths: FlowPaths, losses: Losses) -> Choices:
    """The choices that a sweep shows."""
    rank, group = _ranks(paths)
    spreads = tuple(_spreads(paths, rank, group))
    suspect = [one for one in spreads if one.found.half or one.found.possible == 0]
    repeating = np.concatenate([np.zeros(0, dtype=np.int64), *(one.switches for one in suspect if one.found.half)])
    first_only = np.isin(paths.leaf[0], [one.leaf for one in suspect])
    idle, tested, of = _idle(paths, losses, first_only, repeating)
    return Choices(paths, spreads, tuple(idle), tested, of)


def _ranks(paths: FlowPaths) -> tuple[Codes, Codes]:
    """Per edge segment, the place among the links that its switch chooses from, and the number of these: uplinks of one
    switch, or the parallel links down to one neighbour. Indexed by segment.
    """
    graph = paths.graph
    tail, head, _ = graph.edges
    segment = paths.edge_segments()
    size = int(segment.max(initial=0)) + 1
    choice = np.where(segment % 2 == 0, tail, (tail + 1) * len(graph.index.devices.names) + head)
    rank, count = np.full(size, NONE, dtype=np.int64), np.zeros(size, dtype=np.int64)
    segments, first = np.unique(segment, return_index=True)
    order = np.lexsort((segments, choice[first]))
    begin = np.flatnonzero(np.diff(choice[first][order], prepend=-1))
    number = np.diff(begin, append=len(order))
    rank[segments[order]] = np.arange(len(order)) - np.repeat(begin, number)
    count[segments[order]] = np.repeat(number, number)
    return rank, count


def _spreads(paths: FlowPaths, rank: Codes, count: Codes) -> Iterator[Spread]:
    if paths.segment.shape[1] < 3:
        return
    one, two = paths.segment[:, 1], paths.segment[:, 2]
    known = (one >= 0) & (two >= 0) & ~paths.strayed & (paths.length > 2)
    known[known] &= (one[known] < len(rank)) & (two[known] < len(rank))
    known[known] &= (count[one[known]] > 1) & (count[two[known]] > 1)
    leaves = paths.leaf[0]
    for leaf in distinct(leaves[_second_choices(paths, count)]).tolist():
        rows = np.flatnonzero(known & (leaves == leaf))
        uplinks = paths.graph.index.plan.uplinks_of(paths.graph.index.devices.names[leaf])
        members = int(max(len(uplinks), count[two[rows]].max(initial=0)))
        found = dependence(rank[one[rows]], rank[two[rows]])
        yield Spread(leaf, found, members, distinct(paths.node[rows, 1]))


def _second_choices(paths: FlowPaths, count: Codes) -> Mask:
    """Flows whose way has two choices in the plan: over two tiers, or over parallel links that answers tell apart."""
    over_two = paths.length > 3
    parallel = np.zeros(len(over_two), dtype=bool)
    second = paths.segment[:, 2]
    inside = (second >= 0) & (second < len(count)) & (paths.length == 3)
    parallel[inside] = count[second[inside]] > 1
    return np.asarray((over_two | parallel) & (paths.leaf[0] >= 0) & (paths.flows.sent > 0), dtype=bool)


def _idle(paths: FlowPaths, losses: Losses, first_only: Mask, repeats: Codes) -> tuple[list[IdleMember], Codes, Codes]:
    """Members that no flow takes, the edges with flows enough to show it, and all that some flow could have taken.

    `first_only` are the flows of leaves whose hash the next switch may repeat: they speak for the choice of the leaf
    alone. `repeating` are such switches, which leave members out for that reason.
    """
    counted = ~paths.strayed
    graph, segment = paths.graph, paths.edge_segments()
    tail, _, _ = graph.edges
    size, width = len(graph.index.devices.names), int(segment.max(initial=0)) + 1
    chance, flows, could = np.zeros(len(tail)), np.zeros(len(tail)), np.zeros(len(tail), dtype=bool)
    mute = np.zeros(size)
    targets, asked = paths.leaf[1], np.minimum(paths.length, paths.asked)
    for leaf in distinct(targets[counted & (targets >= 0)]).tolist():
        rows = np.flatnonzero(counted & (targets == leaf))
        onward = graph.onward(leaf)
        edges, per = np.flatnonzero(onward), np.bincount(tail[onward], minlength=size)
        own = np.bincount(segment[edges], minlength=width)[segment[edges]]
        open_ = per[tail[edges]] > own  # a switch with one bundle has no choice that shows
        edges, own = edges[open_], own[open_]
        at, behind = paths.node[rows].copy(), paths.segment[rows, 1:]
        at[first_only[rows], 1:] = NONE
        through = np.bincount(at[(at >= 0) & (behind >= 0)], minlength=size)
        last = np.arange(at.shape[1])[None] >= asked[rows][:, None] - 1
        mute += np.bincount(at[(at >= 0) & (behind < 0) & ~last], minlength=size)
        could[edges[through[tail[edges]] > 0]] = True
        chance[edges] += through[tail[edges]] * np.log1p(-own / per[tail[edges]])
        flows[edges] += through[tail[edges]]
    used = np.isin(segment, distinct(paths.segment))
    could &= ~np.isin(tail, repeats)
    places = np.flatnonzero(could)
    members = np.bincount(tail[could], minlength=size)[tail]
    heard = mute[tail] < np.maximum(2, flows / np.maximum(4 * members, 1))
    shown = could & heard & (chance < np.log(ALPHA / max(1, len(places))))
    tested = np.flatnonzero(could & (used | shown))
    idle = [place for place in np.flatnonzero(shown & ~used).tolist() if segment[place] not in losses.spoilt]
    first = {int(segment[place]): place for place in reversed(idle)}
    found = [IdleMember(one, int(flows[place]), float(np.exp(chance[place]))) for one, place in sorted(first.items())]
    return found, tested, places
