"""A fabric with traffic: jobs run, faults act, ports count, and polls read the counters."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from truerail.analysis.counters.intake import Answers
from truerail.model import Port, Reading
from truerail.model.columns import distinct
from truerail.simulator.fabric.world import World
from truerail.simulator.simulation import TAKEN_AT, Simulation, random_of
from truerail.simulator.traffic.accounts import Step, gains_of
from truerail.simulator.traffic.connections import Connections, connections
from truerail.simulator.traffic.counter_polls import Poller, Polls
from truerail.simulator.traffic.flow_faults import (
    ACTS,
    PLACES,
    FlowFault,
    FlowFaultKind,
    FlowTruth,
    Placed,
    Room,
    cabling_truths,
    room_of,
    truth_of,
)
from truerail.simulator.traffic.flow_routes import Paths, Switching, find_paths, seeds
from truerail.simulator.traffic.habits import PORT_CACHE, Habits
from truerail.simulator.traffic.hashing import Hasher
from truerail.simulator.traffic.ledger import new_ledger
from truerail.simulator.traffic.load import Standing, load_of, pauses_of, standing_of
from truerail.simulator.traffic.net import Conditions, Rates, healthy, net_of, routes_of
from truerail.simulator.traffic.traffic_jobs import Job, mixed_jobs

NOISE = 0.05
"""Relative deviation of a NIC's flows from the usual in a step."""


class FlowSimulation:
    """Created by `flows`. `step` advances time, `readings` returns the devices' current answers, `truth` the faults."""

    def __init__(
        self, world: World, jobs: Sequence[Job] | None, switching: Switching, polls: Polls, seed: int, noise: float,
        began: datetime, habits: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.world, self.switching, self.seed, self.noise = world, switching, seed, noise
        self.began, self.now = began, 0.0
        self.net = net_of(world)
        slots = self.net.nic.shape[1]
        hosts = self.net.devices[: self.net.hosts]
        self.jobs = tuple(mixed_jobs(hosts, slots, random_of(seed, "jobs")) if jobs is None else jobs)
        self.ledger = new_ledger(len(self.net.ports), seed)
        self.habits = Habits(habits, len(self.net.ports), seed)
        self.habits.begin(self.ledger)
        refresh = self.habits.refresh_seconds()
        gaps = self.habits.gaps(self.net.devices, self.net.hosts)
        rng = np.random.default_rng([seed, 1])
        by_port = PORT_CACHE in self.habits.names
        self.poller = Poller(self.net, polls, switching, rng, refresh, gaps, port_by_port=by_port)
        self.last: Step | None = None
        self._rng = np.random.default_rng([seed, 2])
        self._length = np.random.default_rng([seed, 3]).random(len(self.net.ports))
        self._placed: list[Placed] = []
        self._planted = 0
        self._ways: dict[object, tuple[Connections, Paths]] = {}
        self._standing: tuple[object, Standing] | None = None

    @property
    def at(self) -> datetime:
        """The current time."""
        return self.began + timedelta(seconds=self.now)

    def plant(self, fault: FlowFault) -> Placed:
        """Adds a fault; its place is drawn unless given. Raises `NoRoomError`, or ValueError for an unknown port."""
        placed = PLACES[fault.kind](self._room(), fault, random_of(self.seed, f"fault {self._planted} {fault.kind}"))
        self._planted += 1
        self._placed.append(placed)
        return placed

    def lift(self, placed: Placed) -> None:
        """Removes a fault. Raises ValueError if it is not planted."""
        self._placed.remove(placed)

    def rewire(self) -> None:
        """Applies changes of the world's cables or machines."""
        self.net = net_of(self.world)
        self.poller.rewire(self.net)
        self._ways.clear()
        self._standing = None

    def step(self, seconds: float = 10.0) -> None:
        """Advances time by one interval in which nothing changes except at its start."""
        now = self._conditions(seconds)
        flows, paths = self._ways_of(now)
        noise = self._noise(flows)
        load = load_of(self._standing_of(flows, paths, now), flows, now, noise)
        pauses = pauses_of(self.net, load, now, self.switching, self._length)
        self.last = Step(self.net, flows, load, pauses, now, self.switching, noise, seconds)
        gained = gains_of(self.last)
        self.habits.add(self.last, gained, self.now)
        self.ledger.close(gained, seconds)
        self.now += seconds

    def readings(self, at: datetime | None = None) -> list[Reading]:
        """The readings of a round of polls, each device at its own time within the last step. `at` is the end of the
        round if that is not the simulation's own time.
        """
        return self.poller.readings(self.ledger, at or self.at)

    def answers(self) -> list[Answers]:
        """The same round as arrays, for `Window.put_answers`: a tenth of the time."""
        return self.poller.answers(self.ledger, self.at)

    @property
    def truth(self) -> tuple[FlowTruth, ...]:
        """The faults of the last step: active faults, and effects of the cabling."""
        return (*self._fault_truths(), *cabling_truths(self.net))

    @property
    def slow_links(self) -> dict[Port, float]:
        """Ports whose link runs below its planned speed in the last step, with their reported speed in Gb/s."""
        if self.last is None:
            return {}
        share = self.last.now.capacity
        slow = [
            port for placed in self._placed if placed.fault.kind is FlowFaultKind.HALF_SPEED for port in placed.ports
        ]
        return {self.net.ports[p]: float(self.net.speed[p] * share[p] * 8 / 1e9) for p in slow if share[p] < 1}

    def _fault_truths(self) -> list[FlowTruth]:
        step = self.last
        if step is None:
            return []
        names = tuple(step.flows.jobs[job].name for job in step.flows.job.tolist())
        began = self.now - step.seconds
        active = [placed for placed in self._placed if placed.fault.acts(began)]
        return [truth_of(self.net, placed, step.load, self.switching, names) for placed in active]

    def _room(self) -> Room:
        flows, paths = self._ways_of(self._conditions(1.0))
        busy = {host for job in flows.jobs for host in job.hosts}
        return room_of(self.net, distinct(paths.hops[paths.hops >= 0]), distinct(flows.target), busy)

    def _conditions(self, seconds: float) -> Conditions:
        now = healthy(self.net)
        if self.habits.bit_errors is not None:
            now.bit_errors[:] = self.habits.bit_errors
        for placed in self._placed:
            if placed.fault.acts(self.now):
                ACTS[placed.fault.kind](placed, now, self.now, seconds)
        return now

    def _ways_of(self, now: Conditions) -> tuple[Connections, Paths]:
        """The flows and their paths: computed when jobs, links or seeds change, cached for when they change back."""
        jobs = (*(job for job in self.jobs if job.runs(self.now)), *now.jobs)
        shared = self.switching.shared_seed or bool(now.shared_seed)
        speed = self.net.speed * now.capacity
        key = (jobs, now.down.tobytes(), now.unused.tobytes(), shared, speed.tobytes())
        if key not in self._ways:
            if len(self._ways) > 8:
                self._ways.clear()
            self._ways[key] = self._found(jobs, now, speed, shared=shared)
        return self._ways[key]

    def _standing_of(self, flows: Connections, paths: Paths, now: Conditions) -> Standing:
        """The standing load, computed when anything except the noise changes."""
        key = tuple(state.tobytes() for state in (now.capacity, now.accept, now.stuck, now.storming))
        known = self._standing
        if known is None or known[1].paths is not paths or known[0] != key:
            known = self._standing = key, standing_of(self.net, flows, paths, now, self.switching)
        return known[1]

    def _found(
        self, jobs: tuple[Job, ...], now: Conditions, speed: Rates, *, shared: bool
    ) -> tuple[Connections, Paths]:
        flows = connections(self.net, jobs, self.seed)
        live = self.net.live & ~now.down
        routes = routes_of(self.net, live, np.flatnonzero(now.unused))
        hasher = Hasher(self.switching.hash, flows.key, seeds(self.net, self.seed, shared=shared))
        net = replace(self.net, live=live)
        return flows, find_paths(net, routes, flows, hasher, self.switching, speed)

    def _noise(self, flows: Connections) -> Rates:
        by_nic = self._rng.normal(1.0, self.noise, len(self.net.ports))
        return np.asarray(np.clip(by_nic[flows.source], 0.2, 2.0))


def flows(
    fabric: World | Simulation,
    jobs: Sequence[Job] | None = None,
    faults: Sequence[FlowFault] = (),
    seed: int = 0,
    *,
    switching: Switching | None = None,
    polls: Polls | None = None,
    noise: float = NOISE,
    began: datetime = TAKEN_AT,
    habits: Sequence[str] = (),
) -> FlowSimulation:
    """Traffic on a simulated fabric. Without `jobs`, a mix of usual ones. `habits` are counters of healthy devices that
    look faulty (`HABITS`). The same seed gives the same bytes.

    Raises `NoRoomError` if a fault finds no place, ValueError if it names an unknown port.
    """
    world = fabric.world if isinstance(fabric, Simulation) else fabric
    made = FlowSimulation(world, jobs, switching or Switching(), polls or Polls(), seed, noise, began, habits)
    for fault in faults:
        made.plant(fault)
    return made
