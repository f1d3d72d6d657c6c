"""What the rules on probes share: NICs and leaves of each flow, and the places at which a path sweep seats faults."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rules._places import some_cables
from truerail.analysis.cabling import ONE_END, State, evidence_of
from truerail.analysis.probes.reached import Reached, reached
from truerail.analysis.rule import InsufficientDataError, NotApplicableError, Round, Rule
from truerail.analysis.sweep.flow_paths import CHANGING
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.analysis.sweep.seats import Seat
from truerail.analysis.sweep.swept import Swept, swept
from truerail.model import Evidence, Finding, NotEvaluated, ProbeReach
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.names import folded, some

SHOWN = 4
"""Flows in the evidence of a finding."""
STATES = {State.RIGHT: "right", State.WRONG: "wrong", State.MISSING: "missing", State.UNKNOWN: "unknown"}
MOST_SWEPT = 3
"""Flows of a sweep in the evidence of a finding."""
SURE, ALONE, TIED, UNSEATED = 0.97, 0.9, 0.7, 0.6
"""Confidence in a seat that many packets show, in one with few, in one of several, and in a loss without one."""
MANY_LOST = 10


@dataclass(frozen=True)
class Probed:
    """The flows between planned NICs, as columns of shape (flows,)."""

    round: Round
    rule: Rule
    """The rule of its findings."""
    flows: Reached
    leaf: Codes
    """The planned leaf of the sender's NIC, by its device code."""
    peer_leaf: Codes
    planned: Mask
    """Whether both NICs are planned, on rails."""
    railed: Mask
    """Whether both are of one rail and plane."""
    judged: Mask
    """Whether it was tried, and one of its hosts can say what became of it."""

    def found(self, cable: int, which: Codes | Mask, subject: str = "", **fields: Any) -> Finding:
        """A finding about some flows, of the rail of a NIC; its subject is that NIC unless another one is given."""
        about = {"rail": self.rail(cable), "confidence": ONE_END, "evidence": self.evidence(codes_of(which))}
        return self.rule.found(subject or self.nic(cable), **about | fields)

    def nic(self, cable: int) -> str:
        """A NIC as the plan names it."""
        return str(self.round.cabling.index.a_port(cable))

    def rail(self, cable: int) -> int | None:
        """A NIC's rail."""
        return self.round.plan.cables[cable].rail

    def device(self, code: int) -> str:
        """A device's name."""
        return self.round.cabling.index.devices.names[code]

    def devices(self, codes: Codes | Sequence[int]) -> str:
        """The first few devices in words."""
        return some(sorted({self.device(int(code)) for code in codes}))

    def cable_state(self, cable: int) -> str:
        """What LLDP and other witnesses say of a NIC's cable: right, wrong, missing or unknown."""
        return STATES[State(int(self.round.cabling.state[cable]))]

    def evidence(self, flows: Codes, rows: Codes | None = None) -> tuple[Evidence, ...]:
        """The first few flows as their senders report them, and rows of their listeners if given."""
        wanted = [*self.flows.row[flows[:SHOWN]].tolist(), *(rows[:SHOWN].tolist() if rows is not None else ())]
        return tuple(evidence_of(self.round.snapshot, ProbeReach, row) for row in wanted if row != NONE)

    def peers(self, cables: Codes) -> str:
        """The first few NICs in words."""
        return some([self.nic(int(cable)) for cable in distinct(cables)])

    def unseen(self, seen: Mask, what: str) -> Iterator[NotEvaluated]:
        """The planned NICs that are not among those of `seen`, shape (cables,)."""
        index = self.round.cabling.index
        railed = index.from_host & (index.rail >= 0)
        rows, of = np.flatnonzero(railed & ~seen), int(np.count_nonzero(railed))
        if len(rows):
            why = f"{len(rows):,} of {of:,} NICs {'is' if len(rows) == 1 else 'are'} unknown: {what}"
            yield some_cables(self.round.cabling, rows, of, why, "NIC")

    def leaves_of_all(self, use: Mask, bad: Mask) -> list[int]:
        """Leaves of whose flows to other leaves all are bad, in both directions, so that one place at them explains
        all: as few as explain the most.
        """
        use = use & (self.leaf != self.peer_leaf)
        return list(explaining_all(self.leaf, self.peer_leaf, use, bad & use))

    def by_leaf(self, which: Mask) -> Iterator[tuple[int, Codes]]:
        """Some flows by the leaf of their senders."""
        flows = np.flatnonzero(which)
        for leaf in distinct(self.leaf[flows]).tolist():
            yield leaf, flows[self.leaf[flows] == leaf]

    def between(self, pairs: Collection[tuple[int, int]]) -> Mask:
        """Flows from and to some leaves, shape (flows,)."""
        both = zip(self.leaf.tolist(), self.peer_leaf.tolist(), strict=True)
        return np.array([pair in pairs for pair in both], dtype=bool)

    def counted(self, which: Mask, ends: Codes) -> Codes:
        """How many of some flows each cable has at an end, shape (cables,)."""
        return np.bincount(ends[which], minlength=len(self.round.cabling.index.rail))


def explaining_all(one_end: Codes, other_end: Codes, use: Mask, bad: Mask) -> Iterator[int]:
    """The ends of which all that is used is bad, at least two of them: those first that explain the most."""
    size = max(int(one_end.max(initial=0)), int(other_end.max(initial=0))) + 1
    while bad.any():
        of, bad_of = (np.bincount(np.r_[one_end[which], other_end[which]], minlength=size) for which in (use, bad))
        whole = np.where((of == bad_of) & (of >= 2), bad_of, 0)
        end = int(whole.argmax())
        # of two ends that lose everything to each other alone, either may be the reason
        if np.count_nonzero(whole == whole[end]) > 1 or not whole[end]:
            return
        yield end
        at_end = (one_end == end) | (other_end == end)
        use, bad = use & ~at_end, bad & ~at_end


def probed(round: Round, rule: Rule) -> Probed:
    """The flows of a round, for a rule."""
    flows, index = reached(round), round.cabling.index
    rail, plane, leaf = (np.append(column, NONE) for column in (index.rail, index.plane, index.b_device))
    mine, theirs = flows.cable, flows.peer_cable
    planned = (rail[mine] >= 0) & (rail[theirs] >= 0)
    railed = planned & (rail[mine] == rail[theirs]) & (plane[mine] == plane[theirs])
    return Probed(round, rule, flows, leaf[mine], leaf[theirs], planned, railed, planned & flows.judged)


@dataclass(frozen=True)
class Sweep:
    """A round's path sweep. The segments of a seat are the places at one of which something happens: links in one
    direction, or devices.
    """

    round: Round
    rule: Rule
    """The rule of its findings."""
    swept: Swept

    @property
    def graph(self) -> PlanGraph:
        """What segments are numbers of."""
        return self.swept.paths.graph

    @cached_property
    def names(self) -> Sequence[str]:
        """The devices' names by code."""
        return self.graph.index.devices.names

    def found(self, subject: str, flows: Codes, **fields: Any) -> Finding:
        """A finding with what the senders of the first of some flows report."""
        rows = self.swept.rows[flows[:MOST_SWEPT]].tolist()
        evidence = tuple(evidence_of(self.round.snapshot, ProbeReach, row) for row in rows)
        return self.rule.found(subject, evidence=evidence, **fields)

    def loses(self, seat: Seat, flows: Codes, summary: str) -> Finding:
        """A finding about a seat that loses packets."""
        one_of = len(seat.segments) > 1
        return self.found(
            self.subject(seat.segments),
            flows,
            summary=summary,
            action=self._repair(seat.segments),
            confidence=TIED if one_of else SURE if seat.lost >= MANY_LOST else ALONE,
            detail=(
                ("links", tuple(map(self.graph.name, seat.segments))),
                *(("rate", round_rate(seat.rate)), ("sent", seat.sent), ("lost", seat.lost)),
            ),
        )

    def between_switches(self, segments: Sequence[int]) -> bool:
        """Whether a seat is a switch, or lies between switches: not at a NIC."""
        seat = np.array(segments)
        cable = self.graph.cable_of(seat)
        return bool((self.graph.is_device(seat) | ~self.graph.index.from_host[cable]).all())

    def nic_of(self, segments: Sequence[int]) -> tuple[int, bool] | None:
        """The cable of the NIC at which a seat is alone, and whether the NIC sends on it."""
        cable = int(self.graph.cable_of(np.array(segments[:1]))[0])
        alone = len(segments) == 1 and cable >= 0 and bool(self.graph.index.from_host[cable])
        return (cable, segments[0] % 2 == 0) if alone else None

    def leaves_of(self, flows: Codes) -> set[tuple[int, int]]:
        """The leaves that flows go from and to."""
        sources, targets = self.swept.paths.leaf
        return set(zip(sources[flows].tolist(), targets[flows].tolist(), strict=True))

    def subject(self, segments: Sequence[int]) -> str:
        """The port that sends on the first link of a seat; the device where no port is known, or where it is the
        seat.
        """
        first = np.array(segments[:1])
        if self.graph.is_device(first)[0]:
            return self.graph.name(segments[0])
        sender = self.graph.ends(segments[0])[0]
        return sender.device if self.graph.is_bundle(first)[0] else str(sender)

    def words(self, segments: Sequence[int]) -> str:
        """A seat in words."""
        names = [self.graph.name(one) for one in segments]
        return names[0] if len(names) == 1 else f"one or more of {some(names)}"

    def between(self, flows: Codes) -> str:
        """The leaves between which some flows go, in words."""
        return some([f"{self.names[a]} to {self.names[b]}" for a, b in sorted(self.leaves_of(flows))], more=", ...")

    def not_covered(self, short: Mask, does: str) -> Iterator[NotEvaluated]:
        """The links between switches of `coverage.segment` that are `short` of what a rule needs."""
        coverage, strangers = self.swept.coverage, self.swept.strangers
        links = coverage.segment[short]
        if not len(links):
            return
        names = tuple(self.names[code] for code in distinct(self.graph.tails(links)).tolist())
        count, of = len(links), len(coverage.segment)
        why = f"{does} {count:,} of {of:,} directed links between switches, of {folded(names)}; {coverage.words}"
        if strangers:
            why += f"; {len(strangers)} answer from unknown addresses ({some(strangers, more=', ...')})"
        yield NotEvaluated(why, "link", count, of, names, rest_evaluated=True)

    def _repair(self, segments: Sequence[int]) -> str:
        """What to do about a link that loses packets in one direction."""
        seat = np.array(segments)
        if len(seat) > 1 or self.graph.is_device(seat).any():
            return f"Exchange nothing yet: compare the counters at {self.words(segments)}, and sweep again."
        sender, receiver = self.graph.ends(segments[0])
        if self.graph.is_bundle(seat)[0]:
            ends = f"{sender.device} and {receiver.device}"
            return f"Find the cable of {ends} that loses by its counters before touching any."
        return (
            f"Reseat and clean the optics of this direction, that of {sender} which sends and that of {receiver}; "
            f"then exchange the optic in {sender}."
        )


def sweep_of(round: Round, rule: Rule) -> Sweep:
    """The sweep of a round, if there is one: see `Swept.over_paths`."""
    return Sweep(round, rule, swept(round))


def sweep_to_evaluate(round: Round, rule: Rule) -> Sweep:
    """The sweep of a round. Raises InsufficientDataError where no flow with hops has both of its ends."""
    found = swept(round)
    if not len(found.paths.flows):
        raise InsufficientDataError("no probe between two planned NICs has a listener that can say what arrived")
    if not found.coverage.hops_named:
        why = f"; they answer from {', '.join(found.strangers[:SHOWN])}" if found.strangers else ""
        raise InsufficientDataError(f"no switch is known by the address that it answers from{why}")
    return Sweep(round, rule, found)


def settled_sweep(round: Round, rule: Rule) -> Sweep:
    """The same. Raises NotApplicableError where switches choose another path for each packet."""
    sweep = sweep_to_evaluate(round, rule)
    if sweep.swept.paths.changing > CHANGING:
        raise NotApplicableError("paths change from packet to packet")
    return sweep


def codes_of(which: Codes | Mask) -> Codes:
    """Flows by number, of a mask or of numbers."""
    return np.flatnonzero(which) if which.dtype == bool else np.asarray(which, dtype=np.int64)


def round_rate(rate: float) -> float:
    """A rate with two digits."""
    return float(f"{rate:.2g}")
