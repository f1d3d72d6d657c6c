"""Asks Slurm for one job by its id: one that has ended, or that no poll has met."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from collector import collectors
from truerail.errors import TruerailError, UnreadableError
from truerail.files.nodesets import fold
from truerail.model import Device, SchedulerJob, Target
from truerail.model.job_record import JobRecord
from truerail.model.platforms import SLURM, SLURM_API
from truerail.service.logs import logger
from truerail.transport.capture_files import JOB
from truerail.transport.command_gate import fits, job_id
from truerail.transport.protocol import Transport

_AT_ONCE = 2
_KEPT_SECONDS = 30.0
_MOST_KEPT = 100
_COLLECTOR = "slurm_jobs"


class JobFinder:
    """One for a service. `transport` is opened for each question and closed after it: few are asked."""

    def __init__(self, transport: Callable[[], Transport]) -> None:
        self._transport = transport
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._kept: dict[tuple[str, bool, bool], tuple[float, tuple[JobRecord, ...]]] = {}

    async def find(
        self, key: str, targets: Iterable[Target], now: datetime, *, show_users: bool, show_names: bool
    ) -> Sequence[JobRecord]:
        """The runs of a job, the last first; nothing for a name, or where no Slurm knows it."""
        if not job_id(key):
            return ()
        place = (key, show_users, show_names)
        async with self._turn:
            at, found = self._kept.get(place, (0.0, ()))
            if at and time.monotonic() - at < _KEPT_SECONDS:
                return found
            asked = [one for one in targets if one.platform in (SLURM, SLURM_API)]
            answered = [run for target in asked for run in await self._of(target, key, now, show_users, show_names)]
            found = tuple(sorted(answered, key=lambda run: run.begun_at, reverse=True))
            while len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[place] = (time.monotonic(), found)
            return found

    async def _of(self, target: Target, key: str, now: datetime, users: bool, names: bool) -> list[JobRecord]:
        declared = [
            one for one in collectors()[_COLLECTOR].ask if fits(one, target.platform) and one.text.endswith(JOB)
        ]
        texts: list[str] = []
        transport = self._transport()
        try:
            for command in declared:
                (answer,) = await transport.ask(target, [command.text.removesuffix(JOB) + key])
                texts += [answer.text] if not answer.error else []
        except TruerailError as error:
            logger().warning("a job was not asked for", job=key, of=target.name, why=str(error))
        finally:
            await transport.close()
        jobs = [job for text in texts for job in _jobs(text) if _of_key(job, key)]
        return _runs(target, jobs, now, users, names)


def _jobs(text: str) -> list[SchedulerJob]:
    try:
        found = collectors()[_COLLECTOR].read(text, Device(_COLLECTOR))
    except UnreadableError as error:
        logger().warning("an answer about one job is not understood", why=str(error))
        return []
    return [job for job in found if isinstance(job, SchedulerJob)]


def _of_key(job: SchedulerJob, key: str) -> bool:
    """Whether a record is of the job that was asked for, of its array or of its heterogeneous job."""
    name = job.job or ""
    return key in (name, str(job.job_id)) or name.partition("_")[0] == key or name.partition("+")[0] == key


def _runs(
    target: Target, jobs: Iterable[SchedulerJob], now: datetime, show_users: bool, show_names: bool
) -> list[JobRecord]:
    """The runs that had nodes: components of a heterogeneous job are one, and what two answers have is one."""
    groups: dict[tuple[str, int], dict[str, SchedulerJob]] = {}
    for job in jobs:
        name = job.job or str(job.job_id)
        if job.nodes and job.start_at is not None and "PENDING" not in job.state.split("+"):
            groups.setdefault((name.partition("+")[0], job.start_at), {}).setdefault(name, job)
    found = []
    for (key, start), records in groups.items():
        parts = list(records.values())
        counts = [part.gpus for part in parts]
        begun = datetime.fromtimestamp(start, UTC)
        ends = [part.end_at for part in parts if "RUNNING" not in part.state.split("+")]
        ended = datetime.fromtimestamp(max(filter(None, ends)), UTC) if len(ends) == len(parts) and all(ends) else None
        name, user = (parts[0].name or "") if show_names else "", (parts[0].user or "") if show_users else ""
        nodes = fold(tuple(dict.fromkeys(node for part in parts for node in part.nodes)))
        gpus = None if None in counts else sum(one for one in counts if one is not None)
        found.append(JobRecord(0, target.name, "slurm", key, name, user, nodes, gpus, begun, begun, ended, ended))
    return found
