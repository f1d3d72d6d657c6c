"""The running jobs that each cause affects, and what that costs in GPU-hours.

GPU-hours affected are those of GPUs whose rail the cause lies on, while both the cause and the job last. The others of
a job wait: in a synchronous job all do. Which of a host's GPUs a job has is not known where it has only some of them:
then as many of them are affected as the cause affects, at most all that the job has there. Where a host has more GPUs
than the plan knows, they share its rails evenly.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from truerail.analysis.explained import hosts_affected
from truerail.analysis.published import EvaluatedRound
from truerail.analysis.running_jobs import RunningJob
from truerail.files.nodesets import fold
from truerail.model.columns import Codes, grouped
from truerail.model.names import printable, some
from truerail.views.layout import Layout
from truerail.views.pieces import CauseJob
from truerail.views.view import EvaluationIndex

MOST_NAMED = 3
MOST_JOBS = 20
"""Most jobs with each cause, the worst first."""


class AffectedJob(NamedTuple):
    """A running job, and the codes of its hosts that a cause affects."""

    job: RunningJob
    hosts: list[int]


def hosts_by_cause(index: EvaluationIndex) -> Mapping[str, Codes]:
    """The hosts that each cause affects, by its key, ascending; without causes that affect none."""
    found = {key: hosts_affected(index.wiring, cause, index.affected[key]) for key, cause in index.causes.items()}
    return {key: hosts for key, hosts in found.items() if len(hosts)}


def jobs_by_cause(evaluated: EvaluatedRound) -> Mapping[str, Sequence[AffectedJob]]:
    """The running jobs that each cause affects, by its key, those with most hosts on it first."""
    index, running = evaluated.once(EvaluationIndex), evaluated.round.jobs.running
    if not running:
        return {}
    names = index.index.devices.names
    on_host = grouped((host, job) for job in running for host in job.hosts)
    found: dict[str, Sequence[AffectedJob]] = {}
    for key, hosts in hosts_by_cause(index).items():
        hit: dict[int, AffectedJob] = {}
        for code in hosts.tolist():
            for job in on_host.get(names[code], ()):
                hit.setdefault(id(job), AffectedJob(job, [])).hosts.append(code)
        if hit:
            found[key] = sorted(hit.values(), key=lambda one: (-len(one.hosts), -(one.job.gpus or 0), one.job.key))
    return found


def cause_jobs(index: EvaluationIndex, key: str, hit: Iterable[AffectedJob], since: datetime | None) -> list[CauseJob]:
    """The jobs that a cause affects, which began at `since`; the worst first."""
    found = [cause_job(index, key, one, since, index.evaluation.at) for one in hit]
    return sorted(found, key=lambda one: (-(one.gpu_hours or 0.0), -one.hosts_affected, one.key))


def cause_job(index: EvaluationIndex, key: str, one: AffectedJob, began: datetime | None, until: datetime) -> CauseJob:
    job, layout = one.job, index.layout
    begun = scheduler_time(job.start_at)
    since = None if began is None else max(began, begun) if begun else began
    gpus = gpus_affected(layout, index.index.a_device, job, index.affected[key], one.hosts)
    waiting = None if gpus is None or job.gpus is None else job.gpus - gpus
    lasts = None if since is None else max((until - since).total_seconds(), 0.0) / 3600
    ranked = sorted(one.hosts, key=lambda code: int(layout.rank[code]))
    return CauseJob(
        key=job.key,
        scheduler=job.scheduler,
        name=job.name,
        user=job.user,
        hosts=fold([index.index.devices.names[code] for code in ranked]),
        hosts_affected=len(one.hosts),
        nodes=job.nodes,
        since=since,
        gpus=gpus,
        waiting=waiting,
        gpu_hours=hours_of(gpus, lasts),
        waiting_hours=hours_of(waiting, lasts),
    )


def gpus_affected(layout: Layout, a_device: Codes, job: RunningJob, cables: Codes, hosts: Iterable[int]) -> int | None:
    """The job's GPUs on these hosts that a cause of these cables affects; None where their number is unknown."""
    each = job.gpus_on_a_node
    if each is None or job.gpus is None:
        return None
    found = 0.0
    for host in hosts:
        planned = layout.gpus_on(layout.host_cables_of(host))
        own = cables[a_device[cables] == host]
        hit = layout.gpus_on(own) * max(each / planned, 1.0) if planned else each
        found += min(hit or each, each)
    return min(round(found), job.gpus)


def hours_of(gpus: int | None, hours: float | None) -> float | None:
    """GPU-hours; None if either is unknown."""
    return None if gpus is None or hours is None else round(gpus * hours, 2)


def scheduler_time(seconds: int | None) -> datetime | None:
    """A scheduler's time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def named_jobs(hit: Sequence[AffectedJob]) -> str:
    """`job 1234 (llama)`, `jobs 1, 2, 3 and 4 more`; empty for none."""
    if not hit:
        return ""
    return f"job{'s' if len(hit) > 1 else ''} {some([job_words(one.job) for one in hit], MOST_NAMED)}"


def job_words(job: RunningJob) -> str:
    """`1234 (llama)`."""
    key = printable(job.key, 80)
    return f"{key} ({printable(job.name, 40)})" if job.name and job.name != job.key.partition("/")[2] else key
