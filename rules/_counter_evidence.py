"""Shared by the rules on link health: the actual two ends of each link, and counters as evidence."""

from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters import Quantity, columns_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import Counter, Evidence, PortCounters, Reading
from truerail.model.columns import NONE, Codes
from truerail.model.index import PlanIndex


def other_ends(wiring: Wiring) -> Codes:
    """The port at the other end of each planned port, shape (planned ports,): the actual one, else the planned one
    unless that is found elsewhere, else -1.
    """
    index = wiring.index
    other = np.full(index.planned_ports, NONE, dtype=np.int64)
    for here, there in ((index.b, index.a), (index.a, index.b)):
        other[here[here >= 0]] = there[here >= 0]
    seen = wiring.partner[: index.planned_ports]
    elsewhere = (wiring.partner[other] >= 0) & (wiring.partner[other] != np.arange(len(other)))
    return np.where(seen >= 0, seen, np.where(elsewhere, NONE, other))


def subject_of(index: PlanIndex, port: int, other: int) -> int:
    """The end that represents a link: the one nearer to the GPUs, if it is in the plan."""
    if not 0 <= other < index.planned_ports:
        return port
    tiers = [index.devices.tier[int(code)] for code in index.ports.device_of(np.array([port, other]))]
    return min(((tiers[0], port), (tiers[1], other)))[1]


def rail_at(index: PlanIndex, port: int) -> int | None:
    """The rail of the cable planned at a port."""
    cable = int(index.cables_at(np.array([port]))[0])
    return index.plan.cables[cable].rail if cable >= 0 else None


def counter_evidence(telemetry: Telemetry, ports: Iterable[int], *quantities: Quantity) -> tuple[Evidence, ...]:
    """The last readings of these counters at these ports, without the other counters of the port."""
    return tuple(
        Evidence(device, collector, reading.at, fact)
        for port in ports
        if 0 <= port < telemetry.ports
        for collector, device, name in telemetry.reported_as(port)
        for reading in telemetry.readings.get((collector, device), ())
        for fact in _only(reading, name, quantities)
    )


def _only(reading: Reading, port: str, quantities: tuple[Quantity, ...]) -> Iterator[PortCounters]:
    for fact in cast("tuple[PortCounters, ...]", reading.facts):
        if fact.port == port:
            columns = zip(fact.counters, fact.values, columns_of(fact.counters, reading.collector), strict=True)
            kept = [(counter, value) for counter, value, column in columns if column and column.quantity in quantities]
            if kept:
                counters: tuple[Counter, ...] = tuple(counter for counter, _ in kept)
                yield PortCounters(port, counters, tuple(value for _, value in kept))
