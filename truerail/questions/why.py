"""`why FINDING`: what a finding rests on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from truerail.questions.question import Asked, Form, Given, Journal, Parameter, Question
from truerail.views.pieces import CablePath, CauseLine, FindingLine

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One fact and its source. `source` is the command or file, `answer` the raw fact as JSON values."""

    device: str
    collector: str
    at: datetime
    kind: str
    source: str
    fact: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """`why FINDING`: its evidence and the alternatives. `ruled_out` are sentences: each alternative and the evidence
    against it.
    """

    finding: FindingLine
    detail: Mapping[str, Any]
    cause: CauseLine | None
    path: CablePath | None
    evidence: tuple[EvidenceLine, ...]
    alternatives: tuple[str, ...]
    ruled_out: tuple[str, ...]
    explanation: str
    """The rule's own page, Markdown."""
    episodes: int
    first_seen: datetime | None
    acknowledged_by: str | None
    acknowledged_reason: str | None


def _find(asked: Asked, given: Given) -> Why:
    from truerail.questions.answers.why import why

    return why(asked.publication, asked.history, given["finding"])


def _good(answer: Why) -> bool:
    return answer.finding.state == "resolved"


def _text(answer: Why, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.why import why_text

    return why_text(answer, options)


QUESTION = Question(
    "why",
    6,
    Why,
    (Parameter("finding", help="The id of a finding: 6f4dbffbab52.", description="id of a finding"),),
    _find,
    "A finding's evidence, both ends, raw answers, alternatives, and what was ruled out.",
    short="On call: the evidence of a finding.",
    help="The basis of a finding: evidence, both ends, alternatives, and what was ruled out.",
    good=_good,
    text=_text,
    form=Form("What is a finding based on?", page="/"),
    journal=lambda given: Journal.USED,
)
