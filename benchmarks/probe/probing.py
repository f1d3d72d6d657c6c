"""What hosts send, hear and are answered in a simulated network, as the facts of a recording."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Literal

import numpy as np

from benchmarks.probe.drawn import LIMITED
from benchmarks.probe.fabrics import Hop, Shape, fabric
from benchmarks.probe.forwarding import Network
from truerail.model import NetAddress, Port, Reading, Snapshot
from truerail.model.probe_facts import FULL_TTL, ProbeHop, ProbeReach
from truerail.probe.path_sweep import ASKS, PathSweep, path_sweep

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
RUN, TOS, LARGE = "run", 104, 9000
SMALL = {4: 64, 6: 96}
FIRST_PORT = 30_000
LARGE_PACKETS = 3


Flow = tuple[int, Port, Port, int]
"""The number of the pair, NICs and source port of a flow."""
Kind = Literal["time exceeded", "too big"]
HopKey = tuple[Flow, int, int]


@cache
def sweep_of(shape: Shape) -> PathSweep:
    """The sweep of a shape, as the product plans it."""
    return path_sweep(fabric(shape).plan, across_rails=bool(shape.cores))


@dataclass
class Sweeper:
    """Sends the probes of a sweep through a network, and keeps what both ends report."""

    net: Network
    flows: list[Flow] = field(default_factory=list)
    reach: dict[str, list[ProbeReach]] = field(default_factory=dict)
    asked: dict[HopKey, int] = field(default_factory=dict)
    """Packets by flow, TTL and size, of all that was sent."""
    answers: dict[HopKey, dict[tuple[str, Kind, int | None], int]] = field(default_factory=dict)
    """Answers by address, kind and MTU."""

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.net.trial.seed)
        self.small = SMALL[self.net.trial.shape.version]
        self.draw = Random(f"probing {self.net.trial.seed}")  # noqa: S311 - reproducible, not secret
        first: dict[Port, int] = {}
        for number, pair in enumerate(sweep_of(self.net.trial.shape).pairs):
            port = first.setdefault(pair.source, FIRST_PORT)
            first[pair.source] = port + pair.source_ports
            self.flows += [(number, pair.source, pair.target, port + n) for n in range(pair.source_ports)]

    def way(self, flow: Flow) -> list[Hop]:
        """All links of a flow, from NIC to NIC."""
        _, source, target, port = flow
        (leaving, start), (entering, leaf) = self.net.fabric.nic[source], self.net.fabric.nic[target]
        inside = self.net.path(start, leaf, str(source), str(target), port)
        return [(leaving, source.device, start), *inside, (entering, leaf, target.device)]

    def send(self) -> None:
        """The sweep itself."""
        packets = sweep_of(self.net.trial.shape).packets
        for flow in self.flows:
            way = self.way(flow)
            self._arriving(flow, way, ((self.small, packets), (LARGE, LARGE_PACKETS)))
            for ttl in range(1, len(way)):
                self._expiring(flow, way, ttl, self.small, ASKS)

    def ask(self, wanted: Iterable[tuple[Flow, int, int, int]]) -> None:
        """Probes of flows that end at a TTL, or arrive: the flow, the TTL, the size, how many."""
        for flow, ttl, size, packets in wanted:
            if ttl == FULL_TTL:
                self._arriving(flow, self.way(flow), ((size, packets),))
            else:
                self._expiring(flow, self.way(flow), ttl, size, packets)

    def _passed(self, way: Sequence[Hop], size: int, packets: int) -> int:
        """How many packets pass all links."""
        left = packets
        for hop in way:
            if size == LARGE and hop[:2] in self.net.cut:
                return 0
            left = int(self.rng.binomial(left, 1 - self.net.lost(hop))) if left else 0
        return left

    def _arriving(self, flow: Flow, way: list[Hop], packets: Iterable[tuple[int, int]]) -> None:
        number, source, target, port = flow
        leaves = {hop[2] for hop in way[:-1]}
        tos = 0 if leaves & self.net.rewrites else TOS
        for size, count in packets:
            ends = (source.name, target.device, target.name), (target.name, source.device, source.name)
            sent = ProbeReach(*ends[0], RUN, number, "routed", TOS, size, port, sent=count)
            self.reach.setdefault(source.device, []).append(sent)
            heard = self._passed(way, size, count)
            there = self.reach.setdefault(target.device, [])
            if heard:
                row = ProbeReach(*ends[1], RUN, number, "routed", TOS, size, port, heard=heard)
                there.append(row._replace(arrived_on=target.name, tos_heard=tos))
            elif size == self.small:
                there.append(ProbeReach(*ends[1], RUN, number, "routed", TOS, heard=0))
            if size == LARGE and self._too_big((flow, FULL_TTL, LARGE), way, count):
                self.asked[flow, FULL_TTL, LARGE] = self.asked.get((flow, FULL_TTL, LARGE), 0) + count

    def _expiring(self, flow: Flow, way: list[Hop], ttl: int, size: int, packets: int) -> None:
        source, key = flow[1], (flow, ttl, size)
        self.asked[key] = self.asked.get(key, 0) + packets
        if size == LARGE and self._too_big(key, way[:ttl], packets):
            return
        at, came = way[ttl - 1][2], way[ttl - 1]
        answered = self._answered(at, source, self._passed(way[:ttl], size, packets))
        if answered:
            self._answer(key, self._address(at, came, source), ("time exceeded", None), answered)

    def _too_big(self, key: HopKey, way: Sequence[Hop], packets: int) -> bool:
        """Whether large packets end on a way, and what the router before that link answers."""
        for place, hop in enumerate(way):
            if hop[:2] in self.net.cut:
                if self.net.cut[hop[:2]] and place:
                    address = self._address(hop[1], way[place - 1], key[0][1])
                    self._answer(key, address, ("too big", 1500), packets)
                return True
        return False

    def _answer(self, key: HopKey, address: str, what: tuple[Kind, int | None], count: int) -> None:
        if address:
            of = self.answers.setdefault(key, {})
            of[address, *what] = of.get((address, *what), 0) + count

    def hops(self) -> Iterator[tuple[str, ProbeHop]]:
        """The hosts' rows of hops."""
        for key, sent in self.asked.items():
            (number, source, target, port), ttl, size = key
            row = ProbeHop(source.name, target.device, target.name, RUN, number, port, ttl, size, sent)
            if key not in self.answers:
                yield source.device, row
            for (address, kind, mtu), count in self.answers.get(key, {}).items():
                yield source.device, row._replace(address=address, answered=count, kind=kind, mtu=mtu)

    def _answered(self, at: str, source: Port, left: int) -> int:
        """How many answers come back."""
        if at == self.net.trial.mute:
            return 0
        share = self.net.answer_share[at]
        if self.net.trial.answers == LIMITED:
            left = int(self.rng.binomial(left, share))
        return self._passed(self._back(at, source), self.small, left)

    def _back(self, at: str, source: Port) -> tuple[Hop, ...]:
        return self.net.path(at, self.net.fabric.nic[source][1], at, str(source), 0)

    def _address(self, at: str, came: Hop, source: Port) -> str:
        if at == self.net.trial.mute:
            return ""
        return self.net.answers_from(at, came[:2], self._back(at, source), source)

    def snapshot(self) -> Snapshot:
        """What the recordings of all hosts say, and the addresses of switches."""
        readings = [*addresses(self.net.trial.shape)]
        hops: dict[str, list[ProbeHop]] = {}
        for host, row in self.hops():
            hops.setdefault(host, []).append(row)
        for host in sorted({*self.reach, *hops}):
            facts = (*self.reach.get(host, ()), *hops.get(host, ()))
            readings.append(Reading(host, "probe_results", AT, facts))
        return Snapshot(AT, readings)


@cache
def addresses(shape: Shape) -> tuple[Reading, ...]:
    """The addresses that switches report."""
    made = fabric(shape)
    bits = 32 if shape.version == 4 else 128
    of = {name: [NetAddress("lo", address, bits)] for name, address in made.loopback.items()}
    names: Mapping[int, tuple[Port, Port]] = {n: (cable.a, cable.b) for n, cable in enumerate(made.plan.cables)}
    for (number, device), address in made.address.items():
        port = next(end for end in names[number] if end.device == device)
        of[device].append(NetAddress(port.name, address, bits - 1))
    return tuple(Reading(name, "net_address", AT, tuple(found)) for name, found in of.items())
