"""`why ID`: what a finding or a cause rests on, now or, once it is resolved, while it lasted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from truerail.questions.question import Asked, Form, Given, Journal, Kind, Parameter, Question
from truerail.views.pieces import CablePath, CauseLine, FindingLine

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One fact and its source. `source` is the command or file, `command` the command for which the file is named,
    empty for another file; `fact` is the raw fact as JSON values.
    """

    device: str
    collector: str
    at: datetime
    kind: str
    source: str
    command: str
    fact: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """`why ID`: the evidence and the alternatives. `ruled_out` are sentences: each alternative and the evidence
    against it. `finding` is None if the id is that of a cause; `explained` are then its findings, at most 200.

    What is resolved comes from the journal: as it was last seen, without an action, and with `repair`.
    """

    finding: FindingLine | None
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
    explained: tuple[FindingLine, ...] = ()
    ended: datetime | None = None
    repair: str = ""
    """What ended it, as far as the journal has it: a sentence without its full stop."""
    note: str = ""
    """What the journal no longer has of it."""
    trace: tuple[str, ...] = ()
    """If wanted: each step of the search for causes in this evaluation, and what it took."""

    @property
    def state(self) -> str:
        """A `LifeState` word."""
        line = self.finding or self.cause
        return line.state if line else ""


def _find(asked: Asked, given: Given) -> Why:
    from truerail.questions.answers.why import why

    answer = why(asked.publication, asked.history, given["finding"])
    if not given["trace"]:
        return answer
    from truerail.causes import trace

    return replace(answer, trace=trace(asked.publication.round, asked.publication.evaluation.findings))


def _good(answer: Why) -> bool:
    return answer.state == "resolved"


def _text(answer: Why, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.why import why_text

    return why_text(answer, options)


QUESTION = Question(
    "why",
    6,
    Why,
    (
        Parameter(
            "finding",
            help="The id of a finding, or the key of a cause: 6f4dbffbab52.",
            description="id of a finding, or key of a cause",
            metavar="id",
        ),
        Parameter(
            "trace",
            help="Also each step of the search for causes: what it took, and its gain.",
            description="also each step of the search for causes",
            kind=Kind.FLAG,
            needed=False,
            option=True,
            default=False,
            label="Steps",
        ),
    ),
    _find,
    "The evidence of a finding or a cause, both ends, raw answers, alternatives, and what was ruled out. Of a resolved "
    "one: when it began and ended, what repaired it, and its evidence then.",
    short="On call: the evidence of a finding or a cause.",
    help="The basis of a finding or a cause: evidence, both ends, alternatives, and what was ruled out; of a resolved "
    "one when it began and ended, what repaired it, and its evidence then.",
    good=_good,
    text=_text,
    form=Form("What is a finding based on?", page="/"),
    journal=lambda given: Journal.USED,
)
