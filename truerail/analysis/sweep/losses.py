"""Which links lose packets: silent ones, and those that lose some.

Loss is what listeners did not hear; ICMP answers only name paths. A flow that arrived speaks for all links of its path.
A flow that lost everything has no whole path: it speaks for the links behind the last switch that answered, on the ways
that the plan allows, which no flow that arrived has used; its answers prove the links before that switch. NICs of which
nothing leaves, or at which nothing arrives, are another matter: address, route or cable (PRB001).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, lgamma, log

import numpy as np

from truerail.analysis.sweep.confirming import confirmed
from truerail.analysis.sweep.flow_paths import CHANGING, FlowPaths
from truerail.analysis.sweep.seats import FLOOR, LEAST_LOST, Seat, Trials, locate
from truerail.analysis.sweep.silent_ties import SilentTies
from truerail.model.columns import NONE, Codes, Mask, distinct

SILENT = 0.9
"""Loss from which on a link is silent (probe.md, section 6)."""
ALPHA = 1e-4
"""Chance of a loss without a seat, over all flows without a known path together."""
WHOLLY = 0.95
"""Share of a flow that is lost where one of parallel links is silent."""


@dataclass(frozen=True)
class Losses:
    """What was lost and where. Flow masks have shape (flows,)."""

    paths: FlowPaths
    spoken: Mask
    """Flows that are witnesses of loss: sent, listened for, and neither end is off or astray."""
    off: Codes
    """NICs of which nothing was heard, or that heard nothing."""
    seats: tuple[Seat, ...]
    rows: Codes
    """The flow of each row of the trials that seats refer to."""
    unplaced: Codes
    """Flows that lost packets that no seat explains, where that is no chance."""
    by_device: bool
    """Whether paths change from packet to packet, so that seats are leaves and links of NICs alone."""

    def silent(self, seat: Seat) -> bool:
        """Whether a seat loses nearly everything; of parallel cables, whether its flows lose all or nothing."""
        return _silent(self.paths, self.rows, seat)

    def flows_of(self, seat: Seat) -> Codes:
        """The flows that lost packets at a seat."""
        return _flows_of(self.paths, self.rows, seat)

    @cached_property
    def silent_seats(self) -> tuple[Seat, ...]:
        """Seats that lose everything."""
        return tuple(seat for seat in self.seats if self.silent(seat))

    @cached_property
    def lossy_seats(self) -> tuple[Seat, ...]:
        """Seats that lose some packets."""
        return tuple(seat for seat in self.seats if not self.silent(seat))

    @cached_property
    def spoilt(self) -> Codes:
        """The segments of all seats."""
        return np.array(sorted({one for seat in self.seats for one in seat.segments}), dtype=np.int64)


def _flows_of(paths: FlowPaths, rows: Codes, seat: Seat) -> Codes:
    found = distinct(rows[seat.rows])
    return found[paths.flows.lost[found] > 0]


def _silent(paths: FlowPaths, rows: Codes, seat: Seat) -> bool:
    if seat.rate >= SILENT:
        return True
    flows = _flows_of(paths, rows, seat)
    lost, sent = paths.flows.lost[flows].sum(), paths.flows.sent[flows].sum()
    return bool(paths.graph.is_bundle(np.array(seat.segments)).all() and lost >= WHOLLY * sent)


def losses_of(paths: FlowPaths) -> Losses:
    """The losses of a sweep."""
    flows = paths.flows
    off = _off(flows.source, flows.target, flows.sent, flows.heard)
    spoken = (flows.sent > 0) & ~flows.astray & ~paths.strayed
    spoken &= ~np.isin(flows.source, off) & ~np.isin(flows.target, off)
    by_device = paths.changing > CHANGING
    trials, rows, possible = _by_device(paths, spoken) if by_device else _trials(paths, spoken)
    ties = SilentTies(paths)
    seats = [
        ties.of(seat, _flows_of(paths, rows, seat), possible) if _silent(paths, rows, seat) else confirmed(paths, seat)
        for seat in locate(trials)
    ]
    unplaced = _unplaced(paths, spoken, set(rows.tolist()), seats, possible, by_device=by_device)
    return Losses(paths, spoken, off, tuple(seats), rows, unplaced, by_device)


def _off(source: Codes, target: Codes, sent: Codes, heard: Codes) -> Codes:
    """NICs that lost all that they sent, or all that was sent to them."""
    size = int(max(source.max(initial=-1), target.max(initial=-1))) + 1
    gone: Mask = np.zeros(size, dtype=bool)
    for nic in (source, target):
        known = nic >= 0
        tried = np.bincount(nic[known], weights=sent[known], minlength=size)
        gone |= (tried > 0) & (np.bincount(nic[known], weights=heard[known], minlength=size) == 0)
    return np.flatnonzero(gone)


Possible = dict[int, Codes]
"""The segments that a flow without a whole path may have used, by flow."""


def _trials(paths: FlowPaths, spoken: Mask) -> tuple[Trials, Codes, Possible]:
    flows = paths.flows
    whole = np.flatnonzero(spoken & paths.whole)
    dead = np.flatnonzero(spoken & (flows.heard == 0))
    ways = _Ways(paths)
    possible = {number: ways.behind(number) for number in dead.tolist()}
    left = ((number, behind[~np.isin(behind, paths.good)]) for number, behind in possible.items())
    parts = [(number, segments) for number, segments in left if len(segments)]
    proving = dead[paths.deepest[dead] > 0]
    flow = np.concatenate([whole, [number for number, _ in parts], proving]).astype(np.int64)
    before = paths.segment[proving]
    before[np.arange(before.shape[1]) >= paths.deepest[proving][:, None]] = NONE
    blocks = [paths.segment[whole], *_padded([segments for _, segments in parts]), before]
    sent = np.concatenate([flows.sent[whole], flows.sent[[number for number, _ in parts]], paths.proven[proving]])
    lost = np.concatenate([flows.lost[whole], flows.lost[[number for number, _ in parts]], np.zeros(len(proving))])
    return _incidence(sent, lost, blocks), flow, possible


def _padded(sets: Sequence[Codes]) -> list[Codes]:
    """Sets of segments as one block, -1 behind them."""
    if not sets:
        return []
    block = np.full((len(sets), max(map(len, sets))), NONE, dtype=np.int64)
    for row, segments in enumerate(sets):
        block[row, : len(segments)] = segments
    return [block]


def _incidence(sent: Codes, lost: Codes, blocks: Sequence[Codes]) -> Trials:
    rows, segments, begin = [], [], 0
    for block in blocks:
        row, place = np.nonzero(block >= 0)
        rows.append(row + begin)
        segments.append(block[row, place])
        begin += len(block)
    row, segment = np.concatenate(rows), np.concatenate(segments)
    return Trials(sent.astype(np.int64), lost.astype(np.int64), row.astype(np.int64), segment.astype(np.int64))


def _by_device(paths: FlowPaths, spoken: Mask) -> tuple[Trials, Codes, Possible]:
    """Trials where paths change: a flow speaks for the links of its NICs and for its two leaves."""
    flow, graph = np.flatnonzero(spoken & (paths.length > 0)), paths.graph
    sources, targets = (graph.of_device(leaf[flow]) for leaf in paths.leaf)
    leaving = 2 * graph.index.cables_at(paths.flows.source[flow])
    entering = 2 * graph.index.cables_at(paths.flows.target[flow]) + 1
    block = np.stack([leaving, sources, np.where(targets == sources, NONE, targets), entering], axis=1)
    return _incidence(paths.flows.sent[flow], paths.flows.lost[flow], [block]), flow, {}


class _Ways:
    """The segments that flows may use behind the last switch that answered, computed once for each pair of switches."""

    def __init__(self, paths: FlowPaths) -> None:
        self.paths, self.graph = paths, paths.graph
        self.segments = paths.edge_segments()
        self._known: dict[tuple[int, int], Codes] = {}

    def between(self, device: int, leaf: int) -> Codes:
        """The segments on the shortest ways between two switches."""
        if (device, leaf) not in self._known:
            places = self.graph.ways(device, leaf, np.ones(len(self.segments), dtype=bool))
            self._known[device, leaf] = distinct(self.segments[places])
        return self._known[device, leaf]

    def behind(self, flow: int) -> Codes:
        """What a flow that lost everything may have used behind the last switch that answered."""
        paths, graph = self.paths, self.graph
        deepest, (sources, targets) = int(paths.deepest[flow]), paths.leaf
        entering = 2 * graph.index.cables_at(paths.flows.target[[flow]]) + 1
        at = int(paths.node[flow, deepest - 1]) if deepest else int(sources[flow])
        leaving = [] if deepest else [2 * graph.index.cables_at(paths.flows.source[[flow]])]
        return np.concatenate([*leaving, self.between(at, int(targets[flow])), entering])

    def holes(self, flow: int) -> Codes:
        """What a flow that arrived may have used: its known segments, and the ways between known switches."""
        node, length, segment = self.paths.node[flow], int(self.paths.length[flow]), self.paths.segment[flow]
        known = [place for place in range(length) if node[place] >= 0]
        open_ = [(a, b) for a, b in pairwise(known) if b > a + 1 or segment[b] < 0]
        return np.concatenate([segment, *(self.between(int(node[a]), int(node[b])) for a, b in open_)])


def _unplaced(
    paths: FlowPaths, spoken: Mask, placed: set[int], seats: Sequence[Seat], possible: Possible, *, by_device: bool
) -> Codes:
    """Flows whose losses no seat explains, tested over all of them together."""
    flows, ways = paths.flows, _Ways(paths)
    seated = {segment for seat in seats for segment in seat.segments}
    outside = np.flatnonzero(spoken & ~np.isin(np.arange(len(flows)), list(placed)))
    sent, found = int(flows.sent[outside].sum()), outside[flows.lost[outside] > 0].tolist()
    if not by_device:
        used = ((flow, possible[flow] if flow in possible else ways.holes(flow)) for flow in found)
        found = [flow for flow, segments in used if seated.isdisjoint(segments.tolist())]
    total = int(flows.lost[found].sum())
    return np.array(found if total >= LEAST_LOST and tail(total, sent * FLOOR) < ALPHA else [], dtype=np.int64)


def tail(count: int, mean: float) -> float:
    """The chance of `count` or more events where `mean` are expected (Poisson), bounded from above."""
    if count <= mean:
        return 1.0
    first = exp(count * log(mean) - mean - lgamma(count + 1))
    return min(1.0, first / (1 - mean / (count + 1)))


def together(losses: Losses) -> Iterator[tuple[int, Codes]]:
    """The flows of `unplaced` by the leaf that most of what was lost has in common: the leaf, and its flows."""
    left = losses.unplaced
    while len(left):
        lost = losses.paths.flows.lost[left]
        both = np.concatenate([side[left] for side in losses.paths.leaf])
        size = int(both.max(initial=0)) + 1
        weight = np.bincount(np.maximum(both, 0), weights=np.concatenate([lost, lost]), minlength=size)
        leaf = int(weight.argmax())
        here = np.any([side[left] == leaf for side in losses.paths.leaf], axis=0)
        if not here.any():
            return
        yield leaf, left[here]
        left = left[~here]
