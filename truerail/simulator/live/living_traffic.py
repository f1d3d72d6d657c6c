"""The traffic of a living fabric: it goes on while time passes, and is worked out when somebody looks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from truerail.errors import NoRoomError
from truerail.model import Port
from truerail.simulator.fabric.builder import SPEED_GBPS
from truerail.simulator.live.living_world import LivingWorld
from truerail.simulator.traffic import FlowFault, FlowFaultKind, flows
from truerail.simulator.traffic.counter_table import CounterTable, sheet_of
from truerail.simulator.traffic.flow_faults import Placed
from truerail.simulator.traffic.jobs import demo_jobs
from truerail.simulator.traffic.ledger import Key, Q
from truerail.simulator.traffic.net import Net

STEP_SECONDS = 5.0
"""What happens to traffic begins and ends with a step of this length."""
SNMP_COUNTERS: tuple[Key, ...] = (
    *((quantity, False) for quantity in (Q.RX_BYTES, Q.TX_BYTES, Q.RX_PACKETS, Q.TX_PACKETS)),
    *((quantity, False) for quantity in (Q.RX_ERRORS, Q.RX_DISCARDS, Q.TX_DISCARDS)),
    *((quantity, True) for quantity in (Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_FRAMES)),
)
"""What IF-MIB and CISCO-PFC-EXT-MIB know of a port."""
LONGEST_SECONDS = 60.0
"""Where nobody has looked for longer than that, the time since is one step."""


@dataclass(frozen=True, slots=True)
class TroubleCause:
    """What is wrong with the traffic, in the words of a cause. No cable has to be moved for it."""

    kind: FlowFaultKind
    subjects: tuple[str, ...]
    cables: tuple[Port, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of the traffic as it stands. `number` is given once; `since` is in seconds of the world's clock."""

    number: int
    cause: TroubleCause
    since: float
    placed: Placed

    @property
    def kind(self) -> FlowFaultKind:
        """What it is."""
        return self.cause.kind

    def concerns(self, subject: str) -> bool:
        """Whether a device or port has to do with it, as its plan names them."""
        return any(subject in (port, port.partition("/")[0]) for port in self.cause.subjects)


class LivingTraffic:
    """Jobs on the hosts of a living world, and what stands in their way. Iterating gives the troubles, oldest first."""

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
        """The ports and links of the fabric, as places of faults number them."""
        return self._flows.net

    def get(self, number: int) -> Trouble | None:
        """The trouble of that number, where it still stands."""
        return self._standing.get(number)

    def plant(self, fault: FlowFault, number: int) -> Trouble:
        """Something goes wrong with the traffic from the next step on. Raises `NoRoomError`."""
        self._catch_up()
        placed = self._flows.plant(self._where_it_shows(fault, number))
        ports = tuple(str(self._flows.net.ports[port]) for port in placed.ports)
        cause = TroubleCause(fault.kind, ports[:1])
        trouble = self._standing[number] = Trouble(number, cause, self._living.ambient.clock(), placed)
        if fault.kind is FlowFaultKind.HALF_SPEED:
            self._retrain(placed, placed.strength)
        return trouble

    def lift(self, number: int) -> Trouble:
        """It is over from the next step on. Raises KeyError where it does not stand."""
        self._catch_up()
        trouble = self._standing.pop(number)
        self._flows.lift(trouble.placed)
        if trouble.kind is FlowFaultKind.HALF_SPEED:
            self._retrain(trouble.placed, 1.0)
        return trouble

    def _where_it_shows(self, fault: FlowFault, number: int) -> FlowFault:
        """A straggler in a job that goes on in step is as fast as its peers: it is one whose flows go at their own
        pace. An incast is towards a host that sends nothing itself. A repeated hash shows two tiers above the hosts.
        """
        shape = self._living.world.fabric.shape
        if fault.kind is FlowFaultKind.POLARIZATION and shape.spines and not shape.superspines:
            raise NoRoomError(f"no switches above the spines: begin the demo with --fault {fault.kind}")
        hosts = self._hosts_for(fault.kind)
        if fault.at or not hosts:
            return fault
        rng = Random(f"{self._seed}/{fault.kind} {number}")  # noqa: S311 - reproducible is what is wanted, not secret
        port = rng.choice(self.net.nic[self._hosts[rng.choice(hosts)]].tolist())
        return replace(fault, at=str(self.net.ports[port]))

    def _hosts_for(self, kind: FlowFaultKind) -> list[str]:
        """The hosts at which a fault of this kind shows, where not all are as good."""
        if kind is FlowFaultKind.STRAGGLER:
            return [host for job in self._flows.jobs if not job.coupling for host in job.hosts]
        busy = {host for job in self._flows.jobs for host in job.hosts}
        return [host for host in self._hosts if host not in busy] if kind is FlowFaultKind.INCAST else []

    def _retrain(self, placed: Placed, share: float) -> None:
        """The link comes up at this share of its speed, as both its ends will say."""
        ports = [self._flows.net.ports[port] for port in placed.ports]
        self._living.alter(lambda world: world.slow.update(dict.fromkeys(ports, share * SPEED_GBPS)))

    def answer(self, machine: str, command: str) -> str | None:
        """What a machine prints of its counters now; None where the command does not ask for counters."""
        prints = self._living.world.system(machine).counters.get(command)
        return None if prints is None else prints(self._sheet(machine))

    def counted(self, machine: str) -> dict[str, list[int]]:
        """What the ports of a switch have counted until now, as its SNMP agent knows it."""
        sheet = self._sheet(machine)
        return {quantity.value: sheet.of(quantity, rdma=rdma) for quantity, rdma in SNMP_COUNTERS}

    def _sheet(self, machine: str) -> CounterTable:
        ahead = self._catch_up()
        made = self._flows
        return sheet_of(made.net, made.ledger, machine, ahead, made.switching.priority)

    def _catch_up(self) -> float:
        """Lets the traffic go on until now; how many seconds the end of its last step is ahead of that."""
        if self._wired != self._living.versions.total():
            self._wired = self._living.versions.total()
            self._flows.rewire()
        passed = self._living.ambient.clock() - self._began
        while self._flows.now <= passed:
            left = passed - self._flows.now
            self._flows.step(left if left > LONGEST_SECONDS else STEP_SECONDS)
        return self._flows.now - passed
