"""One message about a fault: the JSON that a webhook receives (`truerail/notification/v1`), and its words.

Its strings come from the plan, from settings and from devices: control characters are escaped here, what a receiver
shows as HTML is for it to escape.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from truerail.files.yaml_keys import DIALECT
from truerail.model.finding import Severity
from truerail.model.names import printable
from truerail.outputs.report_words import count

MOST_FINDINGS = 100
"""Ids of findings in one message."""
LONGEST_TEXT = 2000


class Event(StrEnum):
    """What happened to a fault."""

    BEGAN = "began"
    WORSENED = "worsened"
    ENDED = "ended"
    TEST = "test"


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Affected(_Shape):
    """Who is affected. null: unknown, which is not none."""

    gpus: int | None = None
    """GPUs without their rail, or with less of it."""
    hosts: int | None = None
    """Hosts of these GPUs."""


class Folded(_Shape):
    """Faults of one kind in a message about many."""

    kind: str
    """The kind of the causes, or the rule of findings without a cause."""
    severity: Severity
    """Of each of them."""
    count: int
    """How many."""


class Notification(_Shape):
    """A message about one fault (a cause, or a finding without one), or about many at once (`folded`)."""

    schema_name: Literal["truerail/notification/v1"] = Field(default="truerail/notification/v1", alias="schema")
    """The version of this format."""
    id: str = ""
    """Of this message. It may arrive twice: after a restart, or if a confirmation was lost."""
    at: datetime
    """When truerail reports it."""
    event: Event
    """began, worsened (a higher severity), ended, or test."""
    fabric: str
    """The fabric's name."""
    severity: Severity
    """Of the fault; of an ended one, its last."""
    title: str
    """What has happened, in general words."""
    kind: str | None = None
    """The kind of the cause; null for a finding without one."""
    rule: str | None = None
    """The code of the finding's rule; null for a cause."""
    fault: str | None = None
    """The key of the cause, or the id of the finding: the same in every message about it. null for many at once."""
    summary: str
    """What is wrong, in one sentence."""
    action: str = ""
    """The first thing to do."""
    subject: str = ""
    """The devices and ports that are at fault, the first ones by name."""
    pod: str = ""
    """Their pod; empty without one, or if there are several."""
    rack: str = ""
    """Their racks."""
    unit: str = ""
    """The rack unit of a single device."""
    affected: Affected = Affected()
    """Hosts and GPUs."""
    since: datetime | None = None
    """When it began."""
    ended: datetime | None = None
    """When it ended; null while it lasts."""
    page: str = ""
    """The address of its page; empty without `page.url` in the settings."""
    findings: tuple[str, ...] = ()
    """Ids of its findings, at most 100."""
    findings_total: int = 0
    """How many there are."""
    folded: tuple[Folded, ...] = ()
    """The faults in a message about many at once."""
    text: str = ""
    """All of it in words, a line for each part: chat services show this field."""

    @property
    def line(self) -> str:
        """The message in one line."""
        place = _places(self)
        parts = (f"{self.title} {self.event}: {self.summary}", place, _affected(self), self.action, self.page)
        return printable("; ".join(part.rstrip(".") for part in parts if part), LONGEST_TEXT)

    def body(self) -> dict[str, Any]:
        """The JSON."""
        return self.model_dump(mode="json", by_alias=True)


def in_words(message: Notification) -> str:
    """The text of a message."""
    lines = (
        f"{message.severity.upper()} {message.event}: {message.title} ({message.fabric})",
        message.summary,
        f"Where: {place}" if (place := _places(message)) else "",
        f"Affected: {affected}" if (affected := _affected(message)) else "",
        f"First: {message.action}" if message.action and message.event is not Event.ENDED else "",
        _times(message),
        message.page,
    )
    return "\n".join(printable(line, LONGEST_TEXT) for line in lines if line)


def _places(message: Notification) -> str:
    named = (message.subject, message.rack and f"rack {message.rack}", message.unit and f"unit {message.unit}")
    return ", ".join(part for part in named if part)


def _affected(message: Notification) -> str:
    if message.event is Event.TEST or message.folded:
        return ""
    gpus, hosts = message.affected.gpus, message.affected.hosts
    if gpus is None:
        return "unknown"
    return count(gpus, "GPU") + (f" in {count(hosts, 'host')}" if hosts else "")


def _times(message: Notification) -> str:
    since = f"Since: {_written(message.since)}" if message.since else ""
    return f"{since}{', ended' if since else 'Ended:'} {_written(message.ended)}" if message.ended else since


def _written(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def notification_schema() -> dict[str, Any]:
    """The JSON Schema of a message."""
    return {
        "$schema": DIALECT,
        **Notification.model_json_schema(mode="serialization"),
        "title": "truerail/notification/v1",
    }
