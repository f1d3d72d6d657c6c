"""The running service: polls on a schedule, evaluates new answers, publishes and records evaluations."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from truerail.analysis.published import JournalHealth, JournalState, Published
from truerail.errors import JournalUnavailableError
from truerail.journal import Changes, Journal, Keeper
from truerail.model import Plan, Target
from truerail.model.history import RoundRecord
from truerail.model.job_record import JobRecord
from truerail.model.steady import STEADY, SteadyClock
from truerail.model.tasks import Spawns, end
from truerail.poller.fleet import Work
from truerail.poller.polling import InProcess, PollingMaker
from truerail.poller.schedule import Schedule
from truerail.service.api import Outlet
from truerail.service.current import CurrentEvaluation
from truerail.service.evaluator import Evaluated, Evaluator
from truerail.service.freeing import EVERY_SECONDS, Garbage, free
from truerail.service.job_finder import JobFinder
from truerail.service.job_settings import AUTO
from truerail.service.kept_counters import KEPT_SECONDS, KeptCounters, KeptPast
from truerail.service.kept_marks import StepMarks
from truerail.service.logs import logger, set_up
from truerail.service.mutes import Mutes, mutes
from truerail.service.plans import PlanInForce, version_of
from truerail.service.polled_work import work_of
from truerail.service.prober import FORGET_SECONDS, Prober
from truerail.service.ras_follower import RasFollower
from truerail.service.settings import Settings
from truerail.transport.fleet_transport import Routes
from truerail.transport.protocol import Transport
from truerail.views.fabric_map import FabricMap

if TYPE_CHECKING:
    from truerail.service.history_writer import HistoryWriter
    from truerail.service.leadership import Leadership

WINDOWS_SECONDS = 15.0
RETENTION_SECONDS = 3600.0
_DROP_SECONDS = 10.0
PROBE, PROBE_AGE, RAS = "probe", "age of probes", "ras"
FIXED = ("fabric", "history", "http", "journal", "page", "notify", "otlp", "gate")
"""Settings that a running service cannot change."""


def utc_now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


class Watch(Spawns):
    """The monitoring of one fabric. `run` until `stop` is set; no reader waits for a round."""

    def __init__(
        self,
        settings: Settings,
        targets: Sequence[Target],
        plan: PlanInForce,
        transport: Transport,
        evaluator: Evaluator,
        journal: Journal | None,
        clock: Callable[[], datetime] = utc_now,
        recording: "HistoryWriter | None" = None,
        polling: PollingMaker | None = None,
        leadership: "Leadership | None" = None,
        finding: Callable[[], Transport] = Routes,
        steady: SteadyClock = STEADY,
    ) -> None:
        """`polling` makes what polls, in place of `transport` in this process; `leadership` is that of one of several
        judges; `finding` opens what asks for a single job; `steady` is the clock of answers.
        """
        super().__init__()
        self.settings, self.plan, self.evaluator, self.journal, self.clock = settings, plan, evaluator, journal, clock
        self.recording, self.leadership, self._steady = recording, leadership, steady
        self._targets = tuple(targets)
        self._fresh = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._log = logger()
        self._kept_plan = ""
        self._away: JournalState | None = None
        self._unkept: deque[tuple[RoundRecord, Changes]] = deque(maxlen=settings.journal.max_queued_rounds)
        self._resumed = journal is None
        self.evaluations, self.evaluations_failed, self.failing = 0, 0, ""
        self.shown = CurrentEvaluation(clock())
        self.desk = Mutes(journal, clock, self._remark)
        self.marks = StepMarks(journal, clock)
        self.outlets: list[Outlet] = []
        """What takes each evaluation and sends what follows from it."""
        self._garbage = Garbage()
        self._keeper = Keeper(journal, settings.journal.max_queued_rounds, self._journal_changed) if journal else None
        self._kept = [kind(evaluator, journal, clock) for kind in (KeptCounters, KeptPast)] if journal else []
        self.prober = Prober(lambda: self.asking.latest, steady.now, self._fresh.set)
        self._finder = JobFinder(finding)
        self.ras = RasFollower(finding, clock, self._fresh.set)
        self._schedule = Schedule(overran=self._overran, failed=self._job_failed)
        self.asking = (polling or partial(InProcess, transport=transport))(self._work, self._fresh.set)

    async def run(self, stop: asyncio.Event) -> None:
        """Polls and evaluates until `stop` is set, then releases everything: no session and no row is left behind."""
        self.asking.start()
        beginning = asyncio.create_task(self._begin())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((beginning, stopping), return_when=asyncio.FIRST_COMPLETED)
            if beginning.done():
                await beginning
            await stopping
        finally:
            await end([beginning, stopping])
            await self._end()

    async def _begin(self) -> None:
        """Evaluates from now on; one of several judges from when it leads on."""
        if self.leadership:
            dropping = asyncio.create_task(self._drop_counters())
            try:
                await self.leadership.begin(self.journal)
            finally:
                await end([dropping])
        await self.desk.load()
        await self.marks.load()
        self._jobs()
        self._log.info("watching", fabric=self.settings.fabric, devices=len(self.asking.devices))
        self.spawn(self._evaluating())
        self._schedule.start()

    async def _drop_counters(self) -> None:
        """A standby has no window of counters: it continues with the one that the leader has stored."""
        while True:
            await asyncio.sleep(_DROP_SECONDS)
            self.asking.latest.counted()

    async def _end(self) -> None:
        self._schedule.stop()
        await self.prober.end()
        await self.ras.forget()
        await end(self._tasks)
        await self.asking.stop()
        self.shown.stop()
        for outlet in self.outlets:
            await asyncio.to_thread(outlet.close)
        if self._keeper:
            await asyncio.to_thread(self._keeper.close)
        await self._keep_counters()
        if self.recording:
            await asyncio.to_thread(self.recording.close)
        if self.journal:
            await asyncio.to_thread(self.journal.close)
        self._log.info("stopped", evaluations=self.evaluations)

    def use(self, settings: Settings, targets: Sequence[Target], plan: Plan | None) -> None:
        """Applies other settings, devices and plan: no state or history is lost.

        The listen address and the journal cannot change while it runs; that is logged, and the rest is applied.
        """
        fixed = {name: getattr(self.settings, name) for name in FIXED}
        kept = [name for name, value in fixed.items() if value != getattr(settings, name)]
        if kept:
            self._log.warning("these settings change only with a restart", settings=", ".join(kept))
        self.settings = settings.model_copy(update=fixed)
        self._targets = tuple(targets)
        self.plan.plan, self.plan.notes = plan, ()
        self.evaluator.settle(settings)
        set_up(settings.log)
        self.ask_again()
        self._jobs()
        self._log.info("reloaded", devices=len(targets), cables=len(plan.cables) if plan else 0)

    def ask_again(self) -> None:
        """Devices, plan or pace changed: polls accordingly from the next round on, and evaluates the known
        state again.
        """
        self.asking.apply(self._work)
        self.evaluate_again()

    def evaluate_again(self) -> None:
        """Evaluates the current state as soon as no other evaluation runs."""
        self._fresh.set()

    # --- evaluating ---------------------------------------------------------------------------------------------------

    async def _evaluating(self) -> None:
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            try:
                await self._evaluate_once()
                self.failing = ""
            except Exception as error:  # noqa: BLE001 - a bug in evaluating must not end the watch: it is logged, counted
                self.evaluations_failed += 1
                self.failing = f"the newest answers could not be evaluated ({type(error).__name__})"
                self._log.error("evaluation failed; the last one stays in use", exc_info=error)

    async def _evaluate_once(self) -> None:
        set_by = self._steady.set_by()
        self.asking.latest.follow(set_by)
        snapshot = self.asking.latest.snapshot()
        if snapshot is None:
            return
        snapshot = self.ras.joined(snapshot)
        plan = await asyncio.to_thread(self.plan.of, snapshot)
        if plan is None:
            self._log.warning("no plan is given and none can be inferred", why=self.plan.why_not)
            return
        await self._resume()
        seen = (snapshot, self.asking.latest.counted(), self.plan.notes, dict(self.asking.runs), self.journal_state)
        known = (self.desk.acknowledged, self.desk.windows, self.clock(), set_by)
        evaluated = await asyncio.to_thread(self.evaluator.evaluate, plan, *seen, *known)
        if self.leadership and not self.leadership.held:
            return
        await self.shown.evaluated(evaluated)
        self.evaluations += 1
        if self.recording:
            self.recording.put(evaluated.publication, evaluated.record)
        await self._remember(plan, evaluated)
        if self.outlets and (self.leadership is None or self.leadership.held):
            await asyncio.to_thread(self._hand_on, evaluated.publication)
        await asyncio.to_thread(free, self.shown.former)
        await self._garbage.evaluated(evaluated.publication.evaluated_seconds)

    async def _remember(self, plan: Plan, evaluated: Evaluated) -> None:
        """Queues an evaluation for the journal, as soon as that can be read."""
        if self._keeper:
            self._unkept.append((evaluated.record, evaluated.changes))
            if self._resumed:
                self._keep(self._keeper)
                await self._keep_plan(plan)
                await self.desk.resolved(evaluated.changes.resolved)

    def _hand_on(self, publication: Published) -> None:
        for outlet in self.outlets:
            try:
                outlet.evaluated(publication, resumed=self._resumed)
            except Exception as error:  # noqa: BLE001 - a bug in reporting must not end the watch: it is logged
                self._log.error("an evaluation was not handed on", to=type(outlet).__name__, exc_info=error)

    def _keep(self, keeper: Keeper) -> None:
        """Queues all evaluations since the last call for the journal, with numbers after its own."""
        first = self.evaluator.number - len(self._unkept)
        for number, (record, changes) in enumerate(self._unkept, first):
            keeper.put(replace(record, number=number), changes)
        self._unkept.clear()

    async def _resume(self) -> None:
        """Continues where the journal ends, as soon as it can be read: until then nothing is written into it."""
        if self._resumed or self.journal is None:
            return
        try:
            for kept in self._kept:
                await asyncio.to_thread(kept.restore)
            await asyncio.to_thread(self.evaluator.resume, self.journal)
        except JournalUnavailableError as error:
            if self._away is None:
                self._away = JournalState(JournalHealth.FAILING, str(error), self.clock())
                self._tell_journal(self._away)
        else:
            self._resumed = True
            if self._away is not None:
                self._away = None
                self._tell_journal(self.journal_state)

    async def _keep_counters(self) -> None:
        if self._resumed:
            with suppress(JournalUnavailableError):  # reported by the rounds that are not stored either
                for kept in self._kept:
                    await asyncio.to_thread(kept.keep)

    @property
    def journal_state(self) -> JournalState:
        """How the journal stands."""
        return self._away or (self._keeper.state if self._keeper else JournalState())

    async def _keep_plan(self, plan: Plan) -> None:
        version = version_of(plan, self.clock())
        if self.journal and version.digest != self._kept_plan:
            with suppress(JournalUnavailableError):
                await asyncio.to_thread(self.journal.plan_in_force, version)
                self._kept_plan = version.digest

    async def _remark(self) -> None:
        """Shows the same evaluation with other mutes after a window or an acknowledgement began or ended."""
        await self.desk.load()
        await self.marks.load()
        self.desk.forget_ended()
        while (shown := self.shown.publication) is not None:
            otherwise = await asyncio.to_thread(self._muted_otherwise, shown)
            if self.shown.publication is shown:  # otherwise a newer one is shown by now
                if otherwise:
                    self.shown.muted(*otherwise)
                return

    def _muted_otherwise(self, shown: Published) -> tuple[Published, FabricMap] | None:
        """The shown publication with the current mutes, and its map; None if they are unchanged."""
        findings, causes = (*shown.evaluation.findings, *shown.pending_resolution), shown.evaluation.causes
        marks = mutes(shown.plan, findings, causes, self.desk.acknowledged, self.desk.windows, self.clock())
        if marks == shown.mutes:
            return None
        changed = replace(shown, mutes=marks)
        return changed, self.evaluator.remark(changed)

    # --- the schedule -------------------------------------------------------------------------------------------------

    def _jobs(self) -> None:
        jitter = self.settings.schedule.jitter.total_seconds()
        self._schedule.all_of(self.asking.scheduled, lambda name: partial(self.asking.due, name), jitter)
        self._schedule.every("maintenance windows", WINDOWS_SECONDS, self._remark)
        self._schedule.every("retention", RETENTION_SECONDS, self._retain)
        self._schedule.every("counters", KEPT_SECONDS, self._keep_counters)
        self._schedule.every("garbage", EVERY_SECONDS, self._garbage.collect)
        if probe := self.settings.probe:
            self.prober.begin(probe)
            self._schedule.every(PROBE, probe.every.total_seconds(), self._probe, jitter_seconds=jitter)
            self._schedule.every(PROBE_AGE, FORGET_SECONDS, self.prober.forget_old)
        else:
            self.prober.cease()
            self._schedule.drop(PROBE)
        ras = self.settings.jobs.ras
        if ras is not None and ras.hosts == AUTO:
            self._schedule.every(RAS, ras.every.total_seconds(), self._follow, jitter_seconds=jitter)
        else:
            self._schedule.drop(RAS)
            self.spawn(self.ras.forget())

    async def _probe(self) -> None:
        if probe := self.settings.probe:
            work = self._work
            await self.prober.run(probe, self.shown.publication, work.named(), work.every_seconds)

    async def find_job(self, key: str) -> Sequence[JobRecord]:
        """The runs of a job that a Slurm of the settings or the inventory knows by its id."""
        shown = self.settings.jobs
        return await self._finder.find(
            key, self._work.targets, self.clock(), show_users=shown.show_users, show_names=shown.show_names
        )

    async def _follow(self) -> None:
        shown = self.shown.publication
        if shown is not None:
            await self.ras.run(shown.round.jobs, self._work.named())

    async def _retain(self) -> None:
        if self.journal:
            with suppress(JournalUnavailableError):
                await asyncio.to_thread(self.journal.retain, self.clock())
            self.evaluator.lives.forget(self.clock() - self.settings.journal.retention)

    def _overran(self, job: str) -> None:
        if job in self.asking.runs:
            self.asking.overran(job)

    def _job_failed(self, job: str, error: BaseException) -> None:
        self._log.error("a job failed", job=job, exc_info=error)

    @property
    def _work(self) -> Work:
        return work_of(self.settings, self._targets, self.plan.plan)

    # --- the journal --------------------------------------------------------------------------------------------------

    def _journal_changed(self, state: JournalState) -> None:
        """Called from the keeper's thread when the journal fails or recovers."""
        with suppress(RuntimeError):  # the loop has ended, there is no reader left
            self._loop.call_soon_threadsafe(self._tell_journal, state)

    def _tell_journal(self, state: JournalState) -> None:
        self._log.warning("journal", health=state.health.value, waiting=state.waiting, error=state.error)
        self.shown.journal(state)
