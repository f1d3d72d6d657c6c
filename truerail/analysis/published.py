"""What the service shows: one judgement, what it was made from, and what is remembered of its findings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from truerail.analysis.cabling import Wiring, wiring_of
from truerail.analysis.counters.traffic import Traffic
from truerail.model.finding import Evaluation, Finding
from truerail.model.life import Life, Mute
from truerail.model.plan import Plan
from truerail.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CollectorRun:
    """How the rounds of one collector go. `age_seconds` is derived from `last_at` by whoever shows it."""

    collector: str
    every_seconds: float
    last_at: datetime | None = None
    took_seconds: float = 0.0
    devices_asked: int = 0
    devices_answered: int = 0
    rounds_total: int = 0
    failures_total: int = 0
    """Devices that gave no readable answer, summed over rounds."""
    overruns_total: int = 0
    """Times it came due while its last round still ran: skipped, counted, not logged one by one."""


class JournalHealth(StrEnum):
    """Whether what is judged is also kept."""

    KEEPING = "keeping"
    FAILING = "failing"
    """The database does not take what is judged: judging goes on, rows wait in memory."""
    OFF = "off"


@dataclass(frozen=True, slots=True)
class JournalState:
    """How the journal stands. `waiting` rounds are not written yet; `lost_total` had to be dropped, oldest first."""

    health: JournalHealth = JournalHealth.OFF
    error: str = ""
    since: datetime | None = None
    waiting: int = 0
    lost_total: int = 0
    written_total: int = 0


@dataclass(frozen=True)
class Published:
    """One judgement as it is shown. Never changed; an acknowledgement makes a new one of the same `number`.

    `lives` is by finding id, `cause_lives` by `Cause.key`, `mutes` by finding id. `pending_resolution` are findings
    that are not in the judgement and not resolved either: recovering or unseen; their lives say which.
    """

    number: int
    fabric: str
    evaluation: Evaluation
    snapshot: Snapshot
    plan_digest: str = ""
    lives: Mapping[str, Life] = field(default_factory=dict)
    cause_lives: Mapping[str, Life] = field(default_factory=dict)
    pending_resolution: tuple[Finding, ...] = ()
    mutes: Mapping[str, Mute] = field(default_factory=dict)
    runs: Mapping[str, CollectorRun] = field(default_factory=dict)
    journal: JournalState = JournalState()
    judged_seconds: float = 0.0
    """What judging took, from snapshot to this."""
    traffic: Traffic | None = None
    """What links carry, for metrics; None where nobody counts or nobody wants it."""

    @property
    def at(self) -> datetime:
        """When the newest answer in it was asked for."""
        return self.evaluation.at

    @property
    def plan(self) -> Plan:
        """What should be."""
        return self.evaluation.plan

    @property
    def wiring(self) -> Wiring:
        """What is plugged where. Joined once for each snapshot."""
        return wiring_of(self.evaluation.plan, self.snapshot)
