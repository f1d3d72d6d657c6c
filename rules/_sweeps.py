"""What the rules of the path sweep share: the sweep to evaluate, seats in words, evidence, and what was left open."""

from collections.abc import Iterator, Sequence

import numpy as np

from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError
from truerail.analysis.sweep.losses import Losses
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.analysis.sweep.seats import Seat
from truerail.analysis.sweep.swept import Swept, swept
from truerail.model import Evidence, NotEvaluated, ProbeReach
from truerail.model.columns import Codes, Mask
from truerail.model.names import folded

MOST_EVIDENCE = 3
SURE, ALONE, TIED, UNSEATED = 0.97, 0.9, 0.7, 0.6
"""Confidence in a seat that many packets show, in one with few, in one of several, and in a loss without one."""
MANY_LOST = 10
SHOWN = 4


def sweep_to_evaluate(round: Round) -> Swept:
    """The sweep of a round. Raises InsufficientDataError where no flow with hops has both of its ends."""
    found = swept(round)
    if not len(found.paths.flows):
        raise InsufficientDataError("no probe between two planned NICs has a listener that can say what arrived")
    if not found.coverage.hops_named:
        why = f"; they answer from {', '.join(found.strangers[:SHOWN])}" if found.strangers else ""
        raise InsufficientDataError(f"no switch is known by the address that it answers from{why}")
    return found


def between_switches(found: Swept, seat: Sequence[int]) -> bool:
    """Whether a seat is a switch, or lies between switches: not at a NIC."""
    graph, segments = found.paths.graph, np.array(seat)
    cable = graph.cable_of(segments)
    return bool((graph.is_device(segments) | ~graph.index.from_host[cable]).all())


def nic_of(found: Swept, seat: Sequence[int]) -> tuple[int, bool] | None:
    """The cable of the NIC at which a seat is alone, and whether the NIC sends on it."""
    graph = found.paths.graph
    cable = int(graph.cable_of(np.array(seat[:1]))[0])
    alone = len(seat) == 1 and cable >= 0 and bool(graph.index.from_host[cable])
    return (cable, seat[0] % 2 == 0) if alone else None


def leaves_of(found: Swept, flows: Codes) -> set[tuple[int, int]]:
    """The leaves that flows go from and to."""
    sources, targets = found.paths.leaf
    return set(zip(sources[flows].tolist(), targets[flows].tolist(), strict=True))


def evidence_of(round: Round, found: Swept, flows: Codes) -> tuple[Evidence, ...]:
    """What the senders of the first of these flows report."""
    table = round.snapshot.table(ProbeReach)
    rows = found.rows[flows[:MOST_EVIDENCE]].tolist()
    readings = [round.snapshot.readings[int(table.reading[row])] for row in rows]
    return tuple(
        Evidence(reading.device, reading.collector, reading.at, table.rows[row])
        for row, reading in zip(rows, readings, strict=True)
    )


def subject_of(graph: PlanGraph, seat: Sequence[int]) -> str:
    """The port that sends on the first link of a seat; the device where no port is known, or where it is the seat."""
    first = np.array(seat[:1])
    if graph.is_device(first)[0]:
        return graph.name(seat[0])
    sender = graph.ends(seat[0])[0]
    return sender.device if graph.is_bundle(first)[0] else str(sender)


def words_of(graph: PlanGraph, seat: Sequence[int]) -> str:
    """A seat in words."""
    names = [graph.name(one) for one in seat]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return names[0] if len(names) == 1 else f"one or more of {', '.join(names[:SHOWN])}{more}"


def confidence_of(seat: Seat) -> float:
    """The confidence in a seat."""
    return TIED if len(seat.segments) > 1 else SURE if seat.lost >= MANY_LOST else ALONE


def repair_of(graph: PlanGraph, seat: Sequence[int]) -> str:
    """What to do about a link that loses packets in one direction."""
    if len(seat) > 1 or graph.is_device(np.array(seat)).any():
        return f"Exchange nothing yet: compare the counters at {words_of(graph, seat)}, and sweep again."
    sender, receiver = graph.ends(seat[0])
    if graph.is_bundle(np.array(seat))[0]:
        return (
            f"Find the cable of {sender.device} and {receiver.device} that loses by its counters before touching any."
        )
    return (
        f"Reseat and clean the optics of this direction, that of {sender} which sends and that of {receiver}; "
        f"then exchange the optic in {sender}."
    )


def details_of(graph: PlanGraph, seat: Seat) -> tuple[tuple[str, object], ...]:
    """The fields of a finding about a seat."""
    links = tuple(graph.name(one) for one in seat.segments)
    return (("links", links), ("rate", round_rate(seat.rate)), ("sent", seat.sent), ("lost", seat.lost))


def round_rate(rate: float) -> float:
    """A rate with two digits."""
    return float(f"{rate:.2g}")


def not_covered(found: Swept, short: Mask, does: str) -> Iterator[NotEvaluated]:
    """The links between switches of `coverage.segment` that are `short` of what a rule needs."""
    coverage, graph = found.coverage, found.paths.graph
    links = coverage.segment[short]
    if not len(links):
        return
    names = [graph.index.devices.names[code] for code in np.unique(graph.tails(links)).tolist()]
    count, of = len(links), len(coverage.segment)
    why = f"{does} {count:,} of {of:,} directed links between switches, of {folded(tuple(names))}; {coverage.words}"
    yield NotEvaluated(f"{why}{_strangers(found)}", "link", count, of, tuple(names), rest_evaluated=True)


def _strangers(found: Swept) -> str:
    """The addresses that no planned device has."""
    if not found.strangers:
        return ""
    more = ", ..." if len(found.strangers) > SHOWN else ""
    return f"; {len(found.strangers)} answer from unknown addresses ({', '.join(found.strangers[:SHOWN])}{more})"


def between_unseated(losses: Losses, flows: Codes) -> str:
    """The leaves between which flows lost packets whose path is not known."""
    names = losses.paths.graph.index.devices.names
    pairs = sorted({(int(losses.paths.leaf[0][flow]), int(losses.paths.leaf[1][flow])) for flow in flows.tolist()})
    shown = ", ".join(f"{names[a]} to {names[b]}" for a, b in pairs[:SHOWN])
    return f"{shown}{', ...' if len(pairs) > SHOWN else ''}"
