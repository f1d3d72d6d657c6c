"""`jobs`: the running jobs by what affects them; with `--since` also those that have ended. Which causes affect which
jobs, and what that costs in GPU-hours.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.analysis.running_jobs import Jobs as KnownJobs
from truerail.analysis.running_jobs import JobSource, RunningJob
from truerail.errors import QueryError
from truerail.files.nodesets import Budget, expand, fold
from truerail.model.cause_kinds import CAUSE_KINDS, Harm
from truerail.model.columns import Codes, distinct, grouped
from truerail.model.finding import Severity
from truerail.model.history import History, RowRange
from truerail.model.job_record import JobRecord
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.blast import hosts_below, target_of
from truerail.questions.job_answer import Doubts
from truerail.questions.jobs_answer import JobHarm, JobRun, Jobs, Scheduler, jobs_text
from truerail.questions.moments import moment
from truerail.questions.question import Asked, Form, Given, Journal, Option, Question
from truerail.questions.rail_status import RailStatus, rail_status_of
from truerail.questions.resolve import in_order
from truerail.views.cause_jobs import AffectedJob, cause_job, hosts_by_cause, scheduler_time
from truerail.views.lines import cause_lines
from truerail.views.pieces import CauseLine
from truerail.views.view import View, view_of

MOST_JOBS = 1000
"""Most jobs in an answer, the worst first."""
ENDED = "ended"
_STATES: Mapping[str, Callable[[JobRun], bool]] = {
    "affected": lambda run: run.affected,
    "running": lambda run: run.ended is None,
    ENDED: lambda run: run.ended is not None,
}
MOST_RUNS = 10_000
"""Most runs that are read from the journal."""
FAULT = "fault"


def jobs(publication: Published, on: str | None, state: str | None = None) -> Jobs:
    """The running jobs, the worst first; those on something, or that a cause affects, or in a state. Raises
    NotFoundError and QueryError for an unknown name.
    """
    if state == ENDED:
        raise QueryError(f"jobs that have {ENDED} need a time: since")
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    known = publication.round.jobs
    hosts = None if on is None else hosts_on(view, standing, on)
    wanted = [job for job in known.running if hosts is None or not hosts.isdisjoint(job.hosts)]
    runs = in_state(runs_of(view, standing, wanted, known.sources), state)
    return answer_of(known, runs, on, _summary(known, runs, on))


def in_state(runs: list[JobRun], state: str | None) -> list[JobRun]:
    """The jobs in a state; all of them without one. Raises QueryError for another word."""
    if state is None:
        return runs
    if state not in _STATES:
        raise QueryError(f"no state {printable(state, 40)!r}: {', '.join(_STATES)}")
    return [run for run in runs if _STATES[state](run)]


def answer_of(known: KnownJobs, runs: list[JobRun], on: str | None, summary: str) -> Jobs:
    """The answer with these jobs, the worst first."""
    runs.sort(key=lambda run: (-(run.gpu_hours or 0.0), -len(run.harm), -len(run.findings), -(run.gpus or 0), run.key))
    return Jobs(
        query=on,
        known=known.known,
        schedulers=tuple(Scheduler(one.name, one.scheduler, one.at, one.error) for one in known.sources),
        jobs=tuple(runs[:MOST_JOBS]),
        running=sum(run.ended is None for run in runs),
        affected=sum(run.affected for run in runs),
        summary=summary,
        action=_action(known),
    )


def hosts_on(view: View, standing: RailStatus, on: str) -> set[str]:
    """The hosts that something concerns: a cause, or a device, port, rail or pod. Raises NotFoundError, QueryError."""
    keys = [key for key, cause in view.sight.causes.items() if on in (key, cause.id)]
    hosts: Codes
    if keys:
        hosts = hosts_by_cause(view.sight).get(keys[0], np.empty(0, dtype=np.int64))
    else:
        target = target_of(view, standing, on)
        of_cables = distinct(view.index.a_device[target.host_cables])
        hosts = of_cables if len(of_cables) else hosts_below(standing, target)
    return {view.index.devices.names[code] for code in hosts.tolist()}


def _summary(known: KnownJobs, runs: list[JobRun], on: str | None) -> str:
    if not known.sources:
        return "No scheduler is asked for jobs, so none is known"
    place = "" if on is None else f" on {printable(on, 80)}"
    away = "".join(f"; {since(one.name, one.at, one.error)}" for one in known.away)
    if not runs:
        return f"No job runs{place}{away}" if not away else f"No running job{place} is known{away}"
    many = f"{count(len(runs), 'job')} run{'s' if len(runs) == 1 else ''}{place}"
    unseen = sum(bool(run.unseen) and not run.affected for run in runs)
    beside = f"; of {unseen:,} it is not known" if unseen else ""
    affected = [run for run in runs if run.affected]
    if not affected:
        return f"{many}, none is known to be affected by a fault of the network{beside}{away}"
    return f"{many}, {_affected_words(affected, 'is', 'are')}{beside}{away}"


def _affected_words(affected: Sequence[JobRun], verb: str, plural: str) -> str:
    """How many jobs are affected, and what that costs so far."""
    hours = [run.gpu_hours for run in affected]
    known = [one for one in hours if one is not None]
    lost = f"{sum(known):,.1f} GPU-hours so far{' or more' if None in hours else ''}" if known else "GPU-hours unknown"
    return f"{len(affected):,} {verb if len(affected) == 1 else plural} affected: {lost}"


def since(name: str, at: object, error: str) -> str:
    """How old what a scheduler said is, and why."""
    known = "unknown" if at is None else f"as of {time_words(at)}"
    return f"{name} does not answer ({printable(error, 120)}), its jobs are {known}"


def time_words(at: object) -> str:
    """A time in a sentence."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _action(known: KnownJobs) -> str:
    if not known.sources:
        return "Name a scheduler in the settings: jobs: {slurm: {via: local}}."
    return f"Check the access to {known.away[0].name}." if known.away else ""


def jobs_since(
    publication: Published, on: str | None, begin: str, history: History, now: datetime, state: str | None = None
) -> Jobs:
    """The jobs since a time, the worst first; those on something, or in a state. GPU-hours are those of causes that are
    open now.

    Raises NotFoundError and QueryError, and JournalUnavailableError.
    """
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    known = publication.round.jobs
    hosts = None if on is None else hosts_on(view, standing, on)
    start = _begin(view, on, hosts, begin, now)
    running = [job for job in known.running if hosts is None or not hosts.isdisjoint(job.hosts)]
    present = {(job.source, job.key, job.start_at) for job in running}
    records = history.job_runs(start, now, hosts=hosts, page=RowRange(MOST_RUNS + 1))
    former = [one for one in records[:MOST_RUNS] if (one.source, one.key, _seconds(one.started_at)) not in present]
    jobs = [*running, *(job_of(view, one) for one in former)]
    asked_at = {source.name: source.at for source in known.sources if not source.error}
    ends = ((place, one.ended_at or asked_at.get(one.source)) for place, one in enumerate(former, len(running)))
    ended = {place: at for place, at in ends if at is not None}
    runs = in_state(runs_of(view, standing, jobs, known.sources, ended), state)
    away = "".join(f"; {since(one.name, one.at, one.error)}" for one in known.away)
    more = f"; the journal has more than these {MOST_RUNS:,} runs" if len(records) > MOST_RUNS else ""
    kept = history.kept_since()
    early = f"; the journal begins {time_words(kept)}" if kept is not None and kept > start else ""
    summary = f"{_summary_since(runs, on, start)}{early}{more}{away}"
    if not known.sources and not runs:
        summary = f"No scheduler is asked for jobs, and the journal has none since {time_words(start)}"
    return replace(answer_of(known, runs, on, summary), since=start, ended=sum(run.ended is not None for run in runs))


def _begin(view: View, on: str | None, hosts: set[str] | None, begin: str, now: datetime) -> datetime:
    if begin.strip().lower() != FAULT:
        return moment(begin, now)
    codes = {view.device(name) for name in hosts or ()}
    affected = hosts_by_cause(view.sight).items()
    there = (key for key, found in affected if hosts is None or not codes.isdisjoint(found.tolist()))
    begun = [view.cause_lives[key].since for key in there if key in view.cause_lives]
    if not begun:
        place = "the fabric" if on is None else printable(on, 80)
        raise QueryError(f"no fault affects {place} now, so there is no time since it began: give one, such as 2h")
    return min(begun)


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())


def job_of(view: View, run: JobRecord) -> RunningJob:
    """A run of the journal as a job on the plan's hosts."""
    names = expand(run.nodes, Budget()) if run.nodes else []
    codes = {name: view.device(name) for name in names}
    hosts = {view.index.devices.names[code] for code in codes.values() if view.is_planned(code)}
    strange = tuple(name for name, code in codes.items() if not view.is_planned(code))
    begun = int(run.begun_at.astimezone(UTC).timestamp())
    return RunningJob(run.key, run.scheduler, run.source, run.name, run.user, tuple(hosts), strange, run.gpus, begun)


def _summary_since(runs: list[JobRun], on: str | None, start: datetime) -> str:
    place = "" if on is None else f" on {printable(on, 80)}"
    when = f"{place} since {time_words(start)}"
    if not runs:
        return f"No job ran{when}"
    ended = sum(run.ended is not None for run in runs)
    gone = f", {ended:,} of them {'has' if ended == 1 else 'have'} ended" if ended else ""
    affected = [run for run in runs if run.affected]
    many = f"{count(len(runs), 'job')} ran{when}{gone}"
    if not affected:
        return f"{many}; none is known to be affected by a fault that is open"
    return f"{many}; {_affected_words(affected, 'is or was', 'are or were')}"


# ----------------------------------------------------------------------------------------------------------------------
# What affects which job, and what that costs.


_ON_JOBS = ("JOB009",)
"""Rules with findings on running jobs, whose subject is `source/key@...`."""


def runs_of(
    view: View,
    standing: RailStatus,
    jobs: Sequence[RunningJob],
    sources: Iterable[JobSource],
    ended: Mapping[int, datetime] = MappingProxyType({}),
) -> list[JobRun]:
    """The jobs with what affects them, in the order given. `ended` are the ends of those that do not run any more, by
    their place: a cause that began later did not affect them.
    """
    codes = [np.array(sorted(map(view.named, job.hosts)), dtype=np.int64) for job in jobs]
    on_host = grouped((host, number) for number, hosts in enumerate(codes) for host in hosts.tolist())
    hit: list[dict[str, list[int]]] = [{} for _ in jobs]
    for key, hosts in hosts_by_cause(view.sight).items():
        for host in hosts.tolist():
            for number in on_host.get(host, ()):
                hit[number].setdefault(key, []).append(host)
    at = {source.name: source for source in sources}
    beside, doubts, unclear = _beside(view), Doubts(view.sight.evaluation), unclear_words(unclear_above(view))
    each = enumerate(zip(jobs, codes, hit, strict=True))
    runs = [_run(view, standing, job, on, of, at.get(job.source), ended.get(number)) for number, (job, on, of) in each]
    for number, (run, job, hosts) in enumerate(zip(runs, jobs, codes, strict=True)):
        if run.ended is None:
            climbing = climbs(standing, standing.below.of_all(hosts.tolist()))
            above = f"of unknown effect on it: {unclear}" if unclear and climbing else ""
            found = tuple(beside.get(f"{job.source}/{job.key}", ()))
            hours = run.gpu_hours if run.harm or not found else None  # what findings cost is not known
            unevaluated = ", ".join(filter(None, (doubts.about(job.hosts), above)))
            runs[number] = replace(run, unevaluated=unevaluated, findings=found, gpu_hours=hours)
    return runs


def climbs(standing: RailStatus, cables: Codes) -> bool:
    """Whether a rail of these cables is on several leaves, so that traffic on it crosses uplinks."""
    rail = standing.index.rail[cables]
    return len(distinct(rail << 32 | (standing.end[cables] + 1))) > len(distinct(rail))


def unclear_above(view: View) -> list[CauseLine]:
    """The causes of which it is unknown what they affect. Announced work is no fault."""
    loud = [line for line in cause_lines(view) if not line.muted and line.severity != Severity.INFO.value]
    kinds = {key: CAUSE_KINDS[cause.kind] for key, cause in view.sight.causes.items()}
    return [line for line in loud if not line.impact_known and kinds[line.key].harm is not Harm.INTENDED]


def unclear_words(found: Sequence[CauseLine]) -> str:
    """The first of them by kind and place, and the number of others; empty without any."""
    more = f" and {count(len(found) - 1, 'more cause')}" if len(found) > 1 else ""
    return f"{found[0].kind} at {found[0].subjects[0]}{more}" if found else ""


def _beside(view: View) -> Mapping[str, Sequence[str]]:
    """What was found on jobs without a cause, by source and key."""
    found = (f for f in view.sight.evaluation.findings if f.rule in _ON_JOBS and f.id not in view.sight.cause_of)
    return grouped((one.subject.rpartition("@")[0], one.summary) for one in found)


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
    harm = tuple(sorted(kept, key=lambda one: (-(one.gpu_hours or 0.0), -one.hosts_affected, one.key)))
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
        start=scheduler_time(job.start_at),
        end=scheduler_time(job.end_at),
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
    lost = cause_job(view.sight, key, AffectedJob(job, hosts), line.since, ended or view.at)
    return JobHarm(
        *(key, cause.id, cause.kind.value, line.summary, lost.hosts, lost.hosts_affected, lost.since),
        *(lost.gpus, lost.waiting, lost.gpu_hours, lost.waiting_hours),
    )


def _find(asked: Asked, given: Given) -> Jobs:
    if given["since"] is None:
        return jobs(asked.publication, given["on"], given["state"])
    return jobs_since(asked.publication, given["on"], given["since"], asked.history, asked.now, given["state"])


def _good(answer: Jobs) -> bool | None:
    if answer.affected:
        return False
    seen = answer.known and not any(one.error for one in answer.schedulers)
    return True if seen and not any(run.unseen for run in answer.jobs) else None


QUESTION = Question(
    "jobs",
    Jobs,
    (
        Option(
            "on",
            help="Only jobs on this: gpu-012, gpu-012/mlx5_3, leaf-3, 'rail 3', or the key of a cause.",
            metavar="NAME",
            label="On",
            example="leaf-3",
        ),
        Option(
            "since",
            help="Also jobs that have ended since then: 14:00, 2h, or fault: since the first fault there began.",
            metavar="TIME",
            label="Since",
            example="14:00, or fault",
        ),
        Option(
            "state",
            help="Only jobs in this state: affected, running, or ended (with --since).",
            metavar="STATE",
            label="State",
            example="affected",
        ),
    ),
    _find,
    "The running jobs, what affects each of them, since when, and the GPU-hours that this costs; worst first.",
    good=_good,
    text=jobs_text,
    journal=lambda given: Journal.UNUSED if given["since"] is None else Journal.NEEDED,
    form=Form("Which jobs are affected?", "Show jobs"),
)
