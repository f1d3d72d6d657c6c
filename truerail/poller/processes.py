"""Pollers as processes of this service: each asks its share of the devices, and one that ends is started again."""

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from truerail.errors import BusError
from truerail.link.codec import pack
from truerail.link.inbox import Place
from truerail.link.messages import Command
from truerail.link.shards import owner
from truerail.link.socket_link import read_frame, write_frame
from truerail.model.tasks import end
from truerail.poller.fleet import Work
from truerail.poller.received import PollersElsewhere, Received

ZONE = "local"
PROGRAM = (sys.executable, "-m", "truerail.poller.child")
SILENT_SECONDS, STARTING_SECONDS, BUSY_SECONDS = 15.0, 60.0, 180.0
"""A process without a sign of life for so long hangs, and is ended: one comes each 3 s, the first when it has loaded.
One that uses the processor meanwhile is behind with its work: on a machine with too much to do, ended pollers that ask
all devices again would make it worse.
"""
_LOOK_SECONDS = 1.0
FIRST_BACKOFF_SECONDS, LAST_BACKOFF_SECONDS, STEADY_SECONDS = 0.5, 30.0, 60.0
_END_SECONDS = 5.0
FAILURES_AT_START = 2
"""After more of them the devices of a process that never ran are unknown with that reason."""
MOST_POLLERS = 64
AUTO_DEVICES = 2000
"""From here on polling has processes of its own, if the number is not given: below, one process has room for it."""


def auto_pollers(devices: int) -> int:
    """Processes for so many devices: none, or as many as there are cores."""
    return 0 if devices < AUTO_DEVICES else len(os.sched_getaffinity(0))


@dataclass(slots=True, eq=False)
class Child:
    """One place for a process. `since` is when the last one ended; None while one runs and has said something."""

    name: str
    writer: asyncio.StreamWriter | None = None
    process: asyncio.subprocess.Process | None = None
    heard_at: float = 0.0
    worked_at: float = 0.0
    processor_time: int = 0
    since: datetime | None = None
    speaks: bool = False
    problem: str = ""
    restarts: int = -1
    failures: int = 0

    @property
    def why_silent(self) -> str:
        """Why its devices are unknown."""
        return f"poller process {self.name} has not run since {self.since:%H:%M} UTC"

    def begins(self, process: asyncio.subprocess.Process, now: float) -> None:
        """A process in this place."""
        self.process, self.heard_at, self.worked_at, self.speaks = process, now, now, False

    def deaf(self, seconds: float) -> None:
        """This service took no messages for so long: that is no silence of the child."""
        self.heard_at += seconds
        self.worked_at += seconds

    def hangs(self, now: float, processor_time: int) -> bool:
        """Whether it has been silent for too long. `processor_time` is what it has used so far."""
        if processor_time != self.processor_time:
            self.processor_time, self.worked_at = processor_time, now
        silent = now - self.heard_at
        idle = min(silent, now - self.worked_at)
        return idle > (SILENT_SECONDS if self.speaks else STARTING_SECONDS) or silent > BUSY_SECONDS

    @property
    def place(self) -> Place:
        """As its messages name it."""
        return ZONE, self.name


class PollerProcesses(PollersElsewhere):
    """`Polling` by `count` children. `program` starts one; the arguments of `truerail.poller.child` follow it."""

    def __init__(self, work: Work, heard: Callable[[], None], count: int, program: Sequence[str] = PROGRAM) -> None:
        super().__init__()
        self.children = {str(number): Child(str(number)) for number in range(1, count + 1)}
        """The places of the children, by name."""
        self._program = tuple(program)
        self._log = structlog.get_logger()
        self._epoch = 0
        self._received = Received(work, heard, zone_of=lambda _: ZONE, lacking=self._lacking)
        self._shares = self._shared()

    # --- what a service reads ---------------------------------------------------------------------------------------

    @property
    def figures(self) -> Mapping[str, float]:
        """Metrics of the children."""
        senders = self._received.senders(self._running)
        return {
            "pollers": len(self.children),
            "pollers_running": len(self._running),
            "poller_restarts_total": sum(max(child.restarts, 0) for child in self.children.values()),
            "poller_messages_dropped_total": self._received.inbox.dropped_total,
            "full_parse_differences_total": sum(sender.beat.differences_total for sender in senders),
        }

    # --- what a service does ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the children."""
        for child in self.children.values():
            self.spawn(self._keep_running(child))
        self.spawn(self._watching())

    def apply(self, work: Work) -> None:
        """Other devices or another pace: each child has its new share at once."""
        self._received.apply(work)
        self._shares = self._shared()
        for child in self.children.values():
            self.spawn(self._send(child, self._work_of(child)))

    async def everything(self, only: Collection[str] | None = None) -> int:
        """Polls all devices now, or these, and those that report their fabric. Returns the number of devices."""
        wanted = self._wanted(only)
        for child in self.children.values():
            if share := wanted.intersection(self._shares[child.name]):
                await self._send(child, Command("poll", sorted(share)))
        return len(wanted)

    async def stop(self) -> None:
        """Ends all children."""
        await end(self._tasks)

    # --- the children -----------------------------------------------------------------------------------------------

    @property
    def _running(self) -> list[Place]:
        return [child.place for child in self.children.values() if child.writer is not None]

    def _shared(self) -> dict[str, set[str]]:
        shares: dict[str, set[str]] = {name: set() for name in self.children}
        for device in self._received.named:
            shares[owner(device, self.children)].add(device)
        return shares

    def _work_of(self, child: Child) -> Command:
        return Command("work", None, pack(self._received.work.part(self._shares[child.name])))

    async def _keep_running(self, child: Child) -> None:
        while True:
            began = time.monotonic()
            how = await self._one_life(child)
            child.since = child.since or datetime.now(UTC)
            child.failures = 1 if time.monotonic() - began > STEADY_SECONDS else child.failures + 1
            pause = min(FIRST_BACKOFF_SECONDS * 2 ** (child.failures - 1), LAST_BACKOFF_SECONDS)
            self._log.warning("a poller ended and is started again", poller=child.name, how=how, pause_seconds=pause)
            await asyncio.sleep(pause)

    async def _one_life(self, child: Child) -> str:
        """Starts a process and takes its messages until it ends. Returns how it ended."""
        self._epoch += 1
        child.restarts += 1
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = (str(theirs.fileno()), ZONE, child.name, str(self._epoch), str(os.getpid()))
            process = await asyncio.create_subprocess_exec(
                *self._program, *arguments, stdin=asyncio.subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        child.begins(process, time.monotonic())
        reader, child.writer = await asyncio.open_connection(sock=ours)
        try:
            await self._send(child, self._work_of(child))
            while (data := await read_frame(reader)) is not None:
                child.heard_at, child.since, child.speaks = time.monotonic(), None, True
                self._received.take(data, zone=ZONE, poller=child.name)
                if self._received.all_reported(self._running):
                    self._received.evaluate()
                self._log_problem(child)
        finally:
            child.writer.close()
            child.writer = None
            await _ended(process)
        code = process.returncode or 0
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def _log_problem(self, child: Child) -> None:
        """Logs what a child says went wrong inside it, once."""
        sender = self._received.inbox.senders.get(child.place)
        if sender and sender.beat.problem != child.problem:
            child.problem = sender.beat.problem
            if child.problem:
                self._log.error("a poller reports a problem", poller=child.name, problem=child.problem)

    async def _watching(self) -> None:
        """Ends children that hang, and turns what a missing child reported into unknown."""
        looked = time.monotonic()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            before, looked = looked, time.monotonic()
            for child in self.children.values():
                child.deaf(looked - before - _LOOK_SECONDS)
                if child.process and child.writer and child.hangs(looked, _processor_time(child.process.pid)):
                    self._log.warning("a poller hangs and is ended", poller=child.name)
                    with suppress(ProcessLookupError):
                        child.process.kill()
            silent = {child: child.why_silent for child in self.children.values() if child.since is not None}
            self._received.expire({child.place: why for child, why in silent.items()})
            for child, why in silent.items():
                if child.failures > FAILURES_AT_START:
                    self._received.never_polled(self._shares[child.name], why)

    async def _send(self, child: Child, command: Command) -> None:
        if child.writer is not None:
            with suppress(BusError):  # it ended: the next one has its work from the start
                await write_frame(child.writer, pack(command))

    def _lacking(self, place: Place, devices: Collection[str] | None) -> None:
        wanted = None if devices is None else list(devices)
        self.spawn(self._send(self.children[place[1]], Command("resend", wanted)))


def _processor_time(pid: int) -> int:
    """What a process has used, in ticks of the clock; 0 where the system does not say."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Waits until a child without its socket is gone; kills one that stays."""
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
