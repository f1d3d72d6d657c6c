"""A tower in memory over a simulated fabric, for tests of the web: it publishes when it is asked to."""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

from truerail.analysis.published import CollectorRun, EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.errors import JournalUnavailableError, NotFoundError
from truerail.model import CauseKind, Plan, Snapshot
from truerail.model.history import (
    Acknowledgement,
    AuditRecord,
    CauseEvent,
    CauseRecord,
    EventKind,
    FindingEvent,
    FindingRecord,
    KeptCause,
    KeptFinding,
    LinkChange,
    MaintenanceWindow,
    NoHistory,
    PastState,
    PlanVersion,
    RoundRecord,
    RowRange,
)
from truerail.model.job_record import JobRecord
from truerail.model.life import Mute, MuteKind
from truerail.model.step_marks import StepChange, StepMark, changed
from truerail.plans import PlanError, Problem
from truerail.rounds import evaluate
from truerail.service.events import EventLog
from truerail.service.hook_jobs import JobsTaken, ReportedJobs
from truerail.service.settings import Settings
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.views.pieces import StepLine

T = TypeVar("T")
ALL = RowRange()
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
SHAPE = Shape(hosts=24, rails=4, pods=2, spines=2, uplinks=4)
FAULTS = (
    Fault(CauseKind.CABLE_SWAP, "one-host"),
    Fault(CauseKind.LINK_DOWN, "host"),
    Fault(CauseKind.CABLE_MOVE, "one-leaf"),
)


@cache
def fabric(faults: bool = True, shape: Shape = SHAPE) -> tuple[Simulation, Snapshot]:
    """A fabric with or without its faults, and what was seen of it. The plan is the same one."""
    broken = simulate(shape, FAULTS, seed=3)
    if faults:
        return broken, broken.snapshot()
    whole = simulate(shape, seed=3)
    return replace(whole, plan=broken.plan), whole.snapshot()


@cache
def published(faults: bool = True, shape: Shape = SHAPE) -> Published:
    """The first evaluation of that fabric."""
    simulation, seen = fabric(faults, shape)
    runs = {"lldp_host": CollectorRun("lldp_host", 60.0, NOW, 0.4, 24, 24, 1)}
    round = Round(simulation.plan, seen)
    return Published(1, "test", EvaluatedRound(round, evaluate(round)), plan_digest="d1", runs=runs)


def step(number: int, device: str, rack: str = "r01") -> StepLine:
    """A line of the punch list."""
    return StepLine(f"s{number}", "left", "swap", "", rack, 1, device, f"{device}/a", None, None, "", "do it", None)


def settings(**changed: object) -> Settings:
    """Settings of a service on loopback that asks no one who they are."""
    return Settings(inventory=Path("inventory.yaml"), **changed)  # type: ignore[arg-type]  # tests give parts as dicts


@dataclass
class FakeHistory:
    """What is remembered, in lists. `gone` makes every question fail."""

    gone: bool = False
    notes: dict[int, Acknowledgement] = field(default_factory=dict)
    open_windows: dict[int, MaintenanceWindow] = field(default_factory=dict)
    kept_rounds: list[RoundRecord] = field(default_factory=list)
    changes: list[LinkChange] = field(default_factory=list)
    happened: list[FindingEvent] = field(default_factory=list)
    audits: list[AuditRecord] = field(default_factory=list)
    broken: dict[str, dict[int, str]] = field(default_factory=dict)
    caused: list[CauseEvent] = field(default_factory=list)
    kept_findings_by_id: dict[str, KeptFinding] = field(default_factory=dict)
    kept_causes: dict[str, KeptCause] = field(default_factory=dict)
    since: datetime | None = None
    job_records: list[JobRecord] = field(default_factory=list)
    past: PastState = field(default_factory=lambda: NoHistory().as_of(NOW))

    def _alive(self) -> None:
        if self.gone:
            raise JournalUnavailableError("the database does not answer")

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        self._alive()
        return {row.port: row.at for row in reversed(self.changes) if row.port in ports}

    def link_changes(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = ALL
    ) -> Sequence[LinkChange]:
        self._alive()
        rows = [row for row in self.changes if start <= row.at <= end]
        rows = [row for row in rows if devices is None or row.port.partition("/")[0] in devices]
        return _part(rows, page, lambda row: row.seq)

    def finding_events(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = ALL
    ) -> Sequence[FindingEvent]:
        self._alive()
        rows = [row for row in self.happened if start <= row.at <= end]
        rows = [row for row in rows if devices is None or row.subject.partition("/")[0] in devices]
        return _part(rows, page, lambda row: row.seq)

    def cause_events(self, start: datetime, end: datetime, *, page: RowRange = ALL) -> Sequence[CauseEvent]:
        self._alive()
        return _part([row for row in self.caused if start <= row.at <= end], page, lambda row: row.seq)

    def kept_finding(self, finding: str) -> KeptFinding | None:
        self._alive()
        return self.kept_findings_by_id.get(finding)

    def kept_findings(self, findings: Collection[str]) -> Sequence[KeptFinding]:
        self._alive()
        return [one for key, one in self.kept_findings_by_id.items() if key in findings]

    def kept_cause(self, key: str) -> KeptCause | None:
        self._alive()
        return self.kept_causes.get(key)

    def kept_since(self) -> datetime | None:
        self._alive()
        return self.since

    def job_runs(
        self, start: datetime, end: datetime, *, hosts: Collection[str] | None = None, page: RowRange = ALL
    ) -> Sequence[JobRecord]:
        self._alive()
        return [run for run in self.job_records if run.begun_at <= end and (run.ended_at or end) >= start]

    def jobs_named(self, asked: str, *, page: RowRange = ALL) -> Sequence[JobRecord]:
        self._alive()
        return [run for run in self.job_records if asked in (run.key, run.name)]

    def as_of(self, at: datetime) -> PastState:
        self._alive()
        return replace(self.past, at=at)

    def findings(self, *, resolved_since: datetime | None = None, page: RowRange = ALL) -> Sequence[FindingRecord]:
        self._alive()
        return ()

    def causes(self, *, resolved_since: datetime | None = None, page: RowRange = ALL) -> Sequence[CauseRecord]:
        self._alive()
        return ()

    def rounds(self, page: RowRange = ALL) -> Sequence[RoundRecord]:
        self._alive()
        return _part(self.kept_rounds, page, lambda row: row.number)

    def plans(self) -> Sequence[PlanVersion]:
        self._alive()
        return (PlanVersion("d1", NOW, "plan.csv", 34, 112),)

    def acknowledgements(self, *, open_only: bool = True) -> Sequence[Acknowledgement]:
        self._alive()
        return tuple(self.notes.values())

    def windows(self, *, open_only: bool = True) -> Sequence[MaintenanceWindow]:
        self._alive()
        return tuple(self.open_windows.values())

    def audit(self, page: RowRange = ALL) -> Sequence[AuditRecord]:
        self._alive()
        return _part(self.audits, page, lambda row: row.seq)

    def unreadable(self, table: str) -> Mapping[int, str]:
        return self.broken.get(table, {})


def _part(rows: Sequence[T], page: RowRange, number: Callable[[T], int]) -> Sequence[T]:
    newest_first = sorted(rows, key=number, reverse=True)
    return [row for row in newest_first if page.before is None or number(row) < page.before][: page.limit]


class FakeTower:
    """Publishes what it is given. `rechecked` and `reloads` tell what was asked of it."""

    def __init__(self, publication: Published | None = None) -> None:
        self.publication: Published | None = publication
        self.history = FakeHistory()
        self.stale_since: datetime | None = None
        self.away = ""
        self.events = EventLog(1000)
        self.counted = None
        self.steps: Sequence[StepLine] = ()
        self.marks: dict[str, StepMark] = {}
        self.counters: Mapping[str, float] = {"rounds_total": 1.0}
        self.moment = NOW
        self.rechecked: list[str] = []
        self.reported = ReportedJobs()
        self.found_jobs: dict[str, Sequence[JobRecord]] = {}
        self.bad_plan = False
        self._ids = itertools.count(1)

    @property
    def now(self) -> Callable[[], datetime]:
        return lambda: self.moment

    def publish(self, publication: Published, kind: str = "round", data: bytes = b"{}") -> None:
        """A new evaluation, and the event of it."""
        number = self.publication.number + 1 if self.publication else 1
        self.publication = replace(publication, number=number)
        self.events.add(kind, data)

    def remember(self, links: int = 0, rounds: int = 0) -> None:
        """Fills the history: one link change and one round a minute, the newest now."""
        plan: Plan = self.publication.plan if self.publication else fabric()[0].plan
        for number in range(1, links + 1):
            cable, at = plan.cables[number % len(plan.cables)], NOW - timedelta(minutes=links - number)
            row = LinkChange(number, at, str(cable.a), str(cable.b), None, "right", "missing")
            self.history.changes.append(row)
            summary = f"{cable.a} is not seen"
            event = FindingEvent(number, at, EventKind.APPEARED, "f" * 12, "CAB003", "critical", str(cable.a), summary)
            self.history.happened.append(event)
        for number in range(1, rounds + 1):
            at = NOW - timedelta(minutes=rounds - number)
            self.history.kept_rounds.append(
                RoundRecord(number, at, 0.1, 34, 34, 112, 110, 1, 1, 0, {"critical": 2}, 1, "d1")
            )

    def _note(self, who: str, action: str, detail: str) -> None:
        if self.history.gone:
            raise JournalUnavailableError("the database does not answer")
        seq = len(self.history.audits) + 1
        self.history.audits.append(AuditRecord(seq, self.moment, who, action, detail))

    async def recheck(self, devices: Collection[str], who: str) -> int:
        self.rechecked += devices
        return len(devices)

    async def reload_plan(self, who: str) -> PlanVersion:
        if self.bad_plan:
            raise PlanError([Problem("plan.csv", 7, "leaf-<b>9", "unknown device")])
        return PlanVersion("d2", self.moment, "plan.csv", 34, 112)

    async def report_jobs(self, answer: str, complete: bool) -> JobsTaken:
        return self.reported.take(answer, self.moment, complete=complete)

    async def find_job(self, key: str) -> Sequence[JobRecord]:
        return self.found_jobs.get(key, ())

    async def acknowledge(self, target: str, who: str, reason: str, until: datetime | None) -> Acknowledgement:
        assert self.publication is not None
        if target not in {f.id for f in self.publication.evaluation.findings}:
            raise NotFoundError(f"no open finding or cause {target!r}")
        self._note(who, "acknowledge", target)
        made = Acknowledgement(next(self._ids), target, who, reason, self.moment, until)
        self.history.notes[made.id] = made
        mute = Mute(MuteKind.ACKNOWLEDGED, made.id, who, reason, until)
        self.publication = replace(self.publication, mutes={**self.publication.mutes, target: mute})
        self.events.add("mutes", b"{}")
        return made

    @property
    def step_marks(self) -> Sequence[StepMark]:
        return tuple(self.marks.values())

    async def mark_step(self, change: StepChange, who: str) -> StepMark:
        if change.step not in {step.key for step in self.steps}:
            raise NotFoundError(f"the punch list has no step {change.step!r} any more")
        mark = changed(self.marks.get(change.step), change, self.moment)
        self._note(who, "punch list", change.action.value)
        self.marks[change.step] = mark
        self.events.add("steps", b"{}")
        return mark

    async def withdraw(self, acknowledgement: int, who: str) -> None:
        if acknowledgement not in self.history.notes:
            raise NotFoundError(f"no open acknowledgement {acknowledgement}")
        self._note(who, "withdraw", str(acknowledgement))
        del self.history.notes[acknowledgement]

    async def open_window(
        self, scope: str, what: str, starts: datetime, ends: datetime, who: str, reason: str
    ) -> MaintenanceWindow:
        self._note(who, "open window", what)
        made = MaintenanceWindow(next(self._ids), scope, what, starts, ends, who, reason, self.moment)
        self.history.open_windows[made.id] = made
        return made

    async def end_window(self, window: int, who: str) -> None:
        if window not in self.history.open_windows:
            raise NotFoundError(f"no open maintenance window {window}")
        self._note(who, "end window", str(window))
        del self.history.open_windows[window]

    async def audit(self, who: str, action: str, detail: str) -> None:
        self._note(who, action, detail)
