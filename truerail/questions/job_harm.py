"""Which causes hurt which running jobs, and what that costs in GPU-hours."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.running_jobs import JobSource, RunningJob
from truerail.files.nodesets import fold
from truerail.model.cause_kinds import CAUSE_KINDS, Harm
from truerail.model.columns import Codes, distinct, grouped
from truerail.model.finding import Severity
from truerail.outputs.report_words import count
from truerail.questions.job_answer import Doubts
from truerail.questions.jobs_answer import JobHarm, JobRun
from truerail.questions.rail_status import RailStatus
from truerail.questions.resolve import in_order
from truerail.views.cause_jobs import HurtJob, cause_job, hosts_by_cause, moment
from truerail.views.lines import cause_lines
from truerail.views.view import View

_ON_JOBS = ("JOB009",)
"""Rules with findings on running jobs, whose subject is `source/key@...`."""


def runs_of(
    view: View,
    standing: RailStatus,
    jobs: Sequence[RunningJob],
    sources: Iterable[JobSource],
    ended: Mapping[int, datetime] = MappingProxyType({}),
) -> list[JobRun]:
    """The jobs with what hurts them, in the order given. `ended` are the ends of those that do not run any more, by
    their place: a cause that began later did not hurt them.
    """
    codes = [np.array(sorted(map(view.named, job.hosts)), dtype=np.int64) for job in jobs]
    on_host = grouped((host, number) for number, hosts in enumerate(codes) for host in hosts.tolist())
    hit: list[dict[str, list[int]]] = [{} for _ in jobs]
    for key, hosts in hosts_by_cause(view.sight).items():
        for host in hosts.tolist():
            for number in on_host.get(host, ()):
                hit[number].setdefault(key, []).append(host)
    at = {source.name: source for source in sources}
    beside, doubts, unclear = _beside(view), Doubts(view.sight.evaluation), unclear_above(view)
    each = enumerate(zip(jobs, codes, hit, strict=True))
    runs = [_run(view, standing, job, on, of, at.get(job.source), ended.get(number)) for number, (job, on, of) in each]
    for number, (run, job, hosts) in enumerate(zip(runs, jobs, codes, strict=True)):
        if run.ended is None:
            climbing = climbs(standing, standing.below.of_all(hosts.tolist()))
            above = f"of unknown effect on it: {unclear}" if unclear and climbing else ""
            runs[number] = replace(run, unevaluated=", ".join(filter(None, (doubts.about(job.hosts), above))))
    return [_with(run, beside.get(f"{job.source}/{job.key}", ())) for run, job in zip(runs, jobs, strict=True)]


def climbs(standing: RailStatus, cables: Codes) -> bool:
    """Whether a rail of these cables is on several leaves, so that traffic on it crosses uplinks."""
    rail = standing.index.rail[cables]
    return len(distinct(rail << 32 | (standing.end[cables] + 1))) > len(distinct(rail))


def unclear_above(view: View) -> str:
    """The causes of which it is unknown what they affect, as words; empty for none. Announced work is no fault."""
    sight = view.sight
    found = [
        line
        for line in cause_lines(view)
        if not line.impact_known and not line.muted and Severity(line.severity) is not Severity.INFO
        and CAUSE_KINDS[sight.causes[line.key].kind].harm is not Harm.INTENDED
    ]  # fmt: skip
    if not found:
        return ""
    more = f" and {count(len(found) - 1, 'more cause')}" if len(found) > 1 else ""
    return f"{found[0].kind} at {found[0].subjects[0]}{more}"


def _beside(view: View) -> Mapping[str, Sequence[str]]:
    """What was found on jobs without a cause, by source and key."""
    found = (f for f in view.sight.evaluation.findings if f.rule in _ON_JOBS and f.id not in view.sight.cause_of)
    return grouped((one.subject.rpartition("@")[0], one.summary) for one in found)


def _with(run: JobRun, findings: Sequence[str]) -> JobRun:
    """The run with what was found on it: what that costs is not known."""
    if not findings or run.ended is not None:
        return run
    return replace(run, findings=tuple(findings), gpu_hours=run.gpu_hours if run.harm else None)


def _run(
    view: View,
    standing: RailStatus,
    job: RunningJob,
    hosts: Codes,
    hit: Mapping[str, list[int]],
    source: JobSource | None,
    ended: datetime | None,
) -> JobRun:
    cables = standing.below.of_all(hosts.tolist())
    found = (_harm(view, job, key, on, ended) for key, on in hit.items())
    kept = (one for one in found if ended is None or (one.since is not None and one.since < ended))
    harm = tuple(sorted(kept, key=lambda one: (-(one.gpu_hours or 0.0), -one.hosts_hurt, one.key)))
    hours = [one.gpu_hours for one in harm]
    waits = [one.waiting_hours for one in harm]
    waiting = None if None in waits else round(max((one for one in waits if one is not None), default=0.0), 2)
    return JobRun(
        key=job.key,
        scheduler=job.scheduler,
        name=job.name,
        user=job.user,
        hosts=fold(in_order(view, hosts.tolist())),
        nodes=job.nodes,
        not_in_plan=job.unplanned,
        gpus=job.gpus,
        start=moment(job.start_at),
        end=moment(job.end_at),
        cables=len(cables),
        cables_unknown=int(np.count_nonzero(view.wiring.state[cables] == State.UNKNOWN)),
        harm=harm,
        gpu_hours=None if None in hours else round(sum(one for one in hours if one is not None), 2),
        waiting_hours=waiting,
        as_of=source.at if source else None,
        stale=ended is None and (source is None or bool(source.error)),
        ended=ended,
    )


def _harm(view: View, job: RunningJob, key: str, hosts: list[int], ended: datetime | None) -> JobHarm:
    cause = view.sight.causes[key]
    (line,) = cause_lines(view, [cause])
    lost = cause_job(view.sight, key, HurtJob(job, hosts), line.since, ended or view.at)
    return JobHarm(
        *(key, cause.id, cause.kind.value, line.summary, lost.hosts, lost.hosts_hurt, lost.since),
        *(lost.gpus, lost.waiting, lost.gpu_hours, lost.waiting_hours),
    )
