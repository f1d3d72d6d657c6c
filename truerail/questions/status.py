"""`status`: what is wrong now, worst first, what to do first, and what is unknown."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Question
from truerail.views.pieces import AsOf, CauseLine, FindingLine, StateCount

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """Something that could not be evaluated. `what` is `cables`, `devices`, `rules` or `collectors`; `names` are at
    most 100 of the `count` of them, none for cables.
    """

    what: str
    count: int
    names: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Status:
    """`status`. `causes`, `findings` and `pending_resolution` are not muted; `muted_causes` and `muted_findings` are.
    `findings` are those that no cause explains, of severity warning or critical, at most 200 of `findings_total`.
    """

    fabric: str
    evaluation: int
    at: datetime
    age_seconds: float
    """Age of the newest answer in it."""
    cables: StateCount
    causes: tuple[CauseLine, ...]
    """In order of impact."""
    findings: tuple[FindingLine, ...]
    findings_total: int
    pending_resolution: tuple[FindingLine, ...]
    """Recovering, or no longer seen: not over yet."""
    muted_causes: tuple[CauseLine, ...]
    muted_findings: tuple[FindingLine, ...]
    unknown: tuple[UnknownPart, ...]
    not_read: int
    """Devices without a readable answer from some collector."""
    summary: str
    action: str
    as_of: AsOf | None = None


def _find(asked: Asked, given: Given) -> Status:
    from truerail.questions.answers.status import status

    return status(asked.publication, asked.now)


def _good(answer: Status) -> bool | None:
    """Bad if something is wrong that is not muted; unknown if cables or devices are unknown, or something is not over
    yet.
    """
    loud = [cause for cause in answer.causes if cause.severity != "info"]
    if loud or answer.findings:
        return False
    return None if answer.cables.unknown or answer.not_read or answer.pending_resolution else True


def _text(answer: Status, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.status import status_text

    return status_text(answer, options)


QUESTION = Question(
    "status",
    0,
    Status,
    (),
    _find,
    "What is wrong now: causes with their impact, worst first, and what is muted, not over yet, or unknown.",
    short="On call: what is wrong now, and what to do first.",
    help="What is wrong now: causes with their impact, worst first, the first action, and what is unknown.",
    good=_good,
    text=_text,
    timed=True,
    form=Form("What is wrong now?", page="/"),
)
