"""Pause trees: the wait-for graph of each priority, its roots, and its victims with their distance.

Nodes are switches, and each NIC of a host twice: a NIC that pauses its switch cannot accept traffic, for reasons of its
own; a NIC that is paused cannot send. A host passes no pause on, so the first is always a root, the second always a
victim, and no storm crosses a host. Sources: the propagation ladder of "RDMA over Commodity Ethernet at Scale"
(SIGCOMM'16) and the port-level wait-for graph of Hawkeye.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerail.analysis.cabling.peers import Peers
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.not_evaluated import InsufficientDataError
from truerail.analysis.pfc.edges import LEAST_SHARE, NOTHING, STORM_SHARE, PauseEdges
from truerail.analysis.pfc.graph import WaitGraph
from truerail.analysis.pfc.measures import (
    NIC_EVENTS,
    QUEUE_EVENTS,
    Activity,
    Priorities,
    activity_of,
    counters_of,
    polls,
    risen,
    waits_of,
)
from truerail.model.columns import Codes, Mask, Numbers
from truerail.model.plan import Role

Q = Quantity
PAUSES = (Q.RX_PAUSE_US, Q.TX_PAUSE_US, Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_FRAMES)
STORM_WORDS = (*QUEUE_EVENTS, *NIC_EVENTS)


@dataclass(frozen=True)
class PauseGraph:
    """The waits of one priority as a graph; edge e is wait `edges[e]` of `waits`. `waits` holds the relevant ones."""

    waits: PauseEdges
    counters: Priorities
    graph: WaitGraph
    node: Codes
    """Code of each node: a switch's device code, or from `devices` on a port of a NIC or of an unknown device."""
    devices: int

    def is_switch(self, node: int) -> bool:
        """Whether a node is a switch of the plan."""
        return int(self.node[node]) < self.devices

    def device(self, node: int) -> int:
        """The device code of a switch node."""
        return int(self.node[node])

    @cached_property
    def storms(self) -> tuple[Mask, Mask]:
        """Roots of storms, and nodes of storms in a cycle without a root. Shapes (nodes,)."""
        graph, level = self.graph, self.waits.level
        passing = graph.only(graph.passing)
        under = self._heads(level > NOTHING)
        roots = graph.roots & passing.reached(under)
        return self._truest(roots), under & ~passing.reached(roots, backwards=True)

    def _heads(self, edges: Mask) -> Mask:
        found = np.zeros(self.graph.nodes, dtype=bool)
        found[self.graph.head[edges]] = True
        return found

    def _truest(self, roots: Mask) -> Mask:
        """Roots that are in a storm themselves; in a component without one, the others: the storm reached them."""
        graph, waits = self.graph, self.waits
        unreported = ~waits.exact & (waits.level == NOTHING) & (waits.share >= STORM_SHARE)
        true = roots & self._heads((waits.level > NOTHING) | unreported)
        with_true = np.zeros(graph.nodes, dtype=bool)
        with_true[graph.part[true]] = True
        return np.asarray(true | (roots & ~with_true[graph.part]), dtype=bool)

    @cached_property
    def deadlocks(self) -> list[Codes]:
        """The nodes of every cycle of switches that wait for each other while no traffic moves."""
        return self.graph.only(self.waits.stuck).circles()


@dataclass(frozen=True)
class Pauses:
    """All pause trees of a snapshot. `reported.wiring.index` resolves port codes to names."""

    reported: Telemetry
    peers: Peers
    graphs: tuple[PauseGraph, ...]

    @cached_property
    def without_end(self) -> Mask:
        """Ports that pause the other end as a storm or a deadlock does, on any priority. Shape (ports,)."""
        found = np.zeros(self.reported.ports, dtype=bool)
        for graph in self.graphs:
            on = graph.waits.on[graph.waits.level > NOTHING]
            found[on[(on >= 0) & (on < len(found))]] = True
        return found


def pauses_of(telemetry: Telemetry) -> Pauses:
    """The pause trees of a round. Raises InsufficientDataError as `decidable` does."""
    decidable(telemetry)
    graphs = tuple(graph_of(telemetry, *measured) for measured in _by_priority(telemetry))
    return Pauses(telemetry, telemetry.wiring.peers, graphs)


def counted(telemetry: Telemetry, what: str, *quantities: Quantity) -> None:
    """Raises InsufficientDataError if no device counts any of these, or there are too few polls."""
    if not telemetry.counts(*quantities):
        raise InsufficientDataError(f"counters of {what}: no port that answered counts them")
    if telemetry.samples < polls(telemetry):
        raise InsufficientDataError(f"{polls(telemetry)} polls of counters: there are {telemetry.samples} so far")


def decidable(telemetry: Telemetry) -> None:
    """Raises InsufficientDataError if pauses cannot be evaluated."""
    counted(telemetry, "pauses", *PAUSES, *STORM_WORDS)
    by_time = telemetry.counts(Q.RX_PAUSE_US, Q.TX_PAUSE_US, *STORM_WORDS)
    if not by_time and np.isnan(telemetry.speed()).all():
        raise InsufficientDataError(
            "speeds of links: pauses are counted in frames only, and neither plan nor devices report a speed"
        )


def _by_priority(telemetry: Telemetry) -> list[tuple[Priorities, Activity, Mask]]:
    """What to measure: the counters, the ports, and the NICs whose watchdogs report no priority.

    Ports that count over all priorities (IEEE8021-PFC-MIB, EOS, NX-OS) join the one priority that is paused anywhere;
    with none or several, they form a graph of their own.
    """
    numbers = [p for p in telemetry.priorities(*PAUSES, *QUEUE_EVENTS) if p is not None]
    found = [(c, active) for p in numbers if (active := activity_of(c := counters_of(telemetry, p, totals=False)))]
    rest = counters_of(telemetry, None, totals=True)
    if len(found) == 1 and None in telemetry.priorities(*PAUSES):
        counters = counters_of(telemetry, found[0][0].chosen[0], totals=True)
        found = [(counters, activity_of(counters))]
    elif len(found) != 1 and (active := activity_of(rest).without(*(active for _, active in found))):
        found.append((rest, active))
    lone = np.zeros(telemetry.ports, dtype=bool)
    for events in NIC_EVENTS:
        lone |= telemetry.reaches(events, None, 0.0, rest.last)
    peer = telemetry.wiring.peers
    for _, active in found:
        lone &= ~active.touches(peer)
    if lone.any() and not found:
        found = [(rest, Activity.none(telemetry.ports))]
    none = np.zeros(telemetry.ports, dtype=bool)
    return [(counters, active, none if number else lone) for number, (counters, active) in enumerate(found)]


def graph_of(telemetry: Telemetry, counters: Priorities, active: Activity, nics: Mask) -> PauseGraph:
    """The graph of one priority: relevant waits, without those that are weak beside a strong one."""
    waits = waits_of(counters, active, nics)
    waits = waits.only((waits.share >= LEAST_SHARE) | (waits.level > NOTHING))
    pause_graph = _joined(telemetry, counters, waits)
    faint = pause_graph.graph.faint & (waits.level == NOTHING)
    return _joined(telemetry, counters, waits.only(~faint)) if faint.any() else pause_graph


def _joined(telemetry: Telemetry, counters: Priorities, waits: PauseEdges) -> PauseGraph:
    devices = len(telemetry.wiring.index.devices.names)
    both = (waits.waiting, waits.on), (waits.on, waits.waiting)
    ends = [_node(telemetry, *ports, devices, side) for side, ports in enumerate(both)]
    node, number = np.unique(np.concatenate(ends), return_inverse=True)
    tail, head = np.split(number, 2)
    return PauseGraph(waits, counters, WaitGraph(tail, head, waits.share, len(node)), node, devices)


def _node(telemetry: Telemetry, port: Codes, other: Codes, devices: int, side: int) -> Codes:
    """The node of a port: its switch if planned, else the port itself, one node for each direction. An unknown port is
    named after the other end.
    """
    index = telemetry.wiring.index
    tier = np.array([*index.devices.tier, -1], dtype=np.int64)
    device = index.ports.device_of(port)
    switch = tier[device] > Role.HOST.tier
    alone = devices + 4 * np.where(port >= 0, port, other) + 2 * (port < 0) + side
    return np.asarray(np.where(switch, device, alone), dtype=np.int64)


def began(graph: PauseGraph, edges: Codes) -> Numbers:
    """Start of each of these waits, in Unix seconds; NaN if unknown."""
    return risen(graph.counters, graph.waits.waiting[edges], graph.waits.on[edges])


__all__ = ["PAUSES", "PauseGraph", "Pauses", "began", "counted", "pauses_of"]
