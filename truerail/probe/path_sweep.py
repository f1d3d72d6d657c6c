"""What a path sweep sends: which NIC to which, from how many source ports, how many packets, and how slowly.

A switch chooses the link of a flow by its addresses and ports. So the flows of a leaf are spread over its NICs and over
the leaves that they can reach, with as many source ports as coverage and statistics need. Probes with a short TTL end
at switches, whose CPUs answer few of them: each switch is asked at most so often a second.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truerail.analysis.sweep.choices import flows_for
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.model.columns import distinct, grouped
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan, Port
from truerail.probe.pinglists import SWEPT, Nic, Pair

# ----------------------------------------------------------------------------------------------------------------------
# What a path sweep sends: which NIC to which, from how many source ports, how many packets, and how slowly.
#
# A switch chooses the link of a flow by its addresses and ports. So the flows of a leaf are spread over its NICs and
# over the leaves that they can reach, with as many source ports as coverage and statistics need. Probes with a short
# TTL end at switches, whose CPUs answer few of them: each switch is asked at most so often a second.

MISSED = 1e-4
"""Chance that some member of a switch gets none of the flows."""
LEAST_PACKETS = 1000
"""Packets over each directed link: 1 % loss is seen by about as many (probe.md, section 4)."""
MOST_PACKETS = 1000
"""Packets of one flow and source port."""
ASKS = 2
"""How often each TTL is asked: once would not show that paths change from packet to packet."""
A_SECOND_AND_SWITCH = 50.0
A_SECOND_SWITCH_AND_SOURCE = 1.0
"""Probes that end at a switch: the rates that the limits of common switches bear (probe.md, section 4)."""
_DEVIATIONS, _DEVIATIONS_OF_MANY, _MANY_SWITCHES = 4.0, 8.0, 1000
"""How many standard deviations the mean rate stays below the budget: the more switches, and the longer they are asked,
the higher is the worst second of all (benchmarks/results/probe-accuracy.md).
"""
MOST_FLOWS = 1024
"""Flows of one leaf."""
SPARE = 1.25
"""A switch above a leaf gets its share of flows by chance: so many times those that it needs are sent."""
TURNING_PORTS = 16
"""Source ports of a pair of list E, whose packets turn round inside their pod."""

Numbers = npt.NDArray[np.float64]


class SweptPair(NamedTuple):
    """Flows from one NIC to another one, from `source_ports` ports, over `hops` switches."""

    source: Port
    target: Port
    source_ports: int
    hops: int


@dataclass(frozen=True)
class PathSweep:
    """What is sent. `packets` of each source port arrive; each TTL up to `hops` is asked `ASKS` times."""

    pairs: tuple[SweptPair, ...]
    packets: int
    every: float
    """Seconds between two probes of a NIC that have the same TTL."""
    seconds: float
    """How long the probes with a short TTL take within their budget."""
    busiest: float
    """Probes a second that end at the switch that is asked most, on average."""
    most_asked: int
    """Probes that end there in all."""


@dataclass(frozen=True)
class Budget:
    """Probes that may end at one switch in a second: in all, and of one NIC."""

    per_switch: float = A_SECOND_AND_SWITCH
    per_nic: float = A_SECOND_SWITCH_AND_SOURCE

    def mean_of(self, switches: int) -> float:
        """The mean rate of a switch that stays below its budget in nearly every second, where many NICs probe it by
        chance: four standard deviations (of a Poisson process) below; eight in a fabric with very many switches.
        """
        below = _DEVIATIONS if switches < _MANY_SWITCHES else _DEVIATIONS_OF_MANY
        return (sqrt(self.per_switch + below**2 / 4) - below / 2) ** 2


def ports_for(members: int, places: int = 0) -> int:
    """Source ports that leave some member out less than once in ten thousand times: one of these members, or of
    `places` in the whole fabric whose switches have as many.
    """
    if members < 2:
        return 1
    return ceil(log(MISSED / max(members, places)) / log(1 - 1 / members))


USUAL = Budget()


def path_sweep(
    plan: Plan, *, across_rails: bool = False, nics: Collection[Port] | None = None, budget: Budget = USUAL
) -> PathSweep:
    """The sweep of a plan, of `nics` alone where given. `across_rails` adds pairs of different rails under one pod
    (list E), where the plan lets them reach each other.
    """
    graph = PlanGraph(PlanIndex(plan))
    of_leaf = _nics(graph, nics)
    pairs = [*_between_leaves(graph, of_leaf), *(_turning(graph, of_leaf) if across_rails else ())]
    pairs = [pair for pair in pairs if pair.source.device != pair.target.device]
    load = _load(graph, pairs)
    every, busiest = _timetable(load, budget)
    ports = Counter[Port]()
    for pair in pairs:
        ports[pair.source] += pair.source_ports
    seconds = max(ports.values(), default=0) * ASKS * every
    return PathSweep(tuple(pairs), _packets(load), every, seconds, busiest, ASKS * round(load.flows.max(initial=0.0)))


Nics = Mapping[tuple[int, int], Sequence[Port]]
"""The NICs of each leaf and rail."""


def _nics(graph: PlanGraph, nics: Collection[Port] | None) -> Nics:
    index, found = graph.index, dict[tuple[int, int], list[Port]]()
    for cable in np.flatnonzero(index.from_host & (index.b >= 0)).tolist():
        nic = index.a_port(cable)
        if nics is None or nic in nics:
            found.setdefault((int(index.b_device[cable]), int(index.rail[cable])), []).append(nic)
    return found


def _between_leaves(graph: PlanGraph, nics: Nics) -> Iterator[SweptPair]:
    """Flows of every leaf to the leaves of the same rail, and a few under the leaf itself."""
    needed = _flows_of_leaves(graph, nics)
    of_rail = grouped((rail, leaf) for leaf, rail in nics)
    for place, ((leaf, rail), own) in enumerate(nics.items()):
        if len(own) > 1:
            yield from (SweptPair(nic, own[(n + 1) % len(own)], 2, 1) for n, nic in enumerate(own))
        far_off = graph.hops_to(leaf)[of_rail[rail]].tolist()  # as far as back: all links lead both ways
        others = [(there, far) for there, far in zip(of_rail[rail], far_off, strict=True) if far > 0]
        if not others:
            continue
        flows = needed[leaf]
        pairs = min(flows, max(len(own), len(others)))
        for number in range(pairs):
            there, far = others[(number + number // len(own) + place) % len(others)]
            targets = nics[there, rail]
            target = targets[(number + number // len(others) + place) % len(targets)]
            yield SweptPair(own[number % len(own)], target, ceil(flows / pairs), far + 1)


def _flows_of_leaves(graph: PlanGraph, nics: Nics) -> dict[int, int]:
    """The flows of each leaf: those that show polarization, and that leave no member of the leaf or of the switches
    above it out, which share the flows of their leaves.
    """
    members, places = _members(graph), len(graph.edges[0])
    leaves_below = _above(graph)
    above = {leaf: leaves_below.get(leaf, []) for leaf in dict.fromkeys(leaf for leaf, _ in nics)}
    leaves = Counter(switch for switches in above.values() for switch in switches)
    found = {}
    for leaf, switches in above.items():
        uplinks = members.get(leaf, 1)
        flows = [ports_for(uplinks, places), flows_for(max([uplinks, *(members.get(one, 1) for one in switches)]))]
        for one in switches:
            of_one = SPARE * ports_for(members.get(one, 1), places)
            flows.append(ceil(of_one * len(switches) / leaves[one]))
        found[leaf] = min(MOST_FLOWS, max(flows))
    return found


def _turning(graph: PlanGraph, nics: Nics) -> Iterator[SweptPair]:
    """Pairs of two rails whose leaves have a switch in common."""
    leaves, members = list(nics), _members(graph)
    here = grouped((leaf, place) for place, (leaf, _) in enumerate(leaves))
    for place, (leaf, rail) in enumerate(leaves):
        two_off = np.flatnonzero(graph.hops_to(leaf) == 2).tolist()
        near = [number for one in two_off for number in here.get(one, ()) if leaves[number][1] != rail]
        if near:
            there = min(near, key=lambda number: (number - place) % len(leaves))
            own, targets = nics[leaf, rail], nics[leaves[there]]
            ports = ceil(max(TURNING_PORTS, ports_for(members.get(leaf, 1))) / len(own))
            for number, nic in enumerate(own):
                yield SweptPair(nic, targets[(number + 1) % len(targets)], ports, 3)


def _members(graph: PlanGraph) -> dict[int, int]:
    """The number of uplinks of each switch."""
    index = graph.index
    devices, count = np.unique(index.a_device[~index.from_host], return_counts=True)
    return dict(zip(devices.tolist(), count.tolist(), strict=True))


def _above(graph: PlanGraph) -> dict[int, list[int]]:
    """The switches above each switch."""
    tail, head, segment = graph.edges
    upward = segment % 2 == 0
    return grouped(np.unique(np.stack([tail[upward], head[upward]], axis=1), axis=0).tolist())


@dataclass(frozen=True)
class _Load:
    """What a sweep is expected to bring: flows over every edge, and the flows and NICs that ask every device."""

    edge_flows: Numbers
    flows: Numbers
    nics: Numbers


def _load(graph: PlanGraph, pairs: Sequence[SweptPair]) -> _Load:
    """Every switch is taken to spread what it sends to a leaf evenly over its links towards that leaf."""
    index, ports = graph.index, Counter[Port]()
    for pair in pairs:
        ports[pair.source] += pair.source_ports
    device = {name: code for code, name in enumerate(index.devices.names)}
    leaf_of = {cable.a: device[cable.b.device] for cable in index.plan.host_cables}
    towards: dict[int, dict[int, Numbers]] = defaultdict(dict)
    for pair in pairs:
        of = towards[leaf_of[pair.target]].setdefault(leaf_of[pair.source], np.zeros(2))
        of += (pair.source_ports, pair.source_ports / ports[pair.source])
    alike = grouped((graph.twins.get(target, target), target) for target in towards)
    edge_flows, asked = np.zeros(len(graph.edges[0])), np.zeros((2, len(device)))
    for first, targets in alike.items():
        at = np.zeros((2, len(targets), len(device)))
        for number, target in enumerate(targets):
            for leaf, of in towards[target].items():
                at[:, number, leaf] = of
        _towards(graph, first, targets, at, edge_flows, asked)
    return _Load(edge_flows, asked[0], asked[1])


def _towards(
    graph: PlanGraph, first: int, targets: Sequence[int], at: Numbers, edge_flows: Numbers, asked: Numbers
) -> None:
    """Adds what is sent `at` switches to each of some targets, shape (2, targets, devices), which are twins: all ways
    to them are the same but for the last link. `first` is the one that is known to the graph.
    """
    tail, head, _ = graph.edges
    hops, rows = graph.hops_to(first).copy(), np.arange(len(targets))
    asked[:, targets] += at[:, rows, targets]
    at[:, rows, targets] = 0
    hops[[*targets, first]] = 2
    order, begin = graph.links
    onward = order[(hops[head[order]] >= 1) & (hops[tail[order]] == hops[head[order]] + 1)]
    for level in range(int(hops.max(initial=0)), 1, -1):
        edges = onward[hops[tail[onward]] == level]
        asked += np.where(hops == level, at.sum(axis=1), 0.0)
        degree = np.bincount(tail[edges], minlength=len(hops))[tail[edges]]
        edge_flows[edges] += at[0].sum(axis=0)[tail[edges]] / degree
        for of in at.reshape(-1, len(hops)):
            of += np.bincount(head[edges], weights=of[tail[edges]] / degree, minlength=len(hops))
    for number, target in enumerate(targets):
        edges = order[begin[target] : begin[target + 1]]
        last = (edges + len(tail) // 2) % len(tail)  # the other way
        degree = np.bincount(tail[last], minlength=len(hops))[tail[last]]
        edge_flows[last] += at[0, number, tail[last]] / degree
        asked[:, target] += (at[:, number, tail[last]] / degree).sum(axis=1)
        near = distinct(tail[last])
        asked[:, near] += at[:, number, near]


def _packets(load: _Load) -> int:
    """Packets of each flow and source port, so that the least used link of the sweep carries enough."""
    used = load.edge_flows[load.edge_flows > 0]
    return int(min(MOST_PACKETS, ceil(LEAST_PACKETS / used.min()))) if len(used) else LEAST_PACKETS


def _timetable(load: _Load, budget: Budget) -> tuple[float, float]:
    """Seconds between two probes of a NIC with the same TTL, and the rate at the switch that is asked most. Each NIC
    asks each TTL at its own rate, so no switch is asked more often by one source; all slow down where a switch is asked
    too often.
    """
    busiest = float(load.nics.max(initial=0.0)) * budget.per_nic
    slower = max(1.0, busiest / budget.mean_of(int(np.count_nonzero(load.nics))))
    return slower / budget.per_nic, busiest / slower


# ----------------------------------------------------------------------------------------------------------------------
# The pairs of a path sweep among the NICs that can be probed.


@dataclass(frozen=True)
class Sweep:
    """A sweep, and the NIC at each planned port."""

    planned: PathSweep
    nic_of: Mapping[Port, Nic]

    @property
    def pairs(self) -> Iterator[tuple[Pair, SweptPair]]:
        """Its pairs, in the words of the pinglists: those between rails belong to list E."""
        for swept in self.planned.pairs:
            source, to = self.nic_of[swept.source], self.nic_of[swept.target]
            yield Pair(source, to, SWEPT if source.group[0] == to.group[0] else "E"), swept


def sweep_of(
    plan: Plan, nics: Sequence[Nic], left_out: Collection[str], budget: Budget, *, across_rails: bool
) -> Sweep:
    """The sweep over the NICs of the hosts that take part."""
    nic_of = {plan.cables[nic.cable].a: nic for nic in nics if nic.host not in left_out}
    return Sweep(path_sweep(plan, across_rails=across_rails, nics=nic_of.keys(), budget=budget), nic_of)
