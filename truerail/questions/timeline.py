"""`timeline PORT|DEVICE`: all its events, newest first."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Journal, Kind, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event. `kind` is an `EventKind` word."""

    at: datetime
    kind: str
    subject: str
    summary: str
    finding: str | None = None
    severity: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """`timeline PORT|DEVICE`, newest first."""

    query: str
    events: tuple[TimelineEvent, ...]
    whole: bool
    summary: str


def _find(asked: Asked, given: Given) -> Timeline:
    from truerail.questions.answers.timeline import timeline

    return timeline(asked.publication, asked.history, given["of"], given["limit"])


def _text(answer: Timeline, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.timeline import timeline_text

    return timeline_text(answer)


QUESTION = Question(
    "timeline",
    9,
    Timeline,
    (
        Parameter("of", help="A device or a port.", description="a device or a port"),
        Parameter(
            "limit",
            help="Maximum number of events, newest first.",
            kind=Kind.NUMBER,
            needed=False,
            option=True,
            default=100,
            least=1,
            most=1000,
        ),
    ),
    _find,
    "All its events, newest first.",
    short="On call: the events of a port or device.",
    help="The history of a port or a device: findings, links, acknowledgements, maintenance, plans; newest first.",
    good=lambda answer: True,
    text=_text,
    form=Form("What happened here?", page="/timeline"),
    journal=lambda given: Journal.NEEDED,
)
