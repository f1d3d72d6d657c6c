"""`jobs --since`: the jobs that ran on something since a time, those that have ended among them."""

from dataclasses import replace
from datetime import UTC, datetime

from truerail.analysis.jobs import RunningJob
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.files.nodesets import Budget, expand
from truerail.model.history import History, RowRange
from truerail.model.job_record import JobRecord
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.answers.job_harm import hosts_hurt, runs_of
from truerail.questions.answers.jobs import answer_of, hosts_on, hours_of, in_state, since, time_words
from truerail.questions.answers.moments import moment
from truerail.questions.answers.rail_status import rail_status_of
from truerail.questions.jobs import JobRun, Jobs
from truerail.views.view import View, view_of

MOST_RUNS = 10_000
"""Most runs that are read from the journal."""
FAULT = "fault"


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
    summary = f"{_summary(runs, on, start)}{early}{more}{away}"
    if not known.sources and not runs:
        summary = f"No scheduler is asked for jobs, and the journal has none since {time_words(start)}"
    return replace(answer_of(known, runs, on, summary), since=start, ended=sum(run.ended is not None for run in runs))


def _begin(view: View, on: str | None, hosts: set[str] | None, begin: str, now: datetime) -> datetime:
    if begin.strip().lower() != FAULT:
        return moment(begin, now)
    codes = {view.device(name) for name in hosts or ()}
    begun = [
        view.cause_lives[key].since
        for key, found in hosts_hurt(view).items()
        if key in view.cause_lives and (hosts is None or not codes.isdisjoint(found.tolist()))
    ]
    if not begun:
        place = "the fabric" if on is None else printable(on, 80)
        raise QueryError(f"no fault hurts {place} now, so there is no time since it began: give one, such as 2h")
    return min(begun)


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())


def job_of(view: View, run: JobRecord) -> RunningJob:
    """A run of the journal as a job on the plan's hosts."""
    names = expand(run.nodes, Budget()) if run.nodes else []
    codes = {name: view.device(name) for name in names}
    hosts = {view.index.devices.names[code] for code in codes.values() if view.is_planned(code)}
    return RunningJob(
        run.key,
        run.scheduler,
        run.source,
        run.name,
        run.user,
        tuple(hosts),
        tuple(name for name, code in codes.items() if not view.is_planned(code)),
        run.gpus,
        int(run.begun_at.astimezone(UTC).timestamp()),
    )


def _summary(runs: list[JobRun], on: str | None, start: datetime) -> str:
    place = "" if on is None else f" on {printable(on, 80)}"
    when = f"{place} since {time_words(start)}"
    if not runs:
        return f"No job ran{when}"
    ended = sum(run.ended is not None for run in runs)
    gone = f", {ended:,} of them {'has' if ended == 1 else 'have'} ended" if ended else ""
    hurt = [run for run in runs if run.hurt]
    many = f"{count(len(runs), 'job')} ran{when}{gone}"
    if not hurt:
        return f"{many}; none is known to be hurt by a fault that is open"
    return f"{many}; {len(hurt):,} {'is or was' if len(hurt) == 1 else 'are or were'} hurt: {hours_of(hurt)}"
