"""`diff`: what changed in links and findings."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Journal, Kind, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link that changed, or (against the plan) differs."""

    at: datetime | None
    port: str
    rail: int | None
    was: str | None
    now: str | None
    was_state: str
    now_state: str
    summary: str
    cause: str | None = None
    """Key of the cause to which the change belongs."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that came or went. `kind` is an `EventKind` word."""

    at: datetime | None
    kind: str
    finding: str
    rule: str
    severity: str
    subject: str
    summary: str
    cause: str | None = None
    """Key of the cause to which the change belongs."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Links by their lower end (`links`: those that are no longer in the plan) and findings that changed. A link that
    changed back, and a finding that came and went, count.
    """

    nics: int = 0
    uplinks: int = 0
    links: int = 0
    findings: int = 0


@dataclass(frozen=True, slots=True)
class CauseChange:
    """A cause that began or ended, or to which changes belong. `began` and `ended` are None if that was not in the
    time in question; `times` is how often it began then. `state` is a `LifeState` word.
    """

    cause: str
    kind: str
    subjects: tuple[str, ...]
    summary: str
    began: datetime | None
    ended: datetime | None
    times: int
    state: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Diff:
    """`diff`. The counts of `causes` and `no_cause` add up to `total`; `links` and `findings` list at most 1,000 rows
    each, without those that changed back. `complete` is False if even the counts are not of all changes: there are too
    many, or the journal begins later than `start`.
    """

    start: datetime | None
    end: datetime | None
    against: str
    """`time` or `plan`."""
    causes: tuple[CauseChange, ...]
    """By the time when they began, else ended; newest first."""
    no_cause: Counts
    total: Counts
    links: tuple[LinkLine, ...]
    findings: tuple[FindingChange, ...]
    complete: bool
    summary: str


def _find(asked: Asked, given: Given) -> Diff:
    from truerail.errors import QueryError
    from truerail.questions.answers.diff import diff, diff_plan
    from truerail.questions.answers.moments import span

    since, start, end = given["since"], given["from"], given["to"]
    if not given["plan"]:
        return diff(asked.publication, asked.history, *span(since, start, end, asked.now))
    if since or start or end:
        raise QueryError("plan=true compares with the plan now: omit since, from and to")
    return diff_plan(asked.publication)


def _misuse(given: Given, capture: bool) -> str:
    if sum(map(bool, (given["since"], given["from"], given["plan"], given["before"]))) != 1:
        return "give one of: --since TIME, --from TIME [--to TIME], --plan, or --before CAPTURE --capture CAPTURE"
    if given["to"] and not given["from"]:
        return "--to goes with --from"
    return "--before goes with --capture" if given["before"] and not capture else ""


def _good(answer: Diff) -> bool | None:
    if answer.causes or answer.links or answer.findings:
        return False
    return True if answer.complete else None


def _text(answer: Diff, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.diff import diff_text

    return diff_text(answer, options)


QUESTION = Question(
    "diff",
    5,
    Diff,
    (
        Parameter(
            "since",
            help="From this time until now: 2h, 14:00, yesterday.",
            kind=Kind.TIME,
            needed=False,
            option=True,
            metavar="TIME",
        ),
        Parameter(
            "from",
            help="Start: ISO 8601, or as above.",
            kind=Kind.TIME,
            needed=False,
            option=True,
            metavar="TIME",
        ),
        Parameter("to", help="End. [default: now]", kind=Kind.TIME, needed=False, option=True, metavar="TIME"),
        Parameter(
            "plan",
            help="Current differences from the plan.",
            description="against the plan instead",
            kind=Kind.FLAG,
            needed=False,
            option=True,
            default=False,
        ),
        Parameter(
            "before",
            help="With --capture: compare with this capture's newest round.",
            kind=Kind.CAPTURE,
            needed=False,
            option=True,
            metavar="CAPTURE",
        ),
    ),
    _find,
    "What changed `since` a time, between two times, or against the plan: the causes that began and ended, with the "
    "number of links and findings of each; what belongs to no cause; and the links and findings one by one.",
    short="On call: what changed, by cause.",
    help=(
        "Show what changed since a time, between two times or captures, or against the plan: one line for each cause "
        "that began or ended, then what belongs to no cause. --details lists every link and finding."
        "\n\nIn a capture with several rounds, times count back from the newest one."
    ),
    good=_good,
    text=_text,
    form=Form("What changed?", page="/changes"),
    journal=lambda given: Journal.UNUSED if given["plan"] else Journal.NEEDED,
    misuse=_misuse,
    between_rounds=True,
)
