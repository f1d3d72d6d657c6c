"""The history: rows of the journal as values, and its queries (`History`).

All times are aware, in UTC. All readers must work with an empty history: a journal may be new, or unavailable for the
moment.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from truerail.model.finding import Cause, Finding
from truerail.model.job_record import JobRecord
from truerail.model.life import Life


class EventKind(StrEnum):
    """An event of a finding or a link, or a manual action."""

    APPEARED = "appeared"
    REGRESSED = "regressed"
    FLAPPING = "flapping"
    UNSEEN = "unseen"
    RETURNED = "returned"  # seen again, after `UNSEEN`
    RESOLVED = "resolved"
    LINK = "link"
    ACKNOWLEDGED = "acknowledged"
    WITHDRAWN = "withdrawn"
    MAINTENANCE = "maintenance"
    MAINTENANCE_ENDED = "maintenance ended"
    PLAN = "plan"
    RECHECK = "recheck"


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """A finding changed its state. `summary` is the finding's sentence at that time."""

    seq: int
    at: datetime
    kind: EventKind
    finding: str
    rule: str
    severity: str
    subject: str
    summary: str
    cause: str | None = None
    """Key of the last cause that explained the finding."""


@dataclass(frozen=True, slots=True)
class CauseEvent:
    """A cause changed its state. `at` is the round that reports it, `happened_at` the time at which it began or, once
    it is resolved, was first gone. `explains` are the findings that it has explained since it began.
    """

    seq: int
    at: datetime
    kind: EventKind
    happened_at: datetime
    cause: str
    cause_kind: str
    subjects: tuple[str, ...]
    summary: str
    explains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The place of a planned cable's nearer end before and after: `leaf-3/swp12`, or None if nothing was seen.

    `was_state` and `now_state` are `CableState` values. A change to or from `unknown` is recorded too: it shows since
    when there is no data.
    """

    seq: int
    at: datetime
    port: str
    was: str | None
    now: str | None
    was_state: str
    now_state: str


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One evaluation in numbers. `number` grows by one with each evaluation, over restarts too."""

    number: int
    at: datetime
    took_seconds: float
    devices: int
    devices_read: int
    cables_planned: int
    cables_right: int
    cables_wrong: int
    cables_missing: int
    cables_unknown: int
    findings: Mapping[str, int]
    """By severity."""
    causes: int
    plan_digest: str


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """The life of a finding, and the key of the last cause that explained it."""

    life: Life
    cause: str | None


@dataclass(frozen=True, slots=True)
class CauseRecord:
    """The life of a cause, and how many findings it explained."""

    life: Life
    findings: int


@dataclass(frozen=True, slots=True)
class KeptFinding:
    """A finding with its evidence as last seen, its life, and the key of the last cause that explained it."""

    life: Life
    finding: Finding
    cause: str | None = None
    present: bool = True  # as of a time: whether the round before it had it


@dataclass(frozen=True, slots=True)
class KeptCause:
    """A cause with its moves and findings as last seen, and its life."""

    life: Life
    cause: Cause
    present: bool = True  # as of a time: whether the round before it had it


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """The place and the `CableState` of a planned cable's nearer end at a time, and since when (None: always)."""

    place: str | None
    state: str
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PastState:
    """The journal's content at a time. `links` are by port; a planned cable that is missing there is unknown.

    `round_at` is the last round up to then, `next_at` the first after it; both are None if rounds of that time are no
    longer kept. `plan_digest` is that of the plan then in force, empty if unknown. `ended` says of these findings and
    causes, by their ids, when they were resolved since; what is still open is not in it.
    """

    at: datetime
    round_at: datetime | None
    next_at: datetime | None
    plan_digest: str
    links: Mapping[str, LinkPlace]
    findings: tuple[KeptFinding, ...]
    causes: tuple[KeptCause, ...]
    ended: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """An acknowledged finding or cause (`target` is a finding id or a cause key). Ends at `until`, when withdrawn, or
    when the target is resolved.
    """

    id: int
    target: str
    author: str
    reason: str
    at: datetime
    until: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MaintenanceWindow:
    """Announced work. `scope` is `device`, `rail`, `pod` or `nodes`; `what` the name, number or node set."""

    id: int
    scope: str
    what: str
    starts: datetime
    ends: datetime
    author: str
    reason: str
    at: datetime
    ended_at: datetime | None = None

    def covers(self, moment: datetime) -> bool:
        """Whether the window is open at that time."""
        return self.starts <= moment < min(self.ends, self.ended_at or self.ends)


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """A plan in force from `at` on. `digest` covers its devices and cables, whatever their file."""

    digest: str
    at: datetime
    source: str
    devices: int
    cables: int


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A manual change: who, what, when."""

    seq: int
    at: datetime
    who: str
    action: str
    detail: str


@dataclass(frozen=True, slots=True)
class RowRange:
    """The wanted part of a long answer: at most `limit` rows after the row with this `seq` (newest first)."""

    limit: int = 100
    before: int | None = None


class History(Protocol):
    """The journal's queries for the on-call questions and the API. Each raises `JournalUnavailableError` if the journal
    cannot be read.

    Rows come newest first. `devices` limits to subjects on these devices (either end, for links).
    """

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        """When each of these planned ports (a cable's nearer end) last changed; ports without a change are absent."""
        return {}

    def link_changes(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = RowRange()
    ) -> Sequence[LinkChange]:
        return ()

    def finding_events(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = RowRange()
    ) -> Sequence[FindingEvent]:
        return ()

    def cause_events(self, start: datetime, end: datetime, *, page: RowRange = RowRange()) -> Sequence[CauseEvent]:
        return ()

    def findings(
        self, *, resolved_since: datetime | None = None, page: RowRange = RowRange()
    ) -> Sequence[FindingRecord]:
        """Open findings; with `resolved_since` the resolved ones since then instead."""
        return ()

    def kept_finding(self, finding: str) -> KeptFinding | None:
        return None

    def kept_findings(self, findings: Collection[str]) -> Sequence[KeptFinding]:
        """Those of these findings that the journal has."""
        return ()

    def kept_cause(self, key: str) -> KeptCause | None:
        return None

    def kept_since(self) -> datetime | None:
        """The time before which the journal has nothing; None for an empty journal."""
        return None

    def as_of(self, at: datetime) -> PastState:
        """Everything that was known at a time."""
        return PastState(at, None, None, "", {}, (), ())

    def job_runs(
        self, start: datetime, end: datetime, *, hosts: Collection[str] | None = None, page: RowRange = RowRange()
    ) -> Sequence[JobRecord]:
        """Runs of jobs between two times, those that began last first; with hosts, only those on one of them."""
        return ()

    def jobs_named(self, asked: str, *, page: RowRange = RowRange()) -> Sequence[JobRecord]:
        return ()

    def causes(self, *, resolved_since: datetime | None = None, page: RowRange = RowRange()) -> Sequence[CauseRecord]:
        return ()

    def rounds(self, page: RowRange = RowRange()) -> Sequence[RoundRecord]:
        return ()

    def plans(self) -> Sequence[PlanVersion]:
        return ()

    def acknowledgements(self, *, open_only: bool = True) -> Sequence[Acknowledgement]:
        return ()

    def windows(self, *, open_only: bool = True) -> Sequence[MaintenanceWindow]:
        return ()

    def audit(self, page: RowRange = RowRange()) -> Sequence[AuditRecord]:
        return ()

    def unreadable(self, table: str) -> Mapping[int, str]:
        """Rows of `acknowledgements` or `windows` that were unreadable: number to reason. Ending one deletes it."""
        return {}


class NoHistory(History):
    """An empty history: for answers from a capture, and without a journal."""
