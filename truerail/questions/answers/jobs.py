"""`jobs`: the running jobs by what hurts them, and the job behind a key, an id or a name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.jobs import Jobs as KnownJobs
from truerail.analysis.jobs import RunningJob
from truerail.analysis.published import Published
from truerail.errors import NoJobError, NoJobQueryError, NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import Codes
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.answers.blast import hosts_below, target_of
from truerail.questions.answers.job import job
from truerail.questions.answers.job_harm import hosts_hurt, runs_of
from truerail.questions.answers.rail_status import RailStatus, rail_status_of
from truerail.questions.job import Job
from truerail.questions.jobs import JobRun, Jobs, Scheduler
from truerail.views.view import View, view_of

MOST_JOBS = 1000
"""Most jobs in an answer, the worst first."""
_MOST_NAMED = 5
ENDED = "ended"
_STATES: Mapping[str, Callable[[JobRun], bool]] = {
    "hurt": lambda run: run.hurt,
    "running": lambda run: run.ended is None,
    ENDED: lambda run: run.ended is not None,
}


def jobs(publication: Published, on: str | None, state: str | None = None) -> Jobs:
    """The running jobs, the worst first; those on something, or that a cause hurts, or in a state. Raises NotFoundError
    and QueryError for an unknown name.
    """
    if state == ENDED:
        raise QueryError(f"jobs that have {ENDED} need a time: since")
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    known = publication.round.jobs
    wanted = known.running if on is None else _on(view, standing, known.running, on)
    runs = in_state(runs_of(view, standing, wanted, known.sources), state)
    hurt = [run for run in runs if run.hurt]
    return answer_of(known, runs, on, _summary(known, runs, hurt, on))


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
        hurt=sum(run.hurt for run in runs),
        summary=summary,
        action=_action(known),
    )


def _on(view: View, standing: RailStatus, running: tuple[RunningJob, ...], on: str) -> tuple[RunningJob, ...]:
    """The jobs with a host that this concerns."""
    names = hosts_on(view, standing, on)
    return tuple(job for job in running if not names.isdisjoint(job.hosts))


def hosts_on(view: View, standing: RailStatus, on: str) -> set[str]:
    """The hosts that something concerns: a cause, or a device, port, rail or pod. Raises NotFoundError, QueryError."""
    keys = [key for key, cause in view.sight.causes.items() if on in (key, cause.id)]
    hosts: Codes
    if keys:
        hosts = hosts_hurt(view).get(keys[0], np.empty(0, dtype=np.int64))
    else:
        target = target_of(view, standing, on)
        of_cables = np.unique(view.index.a_device[target.host_cables])
        hosts = of_cables if len(of_cables) else hosts_below(standing, target)
    return {view.index.devices.names[code] for code in hosts.tolist()}


def _summary(known: KnownJobs, runs: list[JobRun], hurt: list[JobRun], on: str | None) -> str:
    if not known.sources:
        return "No scheduler is asked for jobs, so none is known"
    place = "" if on is None else f" on {printable(on, 80)}"
    away = "".join(f"; {since(one.name, one.at, one.error)}" for one in known.away)
    if not runs:
        return f"No job runs{place}{away}" if not away else f"No running job{place} is known{away}"
    many = f"{count(len(runs), 'job')} run{'s' if len(runs) == 1 else ''}{place}"
    unseen = sum(bool(run.unseen) and not run.hurt for run in runs)
    beside = f"; of {unseen:,} it is not known" if unseen else ""
    if not hurt:
        return f"{many}, none is known to be hurt by a fault of the network{beside}{away}"
    return f"{many}, {len(hurt):,} {'is' if len(hurt) == 1 else 'are'} hurt: {hours_of(hurt)}{beside}{away}"


def hours_of(hurt: Sequence[JobRun]) -> str:
    """What hurt jobs cost so far."""
    hours = [run.gpu_hours for run in hurt]
    known_hours = [one for one in hours if one is not None]
    lost = f"{sum(known_hours):,.1f} GPU-hours so far" if known_hours else "GPU-hours unknown"
    return f"{lost}{' or more' if known_hours and None in hours else ''}"


def since(name: str, at: object, error: str) -> str:
    """How old what a scheduler said is, and why."""
    why = printable(error, 120)
    return f"{name} does not answer ({why}), " + (
        "its jobs are unknown" if at is None else f"its jobs are as of {time_words(at)}"
    )


def time_words(at: object) -> str:
    """A time in a sentence."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _action(known: KnownJobs) -> str:
    if not known.sources:
        return "Name a scheduler in the settings: jobs: {slurm: {via: local}}."
    return f"Check the access to {known.away[0].name}." if known.away else ""


def job_asked(publication: Published, asked: str) -> Job:
    """The status of the job with this key, id or name, or of a job on these hosts. Raises NotFoundError and QueryError.

    What names hosts of the plan is a node set; only the rest is looked for among the jobs.
    """
    asked = asked.strip()
    try:
        return job(publication, asked)
    except (NotFoundError, QueryError) as error:
        if publication.hindsight is not None:
            raise
        known = publication.round.jobs
        found = known.named(asked)
        if not found:
            kind = NoJobError if isinstance(error, NotFoundError) else NoJobQueryError
            raise kind(f"{_no_job(known, asked)}, and {error.args[0]}") from error
    if len(found) > 1:
        several = len({one.source for one in found}) > 1
        listed = "; ".join(f"{f'{one.source}:' * several}{one.key} on {fold(one.hosts)}" for one in found[:_MOST_NAMED])
        more = f"; and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
        raise QueryError(f"{len(found):,} running jobs are meant by {printable(asked, 80)!r}: {listed}{more}")
    return _of_run(publication, known, found[0], asked)


def _no_job(known: KnownJobs, asked: str) -> str:
    """What is known of jobs, for a name that is none."""
    if not known.sources:
        return "no scheduler is asked for jobs (docs/jobs.md)"
    away = "".join(f" ({since(one.name, one.at, one.error)})" for one in known.away)
    return f"no running job is {printable(asked, 80)!r}{away}"


def _of_run(publication: Published, known: KnownJobs, found: RunningJob, asked: str) -> Job:
    if not found.hosts:
        nodes = printable(fold(found.unplanned), 120)
        raise NotFoundError(f"job {found.key} runs on {nodes}, and the plan has none of these")
    answer = job(publication, fold(found.hosts))
    (run,) = runs_of(view_of(publication), rail_status_of(publication.evaluated), (found,), known.sources)
    strange = tuple(dict.fromkeys((*answer.not_in_plan, *found.unplanned)))
    return replace(answer, query=asked, run=run, not_in_plan=strange, summary=_first(run, answer))


def _first(run: JobRun, answer: Job) -> str:
    """The answer to "is the network slowing this job?", with what it cost so far."""
    stale = f" {run.scheduler} does not answer: the job is as of {time_words(run.as_of)}." if run.stale else ""
    if run.findings:
        return f"Yes: {'; '.join(run.findings)}. {answer.summary}{stale}"
    if not run.harm:
        unseen = f" {run.unseen[0].upper()}{run.unseen[1:]}." if run.unseen else ""
        return f"{answer.summary}{unseen}{stale}"
    begun = min((one.since for one in run.harm if one.since is not None), default=None)
    since_when = f" since {time_words(begun)}" if begun else ""
    hours = f", {run.gpu_hours:,.1f} GPU-hours so far" if run.gpu_hours is not None else "; its GPU-hours are unknown"
    return f"{answer.summary} Job {run.key} is hurt{since_when}{hours}.{stale}"
