"""Silent links of a tie: which of them the missing answers of hops leave.

Behind the last switch that answered, a lost flow may have met any link that no delivered flow has used. Had it met one
further on, the switches before that link would have been asked by its probes. Where these answer all other flows, and
the ways back to the sender are in use, their silence shows that no probe reached them: the link is a nearer one. A
switch that is limited, or that no other flow asks, decides nothing, and the tie stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import log

import numpy as np

from truerail.analysis.sweep.confirming import ANSWERS, UNSTEADY, asked_of
from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.seats import DECISIVE, LEAST, Seat
from truerail.model.columns import Codes, Mask

PROBES = 8
"""Missing answers that decide, of switches that answer nine of ten: each is worth 2.3 nats of the `LEAST`."""


@dataclass(frozen=True)
class SilentTies:
    """What switches answer the flows of a sweep that arrive."""

    paths: FlowPaths

    @cached_property
    def steady(self) -> Mask:
        """Per device: whether it answers nearly all of enough probes. What nothing answered, at a hop that the plan
        leaves open, counts against every switch that may be there.
        """
        paths = self.paths
        flow, ttl, asked, answered = asked_of(paths, large=False)
        arrived = paths.flows.heard[flow] > 0
        device, size = paths.node[flow, ttl - 1][arrived], len(paths.graph.index.devices.names)
        sent = np.bincount(device, weights=asked[arrived], minlength=size)
        back = np.bincount(device, weights=answered[arrived], minlength=size)
        for (before, behind), missing in self._mute.items():
            here = [self._next_to(one) for one in (before, behind) if one >= 0]
            sent[np.logical_and.reduce(here) if here else slice(None)] += missing
        return np.asarray((sent >= ANSWERS) & (back >= (1 - UNSTEADY) * sent), dtype=bool)

    @cached_property
    def _mute(self) -> dict[tuple[int, int], int]:
        """Probes of flows that arrived that ended at an unknown switch, by the switches before and behind it."""
        paths, found = self.paths, dict[tuple[int, int], int]()
        for (flow, ttl), missing in self._asked.items():
            inside = 1 < ttl < paths.length[flow] and paths.flows.heard[flow] > 0
            if missing and inside and paths.node[flow, ttl - 1] < 0:
                place = int(paths.node[flow, ttl - 2]), int(paths.node[flow, ttl])
                found[place] = found.get(place, 0) + missing
        return found

    def _next_to(self, switch: int) -> Mask:
        """Per device: whether it has a link to a switch."""
        tail, head, _ = self.paths.graph.edges
        found = np.zeros(len(self.paths.graph.index.devices.names), dtype=bool)
        found[head[tail == switch]] = True
        return found

    @cached_property
    def _asked(self) -> dict[tuple[int, int], int]:
        """Small probes by flow and TTL that nothing answered, not even an address that no device has."""
        hops = self.paths.hops
        rows = np.flatnonzero(~hops.large)
        found: dict[tuple[int, int], int] = {}
        for flow, ttl, sent, answered in zip(
            *(column[rows].tolist() for column in (hops.flow, hops.ttl, hops.sent, hops.answered)), strict=True
        ):
            found[flow, ttl] = 0 if answered else min(sent, found.get((flow, ttl), sent))
        return found

    @cached_property
    def _edge_segments(self) -> Codes:
        return self.paths.edge_segments()

    def of(self, seat: Seat, flows: Codes, possible: Mapping[int, Codes]) -> Seat:
        """A silent seat with the links that may lose its `flows`; `possible` has what each of them may have met."""
        if self.paths.graph.is_bundle(np.array(seat.segments)).all():
            seat = self._bundles(seat, flows, possible)
        return self._left(seat, flows)

    def _left(self, seat: Seat, flows: Codes) -> Seat:
        """A silent seat with the links that the silence of switches behind them leaves; `flows` are those it lost."""
        graph, dead = self.paths.graph, flows[self.paths.flows.heard[flows] == 0]
        if len(seat.segments) < 2 or graph.is_device(np.array(seat.segments)).any() or not len(dead):
            return seat
        tails = graph.tails(np.array(seat.segments)).tolist()
        against = np.array([self._missing(tail, dead) for tail in tails]) * -log(UNSTEADY)
        left = np.flatnonzero(against < against.min() + LEAST).tolist()
        return replace(seat, segments=tuple(seat.segments[place] for place in left))

    def _bundles(self, seat: Seat, flows: Codes, possible: Mapping[int, Codes]) -> Seat:
        """A seat at one of parallel cables with the other bundles that all its lost flows may have met, as far as the
        flows that arrived do not decide: of a bundle with one dead cable, some flows arrive. Flows count here and not
        their packets, which are all lost or all heard. A bundle that none is known to have met stays, where the way of
        some that arrived is not known: its switch may be one that never answers.
        """
        graph, dead = self.paths.graph, flows[self.paths.flows.heard[flows] == 0].tolist()
        sets = [possible[flow] for flow in dead if flow in possible]
        if not sets or len(sets) < len(dead):
            return seat
        every = reduce(np.intersect1d, sets)
        bundles = np.union1d(every[graph.is_bundle(every)], seat.segments)
        arrived = self.paths.flows.heard > 0
        met = np.array([(self.paths.segment[arrived] == one).any(axis=1).sum() for one in bundles])
        mute = (met == 0) & bool((arrived & ~self.paths.whole & ~self.paths.strayed).any())
        members = graph.members[graph.cable_of(bundles)]
        against = met * np.log(members / (members - 1)) + len(dead) * np.log(members)
        left = mute | (against < against[~mute].min(initial=np.inf) + DECISIVE)
        return replace(seat, segments=tuple(bundles[left].tolist()))

    def _missing(self, tail: int, dead: Codes) -> float:
        """Probes of lost flows that some switch before a link should have answered: on its way to the switch that sends
        on it, of the hop that is the best witness.
        """
        paths = self.paths
        found: dict[int, int] = {}
        for flow in dead.tolist():
            deepest, leaf = int(paths.deepest[flow]), int(paths.leaf[0][flow])
            start, ttl = (int(paths.node[flow, deepest - 1]), deepest) if deepest else (leaf, 1)
            for step, switches in enumerate(self._between(start, tail), 1):
                if self._speak(switches, leaf):
                    found[step] = found.get(step, 0) + self._asked.get((flow, ttl + step), 0)
        return float(max(found.values(), default=0))

    @cached_property
    def _ways(self) -> dict[tuple[int, int], list[Codes]]:
        return {}

    def _between(self, start: int, tail: int) -> list[Codes]:
        """The switches on shortest ways from one to another, hop by hop; the last one is the other itself."""
        known = self._ways.get((start, tail))
        if known is None:
            graph = self.paths.graph
            away, towards = graph.hops_to(start), graph.hops_to(tail)
            far = int(towards[start])
            on_the_way = (away >= 0) & (towards >= 0) & (away + towards == far)
            known = [np.flatnonzero(on_the_way & (away == step)) for step in range(1, far + 1)]
            self._ways[start, tail] = known
        return known

    @cached_property
    def _heard(self) -> dict[tuple[bytes, int], bool]:
        return {}

    def _speak(self, switches: Codes, leaf: int) -> bool:
        """Whether all of these switches answer others, and all their ways to a leaf are in use."""
        key = switches.tobytes(), leaf
        if key not in self._heard:
            steady = bool(self.steady[switches].all())
            self._heard[key] = steady and all(self._open(switch, leaf) for switch in switches.tolist())
        return self._heard[key]

    def _open(self, switch: int, leaf: int) -> bool:
        """Whether flows that arrived have used all links on the ways from a switch to a leaf."""
        every = np.ones(len(self._edge_segments), dtype=bool)
        back = self._edge_segments[self.paths.graph.ways(switch, leaf, every)]
        return len(back) > 0 and bool(np.isin(back, self.paths.good).all())
