"""`jobs`: the running jobs, those that a fault hurts first."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Journal, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class JobHarm:
    """A cause that hurts a job: on which of its hosts, and since when both last. `gpus` are the job's GPUs whose rail
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
    hosts_hurt: int
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

    @property
    def hurt(self) -> bool:
        """Whether a fault is known that hurts it."""
        return bool(self.harm or self.findings)

    @property
    def unseen(self) -> str:
        """What is not known of its network while it runs; empty if all of it is."""
        from truerail.outputs.report_words import count

        if self.ended is not None:
            return ""
        parts = [f"{self.cables_unknown:,} of its {count(self.cables, 'cable')} not seen"] * bool(self.cables_unknown)
        if self.not_in_plan:
            parts.append(f"{len(self.not_in_plan):,} of its {count(self.nodes, 'host')} not in the plan")
        return ", ".join(parts)


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
    hurt: int
    summary: str
    action: str
    since: datetime | None = None
    ended: int = 0
    """Those among them that have ended."""


def _find(asked: Asked, given: Given) -> Jobs:
    from truerail.questions.answers.jobs import jobs
    from truerail.questions.answers.jobs_since import jobs_since

    if given["since"] is None:
        return jobs(asked.publication, given["on"], given["state"])
    return jobs_since(asked.publication, given["on"], given["since"], asked.history, asked.now, given["state"])


def _good(answer: Jobs) -> bool | None:
    if answer.hurt:
        return False
    return True if answer.known and not any(one.error for one in answer.schedulers) else None


def _text(answer: Jobs, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.jobs import jobs_text

    return jobs_text(answer, options)


QUESTION = Question(
    "jobs",
    16,
    Jobs,
    (
        Parameter(
            "on",
            help="Only jobs on this: gpu-012, gpu-012/mlx5_3, leaf-3, 'rail 3', or a cause: C4.",
            description="only jobs on a device, a port, a rail, a pod, or those that a cause hurts",
            needed=False,
            option=True,
            metavar="NAME",
            label="On",
            example="leaf-3",
        ),
        Parameter(
            "since",
            help="Also jobs that have ended since then: 14:00, 2h, or fault: since the first fault there began.",
            description="also jobs that have ended since a time, or since `fault`: when the first fault there began",
            needed=False,
            option=True,
            metavar="TIME",
            label="Since",
            example="14:00, or fault",
        ),
        Parameter(
            "state",
            help="Only jobs in this state: hurt, running, or ended (with --since).",
            description="only jobs in this state: `hurt`, `running`, or `ended`, which needs `since`",
            needed=False,
            option=True,
            metavar="STATE",
            label="State",
            example="hurt",
        ),
    ),
    _find,
    "The running jobs, what hurts each of them, and the GPU-hours that this costs; worst first.",
    short="On call: which jobs are hurt, and by what?",
    help="The running jobs, what hurts each of them, since when, and the GPU-hours that this costs; worst first.",
    good=_good,
    text=_text,
    journal=lambda given: Journal.UNUSED if given["since"] is None else Journal.NEEDED,
    form=Form(
        "Which jobs are hurt?",
        "The running jobs, what hurts each of them, and the GPU-hours that this costs.",
        "Show jobs",
    ),
)
