"""What was said of a trial against what is true of it, and whether its evidence could decide a fault's seat."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log

from benchmarks.probe.drawn import (
    CUT,
    GREY,
    HALF_MUTE,
    IDLE,
    LIMITED,
    PACED,
    POLARIZED,
    POLARIZED_POD,
    REPORTED_CUT,
    REWRITTEN,
    SILENT,
    Fault,
    Trial,
)
from benchmarks.probe.fabrics import UNNUMBERED, Hop
from benchmarks.probe.probing import LARGE, Flow, Sweeper
from truerail.analysis.sweep.swept import Swept

CODES = {
    SILENT: "PRB005",
    GREY: "PRB007",
    POLARIZED: "PRB004",
    POLARIZED_POD: "PRB004",
    IDLE: "PRB008",
    CUT: "PRB003",
    REPORTED_CUT: "PRB003",
    REWRITTEN: "PRB006",
}
LEAST_LOSSES = 6.0
"""Packets that a link must be expected to lose, on paths that are known, for its seat to be decidable."""
WITNESSES = 4
"""Delivered flows whose probes, two each, show that a switch answers."""
CHANCE = 1e-4
Seat = frozenset[str]


@dataclass(frozen=True, slots=True)
class Said:
    """One conclusion: its rule and the names of its seat; empty for a loss without a seat."""

    code: str
    seat: Seat


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """What came of one fault. `used` is whether any flow met it."""

    kind: str
    used: bool
    decidable: bool
    found: bool
    exact: bool
    among: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial; `false` are conclusions that no fault explains."""

    trial: Trial
    faults: tuple[FaultOutcome, ...]
    false: tuple[Said, ...]


def said_of(swept: Swept) -> list[Said]:
    """The conclusions of a sweep."""
    name, losses = swept.paths.graph.name, swept.losses
    found = [Said("PRB004", frozenset([_device(swept, one.leaf)])) for one in swept.choices.polarized]
    found += [
        Said("PRB005" if losses.silent(seat) else "PRB007", frozenset(map(name, seat.segments)))
        for seat in losses.seats
    ]
    if len(losses.unplaced):
        found.append(Said("PRB007", frozenset()))
    found += [Said("PRB008", frozenset([name(one.segment)])) for one in swept.choices.idle]
    found += [Said("PRB003", frozenset(map(name, one.segments))) for one in swept.cut_offs]
    return found + [Said("PRB006", frozenset(map(name, one.segments))) for one in swept.rewriters]


def _device(swept: Swept, code: int) -> str:
    return swept.paths.graph.index.devices.names[code]


def scored(sweeper: Sweeper, said: list[Said]) -> Outcome:
    """The outcome of a trial."""
    truth = Truth(sweeper)
    explained: list[Said] = []
    faults = []
    for fault in sweeper.net.trial.faults:
        seats = truth.seats(fault)
        own = [
            one for one in said if one.code == CODES[fault.kind] and (not one.seat or any(one.seat & s for s in seats))
        ]
        named = {one.seat for one in own}
        exact = named == set(seats)
        among = all(any(seat <= one for one in named) for seat in seats)
        used = truth.used(fault)
        faults.append(FaultOutcome(fault.kind, used, used and truth.decidable(fault), bool(own), exact, among))
        explained += own
    return Outcome(sweeper.net.trial, tuple(faults), tuple(one for one in said if one not in explained))


@dataclass
class Truth:
    """What the simulator knows of a trial."""

    sweeper: Sweeper

    def seats(self, fault: Fault) -> list[Seat]:
        """The names of a fault's seats: of each leaf for polarization, else one."""
        made = self.sweeper.net.fabric
        if fault.kind in (POLARIZED, POLARIZED_POD):
            leaves = [name for name in made.out if name.startswith("leaf")]
            return [frozenset([leaf]) for leaf in leaves if fault.device in ("", leaf.split("-")[1])]
        return [frozenset([fault.device if fault.link is None else self.name(fault.link)])]

    def name(self, hop: Hop) -> str:
        """A directed link as the analysis can name it: one of parallel cables only where ports are known."""
        made = self.sweeper.net.fabric
        if self._one(hop) != hop:
            return f"{hop[1]} -> {hop[2]} (one of {made.shape.parallel} cables)"
        cable = made.plan.cables[hop[0]]
        ends = (cable.a, cable.b) if cable.a.device == hop[1] else (cable.b, cable.a)
        return f"{ends[0]} -> {ends[1]}"

    @cached_property
    def ways(self) -> list[list[Hop]]:
        """The links of every flow, those between switches alone."""
        return [self.sweeper.way(flow)[1:-1] for flow in self.sweeper.flows]

    @cached_property
    def answered(self) -> list[set[str]]:
        """The switches of each flow's way that answered a small probe, its first and last leaf included."""
        number = {flow: n for n, flow in enumerate(self.sweeper.flows)}
        found = [{way[0][1], way[-1][2]} if way else set() for way in self.ways]
        for (flow, ttl, size), answers in self.sweeper.answers.items():
            way = self.ways[number[flow]]
            if size != LARGE and answers and ttl <= len(way):
                found[number[flow]].add(way[ttl - 1][1])
        return found

    def through(self, hop: Hop) -> list[int]:
        """The flows over a directed link."""
        return [flow for flow, way in enumerate(self.ways) if hop in way]

    def known(self, flow: int) -> bool:
        """Whether every switch of a flow's way answered."""
        return all(hop[2] in self.answered[flow] for hop in self.ways[flow])

    def used(self, fault: Fault) -> bool:
        """Whether any flow met a fault. An idle member has none: any flow that had the choice."""
        if fault.kind in (POLARIZED, POLARIZED_POD):
            return True
        if fault.kind == IDLE and fault.link is not None:
            return self._one(fault.link) == fault.link and bool(self.choosing(fault))
        if fault.link is not None:
            return bool(self.through(fault.link))
        return any(fault.device in {end for hop in way for end in hop[1:]} for way in self.ways)

    def choosing(self, fault: Fault) -> list[tuple[int, int]]:
        """The flows that could have taken an idle member, with the number of its siblings and itself."""
        found = []
        for flow, way in enumerate(self.ways):
            for hop in way:
                if fault.link is not None and hop[1] == fault.link[1]:
                    options = self.sweeper.net.fabric.routes(way[-1][2])[hop[1]]
                    if fault.link in options and len(options) > 1 and {hop[1], hop[2]} <= self.answered[flow]:
                        found.append((flow, len(options)))
        return found

    def decidable(self, fault: Fault) -> bool:
        """Whether the evidence can decide a fault's seat."""
        trial = self.sweeper.net.trial
        match fault.kind:
            case kind if kind == SILENT and fault.link is not None:
                return len(self.silent_candidates(fault.link)) == 1
            case kind if kind == GREY and fault.link is not None:
                return self.grey_decidable(fault)
            case kind if kind == IDLE and fault.link is not None:
                return self.idle_decidable(fault)
            case kind if kind in (POLARIZED, POLARIZED_POD):
                one_way = trial.shape.spines == 2 and any(other.kind == SILENT for other in trial.faults)
                return trial.answers != LIMITED and trial.mute[:5] not in ("spine", "core-") and not one_way
            case kind if kind in (CUT, REPORTED_CUT) and fault.link is not None:
                return trial.answers != LIMITED and trial.mute not in fault.link[1:]
        return len(self.rewriting_candidates()) == 1

    def silent_candidates(self, link: Hop) -> set[Hop]:
        """The links that no delivered flow has used, on all ways that are open to the lost flows behind the switch that
        sends on the link.
        """
        net = self.sweeper.net
        delivered = {hop for way in self.ways if not any(net.lost(hop) == 1.0 for hop in way) for hop in way}
        found: set[Hop] | None = None
        for flow in self.through(link):
            way = self.ways[flow]
            start = link[1] if link[1] in self.answered[flow] else way[0][1]
            routes = net.fabric.routes(way[-1][2])
            reached, front, links = {start}, [start], set()
            while front:
                for hop in routes[front.pop()]:
                    links.add(hop)
                    if hop[2] not in reached:
                        reached.add(hop[2])
                        front.append(hop[2])
            found = links if found is None else found & links
        further = {hop for hop in (found or set()) - delivered if not self.silence_speaks(link, hop, delivered)}
        return {self._one(hop) for hop in further} | {self._one(link)}

    def silence_speaks(self, link: Hop, further: Hop, delivered: set[Hop]) -> bool:
        """Whether the switch that sends on a link further on answers others, and all ways from it back to the senders
        are in use: then its silence shows that no lost flow came so far.
        """
        net, switch = self.sweeper.net, further[1]
        asked = sum(switch in self.answered[flow] for flow, way in enumerate(self.ways) if delivered.issuperset(way))
        if net.trial.answers != PACED or switch in link[1:2] or asked < WITNESSES:
            return False
        front = [(switch, leaf) for leaf in {self.ways[flow][0][1] for flow in self.through(link)}]
        ways: set[tuple[Hop, str]] = set()
        while front:
            device, leaf = front.pop()
            new = {(hop, leaf) for hop in net.fabric.routes(leaf)[device]} - ways
            ways |= new
            front += [(hop[2], leaf) for hop, _ in new]
        return delivered.issuperset(hop for hop, _ in ways)

    def _one(self, hop: Hop) -> Hop:
        """A directed link, or one for all parallel ones where these cannot be told apart."""
        shape = self.sweeper.net.fabric.shape
        silent = shape.answers == UNNUMBERED or hop[2] == self.sweeper.net.trial.mute
        return (-1, *hop[1:]) if silent and shape.parallel > 1 else hop

    def grey_decidable(self, fault: Fault) -> bool:
        """Whether enough is lost on known paths, and no other link has the same flows that hops cannot tell apart."""
        net, link = self.sweeper.net, fault.link
        if link is None:
            return False
        dead = [flow for flow, way in enumerate(self.ways) if any(net.lost(hop) == 1.0 for hop in way)]
        own = [flow for flow in self.through(link) if self.known(flow) and flow not in dead]
        if sum(self.packets[flow] for flow in own) * fault.rate < LEAST_LOSSES:
            return False
        flows = set(own)
        twins = {
            self._one(hop)
            for hop in {hop for flow in own for hop in self.ways[flow]}
            if {f for f in self.through(hop) if self.known(f) and f not in dead} == flows
        }
        return len(twins) == 1 or net.trial.answers not in (LIMITED, HALF_MUTE)

    @cached_property
    def packets(self) -> list[int]:
        """Small packets of each flow."""
        found: dict[tuple[int, int | None], int] = {}
        for row in (row for rows in self.sweeper.reach.values() for row in rows):
            if row.sent and row.size != LARGE:
                found[row.flow, row.source_port] = found.get((row.flow, row.source_port), 0) + row.sent
        return [found[flow[0], flow[3]] for flow in self.sweeper.flows]

    def idle_decidable(self, fault: Fault) -> bool:
        """Whether chance leaves the member out less than once in ten thousand times, over all members."""
        net, link = self.sweeper.net, fault.link
        if link is None or self._one(link) != link or any(f.kind == POLARIZED for f in net.trial.faults):
            return False
        places = len(net.fabric.links())
        chance = sum(log(1 - 1 / options) for _, options in self.choosing(fault))
        blind = net.trial.answers == LIMITED or link[2] == net.trial.mute
        return not blind and chance < log(CHANCE / places)

    def rewriting_candidates(self) -> set[str]:
        """The switches that are on all rewritten ways and on no other one."""
        rewrites = self.sweeper.net.rewrites
        on = [{end for hop in way for end in hop[1:]} or {flow[1].device} for way, flow in self._all()]
        hit = [devices for devices in on if devices & rewrites]
        kept: set[str] = set().union(*(devices for devices in on if not devices & rewrites))
        return set.intersection(*hit) - kept if hit else set()

    def _all(self) -> Iterator[tuple[list[Hop], Flow]]:
        made = self.sweeper.net.fabric
        for way, flow in zip(self.ways, self.sweeper.flows, strict=True):
            leaf = made.nic[flow[1]][1]
            yield way or [(0, leaf, leaf)], flow
