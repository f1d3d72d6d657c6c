"""The runs of jobs, round by round: which began, which changed, which ended.

Only the answer of its own scheduler ends a run: one that is not answered leaves its jobs as they were. One that is no
longer asked says nothing more of its jobs: their runs end with its last answer.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from truerail.analysis.running_jobs import Jobs, RunningJob
from truerail.files.nodesets import fold
from truerail.journal.types import digest, microseconds
from truerail.model.job_record import JobRecord

_Run = tuple[str, str, int | None]
"""Source, key and begin of a run."""


class JobMemory:
    """The runs that have not ended."""

    def __init__(self) -> None:
        self._open: dict[_Run, JobRecord] = {}
        self._known: dict[_Run, RunningJob] = {}
        self._seen: dict[str, datetime] = {}
        """When each source last answered."""
        self._replaced: list[JobRecord] = []
        """Runs of the journal that were found again under another number."""

    def restore(self, runs: Iterable[JobRecord], at: datetime) -> None:
        """Restores the runs that were open in the newest round of the journal, at `at`."""
        for run in runs:
            begin = None if run.started_at is None else int(run.started_at.timestamp())
            place = (run.source, run.key, begin)
            self._seen.setdefault(run.source, at)
            mine = self._open.setdefault(place, run)
            if mine.id != run.id:
                self._replaced.append(replace(run, last_seen=at, ended_at=mine.first_seen))

    def update(self, jobs: Jobs, polled: Collection[str] | None = None) -> tuple[JobRecord, ...]:
        """The runs to write after a round: new ones, changed ones, and those that have ended. `polled` are the machines
        that are asked, None if that is not known.
        """
        written, self._replaced = self._replaced, []
        answered = {source.name: source.at for source in jobs.sources if source.at is not None and not source.error}
        present: set[_Run] = set()
        for job in jobs.running:
            place = (job.source, job.key, job.start_at)
            present.add(place)
            at = answered.get(job.source)
            if at is not None and self._known.get(place) != job:
                self._known[place] = job
                run = _record(job, at, self._open.get(place))
                if run != self._open.get(place):
                    self._open[place] = run
                    written.append(run)
        for place in [one for one in self._open if one[0] in answered and one not in present]:
            run, at = self._open.pop(place), answered[place[0]]
            self._known.pop(place, None)
            written.append(replace(run, last_seen=self._seen.get(place[0], run.first_seen), ended_at=at))
        self._seen |= answered
        if polled is not None:
            sources = {source.name for source in jobs.sources}.union(polled)
            written += self._dropped([one for one in self._open if one[0] not in sources])
        return tuple(written)

    def _dropped(self, places: Iterable[_Run]) -> Iterator[JobRecord]:
        """The runs of schedulers that are no longer asked."""
        for place in places:
            run = self._open.pop(place)
            self._known.pop(place, None)
            seen = self._seen.get(place[0], run.first_seen)
            yield replace(run, last_seen=seen, ended_at=seen)


def _record(job: RunningJob, at: datetime, known: JobRecord | None) -> JobRecord:
    begun = None if job.start_at is None else datetime.fromtimestamp(job.start_at, UTC)
    first = at if known is None else known.first_seen
    begin = microseconds(first) if begun is None else job.start_at
    return JobRecord(
        id=digest(f"{job.source}\0{job.key}\0{begin}") if known is None else known.id,
        source=job.source,
        scheduler=job.scheduler,
        key=job.key,
        name=job.name,
        user=job.user,
        nodes=fold((*job.hosts, *job.unplanned)),
        gpus=job.gpus,
        started_at=begun,
        first_seen=first,
    )
