"""The path of each flow: NIC, leaf, uplink by hash at each tier, leaf, NIC. A hop is a sending port."""

from dataclasses import dataclass

import numpy as np

from truerail.model.columns import Codes, distinct
from truerail.model.plan import LoadBalancing
from truerail.simulator.traffic.connections import Connections
from truerail.simulator.traffic.hashing import Hash, Hasher, Words
from truerail.simulator.traffic.net import NOWHERE, Net, Rates, Routes

PARTS = 16
"""Parts of a flow if switches spray its packets: links differ by no more than one part."""
_HOPS = 6
"""NIC, leaf, spine, superspine, spine, leaf."""


@dataclass(frozen=True, slots=True)
class Switching:
    """How the switches of a fabric are set up.

    `shared_seed` gives all of them one hash seed. Without `lossless`, excess traffic is dropped instead of paused;
    without `ecn`, no sender is slowed down before that. A `watchdog` drops traffic to a NIC that pauses for ever.
    `priority` is the traffic class of RDMA.
    """

    balancing: LoadBalancing = LoadBalancing.ECMP
    hash: Hash = Hash.CRC32
    shared_seed: bool = False
    lossless: bool = True
    ecn: bool = True
    watchdog: bool = False
    priority: int = 3


@dataclass(frozen=True)
class Paths:
    """`hops[row]` are the sending ports, -1 after the last, and all -1 without a route.

    Row `r` is a part of flow `flow[r]`; there is one row for each flow unless packets are spread.
    """

    flow: Codes
    hops: Codes


def seeds(net: Net, seed: int, *, shared: bool) -> Words:
    """The hash seed of each device."""
    drawn = np.random.default_rng([seed, 0x5EED]).integers(1, 1 << 32, len(net.devices), dtype=np.uint32)
    return np.full_like(drawn, drawn[0]) if shared else drawn


def find_paths(
    net: Net, routes: Routes, flows: Connections, hasher: Hasher, switching: Switching, speed: Rates
) -> Paths:
    """The path of every flow over these routes. `speed` is by port: adaptive routing avoids slow ports."""
    parts = 1 if switching.balancing is LoadBalancing.ECMP else PARTS
    flow = np.repeat(np.arange(len(flows)), parts)
    source, target = flows.source[flow], flows.target[flow]
    hops = np.full((len(flow), _HOPS), NOWHERE)
    home = net.leaf_of(target)
    lost = ~net.live[source] | (home < 0) | (routes.leaf_number[home] < 0)
    hops[:, 0] = np.where(lost, NOWHERE, source)
    open_rows = np.flatnonzero(~lost)
    chooser = _Chooser(routes, hasher, switching, speed)
    for hop in range(1, _HOPS):
        if not len(open_rows):
            break
        at = net.device[net.far[hops[open_rows, hop - 1]]]
        there = at == home[open_rows]
        hops[open_rows[there], hop] = net.far[target[open_rows[there]]]
        open_rows, at = open_rows[~there], at[~there]
        group = routes.group[at, routes.leaf_number[home[open_rows]]]
        hops[open_rows[group < 0]] = NOWHERE
        open_rows, at, group = open_rows[group >= 0], at[group >= 0], group[group >= 0]
        hops[open_rows, hop] = chooser.choose(flow[open_rows], at, group)
    hops[open_rows] = NOWHERE
    return Paths(flow, hops)


class _Chooser:
    """Which member of a group a flow takes."""

    def __init__(self, routes: Routes, hasher: Hasher, switching: Switching, speed: Rates) -> None:
        self._routes, self._hasher, self._balancing = routes, hasher, switching.balancing
        self._speed = speed
        self._turn = np.zeros(len(routes.size), dtype=np.int64)

    def choose(self, flow: Codes, device: Codes, group: Codes) -> Codes:
        """The ports, shape (n,)."""
        size = self._routes.size[group]
        match self._balancing:
            case LoadBalancing.ECMP:
                member = self._hasher.of(flow, device).astype(np.int64) % size
            case LoadBalancing.SPRAY:
                member = self._in_turn(group) % size
            case LoadBalancing.ADAPTIVE:
                return self._by_room(group)
        return self._routes.member[self._routes.start[group] + member]

    def _in_turn(self, group: Codes) -> Codes:
        """How many flows used each group before."""
        order = np.argsort(group, kind="stable")
        first = np.searchsorted(group[order], group[order])
        turn = np.empty(len(group), dtype=np.int64)
        turn[order] = np.arange(len(group)) - first
        before = self._turn[group]
        self._turn += np.bincount(group, minlength=len(self._turn))
        return before + turn

    def _by_room(self, group: Codes) -> Codes:
        """Members in turn, weighted by speed: one with half the speed gets every second turn."""
        turn = self._in_turn(group)
        chosen = np.empty(len(group), dtype=np.int64)
        for number in distinct(group).tolist():
            begin = self._routes.start[number]
            round_trip = _by_speed(self._routes.member[begin : begin + self._routes.size[number]], self._speed)
            mine = group == number
            chosen[mine] = round_trip[turn[mine] % len(round_trip)]
        return chosen


def _by_speed(members: Codes, speed: Rates) -> Codes:
    """A round of turns: the fastest members four times, the others as often as fits, spread evenly."""
    times = np.maximum(1, np.round(4 * speed[members] / speed[members].max())).astype(np.int64)
    due = np.concatenate([(np.arange(count) + 0.5) / count for count in times.tolist()])
    return np.asarray(np.repeat(members, times)[np.argsort(due, kind="stable")])
