"""What a recording rule, an alert and the story that tests an alert are."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MINUTES_HELD: Final = 15
"""For so long the last known findings stand while truerail itself is silent."""


class Severity(StrEnum):
    """How loud an alert is: `critical` pages, `warning` makes a ticket."""

    CRITICAL = "critical"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Record:
    """A recording rule; its name is `level:metric:operation`."""

    name: str
    expr: str


@dataclass(frozen=True, slots=True)
class Series:
    """An input of a story: a metric with its labels, its value while all is well and while it is not.

    None is no series at all. `climbs` is a counter that grows by `bad` each minute while it is not well.
    """

    metric: str
    labels: tuple[tuple[str, str], ...]
    good: float | None
    bad: float | None
    climbs: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """A fault that comes, outlasts a restart of truerail, and goes. `fires` is a set of labels for each alert that is
    expected, beside alert name and severity; `value` is what the expression gives. `resolves` is how many minutes
    after the fault the alert must be gone. `quiet` series look alike, and must not fire.
    """

    series: tuple[Series, ...]
    fires: tuple[tuple[str, str], ...]
    value: float = 1
    quiet: tuple[Series, ...] = ()
    resolves: int = 4
    said: tuple[tuple[str, str], ...] = ()
    """Annotations as they are expected, where their templates ask Prometheus for other series."""


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. `page` names its runbook: the code of a rule, a template that gives it, or the alert's own name."""

    name: str
    severity: Severity
    expr: str
    wait: int
    """Minutes that it must hold before it fires."""
    summary: str
    description: str
    page: str
    story: Story
    keep: int = 0
    """Minutes that it goes on firing after it no longer holds."""
    links: tuple[tuple[str, str], ...] = ()
    """Further annotations: addresses, as templates."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that are evaluated together, in this order."""

    name: str
    records: tuple[Record, ...] = ()
    alerts: tuple[Alert, ...] = ()
    apart: bool = False
    """Whether the story of one alert rightly makes others of the group fire, so that each is tested alone."""
    minutes: int = 0
    """How often it is evaluated; 0: as often as Prometheus evaluates rules that say nothing."""


def labels(**values: str) -> tuple[tuple[str, str], ...]:
    """Labels in the order given."""
    return tuple(values.items())
