"""`storm [PORT|DEVICE]`: PFC storms, each with its root and its victims."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Parameter, Question
from truerail.views.pieces import FindingLine

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class StormNode:
    """A device in a pause tree. `kind` is `culprit`, `between` (it is paused and pauses others) or `victim`; `hops` is
    the distance from the culprit, 0 for itself.
    """

    device: str
    role: str | None
    kind: str
    hops: int


@dataclass(frozen=True, slots=True)
class StormEdge:
    """One paused link of a pause tree: port `on` pauses port `waiting`; an empty one is unknown. `share` is that of
    time, 0..1, an upper bound where not `exact`. `source` is `both ends` or `one end`, `link` `actual` or `planned`.
    """

    waiting: str
    on: str
    hops: int
    share: float
    exact: bool
    source: str
    link: str


@dataclass(frozen=True, slots=True)
class StormTree:
    """One storm: its root and its victims. `finding` is the id of the finding that reports it.

    `level` is `storm` or `suspect`. `priority` is None if no counter names it. `hosts` are those whose NICs are
    paused. `since` is the start of the pauses, or the start of the available counters if the pauses are older.
    """

    finding: str
    culprit: str
    behind: bool
    """The root is behind this port and is not monitored."""
    sub_cause: str
    level: str
    priority: int | None
    rail: int | None
    paused_share: float
    mean_pause_us: float | None
    nodes: tuple[StormNode, ...]
    edges: tuple[StormEdge, ...]
    hosts: tuple[str, ...]
    since: datetime | None
    confidence: float
    summary: str
    action: str


@dataclass(frozen=True, slots=True)
class Storm:
    """`storm [PORT|DEVICE]`, worst first: all storms, or those that involve a port or device.

    `reported` is False if there is no data on pauses. `deadlocks` are cycles of switches that pause each other.
    """

    query: str | None
    storms: tuple[StormTree, ...]
    deadlocks: tuple[FindingLine, ...]
    reported: bool
    summary: str
    action: str


def _find(asked: Asked, given: Given) -> Storm:
    from truerail.questions.answers.storm import storm

    return storm(asked.publication, given["of"])


def _good(answer: Storm) -> bool | None:
    return False if answer.storms or answer.deadlocks else answer.reported or None


def _text(answer: Storm, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.storm import storm_text

    return storm_text(answer, options)


QUESTION = Question(
    "storm",
    7,
    Storm,
    (
        Parameter(
            "of",
            help="Limit to storms with this port or device. [default: all]",
            description="a device or a port that takes part",
            needed=False,
        ),
    ),
    _find,
    "PFC storms: the root of each, the reason, and its victims; all, or those that involve a device or port.",
    short="On call: PFC storms, their culprit and victims.",
    help="PFC storms: the NIC or egress at the root, the reason, and the paused ports as a tree.",
    good=_good,
    text=_text,
    form=Form("Is there a PFC storm?", page="/storm"),
)
