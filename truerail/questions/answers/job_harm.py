"""Which causes hurt which running jobs, and what that costs in GPU-hours.

GPU-hours hurt are those of GPUs whose rail the cause lies on, while both the cause and the job last. The others of a
job wait: in a synchronous job all do. Which of a host's GPUs a job has is not known where it has only some of them:
then as many of them are hurt as the cause affects, at most all that the job has there. Where a host has more GPUs than
the plan knows, they share its rails evenly.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.jobs import JobSource, RunningJob
from truerail.files.nodesets import fold
from truerail.model.columns import Codes
from truerail.model.finding import Cause, CauseKind
from truerail.questions.answers.rail_status import RailStatus
from truerail.questions.answers.subjects import in_order
from truerail.questions.jobs import JobHarm, JobRun
from truerail.views.impact import STARVING
from truerail.views.lines import cause_lines
from truerail.views.view import View

_HARMLESS = (CauseKind.UNREACHABLE, CauseKind.MAINTENANCE)
"""Kinds of causes that say that something is unknown or intended: no job is hurt by them."""


def hosts_hurt(view: View) -> Mapping[str, Codes]:
    """The hosts that each cause hurts, by its key, ascending."""
    return {key: _hosts(view, key, cause) for key, cause in view.sight.causes.items() if _hurts(cause)}


def _hurts(cause: Cause) -> bool:
    return cause.kind not in _HARMLESS and not cause.names_only and not cause.undecided


def _hosts(view: View, key: str, cause: Cause) -> Codes:
    found = {*view.index.a_device[view.sight.affected[key]].tolist()}
    if cause.kind in STARVING or cause.kind is CauseKind.GPU_NIC_ORDER:
        found.update(view.device(subject) for subject in cause.subjects)
    return np.array(sorted(code for code in found if code >= 0 and view.index.devices.is_host(code)), dtype=np.int64)


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
    on_host: dict[int, list[int]] = {}
    for number, hosts in enumerate(codes):
        for host in hosts.tolist():
            on_host.setdefault(host, []).append(number)
    hit: list[dict[str, list[int]]] = [{} for _ in jobs]
    for key, hosts in hosts_hurt(view).items():
        for host in hosts.tolist():
            for number in on_host.get(host, ()):
                hit[number].setdefault(key, []).append(host)
    at = {source.name: source for source in sources}
    return [
        _run(view, standing, job, hosts, found, at.get(job.source), ended.get(number))
        for number, (job, hosts, found) in enumerate(zip(jobs, codes, hit, strict=True))
    ]


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
    found = (_harm(view, job, cables, key, on, ended) for key, on in hit.items())
    harm = tuple(sorted((one for one in found if ended is None or _before(one.since, ended)), key=_by_harm))
    hours = [one.gpu_hours for one in harm]
    waiting = [one.waiting_hours for one in harm]
    return JobRun(
        key=job.key,
        scheduler=job.scheduler,
        name=job.name,
        user=job.user,
        hosts=fold(in_order(view, hosts.tolist())),
        nodes=job.nodes,
        not_in_plan=job.unplanned,
        gpus=job.gpus,
        start=_moment(job.start_at),
        end=_moment(job.end_at),
        cables=len(cables),
        cables_unknown=int(np.count_nonzero(view.wiring.state[cables] == State.UNKNOWN)),
        harm=harm,
        gpu_hours=None if None in hours else round(sum(one for one in hours if one is not None), 2),
        waiting_hours=None
        if None in waiting
        else round(max((one for one in waiting if one is not None), default=0.0), 2),
        as_of=source.at if source else None,
        stale=ended is None and (source is None or bool(source.error)),
        ended=ended,
    )


def _before(since: datetime | None, ended: datetime) -> bool:
    return since is not None and since < ended


def _by_harm(one: JobHarm) -> tuple[float, int, str]:
    return (-(one.gpu_hours or 0.0), -one.hosts_hurt, one.key)


def _harm(view: View, job: RunningJob, cables: Codes, key: str, hosts: list[int], ended: datetime | None) -> JobHarm:
    cause = view.sight.causes[key]
    (line,) = cause_lines(view, [cause])
    begun = _moment(job.start_at)
    since = None if line.since is None else max(line.since, begun) if begun else line.since
    gpus = _gpus(view, job, cables, view.sight.affected[key], hosts)
    waiting = None if gpus is None or job.gpus is None else job.gpus - gpus
    lasts = None if since is None else max(((ended or view.at) - since).total_seconds(), 0.0) / 3600
    return JobHarm(
        key=key,
        id=cause.id,
        kind=cause.kind.value,
        summary=line.summary,
        hosts=fold(in_order(view, hosts)),
        hosts_hurt=len(hosts),
        since=since,
        gpus=gpus,
        waiting=waiting,
        gpu_hours=_hours(gpus, lasts),
        waiting_hours=_hours(waiting, lasts),
    )


def _gpus(view: View, job: RunningJob, cables: Codes, affected: Codes, hosts: list[int]) -> int | None:
    """The job's GPUs that a cause affects; None where it is not known how many the job has."""
    each = job.gpus_on_a_node
    if each is None or job.gpus is None:
        return None
    own = np.intersect1d(cables, affected)
    device = view.index.a_device[own]
    found = 0.0
    for host in hosts:
        planned = view.layout.gpus_on(cables[view.index.a_device[cables] == host])
        hit = view.layout.gpus_on(own[device == host]) * max(each / planned, 1.0) if planned else each
        found += min(hit or each, each)
    return min(round(found), job.gpus)


def _hours(gpus: int | None, hours: float | None) -> float | None:
    return None if gpus is None or hours is None else round(gpus * hours, 2)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
