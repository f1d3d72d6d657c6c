"""What one round changed: the values that pass between the findings, the store and the service."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from truerail.model.finding import Cause, Finding
from truerail.model.history import CauseEvent, FindingEvent, LinkChange
from truerail.model.job_record import JobRecord
from truerail.model.life import Life

T = TypeVar("T")
Explained = tuple[Finding, str | None]
"""A finding, and the key of the last cause that explained it."""


@dataclass(frozen=True, slots=True)
class EntryRow(Generic[T]):
    """A finding or a cause in the journal. `present` means that the round had it: its life then continues with each
    round without being written again. `appearances` are the last times at which it appeared.
    """

    life: Life
    value: T
    present: bool
    away: bool = False
    """Whether a round has reported it gone since it was last present."""
    appearances: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkState:
    """The last place of a planned cable's nearer end (`port`), its `CableState`, and since when (None: always)."""

    port: str
    seen: str | None
    state: str
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """A round's changes to the history.

    `lives` (by finding id) and `cause_lives` (by `Cause.key`) are those of everything open or resolved by this round;
    `pending_resolution` are findings that are not in the evaluation and not resolved: recovering, unseen, or flapping
    and absent for the moment; `pending_causes` are the same of causes. `events`, `cause_events` and `links` have no
    number yet (`seq` 0). `findings`, `causes` and `link_states` have to be written: states, not steps, so that a later
    round makes up for one that was never written.
    """

    at: datetime
    lives: Mapping[str, Life] = field(default_factory=dict)
    cause_lives: Mapping[str, Life] = field(default_factory=dict)
    pending_resolution: tuple[Finding, ...] = ()
    pending_causes: tuple[Cause, ...] = ()
    events: tuple[FindingEvent, ...] = ()
    cause_events: tuple[CauseEvent, ...] = ()
    links: tuple[LinkChange, ...] = ()
    resolved: frozenset[str] = frozenset()
    """Ids of findings and keys of causes that this round resolved."""
    findings: Mapping[str, EntryRow[Explained]] = field(default_factory=dict)
    causes: Mapping[str, EntryRow[Cause]] = field(default_factory=dict)
    link_states: Mapping[str, LinkState] = field(default_factory=dict)
    links_gone: frozenset[str] = frozenset()
    """Ports that the plan no longer has."""
    jobs: tuple[JobRecord, ...] = ()
    """Runs of jobs that began, changed or ended."""


class Past(NamedTuple):
    """The remains of a resolved finding or cause: enough to recognise it."""

    first_seen: datetime
    resolved_at: datetime
    episodes: int
    appearances: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """The content of a journal at the start. `findings` and `causes` are the open ones, `past` and `past_causes` the
    resolved ones by id or key, `links` every planned port's last state.
    """

    findings: tuple[EntryRow[Explained], ...] = ()
    causes: tuple[EntryRow[Cause], ...] = ()
    past: Mapping[str, Past] = field(default_factory=dict)
    past_causes: Mapping[str, Past] = field(default_factory=dict)
    links: tuple[LinkState, ...] = ()
    at: datetime | None = None
    """Time of the newest round."""
    jobs: tuple[JobRecord, ...] = ()
    """The runs of jobs that have not ended."""


class Backlog:
    """The newest states from rounds that were dropped before they were written. Their events are lost."""

    def __init__(self) -> None:
        self._dropped: Changes | None = None

    def __bool__(self) -> bool:
        return self._dropped is not None

    def add(self, dropped: Changes) -> None:
        """Adds a round newer than all previous ones."""
        self._dropped = self.under(dropped)

    def under(self, newer: Changes) -> Changes:
        """A newer round, extended by the states that it does not set itself."""
        known = self._dropped
        if known is None:
            return newer
        links = {**known.link_states, **newer.link_states}
        return replace(
            newer,
            findings={**known.findings, **newer.findings},
            causes={**known.causes, **newer.causes},
            link_states={port: state for port, state in links.items() if port not in newer.links_gone},
            links_gone=newer.links_gone | (known.links_gone - newer.link_states.keys()),
            resolved=newer.resolved | known.resolved,
            jobs=tuple({run.id: run for run in (*known.jobs, *newer.jobs)}.values()),
        )


def finding_columns(finding: Finding) -> dict[str, Any]:
    """What a finding's row has wherever it is stored, by column."""
    same = ("rule", "name", "subject", "device", "rail", "expected", "observed", "summary", "action")
    return {name: getattr(finding, name) for name in same} | {"severity": finding.severity.value}
