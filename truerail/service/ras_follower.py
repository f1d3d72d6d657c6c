"""NCCL's RAS of the known jobs (`jobs: ras: hosts: auto`): one host of each job on several hosts is asked.

Which jobs run NCCL is not known before: one whose RAS has never answered leaves no trace, and is asked less often. One
that has answered and does not any more is unknown.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from collector import collectors
from truerail.analysis.running_jobs import Jobs
from truerail.errors import TruerailError, UnreadableError
from truerail.model import Device, Fact, Reading, Snapshot, Target
from truerail.model.platforms import NCCL
from truerail.service.job_settings import ras_target
from truerail.transport.command_gate import fits
from truerail.transport.fleet_transport import kind_of
from truerail.transport.protocol import Transport

_COLLECTOR = "nccl_ras"
MOST_JOBS = 1000
"""Most jobs that are followed: those with most hosts."""
_AT_ONCE = 64
PATIENCE = 10
"""A job whose RAS has never answered is asked in one of so many rounds."""
_Run = tuple[str, str, int | None]
Named = Mapping[str, tuple[Target, Device]]


class RasFollower:
    """One for a service. `heard` is called when there are new answers."""

    def __init__(
        self, transport: Callable[[], Transport], clock: Callable[[], datetime], heard: Callable[[], None]
    ) -> None:
        self._open, self._clock, self._heard = transport, clock, heard
        self._transport: Transport | None = None
        self._hosts: dict[_Run, str] = {}
        self._readings: dict[_Run, Reading] = {}
        self._skipped: dict[_Run, int] = {}
        self._turns = asyncio.Semaphore(_AT_ONCE)

    def joined(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the last answers; the same one as long as no job has answered."""
        if not self._readings:
            return snapshot
        return replace(snapshot, readings=[*snapshot.readings, *self._readings.values()])

    async def run(self, jobs: Jobs, named: Named) -> None:
        """One round: a host of each job. Jobs that have ended are forgotten."""
        self._hosts = chosen(jobs, named, self._hosts)
        before = len(self._readings)
        for kept in (self._readings, self._skipped):
            for run in kept.keys() - self._hosts.keys():
                del kept[run]
        due = [run for run in self._hosts if self._is_due(run)]
        if due and self._transport is None:
            self._transport = self._open()
        answers = await asyncio.gather(*(self._ask(named[self._hosts[run]][0]) for run in due))
        for run, reading in zip(due, answers, strict=True):
            if not reading.error or run in self._readings:
                self._readings[run] = reading
            else:
                self._skipped[run] = PATIENCE
        if due or before != len(self._readings):
            self._heard()

    async def forget(self) -> None:
        """Ends all sessions, and drops what was answered: it is not set any more, or the service ends."""
        self._hosts, self._readings, self._skipped = {}, {}, {}
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    def _is_due(self, run: _Run) -> bool:
        left = self._skipped.get(run, 1) - 1
        self._skipped[run] = left
        return left <= 0

    async def _ask(self, host: Target) -> Reading:
        target, found = ras_target(host), collectors()[_COLLECTOR]
        (command,) = [one.text for one in found.ask if fits(one, NCCL)]
        began, at = time.monotonic(), self._clock()
        error = ""
        facts: tuple[Fact, ...] = ()
        async with self._turns:
            try:
                assert self._transport is not None  # noqa: S101 - `run` has opened it
                (answer,) = await self._transport.ask(target, [command])
                error = answer.error
                facts = () if error else found.read(answer.text, Device(target.name))
            except (TruerailError, UnreadableError) as problem:
                error = str(problem)
        return Reading(target.name, _COLLECTOR, at, facts, error, time.monotonic() - began)


def chosen(jobs: Jobs, named: Named, before: Mapping[_Run, str]) -> dict[_Run, str]:
    """One host of each job on several hosts, the one before as long as the job has it: no host for two jobs, since one
    process of a host answers.
    """
    taken: set[str] = set()
    found: dict[_Run, str] = {}
    candidates = [job for job in jobs.running if len(job.hosts) > 1 and job.gpus != 0]
    for job in sorted(candidates, key=lambda one: -len(one.hosts))[:MOST_JOBS]:
        run = (job.source, job.key, job.start_at)
        asked = before.get(run, "")
        for host in (asked, *job.hosts) if asked in job.hosts else job.hosts:
            if host in named and host not in taken and kind_of(named[host][0]) in ("hosts", "local"):
                found[run] = host
                taken.add(host)
                break
    return found
