"""A wait-for graph as arrays: its roots, the nodes upstream of them with their hops, and its cycles.

An edge `tail` to `head` means that `tail` waits for `head`. Everything runs over all edges at once; loops are over
hops.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from truerail.analysis.counters.hygiene import Floats
from truerail.model.columns import NONE, Codes, Mask, RowsBy, components, distinct

COMPARABLE = 0.5
"""A node passes the pause on, and is not its root, if its own wait is at least this share of the waits for it."""
FAINT = 0.1
"""An edge is left out below this share of the strongest edge that it is connected to."""


class WaitGraph:
    """Edges of shape (edges,) over nodes 0 .. `nodes` - 1."""

    def __init__(self, tail: Codes, head: Codes, weight: Floats, nodes: int) -> None:
        self.tail, self.head, self.weight, self.nodes = tail, head, weight, nodes

    def only(self, edges: Mask) -> "WaitGraph":
        """The same nodes with some of the edges."""
        return WaitGraph(self.tail[edges], self.head[edges], self.weight[edges], self.nodes)

    @cached_property
    def awaited(self) -> Floats:
        """The strongest wait for each node; 0 without one."""
        return self._strongest(self.head)

    @cached_property
    def waits(self) -> Floats:
        """The strongest wait of each node."""
        return self._strongest(self.tail)

    @property
    def roots(self) -> Mask:
        """Nodes that are waited for and do not wait for others to a comparable degree."""
        return np.asarray((self.awaited > 0) & (self.waits < COMPARABLE * self.awaited), dtype=bool)

    @cached_property
    def passing(self) -> Mask:
        """Edges by which a node passes on the pause that it receives."""
        return np.asarray(self.weight >= COMPARABLE * self.awaited[self.tail], dtype=bool)

    @cached_property
    def part(self) -> Codes:
        """The connected component of each node, by its smallest node."""
        return components(self.tail, self.head, self.nodes)

    @property
    def faint(self) -> Mask:
        """Edges that are weak compared with the strongest of their component."""
        strongest = np.zeros(self.nodes)
        part = self.part[self.tail]
        np.maximum.at(strongest, part, self.weight)
        return np.asarray(self.weight < FAINT * strongest[part], dtype=bool)

    def reached(self, start: Mask, *, backwards: bool = False) -> Mask:
        """Nodes reachable from `start` along the edges, `start` included."""
        return self.distance(start, backwards=backwards) >= 0

    def distance(self, start: Mask, *, backwards: bool = False) -> Codes:
        """Hops from the nearest node of `start` to each node; -1 if unreachable."""
        edges, target = (self._into, self.tail) if backwards else (RowsBy(self.tail), self.head)
        distance = np.full(self.nodes, NONE, dtype=np.int64)
        at, hops = np.flatnonzero(start), 0
        while len(at):
            distance[at] = hops
            at = distinct(target[edges.of(at)])
            at, hops = at[distance[at] < 0], hops + 1
        return distance

    def behind(self, root: int) -> Iterator[tuple[Codes, int]]:
        """Edges upstream of a node with their hops from it: 1 for edges into it, then edges into the nodes that pass it
        on. Costs as much as it finds.
        """
        passing, seen = self.passing, {root}
        at, hops = np.array([root]), 1
        while len(at):
            edges = self._into.of(at)
            edges = edges[self.tail[edges] != root]
            yield edges, hops
            at = distinct(self.tail[edges[passing[edges]]])
            at = at[[node not in seen for node in at.tolist()]] if len(at) else at
            seen.update(at.tolist())
            hops += 1

    def circles(self) -> list[Codes]:
        """The nodes of every cycle (strongly connected, two nodes at least), ascending."""
        found: list[Codes] = []
        core = self.only(self.tail != self.head)._core()
        while len(core.tail):
            pivot = np.zeros(self.nodes, dtype=bool)
            pivot[core.tail[0]] = True
            circle = core.reached(pivot) & core.reached(pivot, backwards=True)
            if np.count_nonzero(circle) > 1:
                found.append(np.flatnonzero(circle))
            core = core.only(~circle[core.tail] & ~circle[core.head])._core()
        return sorted(found, key=lambda circle: int(circle[0]))

    def _core(self) -> "WaitGraph":
        """The graph without edges that lead into no cycle or out of none, removed until none of them is left."""
        core = self
        while len(core.tail):
            inner = (core.awaited[core.tail] > 0) & (core.waits[core.head] > 0)
            if inner.all():
                break
            core = core.only(np.asarray(inner, dtype=bool))
        return core

    @cached_property
    def _into(self) -> RowsBy:
        return RowsBy(self.head)

    def _strongest(self, end: Codes) -> Floats:
        strongest = np.zeros(self.nodes, dtype=np.float32)
        np.maximum.at(strongest, end, self.weight)
        return strongest
