"""The traffic that telemetry is measured on: one fabric, its jobs and one fault for each seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from benchmarks.telemetry.polled_rounds import seen_now
from truerail.analysis.counters import Window
from truerail.analysis.round import Round
from truerail.errors import NoRoomError
from truerail.model import CauseKind, Evaluation, Snapshot
from truerail.model.finding import Lasting
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.simulator.traffic import (
    HABITS,
    MISCONFIGURED,
    FlowFault,
    FlowFaultKind,
    FlowSimulation,
    FlowTruth,
    Job,
    Pattern,
    Polls,
    flows,
)
from truerail.simulator.traffic.ledger import PLACE, Q

K, C = FlowFaultKind, CauseKind
HEALTHY, IN_STEP = "healthy", "straggler in step"
"""No fault; a slow NIC in jobs that wait for each other, where no rate tells it from its peers."""
FULL = "full uplinks"
"""A job that sends between the pods what their uplinks cannot carry: more than designed, and evenly."""
GLOBAL = "global pause"
"""A host whose links have global pause on (IEEE 802.3x) in place of PFC: a setting, there from the start."""
KINDS: Sequence[str] = (*(kind.value for kind in FlowFaultKind), IN_STEP, HEALTHY, FULL, GLOBAL)
CABLING = {
    K.WRONG_RAIL.value: (Fault(C.CABLE_SWAP, "one-host"), Fault(C.CABLE_MOVE, "other-leaf")),
    K.MISSING_UPLINK.value: (Fault(C.LINK_DOWN, "uplink"),),
}
"""Faults of cables, which are there from the start."""
SHAPES = (
    Shape(hosts=32, rails=4, pods=2, spines=4, uplinks=16),
    Shape(hosts=48, rails=8, spines=4, uplinks=16),
    Shape(hosts=64, rails=4, pods=4, spines=4, uplinks=16),
)
THIN = (
    Shape(hosts=32, rails=4, pods=2, spines=4, uplinks=4),
    Shape(hosts=48, rails=4, pods=2, spines=4, uplinks=8),
    Shape(hosts=64, rails=4, pods=4, spines=4, uplinks=4),
)
"""With less speed to the spines than to the hosts, which half of the hosts' traffic fills."""
DEEP = (
    Shape(hosts=64, rails=4, pods=2, spines=8, uplinks=16, superspines=8),
    Shape(hosts=64, rails=8, pods=4, spines=4, uplinks=8, superspines=4),
    Shape(hosts=96, rails=4, pods=2, spines=6, uplinks=12, superspines=9),
)
"""With a tier above the spines, where a repeated hash shows."""
ACROSS = (K.POLARIZATION.value, K.DEAD_MEMBER.value)
STEP = 10.0
SINCE = 120.0
MARKS = (120.0, 150.0, 180.0, 210.0, 240.0, 300.0, 360.0, 420.0)
"""When the fabric is evaluated. The fault begins at the first of them."""
STANDING = (K.STORM.value, K.DEADLOCK.value)
STANDS = 780.0
"""These stand until somebody ends them: they are evaluated once more when no sample of the window is from before."""


@dataclass(frozen=True)
class Drawn:
    """One run: what was drawn for a seed."""

    seed: int
    kind: str
    fabric: Simulation
    traffic: FlowSimulation
    full: tuple[str, ...] = ()
    """The leaves whose uplinks a job fills."""

    @property
    def truth(self) -> tuple[FlowTruth, ...]:
        """What is true of the last step, of its traffic, its cabling and its settings."""
        full = (FlowTruth(FULL, leaf, (leaf,), (), SINCE) for leaf in self.full)
        return (*self.traffic.truth, *full, *(FlowTruth(GLOBAL, port, (port,), (), 0.0) for port in self._stopping))

    @property
    def _stopping(self) -> list[str]:
        """The ports that sent global pauses in the last step."""
        net, gained = self.traffic.net, self.traffic.ledger.gained[PLACE[Q.TX_GLOBAL_PAUSE_FRAMES, False]]
        return [str(net.world.announced_port(net.ports[port])) for port in np.flatnonzero(gained).tolist()]

    def __str__(self) -> str:
        shape = self.fabric.world.fabric.shape
        habits = "".join(f", {habit}" for habit in sorted(self.traffic.habits.names))
        return f"seed {self.seed}, {self.kind}: {shape.hosts} hosts, {shape.rails} rails, {shape.pods} pods{habits}"


def draw(seed: int, kind: str | None = None) -> Drawn:
    """The run of a seed: every kind in turn, unless one is asked for. The same seed gives the same run."""
    rng = Random(f"telemetry {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    kind = kind or KINDS[seed % len(KINDS)]
    for attempt in range(8):
        shape = rng.choice(
            DEEP if kind == K.POLARIZATION
            else (SHAPES[0], SHAPES[2], DEEP[0]) if kind in ACROSS
            else THIN if kind == FULL
            else SHAPES
        )  # fmt: skip
        polls = Polls(lost=rng.choice((0.0, 0.02)), cached=rng.choice((0.0, 0.01)))
        polls = replace(polls, **_reported_by_switches(seed))
        try:
            return _run(seed, attempt, kind, shape, polls, rng)
        except NoRoomError:
            continue
    raise NoRoomError(f"seed {seed}: no place for {kind}")


def _reported_by_switches(seed: int) -> dict[str, bool]:
    """What a seed's switches count: many tell pauses in frames only, and bytes over all priorities only."""
    rng = Random(f"telemetry switches {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    return {"durations": rng.random() < 0.7, "priorities": rng.random() < 0.5}


def habits_of(seed: int) -> tuple[str, ...]:
    """What the devices of a run do that looks ill: half of the runs have two habits or so."""
    rng = Random(f"telemetry habits {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    if rng.random() < 0.5:
        return ()
    return tuple(habit for habit in HABITS if rng.random() < 0.12)


def _run(seed: int, attempt: int, kind: str, shape: Shape, polls: Polls, rng: Random) -> Drawn:
    cables = [rng.choice(CABLING[kind])] if kind in CABLING else []
    fabric = simulate(shape, cables, seed=seed * 8 + attempt)
    jobs = _jobs(fabric, shape, kind, rng)
    habits = (*habits_of(seed), *MISCONFIGURED) if kind == GLOBAL else habits_of(seed)
    traffic = flows(fabric, jobs, (), seed * 8 + attempt, polls=polls, habits=habits)
    if kind not in CABLING and kind not in (HEALTHY, FULL, GLOBAL):
        traffic.plant(FlowFault(K.STRAGGLER if kind == IN_STEP else K(kind), since=SINCE))
    busy = {host for job in traffic.jobs for host in job.hosts}
    if not traffic.habits.with_global_pause <= busy:
        raise NoRoomError("the host with global pause is in no job")
    return Drawn(seed, kind, fabric, traffic, _filled(fabric, jobs) if kind == FULL else ())


def _jobs(fabric: Simulation, shape: Shape, kind: str, rng: Random) -> tuple[Job, ...] | None:
    """The jobs that a kind of fault shows in; None for a mix of usual ones."""
    hosts = list(fabric.plan.devices)[: shape.hosts]
    rng.shuffle(hosts)
    slots, half = tuple(range(shape.rails)), len(hosts) // 2
    if kind == FULL:
        return (_between_pods(fabric, shape, rng),)
    parts = tuple(hosts[:half]), tuple(hosts[half:])
    if kind in ACROSS:
        return tuple(
            Job(f"experts-{n}", part, Pattern.ALL_TO_ALL, slots, qps=rng.choice((2, 4, 8)), gigabytes=2.0, coupling=0.5)
            for n, part in enumerate(parts)
        )
    if kind == K.STRAGGLER:
        return tuple(
            Job(f"loose-{n}", part, rng.choice((Pattern.RING, Pattern.ALL_TO_ALL)), slots, qps=2, coupling=0.0)
            for n, part in enumerate(parts)
        )
    if kind in CABLING:
        ring = Job("ring", parts[0], Pattern.RING, slots, qps=rng.choice((4, 8)), gigabytes=4.0, coupling=0.9)
        return ring, Job("experts", parts[1], Pattern.ALL_TO_ALL, slots, qps=1, gigabytes=3.0, coupling=0.5)
    return None


def _between_pods(fabric: Simulation, shape: Shape, rng: Random) -> Job:
    """Experts on some rails of all hosts, each group of which is spread over two pods: half of what each sends crosses
    the spines, and their uplinks carry less than half of that.
    """
    pods: dict[str, list[str]] = {}
    for host in list(fabric.plan.devices)[: shape.hosts]:
        pods.setdefault(fabric.plan.devices[host].pod or "", []).append(host)
    mixed = tuple(host for pair in zip(*pods.values(), strict=True) for host in pair)
    slots = tuple(sorted(rng.sample(range(shape.rails), rng.choice((1, 2)))))
    return Job("across", mixed, Pattern.ALL_TO_ALL, slots, qps=8, compute_seconds=0.02, coupling=0.0, begins=SINCE)


def _filled(fabric: Simulation, jobs: Sequence[Job] | None) -> tuple[str, ...]:
    """The leaves of the rails on which these jobs send."""
    rails = {slot for job in jobs or () for slot in job.slots}
    return tuple(sorted({cable.b.device for cable in fabric.plan.cables if cable.rail in rails}))


def marks_of(drawn: Drawn) -> Sequence[float]:
    """When a run is evaluated."""
    return (*MARKS, STANDS) if drawn.kind in STANDING else MARKS


def evaluated(
    drawn: Drawn, marks: Sequence[float] | None = None
) -> Iterator[tuple[float, Evaluation, tuple[FlowTruth, ...]]]:
    """The evaluations of a run: seconds, what is said, what is true."""
    window, still, lasting = Window(step_seconds=STEP), drawn.fabric.snapshot(), Lasting()
    window.put_answers(drawn.traffic.answers())
    for mark in marks or marks_of(drawn):
        seen = polled(drawn.traffic, window, still, mark)
        evaluation = evaluate(Round(drawn.fabric.plan, seen, window.view(), lasting=lasting))
        lasting = evaluation.lasting
        yield mark, evaluation, drawn.truth


def polled(traffic: FlowSimulation, window: Window, still: Snapshot, mark: float) -> Snapshot:
    """Polls until a later second: as arrays, and the last round as the readings that evidence is taken from. `still` is
    what devices answer about cables and links all the while.
    """
    while traffic.now + STEP < mark:
        traffic.step(STEP)
        window.put_answers(traffic.answers())
    traffic.step(STEP)
    last = traffic.readings()
    window.put(last)
    return seen_now(still, traffic, last)
