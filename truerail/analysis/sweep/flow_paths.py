"""The path of every flow: the switches that answered, hop by hop, and the planned links between them.

A hop that did not answer is filled only where the plan leaves one device: the source's own leaf, the target's leaf of a
flow that arrived, the device at the other end of the port that the next hop names, or the only device with links to
both neighbours. Everything else stays unknown.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerail.analysis.sweep.flow_tables import Flows, Hops, by_row
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.model.columns import NONE, Codes, Mask, distinct

MOST_HOPS = 16
"""Answers from further away are no path of a fabric."""
CHANGING = 0.01
"""Share of source ports that name two devices at one TTL, from which on switches do not hash by flow alone."""
STEADY = 0.5
"""Lost share of a flow up to which it shows that its links are not silent."""
_FAR, _MANY = 64, 2**62


@dataclass(frozen=True)
class FlowPaths:
    """Paths of flows. `node` and `port` have shape (flows, hops): the switch at each TTL, and the port it names as the
    one where the packet came in; -1 unknown. `segment` has shape (flows, hops + 1): NIC to leaf, the links between,
    and behind the last leaf the one to the NIC.
    """

    graph: PlanGraph
    flows: Flows
    hops: Hops
    node: Codes
    port: Codes
    segment: Codes
    length: Codes
    """Switches on the way, as the flow or others between the same leaves show it, or the plan; 0 unknown."""
    deepest: Codes
    """The last TTL that a known switch answered; 0 if none did."""
    proven: Codes
    """Answers of small packets at `deepest`."""
    strayed: Mask
    """The first switch is not the planned leaf."""
    changing: float
    """Share of source ports that name two devices at one TTL."""

    @cached_property
    def leaf(self) -> tuple[Codes, Codes]:
        """The planned leaves of source and target of every flow."""
        return _leaf(self.graph, self.flows.source), _leaf(self.graph, self.flows.target)

    @cached_property
    def asked(self) -> Codes:
        """The last TTL at which each flow's switches were asked; 0 without any."""
        found, short = np.zeros(len(self.flows), dtype=np.int64), ~self.hops.large & (self.hops.ttl <= MOST_HOPS)
        np.maximum.at(found, self.hops.flow[short], self.hops.ttl[short])
        return found

    @cached_property
    def whole(self) -> Mask:
        """Flows that arrived and of which every link is known."""
        known = (self.segment >= 0) | (np.arange(self.segment.shape[1]) > self.length[:, None])
        return np.asarray((self.flows.heard > 0) & (self.length > 0) & known.all(axis=1) & ~self.strayed, dtype=bool)

    @cached_property
    def good(self) -> Codes:
        """Segments that carried most packets of some flow, ascending. Bundles are never among them."""
        carried = distinct(self.segment[self.whole & (self.flows.lost <= STEADY * self.flows.sent)])
        return carried[(carried >= 0) & ~self.graph.is_bundle(carried)]

    @cached_property
    def by_cable(self) -> Mask:
        """Per device: whether its answers name the port where packets come in."""
        return _naming(self.graph, self.node, self.port)

    def edge_segments(self) -> Codes:
        """The segments of the graph's edges as paths name them: bundles where the receiver names no ports."""
        _, head, segment = self.graph.edges
        cable = self.graph.cable_of(segment)
        first = 2 * self.graph.cables + 2 * self.graph.bundle[cable] + segment % 2
        return np.where((self.graph.members[cable] == 1) | self.by_cable[head], segment, first)


def paths_of(graph: PlanGraph, flows: Flows, hops: Hops) -> FlowPaths:
    """The paths of flows."""
    size = len(flows)
    usable = hops.expired & ~hops.large & (hops.device >= 0) & (hops.ttl >= 1) & (hops.ttl <= MOST_HOPS)
    width = int(hops.ttl[usable].max(initial=1))
    node, port, changing = _answers(hops, usable, size, width)
    sources, targets = _leaf(graph, flows.source), _leaf(graph, flows.target)
    _trust_ports(graph, sources, node, port)
    deepest = np.where(node >= 0, np.arange(1, width + 1), 0).max(axis=1, initial=0) if size else np.zeros(0, int)
    answers = usable & (hops.ttl == deepest[hops.flow])
    proven = by_row(hops.flow[answers], hops.answered[answers], size)
    strayed = (node[:, 0] >= 0) & (node[:, 0] != sources)
    length = _lengths(graph, node, sources, targets)
    if length.max(initial=0) > width:
        more = int(length.max()) - width
        node = np.pad(node, ((0, 0), (0, more)), constant_values=NONE)
        port = np.pad(port, ((0, 0), (0, more)), constant_values=NONE)
    _fill(graph, node, port, sources, targets, length, flows.heard > 0)
    segment = _segments(graph, flows, node, port, length)
    return FlowPaths(graph, flows, hops, node, port, segment, length, deepest, proven, strayed, changing)


def _leaf(graph: PlanGraph, nic: Codes) -> Codes:
    cable = graph.index.cables_at(nic)
    return np.where(cable >= 0, graph.index.b_device[cable], NONE) if graph.cables else np.full(len(nic), NONE)


def _answers(hops: Hops, usable: Mask, size: int, width: int) -> tuple[Codes, Codes, float]:
    """The device and the port at each TTL, -1 where two devices answered, and the share of flows with such a TTL."""
    place = (hops.flow[usable], hops.ttl[usable] - 1)
    node, port = (np.full((size, width), NONE, dtype=np.int64) for _ in range(2))
    least, lowest = (np.full((size, width), _MANY, dtype=np.int64) for _ in range(2))
    for most, fewest, values in ((node, least, hops.device[usable]), (port, lowest, hops.port[usable])):
        np.maximum.at(most, place, values)
        np.minimum.at(fewest, place, values)
    changed = (node != least) & (node >= 0)
    node[changed] = NONE
    port[changed | (port != lowest)] = NONE
    swept = (node >= 0).any(axis=1) | changed.any(axis=1)
    return node, port, float(changed.any(axis=1).sum() / max(1, swept.sum()))


def _trust_ports(graph: PlanGraph, sources: Codes, node: Codes, port: Codes) -> None:
    """Forgets the ports of devices that answer from another address than that of the port of arrival: with some, its
    planned cable does not come from the hop before.
    """
    before = np.concatenate([sources[:, None], node[:, :-1]], axis=1)
    far = graph.index.ports.device_of(graph.index.far_ends(port.ravel())).reshape(port.shape)
    known = (port >= 0) & (before >= 0)
    known[:, 0] = False
    wrong, right = known & (far != before), known & (far == before)
    size = len(graph.index.devices.names)
    trusted = (np.bincount(node[right], minlength=size) > 0) & (np.bincount(node[wrong], minlength=size) == 0)
    port[(port >= 0) & ~trusted[np.where(node >= 0, node, 0)]] = NONE


def _lengths(graph: PlanGraph, node: Codes, sources: Codes, targets: Codes) -> Codes:
    """The number of switches on each flow's way, 0 unknown."""
    there = (node == targets[:, None]) & (targets >= 0)[:, None]
    own = np.where(there.any(axis=1), there.argmax(axis=1) + 1, 0)
    own[(sources == targets) & (targets >= 0)] = 1
    both = (sources >= 0) & (targets >= 0)
    pair = np.where(both, sources * (int(targets.max(initial=0)) + 1) + targets, NONE)
    _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
    seen, count = np.unique(inverse[own > 0] * _FAR + own[own > 0], return_counts=True)
    seen = seen[np.argsort(count, kind="stable")]  # what most flows show comes last, and stays
    common = np.zeros(len(first), dtype=np.int64)
    common[seen // _FAR] = seen % _FAR
    for number in np.flatnonzero((common == 0) & both[first]).tolist():
        target, source = int(targets[first[number]]), int(sources[first[number]])
        common[number] = graph.hops_to(target)[source] + 1
    return np.where(own > 0, own, common[inverse])


def _fill(
    graph: PlanGraph, node: Codes, port: Codes, sources: Codes, targets: Codes, length: Codes, arrived: Mask
) -> None:
    """Fills the hops that the plan leaves no choice for."""
    first = (node[:, 0] == NONE) & ((node >= 0).any(axis=1) | arrived)
    node[first, 0] = sources[first]
    last = np.flatnonzero(arrived & (length > 0))
    ends = length[last] - 1
    open_ended = node[last, ends] == NONE
    node[last[open_ended], ends[open_ended]] = targets[last[open_ended]]
    named = graph.index.ports.device_of(graph.index.far_ends(port[:, 1:].ravel())).reshape(port[:, 1:].shape)
    take = (node[:, :-1] == NONE) & (named >= 0)
    node[:, :-1][take] = named[take]
    if node.shape[1] < 3:
        return
    row, place = np.nonzero((node[:, 1:-1] == NONE) & (node[:, :-2] >= 0) & (node[:, 2:] >= 0))
    if len(row):
        pairs = np.stack([node[row, place], node[row, place + 2]], axis=1)
        ends, inverse = np.unique(pairs, axis=0, return_inverse=True)
        only = np.array([_only_between(graph, int(one), int(other)) for one, other in ends], dtype=np.int64)
        node[row, place + 1] = only[inverse.ravel()]


def _only_between(graph: PlanGraph, one: int, other: int) -> int:
    """The only switch with links to both of two switches; -1 if there is none, or several."""
    tail, head, _ = graph.edges
    both = np.intersect1d(head[tail == one], head[tail == other])
    return int(both[0]) if len(both) == 1 else NONE


def _naming(graph: PlanGraph, node: Codes, port: Codes) -> Mask:
    """Per device: whether its answers name the port where packets come in."""
    found = np.zeros(len(graph.index.devices.names), dtype=bool)
    found[distinct(node[port >= 0])] = True
    return found


def _segments(graph: PlanGraph, flows: Flows, node: Codes, port: Codes, length: Codes) -> Codes:
    size, width = node.shape
    segment = np.full((size, width + 1), NONE, dtype=np.int64)
    by_cable = _naming(graph, node, port)
    leaving, entering = graph.index.cables_at(flows.source), graph.index.cables_at(flows.target)
    segment[:, 0] = np.where((node[:, 0] >= 0) & (leaving >= 0), 2 * leaving, NONE)
    for place in range(1, width):
        inside = (place < length) | (length == 0)
        found = graph.between(node[:, place - 1], node[:, place], port[:, place])
        # a switch that names ports, and did not answer here: one of parallel cables, and no bundle
        unclear = graph.is_bundle(found) & by_cable[node[:, place]]
        segment[:, place] = np.where(inside & ~unclear, found, NONE)
    ended = np.flatnonzero((length > 0) & (entering >= 0) & (flows.heard > 0))
    segment[ended, length[ended]] = 2 * entering[ended] + 1
    return segment
