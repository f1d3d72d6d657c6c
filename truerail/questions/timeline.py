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
    """One event. `kind` is an `EventKind` word. An event of a cause has its key, and the number of events of `links`
    and `findings` here that are folded into it; a folded event has the key of its cause.
    """

    at: datetime
    kind: str
    subject: str
    summary: str
    finding: str | None = None
    severity: str | None = None
    author: str | None = None
    cause: str | None = None
    links: int = 0
    findings: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """`timeline PORT|DEVICE`, newest first. `folded` are the events of links and findings that belong to the causes
    among `events`, at most 1,000.
    """

    query: str
    events: tuple[TimelineEvent, ...]
    folded: tuple[TimelineEvent, ...]
    complete: bool
    summary: str


def _find(asked: Asked, given: Given) -> Timeline:
    from truerail.questions.answers.timeline import timeline

    return timeline(asked.publication, asked.history, given["of"], given["limit"])


def _text(answer: Timeline, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.timeline import timeline_text

    return timeline_text(answer, options)


QUESTION = Question(
    "timeline",
    11,
    Timeline,
    (
        Parameter("of", help="A device or a port.", description="a device or a port"),
        Parameter(
            "limit",
            help="Maximum number of events.",
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
    help="The history of a port or a device, newest first: causes, each with the number of its links and findings; "
    "findings and links without a cause; acknowledgements, maintenance, plans. --details lists every event.",
    good=lambda answer: True,
    text=_text,
    form=Form("What happened here?", page="/timeline"),
    journal=lambda given: Journal.NEEDED,
    service_only=True,
)
