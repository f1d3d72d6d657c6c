"""A seeded script for a changing fabric: faults appear now and then, and a technician repairs them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import inf, isfinite
from random import Random
from typing import Any, TypeVar

from truerail.errors import NoRoomError
from truerail.model import CauseKind
from truerail.model.names import some
from truerail.outputs.report_words import count
from truerail.simulator.fabric.world import World
from truerail.simulator.faults.planting import Fault, plant_one
from truerail.simulator.faults.survey import survey
from truerail.simulator.faults.truth import Site, TrueCause, Truth
from truerail.simulator.live.living_traffic import LivingTraffic, Trouble
from truerail.simulator.live.living_world import Change, LivingWorld
from truerail.simulator.traffic import FlowFault, FlowFaultKind

# ----------------------------------------------------------------------------------------------------------------------
# The active faults: each can be planted and repaired at any time, independently of the others.

T = TypeVar("T")
_CLAIMS = ("hosts", "touched", "taken", "spare_used")


class _Ledger(set[T]):
    """A set that records added members, even those it already has."""

    def __init__(self, present: Iterable[T]) -> None:
        super().__init__(present)
        self.added: set[T] = set()

    def add(self, member: T) -> None:
        self.added.add(member)
        super().add(member)

    def update(self, *others: Iterable[T]) -> None:
        for member in (member for other in others for member in other):
            self.add(member)


@dataclass(frozen=True, slots=True)
class Standing:
    """An active fault. `number` is unique; `since` is in seconds of the world's clock."""

    number: int
    cause: TrueCause
    since: float
    change: Change
    claims: Mapping[str, frozenset[Any]]

    @property
    def kind(self) -> CauseKind:
        """What it is."""
        return self.cause.kind

    def concerns(self, subject: str) -> bool:
        """Whether it affects a device or port, named as in the plan: `gpu-012`, `gpu-012/enp26s0f0np0`."""
        ports = {*self.cause.subjects, *map(str, self.cause.cables), *map(str, self.change.after["far"])}
        return subject in ports or any(port.partition("/")[0] == subject for port in self.cause.subjects)


class StandingFaults:
    """Plants faults in untouched places, so that the truth stays unambiguous, and repairs them one by one."""

    def __init__(self, living: LivingWorld, rng: Random) -> None:
        self._living = living
        self._site = Site(living.world, rng)
        self._planted = 0
        self._standing: dict[int, Standing] = {}

    def __iter__(self) -> Iterator[Standing]:
        return iter(tuple(self._standing.values()))

    def __len__(self) -> int:
        return len(self._standing)

    def number(self) -> int:
        """The number of the next fault, whatever its kind. Each is unique."""
        self._planted += 1
        return self._planted

    def plant(self, fault: Fault, since: float | None = None) -> Standing:
        """Plants a fault now, at a place that is drawn, or as if it were there `since` then. Raises `NoRoomError`; the
        world is as it was then.
        """
        ledgers: dict[str, _Ledger[Any]] = {name: _Ledger(self._claimed(name)) for name in _CLAIMS}
        for name, ledger in ledgers.items():
            setattr(self._site, name, ledger)
        cause, change = self._living.alter(lambda _: plant_one(self._site, fault))
        claims = {name: frozenset(ledger.added) for name, ledger in ledgers.items()}
        since = self._living.changed_at if since is None else since
        standing = Standing(self.number(), cause, since, change, claims)
        self._standing[standing.number] = standing
        return standing

    def repair(self, number: int) -> Standing:
        """Repairs the fault of that number. Raises KeyError if it is not active."""
        standing = self._standing.pop(number)
        self._living.revert(standing.change)
        return standing

    def _claimed(self, name: str) -> Iterable[Any]:
        return (member for standing in self._standing.values() for member in standing.claims[name])


# ----------------------------------------------------------------------------------------------------------------------
# Events of a changing fabric in words: one line for each fault and each repair.


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. `at` is in seconds of the world's clock, `when` the time of day, `repaired` whether a fault was
    repaired.
    """

    at: float
    when: datetime
    repaired: bool
    standing: Standing | Trouble
    summary: str


def appeared(world: World, standing: Standing) -> str:
    """A new fault, described for viewers."""
    cause = standing.cause
    subjects = " and ".join(cause.subjects)
    match cause.kind:
        case CauseKind.CABLE_SWAP:
            return f"two cables were swapped: {subjects}"
        case CauseKind.CABLE_ROTATION:
            return f"{count(len(cause.cables), 'cable')} were rotated: {', '.join(cause.subjects)}"
        case CauseKind.CABLE_MOVE:
            return f"{subjects} was plugged into a wrong free port, {world.far[cause.cables[0]]}"
        case CauseKind.PORT_SHIFT:
            return f"{count(len(cause.cables), 'cable')} on {subjects} slipped to other ports"
        case CauseKind.HOST_SWAP if cause.moves:
            return f"all cables of {subjects} were swapped"
        case CauseKind.HOST_SWAP | CauseKind.LEAF_SWAP:
            return f"{subjects} have each other's names"
        case CauseKind.BUNDLE_SWAP:
            return f"the host cables of {subjects} were crossed in the patch panel"
        case CauseKind.TRUNK_SWAP | CauseKind.PANEL_SHIFT:
            return f"{count(len(cause.cables), 'cable')} were crossed in a patch panel: {some(cause.subjects, 3)}"
        case CauseKind.GPU_NIC_ORDER:
            return f"{some(cause.subjects, 3)} came back from a reboot with NICs or GPUs in another order"
        case CauseKind.LINK_DOWN:
            return f"{subjects} lost its link"
        case CauseKind.DEGRADED_LINK:
            return f"the link of {subjects} came up again at half its speed"
    return f"{subjects} {'lost its power' if cause.subjects[0] in world.off else 'hangs, its links stay up'}"


def repaired(standing: Standing) -> str:
    """The repaired fault."""
    return f"the technician repaired {standing.kind} of {some(standing.cause.subjects, 3)}"


def broke_out(trouble: Trouble) -> str:
    """A new fault of the traffic."""
    subjects = " and ".join(trouble.cause.subjects)
    match trouble.kind, trouble.placed.variant:
        case FlowFaultKind.STORM, _:
            return f"a PFC storm broke out: {subjects} pauses its leaf continuously, and all its senders wait"
        case FlowFaultKind.SLOW_RECEIVER, "pcie":
            return f"{subjects} takes in half of what its link brings: its PCIe stalls"
        case FlowFaultKind.SLOW_RECEIVER, _:
            return f"{subjects} takes in half of what its link brings: its application posts too few buffers"
        case FlowFaultKind.HALF_SPEED, _:
            return f"the link of {subjects} came up again at half its speed"
    return f"{trouble.kind} at {subjects}" if subjects else f"{trouble.kind} on the whole fabric"


def ended(trouble: Trouble) -> str:
    """The operator's repair."""
    subjects = trouble.cause.subjects
    return f"the operator ended {trouble.kind}" + (f" of {some(subjects, 3)}" if subjects else "")


# ----------------------------------------------------------------------------------------------------------------------
# The script.

LOOK_SECONDS = 0.5
"""How often the script checks the clock."""
DAILY = {
    Fault(CauseKind.CABLE_SWAP): 6,
    Fault(CauseKind.LINK_DOWN): 5,
    Fault(CauseKind.CABLE_MOVE): 3,
    Fault(CauseKind.UNREACHABLE): 3,
    Fault(CauseKind.CABLE_ROTATION): 2,
    Fault(CauseKind.HOST_SWAP, "labels"): 2,
    Fault(CauseKind.GPU_NIC_ORDER, "names"): 2,
    Fault(CauseKind.PORT_SHIFT): 1,
    Fault(CauseKind.LEAF_SWAP): 1,
}
"""Faults of an ordinary day, with their relative frequency."""

TROUBLES = {
    FlowFault(FlowFaultKind.STORM): 3,
    FlowFault(FlowFaultKind.SLOW_RECEIVER): 2,
    FlowFault(FlowFaultKind.HALF_SPEED, variant="host"): 2,
}
"""Faults of the traffic, with their relative frequency."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Ranges in seconds: until the next fault, and until the technician has repaired the next one; until the next fault
    of the traffic, of which one is active at a time, and its duration.

    At most `most` faults are active at a time. No fault is repaired within its first `seen_seconds`, so that viewers
    see it.
    """

    fault_seconds: tuple[float, float] = (45.0, 90.0)
    repair_seconds: tuple[float, float] = (30.0, 60.0)
    trouble_seconds: tuple[float, float] = (inf, inf)
    lasting_seconds: tuple[float, float] = (90.0, 150.0)
    most: int = 7
    seen_seconds: float = 30.0


class Director:
    """Plays the script. Run `play` while the fabric runs, or call `tick` as often as needed.

    `log` has all actions of the script and of users; `tell` is called with each entry.
    """

    def __init__(
        self,
        living: LivingWorld,
        faults: StandingFaults,
        traffic: LivingTraffic,
        script: Sequence[Fault],
        pace: Pace,
        rng: Random,
    ) -> None:
        self._living, self._faults, self._traffic, self._pace, self._rng = living, faults, traffic, pace, rng
        self._script = list(script)
        self._weights = [DAILY.get(fault, 1) for fault in self._script]
        self._next_fault = self._drawn(pace.fault_seconds)
        self._next_repair = self._drawn(pace.repair_seconds)
        self._next_trouble = self._drawn(pace.trouble_seconds) if isfinite(pace.trouble_seconds[0]) else inf
        self.paused = False
        self._stay: set[int] = set()
        self.log: list[Entry] = []
        self.tell: Callable[[Entry], None] = lambda entry: None

    @property
    def standing(self) -> tuple[Standing | Trouble, ...]:
        """The active faults, the oldest first, those of the traffic last."""
        return (*self._faults, *self._traffic)

    @property
    def truth(self) -> Truth:
        """The current truth. Answers agree with it once LLDP has aged out the former neighbours."""
        return survey(self._living.world, [standing.cause for standing in self._faults], ())

    async def play(self) -> None:
        """Plays until cancelled."""
        while True:
            self.tick()
            await self._living.ambient.sleep(LOOK_SECONDS)

    def tick(self) -> None:
        """Runs due actions; nothing while `paused`."""
        now = self._living.ambient.clock()
        if not self.paused and now >= self._next_repair:
            self._next_repair = self._drawn(self._pace.repair_seconds)
            self._work_off(now)
        if not self.paused and now >= self._next_fault:
            self._next_fault = self._drawn(self._pace.fault_seconds)
            if len(self._faults) < self._pace.most:
                self._draw()
        if not self.paused and now >= self._next_trouble:
            self._turn_traffic()

    def _turn_traffic(self) -> None:
        """Ends a fault of the traffic, or starts one. A fault requested by a user stays, and stays the only one."""
        standing = list(self._traffic)
        if standing:
            if not any(trouble.number in self._stay for trouble in standing):
                self.fix(standing[0])
            self._next_trouble = self._drawn(self._pace.trouble_seconds)
            return
        self._next_trouble = self._drawn(self._pace.lasting_seconds)
        with suppress(NoRoomError):
            self.disturb(self._next_of_traffic())

    def _next_of_traffic(self) -> FlowFault:
        """A storm at first, so that viewers see one; then random faults."""
        seen = any(isinstance(entry.standing, Trouble) for entry in self.log)
        return self._rng.choices(list(TROUBLES), list(TROUBLES.values()))[0] if seen else next(iter(TROUBLES))

    def disturb(self, fault: FlowFault, *, stays: bool = False) -> Trouble:
        """Starts a fault of the traffic now, at a random place unless named; the script ends it unless it `stays`.
        Raises `NoRoomError`.
        """
        trouble = self._traffic.plant(fault, self._faults.number())
        if stays:
            self._stay.add(trouble.number)
        self._note(trouble, broke_out(trouble), repaired=False)
        return trouble

    def plant(self, fault: Fault) -> Standing:
        """Plants a fault now, at a random place. Raises `NoRoomError`."""
        standing = self._faults.plant(fault)
        self._note(standing, appeared(self._living.world, standing), repaired=False)
        return standing

    def fix(self, what: str | int | Standing | Trouble) -> Standing | Trouble:
        """Repairs a fault now: by its number, or by an affected device or port. Raises LookupError."""
        number = what if isinstance(what, int) else self.find(what).number
        if self._traffic.get(number):
            trouble = self._traffic.lift(number)
            self._note(trouble, ended(trouble), repaired=True)
            return trouble
        standing = self._faults.repair(number)
        self._note(standing, repaired(standing), repaired=True)
        return standing

    def find(self, what: str | Standing | Trouble) -> Standing | Trouble:
        """Finds a fault: by itself, its number as text, or a device or port of it. Raises LookupError."""
        if isinstance(what, Standing | Trouble):
            return what
        name = what.strip().removeprefix("#")
        for standing in self.standing:
            if name == str(standing.number) or standing.concerns(name):
                return standing
        raise LookupError(f"no active fault includes {what.strip()!r}")

    def _work_off(self, now: float) -> None:
        """The technician repairs the oldest fault that is old enough to have been seen; of equally old ones, the
        smallest: the main cause stays for a while.
        """
        old = [standing for standing in self._faults if now - standing.since >= self._pace.seen_seconds]
        if old:
            self.fix(min(old, key=lambda standing: (standing.since, len(standing.cause.cables), standing.number)))

    def _draw(self) -> None:
        """Plants a random fault; one without a place is drawn again, a few times."""
        for fault in self._rng.choices(self._script, self._weights, k=10) if self._script else ():
            with suppress(NoRoomError):
                self.plant(fault)
                return

    def _drawn(self, seconds: tuple[float, float]) -> float:
        return self._living.ambient.clock() + self._rng.uniform(*seconds)

    def _note(self, standing: Standing | Trouble, summary: str, *, repaired: bool) -> None:
        ambient = self._living.ambient
        entry = Entry(ambient.clock(), ambient.now(), repaired, standing, summary)
        self.log.append(entry)
        self.tell(entry)
