"""The service's published state: one evaluation, its inputs, and the history of its findings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.traffic import Traffic
from truerail.analysis.round import Round
from truerail.model.finding import Cause, Evaluation, Finding
from truerail.model.life import Life, Mute
from truerail.model.open_fault import OpenFault
from truerail.model.owner import Owner
from truerail.model.plan import Plan
from truerail.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CollectorRun:
    """Statistics of one collector's rounds. `age_seconds` is derived from `last_at` on display."""

    collector: str
    every_seconds: float
    last_at: datetime | None = None
    took_seconds: float = 0.0
    devices_asked: int = 0
    devices_answered: int = 0
    rounds_total: int = 0
    failures_total: int = 0
    """Devices without a readable answer, summed over rounds."""
    missed_total: int = 0
    """Times it came due while its last round still ran: skipped, counted, not logged one by one."""


class JournalHealth(StrEnum):
    """Whether evaluations are also stored."""

    KEEPING = "keeping"
    FAILING = "failing"
    """The database does not accept evaluations: evaluation goes on, rows wait in memory."""
    OFF = "off"


@dataclass(frozen=True, slots=True)
class JournalState:
    """The state of the journal. `waiting` rounds are not written yet; `lost_total` were dropped, oldest first."""

    health: JournalHealth = JournalHealth.OFF
    error: str = ""
    since: datetime | None = None
    waiting: int = 0
    lost_total: int = 0
    written_total: int = 0


@dataclass(frozen=True, slots=True)
class Hindsight:
    """What belongs to an evaluation of the past: its time, what cannot be restored of it (sentences without their full
    stops), and what is known of it by now. `actions` and `ended` are by finding id and by `Cause.key`: the action of
    that time, and when it ended (absent: still open).
    """

    at: datetime
    round_at: datetime | None
    unknown: tuple[str, ...] = ()
    actions: Mapping[str, str] = field(default_factory=dict)
    ended: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class EvaluatedRound(Owner):
    """A round and its evaluation: owns what follows from the two alone, for every publication of them."""

    round: Round
    evaluation: Evaluation


@dataclass(frozen=True)
class Published(Owner):
    """One published evaluation; it owns what follows from acknowledgements. Immutable; an acknowledgement makes a new
    one of the same `number`.

    `lives` is by finding id, `cause_lives` by `Cause.key`, `mutes` by finding id. `pending_resolution` are findings
    that are not in the evaluation and not resolved either: recovering or unseen; their lives show which.
    `pending_causes` are the same of causes.
    """

    number: int
    fabric: str
    evaluated: EvaluatedRound
    plan_digest: str = ""
    lives: Mapping[str, Life] = field(default_factory=dict)
    cause_lives: Mapping[str, Life] = field(default_factory=dict)
    pending_resolution: tuple[Finding, ...] = ()
    pending_causes: tuple[Cause, ...] = ()
    mutes: Mapping[str, Mute] = field(default_factory=dict)
    runs: Mapping[str, CollectorRun] = field(default_factory=dict)
    journal: JournalState = JournalState()
    evaluated_seconds: float = 0.0
    """Seconds from the snapshot to this evaluation."""
    traffic: Traffic | None = None
    """Traffic on links, for metrics; None where there are no counters or it is not requested."""
    open_faults: tuple[OpenFault, ...] = ()
    """What alerts and their metrics name: causes, and findings without one, worst first."""
    page_url: str = ""
    """The public address of truerail's page; empty if the settings have none."""
    hindsight: Hindsight | None = None
    """Of an evaluation of the past; None for the one in force."""

    @property
    def evaluation(self) -> Evaluation:
        """The result of all rules, and the causes."""
        return self.evaluated.evaluation

    @property
    def round(self) -> Round:
        """The plan, what was read, and everything derived from them."""
        return self.evaluated.round

    @property
    def at(self) -> datetime:
        """When the newest answer in it was requested."""
        return self.evaluation.at

    @property
    def plan(self) -> Plan:
        """The planned cabling."""
        return self.evaluation.plan

    @property
    def snapshot(self) -> Snapshot:
        """What was read."""
        return self.round.snapshot

    @property
    def wiring(self) -> Wiring:
        """The actual cabling."""
        return self.round.cabling
