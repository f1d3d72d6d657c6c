"""A round with its counters, like a service's after some minutes of polling."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from truerail.analysis.counters.window import STEP_SECONDS, Window
from truerail.analysis.round import Round
from truerail.model import Fact, NetLink, RdmaLink, Reading, Snapshot
from truerail.model.index import Devices
from truerail.simulator.simulation import Simulation
from truerail.simulator.traffic.flow_simulation import FlowSimulation

Speeds = Mapping[tuple[str, str], float]
"""Gb/s by device and by the device's name of a port or an RDMA device."""


def round_after(
    fabric: Simulation, traffic: FlowSimulation, minutes: float = 5.0, step_seconds: float = STEP_SECONDS
) -> Round:
    """Runs the traffic of a fabric for this many minutes and polls it meanwhile.

    The answers about cabling and links are those of the current fabric, and ports of a link at half speed report it.
    The counters are those of the last samples.
    """
    window = Window(step_seconds=step_seconds)
    last: list[Reading] = []
    for number in range(round(minutes * 60 / step_seconds) + 1):
        if number:
            traffic.step(step_seconds)
        last = traffic.readings()
        window.put(last)
    return Round(fabric.plan, seen_now(fabric.snapshot(), traffic, last), window.view())


def seen_now(still: Snapshot, traffic: FlowSimulation, counted: Sequence[Reading]) -> Snapshot:
    """A service's current snapshot: repeated earlier answers about cabling and links, and those of the last round of
    counters.
    """
    moved, slow = traffic.at - still.at, _slow(traffic)
    named = {device for device, _ in slow}
    readings = [
        structs.replace(
            reading, at=reading.at + moved, facts=_slowed(reading, slow) if reading.device in named else reading.facts
        )
        for reading in still.readings
    ]
    return Snapshot(traffic.at, (*readings, *counted))


def _slow(traffic: FlowSimulation) -> Speeds:
    """The devices' reported speeds of slow links, by the names of readings and ports."""
    world = traffic.world
    known = Devices(world.fabric.plan)
    found: dict[tuple[str, str], float] = {}
    for port, gbps in traffic.slow_links.items():
        device = known.names[known.find(world.folder(port.device))]
        names = [port.name]
        if world.is_host(port.device):
            nic = world.nic_name(port.device, world.slot(port))
            names = [nic.netdev, nic.rdma]
        found |= {(device, name): gbps for name in names}
    return found


def _slowed(reading: Reading, slow: Speeds) -> tuple[Fact, ...]:
    return tuple(_fact(fact, reading.device, slow) for fact in reading.facts)


def _fact(fact: Fact, device: str, slow: Speeds) -> Fact:
    if isinstance(fact, NetLink) and (device, fact.netdev) in slow:
        return fact._replace(speed_gbps=slow[device, fact.netdev])
    if isinstance(fact, RdmaLink) and (device, fact.device) in slow:
        return fact._replace(rate_gbps=slow[device, fact.device])
    return fact
