"""The agent's loop: asks each question at its interval, all about cabling at once when lldpd reports a change, and
sends what it finds. One thread; nothing in it waits for a command.
"""

from __future__ import annotations

import os
import random
import selectors
import sys
import time
from collections.abc import Callable

from .allowed_commands import Declared, Question, name_token
from .bus_connection import Address, Connection
from .command_jobs import Job, Result
from .neighbor_watch import NeighborWatch
from .outgoing import Answers
from .sysfs_reader import SysfsReader, reader_of

AT_ONCE = 2
"""Commands that run at the same time; those after a change are started besides."""
TOGETHER_SECONDS = 0.05
"""How long a message waits for other answers."""
EVENT_SECONDS = 0.5
"""Changes that come faster than this are read together."""
RESEND_SECONDS = 1.0
AGAIN_SECONDS, CABLING_AGAIN_SECONDS = 600.0, 120.0
"""A question that no command answered is asked again after this time, if that is longer than its interval: each time
all of its commands are tried.
"""
_LONGEST_SLEEP_SECONDS = 5.0


class Asked:
    """One question: when it is due, and the command that worked."""

    def __init__(self, question: Question, clock: Callable[[], float]) -> None:
        self.question = question
        self.due_at = 0.0
        self.chosen = 0
        self.left: list[str] = []
        self.tried: list[str] = []
        self.running = self.urgent = self.event = self.ended = False
        self._clock = clock
        self._readers: dict[str, SysfsReader | None] = {}

    def begin(self) -> None:
        """The command that worked before is tried first; the others only where it fails."""
        commands = self.question.commands
        self.left = commands[self.chosen :] + commands[: self.chosen]
        self.tried, self.running = [], True
        self.event, self.urgent = self.urgent, False
        now, every = self._clock(), self.question.every_seconds
        self.due_at = self.due_at + every if 0.0 <= now - self.due_at < every / 2 else now + every

    def reader(self, command: str) -> SysfsReader | None:
        """What reads a command's files without running it."""
        if command not in self._readers:
            self._readers[command] = reader_of(command, self._clock)
        return self._readers[command]


class HostAgent:
    """`name` is the host's in the inventory. `report` takes what people should read."""

    def __init__(
        self, declared: Declared, address: Address, fabric: str, zone: str, name: str, report: Callable[[str], None]
    ) -> None:
        self._declared, self._clock, self._report = declared, time.monotonic, report
        token = name_token(name)
        self._subject = f"tr.v1.{name_token(fabric)}.raw.{zone}.{token}"
        self._selector = selectors.DefaultSelector()
        self._answers = Answers(declared.version)
        self._asked = [Asked(one, self._clock) for one in declared.questions]
        self._jobs: set[Job] = set()
        self._beat_at = self._send_at = 0.0
        self._event_at: float | None = None
        self._last_event = self._last_resend = float("-inf")
        self._watch = NeighborWatch(self._selector, self._clock, self._changed)
        self._bus = Connection(
            address,
            f"truerail agent {zone}/{name}",
            f"_INBOX.agent.{zone}.{token}.>",
            self._selector,
            self._clock,
            opened=self._answers.resend,
            heard=self._heard,
            report=report,
        )

    def run(self, stopped: Callable[[], bool], wakes: int | None = None) -> None:
        """Runs until `stopped`; then says so, and ends what it has started. A byte in the file `wakes` ends a wait."""
        if wakes is not None:
            self._selector.register(wakes, selectors.EVENT_READ, lambda: os.read(wakes, 64))
        try:
            while not stopped():
                self._step()
                for key, _ in self._selector.select(self._sleep()):
                    key.data()
        finally:
            self._watch.close()
            for job in list(self._jobs):
                job.cancel()
            if self._bus.ready:
                self._send(ends=True)
            self._bus.close()

    def _step(self) -> None:
        now = self._clock()
        self._bus.step()
        self._watch.step()
        for job in [job for job in self._jobs if job.deadline <= now]:
            job.expire()
        if self._event_at is not None and now >= self._event_at:
            self._event_at, self._last_event = None, now
            for asked in self._asked:
                asked.urgent |= asked.question.cabling
        for asked in self._asked:
            if not asked.running and (asked.urgent or (asked.due_at <= now and len(self._jobs) < AT_ONCE)):
                asked.begin()
                self._next(asked)
        if self._bus.ready and (now >= self._beat_at or (self._answers.waiting and self._quiet(now))):
            self._send()

    def _quiet(self, now: float) -> bool:
        """Whether what is to be sent has waited for the answers that come with it."""
        if self._send_at == 0.0:
            self._send_at = now + TOGETHER_SECONDS
        return now >= self._send_at

    def _sleep(self) -> float:
        now = self._clock()
        times = [self._beat_at if self._bus.ready else self._bus.due_at]
        times += [one.due_at for one in self._asked if not one.running]
        times += [job.deadline for job in self._jobs]
        times += [] if self._watch.running else [self._watch.next_at]
        times += [] if self._event_at is None else [self._event_at]
        times += [self._send_at or now + TOGETHER_SECONDS] if self._bus.ready and self._answers.waiting else []
        if len(self._jobs) >= AT_ONCE:
            times = [at for at in times if at > now]
        return min(max(min(times, default=now + 1.0) - now, 0.002), _LONGEST_SLEEP_SECONDS)

    def _send(self, ends: bool = False) -> None:
        now = self._clock()
        self._send_at, self._beat_at = 0.0, now + self._declared.beat_seconds
        begins = any(not asked.ended for asked in self._asked)
        for message in self._answers.messages(now, self._bus.most_payload, begins=begins, ends=ends):
            self._bus.send(self._subject, message)

    def _next(self, asked: Asked) -> None:
        """Runs the next command of a question, or reads its files."""
        command = asked.left.pop(0)
        asked.tried.append(command)
        reader = asked.reader(command)
        if reader is not None:
            began = self._clock()
            try:
                text = reader.read()
            except OSError:
                text = None
            if text is not None:
                now = self._clock()
                result = Result(command, (began + now) / 2)
                result.output, result.took_seconds = text, now - began
                self._ended(asked, result)
                return
        job = Job(
            command,
            self._selector,
            self._clock,
            self._declared.answer_seconds,
            self._declared.answer_bytes,
            lambda result: self._job_ended(asked, job, result),
        )
        self._jobs.add(job)
        job.start()

    def _job_ended(self, asked: Asked, job: Job, result: Result) -> None:
        self._jobs.discard(job)
        self._ended(asked, result)

    def _ended(self, asked: Asked, result: Result) -> None:
        """After an answer that was too late or too long no other command is tried: it would be no better."""
        changed = self._answers.put(result)
        if changed and (asked.event or (asked.question.cabling and not asked.question.ages)):
            self._answers.mark_event()
        answered = result.status == 0 and not result.why and bool(result.output.strip())
        if not answered and not result.why and asked.left:
            self._next(asked)
            return
        question = asked.question
        asked.running, asked.ended = False, True
        if answered:
            asked.chosen = question.commands.index(result.command)
        elif not result.why:
            asked.chosen = 0
            again = CABLING_AGAIN_SECONDS if question.cabling else AGAIN_SECONDS
            asked.due_at = max(asked.due_at, self._clock() + again * random.uniform(0.9, 1.1))  # noqa: S311 - no secret
        self._answers.keep(asked.tried, question.commands)

    def _changed(self) -> None:
        if self._event_at is None:
            self._event_at = max(self._clock() + TOGETHER_SECONDS, self._last_event + EVENT_SECONDS)

    def _heard(self, data: bytes) -> None:
        """A poller lacks answers, or wants to know who runs. Nothing else can be asked for."""
        now = self._clock()
        if now - self._last_resend < RESEND_SECONDS:
            return
        self._last_resend = now
        if data == b"all":
            self._answers.resend()
        self._beat_at = now


def say(text: str) -> None:
    """A line for the system's log: it has the time."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
