"""The plan as a graph for packets: directed links, and which of them lead to a leaf.

A *segment* is what a packet passes, as one number: a cable in one direction, a bundle of parallel cables in one
direction where nothing shows which of them it took, or a device as a whole.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from truerail.model.columns import NONE, Codes, Mask, distinct, found, spans
from truerail.model.index import PlanIndex
from truerail.model.plan import Port


@dataclass(frozen=True)
class PlanGraph:
    """The planned cables between devices. Cable columns have shape (cables,)."""

    index: PlanIndex
    _hops: dict[int, Codes] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def cables(self) -> int:
        """The number of planned cables."""
        return len(self.index.a)

    @cached_property
    def _packed(self) -> Codes:
        size = len(self.index.devices.names)
        both = (self.index.a >= 0) & (self.index.b >= 0)
        return np.where(both, self.index.a_device * size + self.index.b_device, NONE)

    @cached_property
    def bundle(self) -> Codes:
        """The first cable between the same two devices."""
        _, first, inverse = np.unique(self._packed, return_index=True, return_inverse=True)
        return np.asarray(first[inverse], dtype=np.int64)

    @cached_property
    def members(self) -> Codes:
        """The number of cables between the same two devices."""
        return np.bincount(self.bundle, minlength=self.cables)[self.bundle]

    @cached_property
    def _bundles(self) -> tuple[Codes, Codes]:
        """Packed pairs of devices in ascending order, and the first cable of each."""
        packed, first = np.unique(self._packed, return_index=True)
        return packed, np.asarray(first, dtype=np.int64)

    def bundle_between(self, lower: Codes, upper: Codes) -> Codes:
        """The first cable planned between two devices, the one nearer to the GPUs first; -1 if there is none."""
        packed, first = self._bundles
        wanted = np.where((lower >= 0) & (upper >= 0), lower * len(self.index.devices.names) + upper, NONE - 1)
        return np.append(first, NONE)[found(packed, wanted)]

    def between(self, tail: Codes, head: Codes, arrived_on: Codes) -> Codes:
        """The segment from one device to the next one; -1 without a planned cable between them.

        `arrived_on` is the port of `head` where the packet came in, -1 if unknown: of parallel cables it shows which.
        """
        if not self.cables:
            return np.full(len(tail), NONE, dtype=np.int64)
        up, down = self.bundle_between(tail, head), self.bundle_between(head, tail)
        first, turned = np.where(up >= 0, up, down), (up < 0).astype(np.int64)
        cable = self.index.cables_at(arrived_on)
        known = (cable >= 0) & (first >= 0)
        known &= self.bundle[np.where(known, cable, 0)] == first
        single = self.members[np.where(first >= 0, first, 0)] == 1
        by_cable = 2 * np.where(known, cable, first) + turned
        segment = np.where(known | single, by_cable, 2 * self.cables + 2 * first + turned)
        return np.where(first >= 0, segment, NONE)

    def of_device(self, device: Codes) -> Codes:
        """Devices as segments; -1 for -1."""
        return np.where(device >= 0, 4 * self.cables + device, NONE)

    def is_device(self, segment: Codes) -> Mask:
        """Whether segments are whole devices."""
        return np.asarray(segment >= 4 * self.cables, dtype=bool)

    def is_bundle(self, segment: Codes) -> Mask:
        """Whether segments are parallel cables of which one is meant."""
        return np.asarray((segment >= 2 * self.cables) & ~self.is_device(segment), dtype=bool)

    def cable_of(self, segment: Codes) -> Codes:
        """The cable of a segment, or the first one of a bundle; -1 for devices."""
        return np.where(self.is_device(segment) | (segment < 0), NONE, segment % (2 * self.cables) // 2)

    def ends(self, segment: int) -> tuple[Port, Port]:
        """The ports that send and receive on a segment, of a bundle those of its first cable."""
        cable = int(self.cable_of(np.array([segment]))[0])
        a, b = self.index.a_port(cable), self.index.b_port(cable)
        return (b, a) if segment % 2 else (a, b)

    def tails(self, segment: Codes) -> Codes:
        """The devices that send on segments; -1 for devices as segments."""
        cable = self.cable_of(segment)
        side = np.where(segment % 2 == 0, self.index.a_device[cable], self.index.b_device[cable])
        return np.where(cable >= 0, side, NONE)

    def name(self, segment: int) -> str:
        """A segment in words: `leaf-0/up1 -> spine-1/p0`, or `leaf-0 -> spine-1 (one of 2 cables)`, or a device."""
        if segment >= 4 * self.cables:
            return self.index.devices.names[segment - 4 * self.cables]
        sender, receiver = self.ends(segment)
        if segment < 2 * self.cables:
            return f"{sender} -> {receiver}"
        count = int(self.members[int(self.cable_of(np.array([segment]))[0])])
        return f"{sender.device} -> {receiver.device} (one of {count} cables)"

    @cached_property
    def edges(self) -> tuple[Codes, Codes, Codes]:
        """Tail, head and segment of every cable between switches, in both directions."""
        index = self.index
        cable = np.flatnonzero(~index.from_host & (index.a >= 0) & (index.b >= 0))
        tail = np.concatenate([index.a_device[cable], index.b_device[cable]])
        head = np.concatenate([index.b_device[cable], index.a_device[cable]])
        return tail, head, np.concatenate([2 * cable, 2 * cable + 1])

    @cached_property
    def links(self) -> tuple[Codes, Codes]:
        """Places in `edges` in the order of their tails and heads, and where those of each device begin."""
        tail, head, _ = self.edges
        order = np.lexsort((head, tail))
        return order, np.searchsorted(tail[order], np.arange(len(self.index.devices.names) + 1))

    @cached_property
    def twins(self) -> dict[int, int]:
        """Of each switch the first one that has as many links to the same switches: to all others they are as far."""
        order, begin = self.links
        heads, first, found = self.edges[1][order], dict[bytes, int](), dict[int, int]()
        for switch in np.flatnonzero(np.diff(begin)).tolist():
            found[switch] = first.setdefault(heads[begin[switch] : begin[switch + 1]].tobytes(), switch)
        return found

    def hops_to(self, leaf: int) -> Codes:
        """The number of links from every device to a switch, over switches; -1 where no way leads to it."""
        first = self.twins.get(leaf, leaf)
        known = self._hops.get(first)
        if known is None:
            known = self._hops[first] = self._far_from(first)
        if first != leaf:
            known = known.copy()
            known[[first, leaf]] = known[leaf], 0
        return known

    def _far_from(self, switch: int) -> Codes:
        order, begin = self.links
        heads, known = self.edges[1][order], np.full(len(self.index.devices.names), NONE, dtype=np.int64)
        known[switch] = 0
        fresh, far = np.array([switch]), 0
        while len(fresh):
            far += 1
            behind, _ = spans(begin[fresh], begin[fresh + 1] - begin[fresh])
            behind = heads[behind]
            fresh = distinct(behind[known[behind] == NONE])
            known[fresh] = far
        return known

    def onward(self, leaf: int) -> Mask:
        """The edges that lie on a shortest way to a switch, shape of `edges`."""
        tail, head, _ = self.edges
        hops = self.hops_to(leaf)
        return np.asarray((hops[head] >= 0) & (hops[tail] == hops[head] + 1), dtype=bool)

    def ways(self, device: int, leaf: int, leaves: Mask) -> Codes:
        """The edges, as places in `edges`, on shortest ways from a device to a switch; `leaves` are edges to use."""
        tail, head, _ = self.edges
        usable = self.onward(leaf) & leaves
        reached = np.zeros(len(self.index.devices.names), dtype=bool)
        reached[device] = True
        for _ in range(int(self.hops_to(leaf)[device])):
            reached[head[usable & reached[tail]]] = True
        return np.flatnonzero(usable & reached[tail])
