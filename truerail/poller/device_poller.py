"""Polls one device in one round: one request with all commands, one more for answers that were unreadable.

After an answer that was too late or too long no alternative command is sent: a GPU driver that hangs would hang again.

Reading keeps the event loop, and so all other devices, waiting. Devices whose answers are not read quickly are read one
after the other in a thread, beside the loop. One that takes too long even so is not asked for a while, for longer each
time.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic

from msgspec import structs

from collector import collectors
from truerail.errors import TOO_SLOW, ConnectError, NoAnswerError, SlowDeviceError, TransportError, UnreadableError
from truerail.model import Device, Reading, Target
from truerail.model.answer_limits import TimeSpent
from truerail.model.names import answer_file, printable
from truerail.model.pause import garbage_collection_paused
from truerail.model.platforms import INFINIBAND, PROBES
from truerail.model.steady import STEADY
from truerail.poller.questions import Known, applicable, bounded, by_file, first_commands, further_commands, optional
from truerail.transport.answers import Answers
from truerail.transport.archive import ArchiveFolder
from truerail.transport.command_gate import asked_platform, assumed_role, platform_of
from truerail.transport.prefetch import Opened
from truerail.transport.protocol import Answer, Transport
from truerail.transport.round_files import UNANSWERED, Unanswered
from truerail.transport.turns import clock_stopped, clocks_stopped, timed_by

# ----------------------------------------------------------------------------------------------------------------------
# Limits of a round: durations and concurrency; and its sources of time and randomness.


@dataclass(frozen=True, slots=True)
class Limits:
    """`at_once` devices are polled at the same time, besides those that have not answered for 3 s. Each has
    `device_seconds` from its turn on, all of them together `deadline_seconds`. A failed connection is retried `retries`
    times, after `retry_seconds`, doubled each time, plus or minus half. A transport has `cancel_seconds` to release a
    device.
    """

    at_once: int = 1000
    device_seconds: float = 30.0
    deadline_seconds: float = 60.0
    retries: int = 2
    retry_seconds: float = 0.5
    cancel_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Ambient:
    """Time and randomness, replaceable in tests. `clock` is in seconds; neither it nor `now` is ever set."""

    now: Callable[[], datetime] = STEADY.now
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


# ----------------------------------------------------------------------------------------------------------------------
# One device's row of a round: its answers as bytes for a capture and as readings for rules.

QUICK_SECONDS = 0.5
"""Of processor time, for all answers of a device: the most that others wait for it. A busy switch takes 0.2 s."""


@dataclass(slots=True)
class Row:
    """Answers of one device in one round. `name` is the inventory's, `device` the plan's where it is `planned`.

    `answers` holds complete answers by command, `unanswered` the reasons for missing ones.
    """

    name: str
    device: Device
    planned: bool
    answers: dict[str, Answer] = field(default_factory=dict)
    unanswered: Unanswered = field(default_factory=Unanswered)
    readings: list[Reading] = field(default_factory=list)
    took_seconds: float = 0.0
    read_at: float = 0.0
    """The middle of its poll, in Unix seconds."""
    reading: TimeSpent = field(default_factory=TimeSpent)
    """On reading its answers."""
    platform: str = ""
    """As given by the inventory, else as detected on the device."""

    @property
    def error(self) -> str:
        """Why the device was not polled, or not completely; empty if it was."""
        return self.unanswered.device

    def add(self, answers: Sequence[Answer]) -> None:
        """Adds answers. An incomplete one counts as none."""
        for answer in answers:
            if answer.error:
                self.unanswered.commands[answer.command] = _why(answer)
            else:
                self.answers[answer.command] = answer

    @property
    def commands(self) -> list[str]:
        """Every command that was sent, answered or not."""
        return [*self.answers, *self.unanswered.commands]

    def drop(self, commands: Collection[str], asked: Collection[str]) -> None:
        """Removes commands, as if they had not been sent; `asked` are the questions that remain."""
        for text in commands:
            self.answers.pop(text, None)
            self.unanswered.commands.pop(text, None)
        self.unanswered.collectors = tuple(asked)

    def files(self) -> dict[str, bytes]:
        """The device's folder of a capture: file name to content."""
        found = {answer_file(a.command): a.text.encode("utf-8", "replace") for a in self.answers.values()}
        if self.unanswered:
            found[UNANSWERED] = self.unanswered.dump()
        return found

    def read(self, reader: Answers, seconds: float) -> None:
        """Parses the answers into `readings`, exactly as a capture is read, in any thread. Raises `SlowDeviceError`
        once all readings of the row have taken so many seconds of processor time.
        """
        folder = ArchiveFolder()
        folder.files = self.files()
        place = Opened(printable(self.name, 64), folder, folder.list(), held=dict(folder.files))
        answers = {f"{place.name}/{answer_file(a.command)}": a for a in self.answers.values()}
        with garbage_collection_paused(), self.reading.within(seconds):
            readings = reader.of_device(self.device.name, self.device, [place])
        self.readings = [_timed(reading, answers.get(reading.source), self.read_at) for reading in readings]

    @clocks_stopped()
    def read_here(self, reader: Answers) -> None:
        """Reads them on the event loop, which waits for it. Raises `SlowDeviceError` if that would take long."""
        self.read(reader, QUICK_SECONDS)

    def end(self, why: str, reader: Answers) -> None:
        """Completes a row whose device did not answer, or not to the end; what it did answer counts if it is quick to
        read.
        """
        self.unanswered.device = why
        try:
            self.read_here(reader)
        except SlowDeviceError:
            self.answers.clear()
            self.read_here(reader)

    def keep(self, needed: Collection[str]) -> None:
        """Removes the answers of all other commands."""
        self.answers = {text: answer for text, answer in self.answers.items() if text in needed}
        self.unanswered.commands = {text: why for text, why in self.unanswered.commands.items() if text in needed}


def _timed(reading: Reading, answer: Answer | None, read_at: float) -> Reading:
    """The reading with its times: those of an answer that was there before it was asked for are its own."""
    took = answer.took_seconds if answer else 0.0
    if answer is None or not answer.read_at:
        return structs.replace(reading, took_seconds=took, read_at=read_at)
    at = datetime.fromtimestamp(answer.read_at, UTC)
    facts_at = min(reading.facts_at, at) if reading.facts_at else None
    return structs.replace(reading, at=at, took_seconds=took, read_at=answer.read_at, facts_at=facts_at)


def _why(answer: Answer) -> str:
    """The error, and the device's own message if that is one short line."""
    said = answer.text.strip()
    if said and len(said) < 200 and "\n" not in said and said not in answer.error:
        return f"{answer.error}: {printable(said)}"
    return answer.error


# ----------------------------------------------------------------------------------------------------------------------
# Polls one device in one round: one request with all commands, one more for answers that were unreadable.
#
# After an answer that was too late or too long no alternative command is sent: a GPU driver that hangs would hang
# again.
#
# Reading keeps the event loop, and so all other devices, waiting. Devices whose answers are not read quickly are read
# one after the other in a thread, beside the loop. One that takes too long even so is not asked for a while, for longer
# each time.

DEVICE_SECONDS = 3.0
"""Of processor time, to read all answers of a device in a round: half as much again as for one answer."""
Asked = Mapping[str, tuple[str, ...]]
_BOTH = "is for an entry under a name that no plan has"


class DevicePoller:
    """Sends each device the commands that apply to it. Stores commands that worked in `Known` for the next round."""

    def __init__(self, transport: Transport, limits: Limits, ambient: Ambient, slow: asyncio.Lock) -> None:
        """`slow` is the turn of those that take long to read, in all rounds of a fleet."""
        self._transport = transport
        self._slow = slow
        self._limits = limits
        self._ambient = ambient

    async def fill(
        self, row: Row, target: Target, known: Known, reader: Answers, collectors: Collection[str] | None = None
    ) -> None:
        """Fills a device's row: all questions that apply to it, or those of `collectors`.

        A device that fails affects only its own row; only a cancellation propagates.
        """
        began, why = self._ambient.clock(), ""
        seconds = max(self._limits.device_seconds, target.answer_seconds if target.apart else 0.0)
        try:
            async with asyncio.timeout(seconds) as limit:
                with timed_by(limit):
                    await self._ask_all(row, target, known, reader, collectors)
        except TimeoutError:
            within = f" within {seconds:g} s" if limit.expired() else ""
            why = f"no answer{within}"
        except SlowDeviceError:
            known.rest(self._ambient.clock())
            why = f"{TOO_SLOW} {DEVICE_SECONDS:g} s to read its answers: it is asked again after a while"
        except TransportError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - a transport's bug on one device must not affect the others
            why = f"failed inside: {type(error).__name__}: {error}"
        row.took_seconds = self._ambient.clock() - began
        if why:
            row.end(why, reader)

    async def _ask_all(
        self, row: Row, target: Target, known: Known, reader: Answers, collectors: Collection[str] | None
    ) -> None:
        if row.planned and target.apart:
            raise TransportError(f"platform {target.platform} {_BOTH}: in the plan it is a {row.device.role}")
        if self._ambient.clock() < known.rests_until:
            raise SlowDeviceError
        target = await self._identified(row, target, known)
        asked = applicable(row.device.role, target.platform)
        if not asked:
            raise TransportError(f"no collector asks a {row.device.role} of platform {target.platform}")
        now = self._ambient.clock()
        known.forget(now)
        wanted = (asked.keys() if collectors is None else asked.keys() & set(collectors)) - known.refused.keys()
        asked = {name: commands for name, commands in asked.items() if name in wanted}
        row.unanswered.collectors = tuple(asked)
        sent = first_commands(asked, known)
        if not sent:
            return
        began = self._ambient.now()
        answers = await self._patiently(target, sent)
        row.read_at = (began.timestamp() + self._ambient.now().timestamp()) / 2
        row.add(answers)
        await self._read(row, reader, known)
        lost = {answer.command for answer in answers if answer.error and not answer.refused}
        slow = _slow(row)
        failed = [name for name in _unread(row, asked) if name not in slow and lost.isdisjoint(asked[name])]
        further = further_commands(asked, failed, sent)
        if further:
            answers += await self._alternatives(target, further, known)
            row.add(answers[len(sent) :])
            await self._read(row, reader, known)
            slow |= _slow(row)
        with row.reading.within(DEVICE_SECONDS):
            refused = _refused(row, {name: commands for name, commands in asked.items() if name not in slow}, answers)
        known.refused |= dict.fromkeys([*refused, *slow], (now, Answer("")))
        if refused:
            asked = {name: commands for name, commands in asked.items() if name not in refused}
            row.drop([text for text in row.commands if not any(text in commands for commands in asked.values())], asked)
            await self._read(row, reader, known)
        known.slow, known.rests = row.reading.seconds > QUICK_SECONDS, 0
        _remember(row, asked, known)

    async def _alternatives(self, target: Target, commands: Sequence[str], known: Known) -> list[Answer]:
        """Answers to other commands of questions that failed. Those that the device refused are not sent each round."""
        now = self._ambient.clock()
        found = [known.refused[text][1] for text in commands if text in known.refused]
        wanted = [text for text in commands if text not in known.refused]
        sent = [*map(bounded, await self._transport.ask(target, wanted))] if wanted else []
        known.refused |= {answer.command: (now, answer) for answer in sent if answer.refused}
        return found + sent

    async def _read(self, row: Row, reader: Answers, known: Known) -> None:
        """Reads what a device has answered: at once, or in a thread, in the turn of those that take long."""
        if not known.slow:
            try:
                row.read_here(reader)
                return
            except SlowDeviceError:
                known.slow = True
        with clock_stopped():
            async with self._slow:
                await asyncio.to_thread(row.read, reader, DEVICE_SECONDS)

    async def _identified(self, row: Row, target: Target, known: Known) -> Target:
        """The target with its platform, probed if unknown; sets the role of the row's device."""
        platform = known.platform or asked_platform(target)
        if not platform:
            platform = platform_of(await self._patiently(target, PROBES))
        known.platform = row.platform = platform
        known.role = known.role or target.role or assumed_role(platform)
        if not row.planned:
            row.device = replace(row.device, role=known.role)
        return replace(target, platform=platform, role=row.device.role)

    async def _patiently(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """Sends commands; retries a failed connection with increasing, randomized delays."""
        for attempt in range(1, self._limits.retries + 1):
            try:
                return [*map(bounded, await self._transport.ask(target, commands))]
            except ConnectError:
                spread = 0.5 + self._ambient.random()
                await self._ambient.sleep(self._limits.retry_seconds * 2 ** (attempt - 1) * spread)
        return [*map(bounded, await self._transport.ask(target, commands))]


def _refused(row: Row, asked: Asked, answers: Sequence[Answer]) -> list[str]:
    """The optional questions that the device cannot answer: every command refused, or answered by nothing.

    A machine that reports an InfiniBand fabric is not excused.
    """
    if row.platform == INFINIBAND:
        return []
    reported = {answer.command: answer for answer in answers}
    return [
        name
        for name in _unread(row, asked)
        if name in optional()
        and all(_says_nothing(name, reported[text], row.device) for text in asked[name] if text in reported)
    ]


def _slow(row: Row) -> set[str]:
    """The questions whose answer takes too long to read: each reading of it keeps all other devices waiting."""
    return {reading.collector for reading in row.readings if TOO_SLOW in reading.error}


def _says_nothing(name: str, answer: Answer, device: Device) -> bool:
    if answer.error:
        return answer.refused
    try:
        collectors()[name].read(answer.text, device)
    except UnreadableError as error:
        return isinstance(error, NoAnswerError)
    return False


def _unread(row: Row, asked: Asked) -> list[str]:
    """The collectors without a readable answer."""
    read = {reading.collector for reading in row.readings if not reading.error}
    return [name for name in asked if name not in read]


def _remember(row: Row, asked: Asked, known: Known) -> None:
    """Stores for each collector the command whose answer was read, and drops answers that are no longer needed."""
    source = {reading.collector: reading.source.rpartition("/")[2] for reading in row.readings if not reading.error}
    came_from = by_file(row.device.role, row.platform)
    worked = {name: came_from[name, file] for name, file in source.items() if (name, file) in came_from}
    known.command.update(worked)
    if row.unanswered or len(row.answers) > len(set(worked.values())):
        needed = {text for name in asked.keys() - source.keys() for text in asked[name]}
        row.keep(needed.union(worked.values()))
