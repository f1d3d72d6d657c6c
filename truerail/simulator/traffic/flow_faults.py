"""Faults of traffic: each kind chooses its place in a fabric, acts on a step's conditions, and has a known truth."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from random import Random

import numpy as np

from truerail.errors import NoRoomError
from truerail.model import Port
from truerail.model.columns import Codes, grouped
from truerail.simulator.traffic.flow_routes import Switching
from truerail.simulator.traffic.load import Load, behind, held_back, pressure, tight_port
from truerail.simulator.traffic.net import Conditions, Net
from truerail.simulator.traffic.traffic_jobs import GROUP_HOSTS, Job, Pattern


class FlowFaultKind(StrEnum):
    """Kinds of faults. The last two are faults of the cabling and reported as such; `pxn` is a job that
    only looks wrong.
    """

    STORM = "storm"
    SLOW_RECEIVER = "slow-receiver"
    DEADLOCK = "deadlock"
    HALF_SPEED = "half-speed"
    STRAGGLER = "straggler"
    DIRTY_OPTIC = "dirty-optic"
    FLAPS = "flaps"
    POLARIZATION = "polarization"
    DEAD_MEMBER = "dead-member"
    INCAST = "incast"
    PXN = "pxn"
    MISSING_UPLINK = "missing-uplink"
    WRONG_RAIL = "wrong-rail"


@dataclass(frozen=True, slots=True)
class FlowFault:
    """A fault to plant. Its place is drawn unless `at` names it: a NIC's port, the lower port of an uplink, the
    receiving port.

    `variant` is `pcie` or `application` for a slow receiver, `silent` for a storm that the NIC itself does not report,
    `host` or `uplink` for a fault of a link; drawn if empty. `strength` is the remaining share of speed, or the lost
    share; each kind has its own usual value. It lasts from `since` until `until`, in seconds.
    """

    kind: FlowFaultKind
    at: str = ""
    variant: str = ""
    strength: float | None = None
    since: float = 0.0
    until: float = inf

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is a matter of cables: plant it in the fabric's cabling")

    def acts(self, at: float) -> bool:
        """Whether it is active at this second."""
        return self.since <= at < self.until


@dataclass(frozen=True, slots=True)
class Placed:
    """A fault with its place. `ports` are the affected ones, the root first."""

    fault: FlowFault
    ports: tuple[int, ...]
    variant: str = ""
    job: Job | None = None

    @property
    def strength(self) -> float:
        """The fault's strength, or the usual one."""
        return USUAL.get(self.fault.kind, 1.0) if self.fault.strength is None else self.fault.strength


K = FlowFaultKind
USUAL = {K.SLOW_RECEIVER: 0.5, K.HALF_SPEED: 0.5, K.STRAGGLER: 0.75, K.DIRTY_OPTIC: 1e-4, K.FLAPS: 3.0}
"""Remaining share of speed; share of lost frames; seconds without link."""
FLAP_EVERY_SECONDS = 40.0
LOSSY_BIT_ERRORS = 3e-4
"""Pre-FEC bit error ratio of a link that loses frames: beyond the 2.4e-4 that KP4 can correct."""
INCAST_SENDERS = 16


@dataclass(frozen=True, slots=True)
class Room:
    """Possible places of faults. `receiving` are NICs that jobs send to, `uplinks` lower ends of links between switches
    (those with traffic if there are any), `free` hosts without a job.
    """

    net: Net
    receiving: list[int]
    uplinks: list[int]
    free: list[str]

    def choose(self, ports: list[int], fault: FlowFault, rng: Random) -> int:
        """The port that the fault names, or one of these. Raises `NoRoomError`, or ValueError for an unknown port."""
        if fault.at:
            device, _, name = fault.at.partition("/")
            if (device, name) not in self.net.code:
                raise ValueError(f"{fault.kind}: no port {fault.at!r}")
            return self.net.code[Port(device, name)]
        if not ports:
            raise NoRoomError(f"no port for {fault.kind}: nothing is sent, or there are no uplinks")
        return rng.choice(ports)


def room_of(net: Net, used: Codes, receiving: Codes, busy: set[str]) -> Room:
    """`used` are ports that send in some flow, `busy` the hosts of jobs."""
    sender = net.tier[net.device]
    up = net.live & (sender > 0) & (net.tier[net.device[net.far]] > sender)
    carrying = np.zeros(len(net.ports), dtype=bool)
    carrying[used] = True
    uplinks = np.flatnonzero(up & carrying) if (up & carrying).any() else np.flatnonzero(up)
    free = [name for name in net.devices[: net.hosts] if name not in busy]
    return Room(net, receiving[net.live[receiving]].tolist(), uplinks.tolist(), free)


def _nic(room: Room, fault: FlowFault, rng: Random) -> Placed:
    port = room.choose(room.receiving, fault, rng)
    variants = {K.SLOW_RECEIVER: ("pcie", "application"), K.STORM: ("warning", "silent")}.get(fault.kind, ("",))
    return Placed(fault, (port,), fault.variant or rng.choice(variants))


def _link(room: Room, fault: FlowFault, rng: Random) -> Placed:
    """The lower end of a link, then the upper."""
    choices = {"host": room.receiving, "uplink": room.uplinks}
    where = fault.variant or rng.choice([name for name, ports in choices.items() if ports] or ["host"])
    port = room.choose(choices[where], fault, rng)
    return Placed(fault, (port, int(room.net.far[port])), where)


def _receiver(room: Room, fault: FlowFault, rng: Random) -> Placed:
    """The end of a link at which frames arrive corrupted: the lower or the upper one."""
    link = _link(room, fault, rng)
    ports = link.ports if fault.at or rng.random() < 0.5 else link.ports[::-1]
    return Placed(fault, ports, link.variant)


def _member(room: Room, fault: FlowFault, rng: Random) -> Placed:
    return Placed(fault, (room.choose(room.uplinks, fault, rng),))


def _tier(room: Room, fault: FlowFault, rng: Random) -> Placed:
    room.choose(room.uplinks, fault, rng)
    return Placed(fault, ())


def _cycle(room: Room, fault: FlowFault, rng: Random) -> Placed:
    """Leaf, spine, another leaf, another spine, and back: four ports that wait for each other."""
    net = room.net
    by_pair = {(int(net.device[port]), int(net.device[net.far[port]])): port for port in room.uplinks}
    spines = grouped((high, low) for low, high in by_pair)
    for one, other in ((a, b) for a in spines for b in spines if a < b):
        shared = [low for low in spines[one] if low in spines[other]]
        if len(shared) >= 2:
            first, second = rng.sample(shared, 2)
            down = [int(net.far[by_pair[second, one]]), int(net.far[by_pair[first, other]])]
            return Placed(fault, (by_pair[first, one], down[0], by_pair[second, other], down[1]))
    raise NoRoomError("no two leaves with two spines in common")


def _incast(room: Room, fault: FlowFault, rng: Random) -> Placed:
    net = room.net
    port = room.choose(room.receiving, fault, rng)
    host, slot = divmod(port, net.nic.shape[1])
    others = [net.devices[other] for other in range(net.hosts) if other != host]
    senders = rng.sample(others, min(INCAST_SENDERS - 1, len(others)))
    hosts = (*senders, net.devices[host])
    job = Job(f"incast-{port}", hosts, Pattern.STORAGE, (slot,), qps=2, compute_seconds=0.05, coupling=0.0)
    return Placed(fault, (int(net.far[port]),), job=job)


def _pxn(room: Room, fault: FlowFault, rng: Random) -> Placed:
    """A job on free hosts, or on any if fewer than two are free."""
    slots = range(room.net.nic.shape[1])
    heavy = rng.sample(slots, max(1, len(slots) // 4))
    weights = tuple(1.0 if slot in heavy else 0.3 for slot in slots)
    hosts = room.free if len(room.free) > 1 else list(room.net.devices[: room.net.hosts])
    job = Job("pxn", tuple(hosts[:GROUP_HOSTS]), Pattern.PXN, tuple(slots), weights, qps=1, coupling=0.5)
    return Placed(fault, (), job=job)


def _storms(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.storming[placed.ports[0]] = True
    now.warning[placed.ports[0]] = placed.variant == "warning"


def _slow(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    nic = placed.ports[0]
    now.accept[nic] = placed.strength
    (now.pcie if placed.variant == "pcie" else now.application)[nic] = True


def _sticks(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.stuck[list(placed.ports)] = True


def _halves(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.capacity[list(placed.ports)] *= placed.strength


def _straggles(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.pace[placed.ports[0]] = placed.strength


def _loses(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.lost[placed.ports[0]] = placed.strength
    now.bit_errors[placed.ports[0]] = LOSSY_BIT_ERRORS


def _flaps(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    """One flap per interval; a link that is down for most of a step carries nothing in it."""
    since = placed.fault.since
    begun = int((at - since) // FLAP_EVERY_SECONDS)
    ended = int((at + seconds - since) // FLAP_EVERY_SECONDS)
    flaps = ended - begun + (at <= since)
    ports = list(placed.ports)
    if flaps:
        now.downs[ports] += flaps
        away = min(1.0, flaps * placed.strength / seconds)
        now.capacity[ports] *= 1 - away
        now.down[ports] = away > 0.5


def _polarizes(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.shared_seed.append(True)


def _unused(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    now.unused[placed.ports[0]] = True


def _adds(placed: Placed, now: Conditions, at: float, seconds: float) -> None:
    if placed.job:
        now.jobs.append(placed.job)


Place = Callable[[Room, FlowFault, Random], Placed]
PLACES: dict[FlowFaultKind, Place] = {
    K.STORM: _nic, K.SLOW_RECEIVER: _nic, K.STRAGGLER: _nic, K.DEADLOCK: _cycle, K.HALF_SPEED: _link,
    K.DIRTY_OPTIC: _receiver, K.FLAPS: _link, K.POLARIZATION: _tier, K.DEAD_MEMBER: _member, K.INCAST: _incast,
    K.PXN: _pxn,
}  # fmt: skip
"""How each kind chooses its place. Raises `NoRoomError`, or ValueError for an unknown port."""
ACTS: dict[FlowFaultKind, Callable[[Placed, Conditions, float, float], None]] = {
    K.STORM: _storms, K.SLOW_RECEIVER: _slow, K.STRAGGLER: _straggles, K.DEADLOCK: _sticks, K.HALF_SPEED: _halves,
    K.DIRTY_OPTIC: _loses, K.FLAPS: _flaps, K.POLARIZATION: _polarizes, K.DEAD_MEMBER: _unused, K.INCAST: _adds,
    K.PXN: _adds,
}  # fmt: skip
"""How each kind changes a step's conditions: the fault, these, when the step begins, and its seconds."""
KINDS = tuple(PLACES)
"""The kinds of faults of traffic."""


# ----------------------------------------------------------------------------------------------------------------------
# The true faults of a fabric's traffic, their roots and victims.

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
