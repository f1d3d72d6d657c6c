"""Polls a fleet for one round: every device at once, within limits, with a deadline for each and one for all."""

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar

from collector import collectors as all_collectors
from truerail.model import PLATFORMS, Device, Plan, Reading, Snapshot, Target
from truerail.model.index import Devices
from truerail.model.names import device_key
from truerail.model.platforms import APART
from truerail.poller.device_poller import Ambient, DevicePoller, Limits, Row
from truerail.poller.questions import Known, neighbor_question, questions_apart
from truerail.transport.answers import Answers
from truerail.transport.capture_files import questions_of
from truerail.transport.command_gate import asked_platform, assumed_platform, assumed_role
from truerail.transport.kept_answers import KeptAnswers
from truerail.transport.protocol import Transport
from truerail.transport.round_files import Unanswered
from truerail.transport.turns import Turns
from truerail.transport.warnings import Notes

# ----------------------------------------------------------------------------------------------------------------------
# Polls a fleet for one round: every device at once, within limits, with a deadline for each and one for all.

_PATIENT_TICKS = 30
"""Ticks (3 s) after which a device that has not answered yet lets the next one begin."""
Progress = Callable[[Row, int, int], None]
"""Receives each finished row, the number of finished rows and the number of all. `row.answers` is cleared afterwards.
"""


@dataclass(frozen=True, slots=True)
class Gathered:
    """One round: a row for each device, in the order in which a replay of its capture has them."""

    at: datetime
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    inventory: frozenset[str] = frozenset()
    """All devices of the inventory, as the inventory names them."""
    counters: ClassVar[None] = None
    """One round alone gives no rates."""

    @property
    def readings(self) -> list[Reading]:
        """Answers of all devices, or the reasons why there are none."""
        return [reading for row in self.rows for reading in row.readings]

    @property
    def devices_seen(self) -> tuple[str, ...]:
        """The polled devices, as the plan names them, else as the inventory does."""
        return tuple(row.device.name for row in self.rows)

    @property
    def unreached(self) -> tuple[Row, ...]:
        """The devices that were not polled, or not completely."""
        return tuple(row for row in self.rows if row.error)

    def snapshot(self, previous: Snapshot | None = None) -> Snapshot:
        """The round as a snapshot for the rules."""
        return Snapshot(self.at, self.readings, previous, self.inventory)


class Owed:
    """What devices are still to be asked beside the rounds, as collectors by device: what came due while they were
    being polled, what a host reports to have changed, and what somebody wants to have read now.
    """

    def __init__(self) -> None:
        self._due: dict[str, set[str]] = {}
        self._wanted: dict[str, set[str]] = {}

    def __contains__(self, device: str) -> bool:
        return device in self._due or device in self._wanted

    def due(self, device: str, collectors: Collection[str]) -> None:
        """Runs collectors that came due too when the device is next asked."""
        self._due.setdefault(device, set()).update(collectors)

    def want(self, device: str, collectors: Collection[str]) -> None:
        """Runs collectors on the device, also if it does not answer before."""
        self._wanted.setdefault(device, set()).update(collectors)

    def take(self, device: str) -> set[str]:
        """The collectors of a device, which is asked now."""
        return self._due.pop(device, set()) | self._wanted.pop(device, set())

    def silent(self, device: str) -> None:
        """A device did not answer: what came due is left to the next round."""
        self._due.pop(device, None)

    def take_idle(self, busy: AbstractSet[str]) -> dict[frozenset[str], set[str]]:
        """The devices that are not being polled, by their collectors."""
        alike: dict[frozenset[str], set[str]] = {}
        for name in [name for name in {**self._due, **self._wanted} if name not in busy]:
            alike.setdefault(frozenset(self.take(name)), set()).add(name)
        return alike


class Poller:
    """Polls a fleet in rounds. `devices` are the plan's, by name; a target is matched to them by any spelling.

    Platforms and commands that work are stored between rounds; connections belong to the transport. `kept` are the
    answers of earlier rounds: with it an unchanged answer is not parsed again.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        transport: Transport,
        *,
        devices: Mapping[str, Device] | None = None,
        limits: Limits | None = None,
        ambient: Ambient | None = None,
        kept: KeptAnswers | None = None,
    ) -> None:
        self._kept = kept
        self._limits = limits or Limits()
        self._ambient = ambient or Ambient()
        self._transport = transport
        self._slow = asyncio.Lock()
        self._targets = matched(targets, devices or {})
        self._places: dict[str, set[int]] = {}
        """Where a name is in `_targets`, by its key."""
        for place, (target, device, _) in enumerate(self._targets):
            for name in (target.name, device.name):
                self._places.setdefault(device_key(name), set()).add(place)
        self._inventory = frozenset(target.name for target in targets)
        self._known: dict[str, Known] = {target.name: Known() for target, _, _ in self._targets}

    async def round(
        self,
        *,
        only: Collection[str] | None = None,
        collectors: Collection[str] | None = None,
        progress: Progress | None = None,
        stop: asyncio.Event | None = None,
        limits: Limits | None = None,
        owed: Owed | None = None,
    ) -> Gathered:
        """Polls all devices, or those named in `only`, once; all questions, or those of these `collectors` and what is
        `owed` by a device at its turn.

        Ends at the round's deadline, or soon after `stop` is set; rows of devices that did not answer by then say so.
        `limits` are for this round only.
        """
        limits = limits or self._limits
        at, notes = self._ambient.now().replace(microsecond=0), Notes()
        reader = Answers(questions_of(), at, notes, self._kept)
        asked = self._wanted(only, collectors)
        interviewer = DevicePoller(self._transport, limits, self._ambient, self._slow)
        finished = _Counter(len(asked), progress)
        turn = _Turn(interviewer, Turns(limits.at_once, ticks=_PATIENT_TICKS), reader, collectors, owed or Owed())
        tasks = {
            asyncio.create_task(turn.take(row, target, self._known[target.name], finished)): row
            for target, row in sorted(asked, key=lambda one: not self._known[one[0].name].waits)
        }
        await _until_done(tasks, stop, limits)
        halted = bool(stop and stop.is_set())
        for task, row in tasks.items():
            if not task.done() or task.cancelled():
                waited, had_its_time = turn.begun_at(row) is None, turn.had_its_time(row, limits)
                row.unanswered.asked = had_its_time
                row.end(_why_not(halted, limits, waited=waited, had_its_time=had_its_time), reader)
                finished.tick(row)
            self._known[row.name].waits = not row.unanswered.asked
        return Gathered(at, tuple(row for _, row in asked), notes.lines(), halted, self._inventory)

    @property
    def devices(self) -> tuple[Device, ...]:
        """The polled devices, in the order of their rows."""
        return tuple(device for _, device, _ in self._targets)

    @property
    def neighbor_questions(self) -> Mapping[str, str]:
        """The polled devices, each with the collector of its neighbors; "" where it has none."""
        return {device.name: neighbor_question(target, device) for target, device, _ in self._targets}

    @property
    def tellers(self) -> tuple[str, ...]:
        """Those of them that are only polled for what they know of others: a fabric's links, a scheduler's jobs."""
        return tuple(device.name for target, device, _ in self._targets if target.apart)

    def _wanted(self, only: Collection[str] | None, collectors: Collection[str] | None) -> list[tuple[Target, Row]]:
        """A row for each device, with its questions; a machine that is polled for what it knows of others has none if
        no question is for it.
        """
        of_apart = {platform: questions_apart(platform, collectors) for platform in APART}
        others = tuple(sorted(set(collectors or all_collectors()).difference(*of_apart.values())))
        rows = []
        for target, device, planned in self._targets if only is None else self._named(only):
            asked = of_apart[target.platform] if target.apart else others
            if asked or not target.apart:
                rows.append((target, Row(target.name, device, planned, unanswered=Unanswered(collectors=asked))))
        return rows

    def _named(self, names: Collection[str]) -> list[tuple[Target, Device, bool]]:
        """Those of the devices that are called so by the plan or the inventory, in their order."""
        places = set[int]().union(*(self._places.get(device_key(name), ()) for name in names))
        return [self._targets[place] for place in sorted(places)]


async def _until_done(tasks: Iterable["asyncio.Task[None]"], stop: asyncio.Event | None, limits: Limits) -> None:
    """Waits for all tasks, the deadline, or `stop`. Cancels the remaining tasks.

    Exceptions of `progress` (a full disk, say) propagate.
    """
    work = list(tasks)
    halt = asyncio.create_task((stop or asyncio.Event()).wait())
    ends = asyncio.create_task(_all_done(work))
    try:
        await asyncio.wait({ends, halt}, timeout=limits.deadline_seconds, return_when=FIRST_COMPLETED)
    finally:
        left = [task for task in (ends, halt, *work) if not task.done()]
        for task in left:
            task.cancel()
        await asyncio.wait([*left, halt], timeout=limits.cancel_seconds)
    problems = [task.exception() for task in work if task.done() and not task.cancelled()]
    for problem in filter(None, problems):
        raise problem


def _why_not(halted: bool, limits: Limits, *, waited: bool, had_its_time: bool) -> str:
    """Why a device that waited for its turn when the round ended, or was being asked, has no answer."""
    if halted:
        return f"interrupted before it {'was asked' if waited else 'answered'}"
    deadline = f"the round's deadline of {limits.deadline_seconds:g} s"
    if waited:
        return f"not asked: its turn had not come at {deadline}"
    return f"no answer before {deadline}" if had_its_time else f"not asked to the end: {deadline} came too early for it"


@dataclass(frozen=True, slots=True)
class _Turn:
    """State shared by all devices of one round."""

    interviewer: DevicePoller
    turns: Turns
    reader: Answers
    collectors: Collection[str] | None
    owed: Owed
    _begun: dict[str, float] = field(default_factory=dict)

    def begun_at(self, row: Row) -> float | None:
        """When the device began to be asked, in the event loop's time; None while it waits for its turn."""
        return self._begun.get(row.name)

    def had_its_time(self, row: Row, limits: Limits) -> bool:
        """Whether the device was asked for as long as any is, or for half of the round: then it does not answer."""
        begun = self.begun_at(row)
        given = 0.0 if begun is None else asyncio.get_running_loop().time() - begun
        return given >= min(limits.device_seconds, limits.deadline_seconds / 2)

    async def take(self, row: Row, target: Target, known: Known, finished: "_Counter") -> None:
        """Waits for its turn, then fills the row."""
        async with self.turns.turn():
            self._begun[row.name] = asyncio.get_running_loop().time()
            also = self.owed.take(row.device.name)
            collectors = None if self.collectors is None else also.union(self.collectors)
            await self.interviewer.fill(row, target, known, self.reader, collectors)
        finished.tick(row)


async def _all_done(tasks: Sequence["asyncio.Task[None]"]) -> bool:
    """Waits for all tasks, however they end."""
    if tasks:
        await asyncio.wait(tasks)
    return True


class _Counter:
    """Counts finished rows, reports each, and clears its answers: a fleet's raw answers take hundreds of MB."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def tick(self, row: Row) -> None:
        self._done += 1
        if self._progress:
            self._progress(row, self._done, self._total)
        row.answers.clear()


def matched(targets: Sequence[Target], devices: Mapping[str, Device]) -> list[tuple[Target, Device, bool]]:
    """Each target with the plan's device of that name, else one built from the target; planned ones first, by name."""
    known = Devices(Plan(devices, ()))
    planned = {device_key(name) for name in devices}
    found = []
    for target in sorted(targets, key=lambda one: (device_key(one.name) not in planned, one.name)):
        device = devices.get(known.names[known.find_or_add(target.name)])
        found.append((_completed(target, device), device or _device_of(target), device is not None))
    return found


def _completed(target: Target, device: Device | None) -> Target:
    """The target completed from the plan where the inventory has no value."""
    if device is None:
        return target
    target = replace(target, role=device.role)
    planned = device.platform if device.platform in PLATFORMS and device.platform not in APART else ""
    return replace(target, platform=assumed_platform(target) or planned)


def _device_of(target: Target) -> Device:
    role = target.role or assumed_role(asked_platform(target) or "linux")
    return Device(target.name, role, target.pod, target.address, target.platform, target.rack, target.unit)


# ----------------------------------------------------------------------------------------------------------------------
# What is polled and how often: one value for a schedule of this process, for a child and for a poller elsewhere.


@dataclass(frozen=True, slots=True)
class Work:
    """Targets, the plan's devices by name, seconds between rounds by collector, and limits. It has references to
    secrets, never secrets: a message may carry it to a process of the same service.
    """

    targets: tuple[Target, ...]
    devices: dict[str, Device]
    every_seconds: dict[str, float]
    patience_seconds: float = 5.0
    jitter_seconds: float = 2.0
    limits: Limits = field(default_factory=Limits)

    def poller(self, transport: Transport, differs: Callable[[str, str], None]) -> Poller:
        """A poller of these devices. `differs` is called with device and collector if a full parse finds other facts in
        an answer that counted as unchanged.
        """
        kept = KeptAnswers(differs)  # empty: plan, inventory or settings changed
        return Poller(self.targets, transport, devices=self.devices, limits=self.limits, kept=kept)

    def named(self) -> Mapping[str, tuple[Target, Device]]:
        """Targets and devices by the name that readings have: the plan's, else the inventory's. In order of polling."""
        return {device.name: (target, device) for target, device, _ in matched(self.targets, self.devices)}

    def part(self, names: Collection[str]) -> "Work":
        """The work on the devices with these names."""
        targets = tuple(target for name, (target, _) in self.named().items() if name in names)
        return replace(self, targets=targets, devices={n: one for n, one in self.devices.items() if n in names})
