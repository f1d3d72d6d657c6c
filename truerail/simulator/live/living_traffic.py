"""The traffic of a changing fabric: it continues while time passes, and is computed on demand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from truerail.errors import NoRoomError
from truerail.model import Port
from truerail.simulator.fabric.builder import SPEED_GBPS
from truerail.simulator.live.living_world import LivingWorld
from truerail.simulator.traffic import FlowFault, FlowFaultKind, flows
from truerail.simulator.traffic.flow_faults import Placed
from truerail.simulator.traffic.ledger import CounterTable, sheet_of
from truerail.simulator.traffic.net import Net
from truerail.simulator.traffic.traffic_jobs import Job, demo_jobs

STEP_SECONDS = 5.0
"""Length of a step; faults of the traffic begin and end with a step."""
LONGEST_SECONDS = 60.0
"""After a longer time without a query, the time since is one step."""


@dataclass(frozen=True, slots=True)
class TroubleCause:
    """A fault of the traffic as a cause. It needs no move of a cable."""

    kind: FlowFaultKind
    subjects: tuple[str, ...]
    cables: tuple[Port, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """An active fault of the traffic. `number` is unique; `since` is in seconds of the world's clock."""

    number: int
    cause: TroubleCause
    since: float
    placed: Placed

    @property
    def kind(self) -> FlowFaultKind:
        """What it is."""
        return self.cause.kind

    def concerns(self, subject: str) -> bool:
        """Whether it affects a device or port, named as in the plan."""
        return any(subject in (port, port.partition("/")[0]) for port in self.cause.subjects)


class LivingTraffic:
    """Jobs on the hosts of a changing world, and the traffic's faults. Iterates over the troubles, oldest first."""

    def __init__(self, living: LivingWorld, seed: int) -> None:
        self._living = living
        self._began = living.ambient.clock()
        world = living.world
        names = [name for name in world.fabric.plan.devices if world.is_host(name)]
        jobs = demo_jobs(names, world.fabric.shape.rails * world.fabric.shape.planes)
        self._seed, self._hosts = seed, {name: number for number, name in enumerate(names)}
        self._flows = flows(world, jobs, seed=seed, began=living.ambient.now())
        self._wired = living.versions.total()
        self._standing: dict[int, Trouble] = {}

    def __iter__(self) -> Iterator[Trouble]:
        return iter(tuple(self._standing.values()))

    @property
    def net(self) -> Net:
        """The ports and links of the fabric, by number."""
        return self._flows.net

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs whose traffic it is."""
        return tuple(self._flows.jobs)

    def get(self, number: int) -> Trouble | None:
        """The trouble of that number, if still active."""
        return self._standing.get(number)

    def plant(self, fault: FlowFault, number: int) -> Trouble:
        """Starts a fault of the traffic with the next step. Raises `NoRoomError`."""
        self._catch_up()
        placed = self._flows.plant(self._where_it_shows(fault, number))
        ports = tuple(str(self._flows.net.ports[port]) for port in placed.ports)
        cause = TroubleCause(fault.kind, ports[:1])
        trouble = self._standing[number] = Trouble(number, cause, self._living.ambient.clock(), placed)
        if fault.kind is FlowFaultKind.HALF_SPEED:
            self._retrain(placed, placed.strength)
        return trouble

    def lift(self, number: int) -> Trouble:
        """Ends a trouble with the next step. Raises KeyError if it is not active."""
        self._catch_up()
        trouble = self._standing.pop(number)
        self._flows.lift(trouble.placed)
        if trouble.kind is FlowFaultKind.HALF_SPEED:
            self._retrain(trouble.placed, 1.0)
        return trouble

    def _where_it_shows(self, fault: FlowFault, number: int) -> FlowFault:
        """The fault at a place where it is visible. A straggler in a synchronous job is as fast as its peers, so it is
        placed in a job whose flows have their own pace. An incast is towards a host that sends nothing itself. A
        repeated hash shows two tiers above the hosts.
        """
        shape = self._living.world.fabric.shape
        if fault.kind is FlowFaultKind.POLARIZATION and shape.spines and not shape.superspines:
            raise NoRoomError(f"no switches above the spines: start the demo with --fault {fault.kind}")
        hosts = self._hosts_for(fault.kind)
        if fault.at or not hosts:
            return fault
        rng = Random(f"{self._seed}/{fault.kind} {number}")  # noqa: S311 - reproducible is what is wanted, not secret
        port = rng.choice(self.net.nic[self._hosts[rng.choice(hosts)]].tolist())
        return replace(fault, at=str(self.net.ports[port]))

    def _hosts_for(self, kind: FlowFaultKind) -> list[str]:
        """The hosts at which a fault of this kind is visible, if not all are."""
        if kind is FlowFaultKind.STRAGGLER:
            return [host for job in self._flows.jobs if not job.coupling for host in job.hosts]
        busy = {host for job in self._flows.jobs for host in job.hosts}
        return [host for host in self._hosts if host not in busy] if kind is FlowFaultKind.INCAST else []

    def _retrain(self, placed: Placed, share: float) -> None:
        """Lets the link come up at this share of its speed, as both its ends report."""
        ports = [self._flows.net.ports[port] for port in placed.ports]
        self._living.alter(lambda world: world.slow.update(dict.fromkeys(ports, share * SPEED_GBPS)))

    def answer(self, machine: str, command: str) -> str | None:
        """A machine's current counters as printed; None if the command is not for counters."""
        prints = self._living.world.system(machine).counters.get(command)
        return None if prints is None else prints(self.sheet(machine))

    def sheet(self, machine: str) -> CounterTable:
        """A machine's current counters."""
        ahead = self._catch_up()
        return sheet_of(self.net, self._flows.ledger, machine, ahead, self._flows.switching.priority)

    def _catch_up(self) -> float:
        """Advances the traffic to now; returns by how many seconds the end of its last step is ahead."""
        if self._wired != self._living.versions.total():
            self._wired = self._living.versions.total()
            self._flows.rewire()
        passed = self._living.ambient.clock() - self._began
        while self._flows.now <= passed:
            left = passed - self._flows.now
            self._flows.step(left if left > LONGEST_SECONDS else STEP_SECONDS)
        return self._flows.now - passed
