"""The `ServiceAPI` of a running watch: its current state, and actions."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain

from truerail.analysis.published import Published
from truerail.errors import NotReadyError
from truerail.history.past_counters import PastCounters
from truerail.model.history import Acknowledgement, History, MaintenanceWindow, NoHistory, PlanVersion
from truerail.model.job_record import JobRecord
from truerail.model.step_marks import StepChange, StepMark
from truerail.service.hook_jobs import JobsTaken
from truerail.service.plans import version_of
from truerail.service.round_loop import Watch
from truerail.views.pieces import StepLine

MOST_AUDITED = 50
"""Most names in the audit record of a recheck."""


class WatchService:
    """The `ServiceAPI` of a watch; see there for the contract of each method."""

    stale_since: datetime | None = None
    """None: it evaluates."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self.events, self.now = watch, watch.shown.events, watch.clock

    @property
    def publication(self) -> Published | None:
        """The newest evaluation; None before the first."""
        return self._watch.shown.publication

    @property
    def away(self) -> str:
        """Why the last evaluation is not of the newest answers; empty: it is."""
        return self._watch.failing

    @property
    def history(self) -> History:
        """The journal, or an empty history without one."""
        return self._watch.journal or NoHistory()

    @property
    def counted(self) -> Callable[[datetime], PastCounters | None] | None:
        """The counters of a time in the past; None without a history store."""
        return self._watch.recording.counters_at if self._watch.recording else None

    @property
    def steps(self) -> Sequence[StepLine]:
        """The punch list with its ticks."""
        return self._watch.shown.steps

    @property
    def step_marks(self) -> Sequence[StepMark]:
        """What people wrote on these steps."""
        return self._watch.marks.of(self.steps)

    @property
    def counters(self) -> Mapping[str, float]:
        """The service's own metrics."""
        watch = self._watch
        return {
            "rounds_total": watch.asking.rounds_total,
            "evaluations_total": watch.evaluations,
            "evaluations_failed_total": watch.evaluations_failed,
            "devices_in_flight": watch.asking.waiting,
            "reader_faults_total": watch.asking.latest.reader_faults_total,
            "event_streams": watch.shown.events.readers,
            **watch.asking.figures,
            **watch.prober.figures,
            **(watch.leadership.figures if watch.leadership else {}),
            **(watch.recording.figures if watch.recording else {}),
            **dict(chain.from_iterable(outlet.figures().items() for outlet in watch.outlets)),
        }

    async def recheck(self, devices: Collection[str], who: str) -> int:
        """Polls these devices with every collector now; returns their number."""
        known = set(self._watch.asking.devices) & set(devices)
        await self.audit(who, "recheck", ", ".join(sorted(known)[:MOST_AUDITED]))
        self._watch.spawn(self._watch.asking.everything(known))
        return len(known)

    async def reload_plan(self, who: str) -> PlanVersion:
        """Reads the plan file again. Raises `PlanError`, `NotReadyError`."""
        watch = self._watch
        await asyncio.to_thread(watch.plan.reload)
        snapshot = watch.asking.latest.snapshot()
        plan = await asyncio.to_thread(watch.plan.of, snapshot) if snapshot else watch.plan.plan
        watch.ask_again()
        if plan is None:
            raise NotReadyError("no plan is given and none can be inferred yet")
        version = version_of(plan, watch.clock())
        await self.audit(who, "plan reload", f"{version.source} {version.digest}")
        return version

    async def report_jobs(self, answer: str, complete: bool) -> JobsTaken:
        """Takes jobs that a scheduler's hooks report, and evaluates them at once."""
        watch = self._watch
        taken = await asyncio.to_thread(watch.evaluator.reported.take, answer, watch.clock(), complete=complete)
        watch.evaluate_again()
        return taken

    async def find_job(self, key: str) -> Sequence[JobRecord]:
        """The runs of a job that Slurm is asked for by its id."""
        return await self._watch.find_job(key)

    async def acknowledge(self, target: str, who: str, reason: str, until: datetime | None) -> Acknowledgement:
        """Acknowledges a finding (id) or a cause (key)."""
        return await self._watch.desk.acknowledge(self._shown(), target, who, reason, until)

    async def mark_step(self, change: StepChange, who: str) -> StepMark:
        """Writes on a step of the punch list."""
        mark = await self._watch.marks.write(self.steps, change, who)
        self.events.add("steps", b"{}")
        return mark

    async def withdraw(self, acknowledgement: int, who: str) -> None:
        """Ends an acknowledgement."""
        await self._watch.desk.withdraw(acknowledgement, who)

    async def open_window(
        self, scope: str, what: str, starts: datetime, ends: datetime, who: str, reason: str
    ) -> MaintenanceWindow:
        """Announces maintenance."""
        return await self._watch.desk.open_window(self._shown().plan, scope, what, starts, ends, who, reason)

    async def end_window(self, window: int, who: str) -> None:
        """Ends a maintenance window early."""
        await self._watch.desk.end_window(window, who)

    async def audit(self, who: str, action: str, detail: str) -> None:
        """Records any other write."""
        await self._watch.desk.audit(who, action, detail)

    def _shown(self) -> Published:
        if self.publication is None:
            raise NotReadyError("the first round still runs")
        return self.publication
