"""The answer of `jobs`, and its text: a row for each job, its causes below."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, hanging
from truerail.questions.answer_text import MOST_LINES, section, to_do, when


@dataclass(frozen=True, slots=True)
class JobHarm:
    """A cause that affects a job: on which of its hosts, and since when both last. `gpus` are the job's GPUs whose rail
    the cause lies on, `waiting` its others, which wait for them in a synchronous job. Hours are up to the answer; None
    where the job's GPUs or the beginning is unknown.
    """

    key: str
    id: str
    """`C1`: its name within one evaluation only."""
    kind: str
    summary: str
    hosts: str
    """A node set."""
    hosts_affected: int
    since: datetime | None
    gpus: int | None
    waiting: int | None
    gpu_hours: float | None
    waiting_hours: float | None


@dataclass(frozen=True, slots=True)
class JobRun:
    """One running job of a scheduler. `hosts` is a node set of the plan's names, `not_in_plan` its other nodes.

    `gpu_hours` sums those of its causes, `waiting_hours` those of its other GPUs: two numbers that are not added.
    `as_of` is when its scheduler last answered.
    """

    key: str
    scheduler: str
    name: str
    user: str
    hosts: str
    nodes: int
    not_in_plan: tuple[str, ...]
    gpus: int | None
    start: datetime | None
    end: datetime | None
    """When its time limit ends it; None without one."""
    cables: int
    cables_unknown: int
    """Of its cables, those that were not seen."""
    harm: tuple[JobHarm, ...]
    gpu_hours: float | None
    waiting_hours: float | None
    as_of: datetime | None
    stale: bool
    """Whether its scheduler does not answer now: it may have ended since."""
    ended: datetime | None = None
    """When it was gone; None while it runs."""
    findings: tuple[str, ...] = ()
    """What was found on it beside causes, as sentences: its hosts have no way to each other."""
    unevaluated: str = ""
    """What else is not known of its network: rules that could not be evaluated, causes on its path."""

    @property
    def affected(self) -> bool:
        """Whether a fault is known that affects it."""
        return bool(self.harm or self.findings)

    @property
    def unseen(self) -> str:
        """What is not known of its network while it runs; empty if all of it is."""
        if self.ended is not None:
            return ""
        parts = [f"{self.cables_unknown:,} of its {count(self.cables, 'cable')} not seen"] * bool(self.cables_unknown)
        if self.not_in_plan:
            parts.append(f"{len(self.not_in_plan):,} of its {count(self.nodes, 'host')} not in the plan")
        return ", ".join(parts) or self.unevaluated


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A scheduler that is asked for jobs. `at` is None if it never answered; `error` is why it does not now."""

    name: str
    scheduler: str
    at: datetime | None
    error: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """`jobs`. `known`: whether every scheduler has answered at least once; without any nothing is known. With `since`
    also the jobs that have ended since then, as far as the journal has them.
    """

    query: str | None
    known: bool
    schedulers: tuple[Scheduler, ...]
    jobs: tuple[JobRun, ...]
    """The worst first, at most 1,000."""
    running: int
    affected: int
    summary: str
    action: str
    since: datetime | None = None
    ended: int = 0
    """Those among them that have ended."""


def jobs_text(answer: Jobs, options: Options) -> Iterator[RenderableType]:
    """What to do, then the jobs, worst first."""
    yield from to_do(answer.action)
    most, total = None if options.details else MOST_LINES, answer.running + answer.ended
    yield from section(answer.jobs, run_lines, "jobs", most=most, total=total)


def run_lines(run: JobRun) -> Iterator[RenderableType]:
    """A job on one line, and a line for each cause that affects it."""
    title = Text().append(name(run.key), style=PORT)
    title.append(f"  {name(run.name)}" if run.name else "").append(f"  {name(run.hosts or 'no host of the plan')}")
    about = [f"of {name(run.user)}"] if run.user else []
    about += ["GPUs unknown" if run.gpus is None else count(run.gpus, "GPU")]
    about += [f"since {when(run.start)}"] if run.start else []
    about += [f"ended {when(run.ended)}"] if run.ended else []
    about += [name(run.scheduler)]
    about += [run.unseen] if run.unseen else []
    about += [f"as of {when(run.as_of)}"] if run.stale and run.as_of else []
    mark = "!" if run.affected else "?" if run.unseen else "-"
    yield hanging(mark, title.append(f"  {', '.join(about)}", style=QUIET))
    for found in run.findings:
        yield hanging("", Text(sentence(found)), indent=4)
    for harm in run.harm:
        yield hanging("", Text(_harm(harm)), indent=4)


def _harm(harm: JobHarm) -> str:
    parts = [f"{name(harm.kind)} affects {count(harm.hosts_affected, 'host')} ({name(harm.hosts)})"]
    parts += [f"since {when(harm.since)}"] if harm.since else []
    if harm.gpu_hours is not None and harm.waiting_hours is not None:
        parts.append(f"{harm.gpu_hours:,.1f} GPU-hours affected, {harm.waiting_hours:,.1f} waiting")
    return f"{', '.join(parts)}: {sentence(harm.summary)}"
