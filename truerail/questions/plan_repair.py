"""`plan-repair`: what to repair in what order, what can be done now, and what in which maintenance window."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import RUNNING_JOBS, Asked, Form, Given, Journal, Kind, Parameter, Question
from truerail.views.pieces import AsOf

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class RepairStep:
    """One action of a repair: where to walk, the port that a moved plug goes into, and the end that stays in place."""

    device: str
    rack: str
    unit: int | None
    at: str
    to: str | None
    far: str | None
    label: str
    action: str


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of one open cause.

    `work` is `move` (plugs), `link` (a cable, its optics), `host`, `settings`, `names`, `confirm` (look which of its
    explanations is right: nothing is moved before), `look`, or `wait` (work that others have announced). `when` is
    `now`, the name of a window, or empty if it has no place in the plan: `waits_for` says why.
    `interrupts` are the hosts, as a node set, whose connections end while it is done.
    """

    key: str
    id: str
    kind: str
    summary: str
    work: str
    action: str
    confirm_first: str
    when: str
    starts: datetime | None
    ends: datetime | None
    minutes: int
    technicians: int
    racks: tuple[str, ...]
    gpus_back: int | None
    """GPUs that get their rail back; None: unknown."""
    gpus_back_is_lower_bound: bool
    """Whether further cables of the cause are in unknown state."""
    bisection_share_back: float | None
    """The share of the planned bisection bandwidth that it gives back, 0..1; None: unknown."""
    interrupts: str
    jobs: tuple[str, ...]
    """Jobs on these hosts, given or running."""
    after: tuple[str, ...]
    """Keys of the causes to repair first."""
    not_with: tuple[str, ...]
    """Keys of the causes that are not repaired at the same time."""
    waits_for: str
    muted: str | None
    steps: tuple[RepairStep, ...]


@dataclass(frozen=True, slots=True)
class NotTogether:
    """Repairs of which two may not be done at the same time, by the keys of their causes."""

    why: str
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairWindow:
    """A maintenance window: announced in the journal, or given. `repairs` are the keys of the causes repaired in it."""

    name: str
    starts: datetime
    ends: datetime
    announced: bool
    reason: str
    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """`plan-repair`, in order of work; repairs without a place come last.

    `gpu_hours_back` is the sum over the planned repairs of the GPUs that they give back, times the hours from the end
    of the repair to `ends`; a repair of uplinks counts with its share of the bisection bandwidth times the GPUs of the
    fabric. Repairs whose effect is unknown count as none: `gains_unknown` is their number.
    """

    starts: datetime
    ends: datetime
    technicians: int
    jobs_known: bool
    jobs: int
    not_in_plan: tuple[str, ...]
    windows: tuple[RepairWindow, ...]
    windows_known: bool
    repairs: tuple[Repair, ...]
    not_together: tuple[NotTogether, ...]
    gpu_hours_back: float
    gains_unknown: int
    findings_without_cause: int
    assumptions: tuple[str, ...]
    summary: str
    action: str
    as_of: AsOf | None = None


def _find(asked: Asked, given: Given) -> RepairPlan:
    from truerail.questions.answers.plan_repair import Wanted, plan_repair

    return plan_repair(asked, Wanted(given["job"], given["window"], given["technicians"]))


def _good(answer: RepairPlan) -> bool | None:
    """Good if there is nothing to repair; unknown if findings have no cause."""
    if answer.repairs:
        return False
    return None if answer.findings_without_cause else True


def _text(answer: RepairPlan, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.plan_repair import plan_repair_text

    return plan_repair_text(answer, options)


QUESTION = Question(
    "plan-repair",
    14,
    RepairPlan,
    (
        RUNNING_JOBS,
        Parameter(
            "window",
            help="A maintenance window: 'tomorrow 22:00/4h' or 'pod p1=22:00/02:00'. May be repeated. "
            "Announced maintenance counts without it.",
            description="maintenance windows besides the announced ones: tomorrow 22:00/4h; pod p1=22:00/02:00",
            kind=Kind.LIST,
            needed=False,
            option=True,
            metavar="[WHAT=]FROM/UNTIL",
            label="Maintenance windows",
            example="tomorrow 22:00/4h; pod p1=22:00/02:00",
        ),
        Parameter(
            "technicians",
            help="How many people work at the same time.",
            description="how many people work at the same time",
            kind=Kind.NUMBER,
            needed=False,
            option=True,
            default=1,
            least=1,
            most=100,
            label="Technicians",
        ),
    ),
    _find,
    "All open causes as an order of work: what can be repaired now, what in which window, and what not together.",
    short="On call: what to repair first, and when.",
    help="All open causes as an order of work that gives back most GPU-hours: what can be repaired now without "
    "touching a running job, what in which maintenance window, what not together, and what each gives back.",
    good=_good,
    text=_text,
    operation="the_plan_repair",
    form=Form(
        "What to repair, in what order?",
        "What can be repaired now without touching a running job, and what in which maintenance window.",
        "Plan repairs",
    ),
    journal=lambda given: Journal.USED,
)
