"""Runs a probe plan over a fleet: logs in to all hosts first, then starts them at one time by their clocks."""

import asyncio
import json
import math
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Generic, TypeVar

import msgspec

from truerail.errors import TransportError
from truerail.model import Target
from truerail.probe.heavy import HeavyPlan
from truerail.probe.host_tasks import ProbePlan
from truerail.transport.probe_session import ProbeSessions

CLOCK_SECONDS = 1.0
"""A host whose clock is off by more does not take part: its listener would begin too late."""
_SLACK_SECONDS = 15.0
"""How long a host may take to print its counts after the end."""
Progress = Callable[[int, int, int, int], None]
"""Hosts that are done, hosts, packets sent by now, packets planned."""


P = TypeVar("P", ProbePlan, HeavyPlan)
"""What hosts are given to do: packets, or tests of RDMA."""


class Run(Generic[P]):
    """One run. `answers` are the recordings by host as they come. `piped` is the script that goes along, if any."""

    def __init__(self, plan: P, targets: Mapping[str, Target], *, piped: bytes | None, progress: Progress) -> None:
        self.plan: P = plan
        self.answers: dict[str, str] = {}
        self._targets = targets
        self._script = piped
        self._progress = progress
        self._sent: dict[str, int] = {}
        self._planned = 0
        self._failed: dict[str, str] = {}
        self._offset = 0.0

    async def go(self, sessions: ProbeSessions, stop: asyncio.Event) -> None:
        """The whole run; `stop` ends it early, with what came by then."""
        self._offset = time.time() - time.monotonic()
        await asyncio.gather(*(self._connect(sessions, host) for host in self.plan.hosts))
        if stop.is_set():
            return
        self.plan = self.plan.without(self._failed)
        start_at = self._now() + self.plan.lead_seconds
        self._planned = self.plan.total
        async with asyncio.TaskGroup() as group:
            for host in self.plan.hosts:
                group.create_task(self._probe(sessions, host, start_at, stop))

    @property
    def left_out(self) -> dict[str, str]:
        """Hosts without an answer of their own that were to take part, and why."""
        return dict(self._failed)

    @property
    def sent(self) -> int:
        """Packets that hosts have reported as sent."""
        return sum(self._sent.values())

    def reject(self, unread: Mapping[str, str]) -> None:
        """Takes the answers of hosts as not given that are not understood, and why."""
        for host, why in unread.items():
            del self.answers[host]
            self._failed[host] = why

    def recordings(self, lacking: Mapping[str, str] | None = None) -> dict[str, str]:
        """The recording of each host of the plan: its own, or one that says why there is none. `lacking` has reasons
        beside those of the run itself.
        """
        found, lacking = {}, lacking or {}
        for host in self.plan.members:
            why = (
                self._failed.get(host)
                or self.plan.left_out.get(host)
                or lacking.get(host)
                or "ended before its answer came"
            )
            found[host] = self.answers.get(host) or json.dumps(self.plan.recording_of(host, why)) + "\n"
        return found

    def _now(self) -> float:
        """The time by our clock as it was when the run began: where it is set meanwhile, no host's start moves."""
        return self._offset + time.monotonic()

    async def _connect(self, sessions: ProbeSessions, host: str) -> None:
        try:
            await sessions.connect(self._targets[host])
        except TransportError as error:
            self._failed[host] = f"no login: {error}"

    def _given(self, host: str, start_at: float) -> bytes:
        """The tasks of a host as one line; with limits where it has no file of them."""
        tasks = self.plan.tasks(host, start_at)
        if self._script is not None:
            tasks["limits"] = self.plan.limits(host)
        return msgspec.json.encode(tasks) + b"\n"

    async def _probe(self, sessions: ProbeSessions, host: str, start_at: float, stop: asyncio.Event) -> None:
        begun, off = math.inf, asyncio.Event()

        def given() -> bytes:
            nonlocal begun
            begun = self._now()
            return self._given(host, start_at)

        def say(line: str) -> None:
            word, _, rest = line.partition(" ")
            if word == "sent" and rest.partition(" ")[0].isdigit():
                self._sent[host] = int(rest.partition(" ")[0])
                self._show()
            elif word == "clock" and _is_off(rest, begun, self._now()):
                self._failed[host] = f"its clock is off: it says {rest}, and it is {self._now():.3f}"
                off.set()

        try:
            answer = await sessions.run(
                self._targets[host],
                given,
                script=self._script,
                seconds=self.plan.seconds + self.plan.lead_seconds + _SLACK_SECONDS,
                stops=(stop, off),
                say=say,
            )
            if host not in self._failed:
                self.answers[host] = answer
        except TransportError as error:
            self._failed.setdefault(host, str(error))
        self._show()

    def _show(self) -> None:
        done = len(self.answers) + len(self._failed)
        self._progress(done, len(self.plan.hosts), sum(self._sent.values()), self._planned)


def _is_off(reported: str, earliest: float, latest: float) -> bool:
    """Whether a host's clock, read between two times of ours, is off by more than it may be. Unix seconds."""
    try:
        clock = float(reported)
    except ValueError:
        return False
    return not earliest - CLOCK_SECONDS <= clock <= latest + CLOCK_SECONDS


def script(name: str = "host_script.py") -> bytes:
    """A script that runs on hosts, as it is shipped."""
    return files("truerail.probe").joinpath(name).read_bytes()
