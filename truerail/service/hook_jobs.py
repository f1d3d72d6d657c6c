"""The jobs that a scheduler's hooks report by themselves, over the API: each runs until its end is reported.

They join each snapshot as the answer of a scheduler that is never asked. After a restart they are those that the
journal has as running.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from collector.reported_jobs import MOST_JOBS, MOST_NODES, reported_jobs
from truerail.analysis.running_jobs import RUNNING
from truerail.errors import ConflictError, OutOfBoundsError, QueryError, UnreadableError
from truerail.journal.job_rows import node_names
from truerail.model import Device, Reading, SchedulerJob, Snapshot
from truerail.model.bounds import bounded
from truerail.model.job_record import JobRecord

SOURCE = "reported"
"""In the place of the machine that reported them."""
_COLLECTOR = "reported_jobs"


@dataclass(frozen=True, slots=True)
class JobsTaken:
    """What became of a report: the jobs in it that run, those that ended by it, and all reported jobs that run now."""

    reported: int
    ended: int
    running: int


class ReportedJobs:
    """The running jobs of one service. Any thread may use it."""

    def __init__(self) -> None:
        self._running: dict[str, SchedulerJob] = {}
        self._at: datetime | None = None
        self._lock = threading.Lock()

    def take(self, answer: str, at: datetime, *, complete: bool = False) -> JobsTaken:
        """Takes a report, as the collector `reported_jobs` reads it, as a whole or not at all. `complete`: jobs that it
        does not have have ended. Raises QueryError, ConflictError.
        """
        try:
            facts = bounded(tuple(reported_jobs.parse(answer, Device(SOURCE))))
        except (UnreadableError, OutOfBoundsError) as error:
            raise QueryError(str(error)) from error
        jobs = [fact for fact in facts if isinstance(fact, SchedulerJob)]
        with self._lock:
            after = {} if complete else dict(self._running)
            runs = 0
            for job in jobs:
                key = str(job.job)
                before = after.pop(key, None) or (self._running.get(key) if complete else None)
                if not RUNNING.isdisjoint(job.state.split("+")):
                    runs += 1
                    start = job.start_at if before is None or job.start_at is not None else before.start_at
                    after[key] = job._replace(start_at=start)
                else:  # a component of a heterogeneous job, which the journal has as one
                    after.pop(key.partition("+")[0], None)
            _check(after.values())
            ended = len(self._running.keys() - after.keys())
            self._running, self._at = after, at if self._at is None else max(at, self._at)
            return JobsTaken(runs, ended, len(after))

    def restore(self, runs: Iterable[JobRecord], at: datetime) -> None:
        """Continues with the runs that the journal has as running; what was reported since then counts more."""
        with self._lock:
            known = {run.key: _job(run) for run in runs if run.source == SOURCE}
            if known:
                self._running = {**known, **self._running}
                self._at = at if self._at is None else max(at, self._at)

    def joined(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with these jobs; the same one as long as none was reported."""
        with self._lock:
            if self._at is None:
                return snapshot
            reading = Reading(SOURCE, _COLLECTOR, self._at, tuple(self._running.values()))
        return replace(snapshot, readings=[*snapshot.readings, reading])


def _check(jobs: Iterable[SchedulerJob]) -> None:
    counts = [len(job.nodes) for job in jobs]
    if len(counts) > MOST_JOBS or sum(counts) > MOST_NODES:
        raise ConflictError(
            f"{len(counts):,} reported jobs on {sum(counts):,} nodes would run, at most {MOST_JOBS:,} on "
            f"{MOST_NODES:,} are followed: report those that have ended, or all that run as `complete`"
        )


def _job(run: JobRecord) -> SchedulerJob:
    start = None if run.started_at is None else int(run.started_at.timestamp())
    number = int(run.key) if run.key.isascii() and run.key.isdigit() and len(run.key) < 19 else None
    nodes = tuple(node_names(run.nodes))
    return SchedulerJob(run.key, number, run.name or None, run.user or None, "RUNNING", nodes, run.gpus, start)
