"""The true faults of a fabric's traffic, their roots and victims."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truerail.simulator.traffic.flow_faults import FlowFaultKind, Placed
from truerail.simulator.traffic.flow_routes import Switching
from truerail.simulator.traffic.load import Load, behind, held_back, pressure, tight_port
from truerail.simulator.traffic.net import Net

K = FlowFaultKind
LEAST_SHARE = 0.05
"""Least share of paused time of a victim."""


@dataclass(frozen=True, slots=True)
class Victim:
    """An affected port: it is paused, or gets nothing although its neighbours do. `hops` counts links from
    the root's.
    """

    port: str
    hops: int


@dataclass(frozen=True, slots=True)
class FlowTruth:
    """One fault. `culprit` is the root port (of a NIC that pauses, of a slow link, of an overloaded egress) or empty
    for a whole tier. `ports` are all affected ones, `since` is in seconds.
    """

    kind: str
    """A `FlowFaultKind`, or what is wrong that is no fault of traffic."""
    culprit: str
    ports: tuple[str, ...]
    victims: tuple[Victim, ...]
    since: float
    variant: str = ""
    jobs: tuple[str, ...] = ()
    """The jobs that it slows down."""


def truth_of(net: Net, placed: Placed, load: Load, switching: Switching, job_names: tuple[str, ...]) -> FlowTruth:
    """A fault's effect on this load. `job_names` is the name of the job of each row's flow."""
    roots = _roots(net, placed)
    paths = load.paths.hops
    through = np.isin(paths, roots).any(axis=1) if roots else np.zeros(len(paths), dtype=bool)
    jobs = sorted({job_names[flow] for flow in load.paths.flow[through].tolist()})
    names = tuple(str(net.world.announced_port(net.ports[port])) for port in placed.ports)
    kind = placed.fault.kind
    victims = tuple(_victims(net, placed, load, switching, roots))
    return FlowTruth(kind, names[0] if names else "", names, victims, placed.fault.since, placed.variant, tuple(jobs))


def _roots(net: Net, placed: Placed) -> list[int]:
    """The ports at which it affects traffic."""
    if placed.fault.kind in (K.STORM, K.SLOW_RECEIVER):
        return [int(net.far[port]) for port in placed.ports]
    return list(placed.ports)


def _victims(net: Net, placed: Placed, load: Load, switching: Switching, roots: list[int]) -> Iterator[Victim]:
    if placed.fault.kind in (K.STORM, K.DEADLOCK):
        found: dict[int, int] = {}
        for root in roots:
            for port, hops in ((root, 0),) if switching.watchdog else behind(net, load, root):
                found[port] = min(found.get(port, hops), hops)
    elif placed.fault.kind in (K.SLOW_RECEIVER, K.HALF_SPEED, K.INCAST):
        found = _pressed(net, load, switching, roots)
        if placed.fault.kind is K.SLOW_RECEIVER:
            found |= dict.fromkeys(roots, 0)
    elif placed.fault.kind is K.POLARIZATION:
        found = dict.fromkeys(_idle_uplinks(net, load), 0)
    else:
        return
    for port, hops in sorted(found.items(), key=lambda item: (item[1], item[0])):
        yield Victim(str(net.world.announced_port(net.ports[port])), hops)


def _idle_uplinks(net: Net, load: Load) -> list[int]:
    """Uplinks above the leaves that carry nothing, on switches that send upwards by others.

    Empty if jobs send nothing that far up, or the fan-outs have no common factor: then it is undecidable.
    """
    sends, climbs = np.zeros(len(net.ports), dtype=bool), np.zeros(len(net.devices), dtype=bool)
    sends[load.paths.hops[load.paths.hops >= 0]] = True
    tier = net.tier[net.device]
    up = net.live & (tier > 1) & (net.tier[net.device[net.far]] > tier)
    climbs[net.device[up & sends]] = True
    idle: list[int] = np.flatnonzero(up & ~sends & climbs[net.device]).tolist()
    return idle


def _pressed(net: Net, load: Load, switching: Switching, roots: list[int]) -> dict[int, int]:
    """Ports paused because of these roots, and their distance from them."""
    if not switching.lossless:
        return {}
    rows = held_back(load) & np.isin(tight_port(load), roots)
    share = pressure(net, load, rows, switching)
    found: dict[int, int] = {}
    for hop in range(load.paths.hops.shape[1]):
        near = rows & (load.tight > hop)
        for port, distance in zip(load.paths.hops[near, hop].tolist(), (load.tight[near] - hop).tolist(), strict=True):
            if share[port] >= LEAST_SHARE:
                found[port] = min(found.get(port, distance), distance)
    return found


def cabling_truths(net: Net) -> Iterator[FlowTruth]:
    """Effects of the cabling on traffic: NICs on another rail's leaf, missing uplinks."""
    plan = net.world.fabric.plan
    for cable in plan.cables:
        port = net.code[cable.a]
        name = str(net.world.announced_port(cable.a))
        if net.tier[net.device[port]] == 0:
            far = int(net.far[port])
            leaf = net.devices[net.device[far]]
            if net.live[port] and leaf != cable.b.device:
                yield FlowTruth(K.WRONG_RAIL, name, (name, str(net.ports[far])), (), 0.0)
        elif not net.live[port]:
            yield FlowTruth(K.MISSING_UPLINK, name, (name,), (), 0.0)
