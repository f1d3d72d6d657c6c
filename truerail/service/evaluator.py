"""From the current snapshot to the published evaluation: rules, causes, lives, punch list, everything readers need."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.plugs import LONGEST_UNSEEN_SECONDS, Plugs, Spans
from truerail.analysis.counters import Window
from truerail.analysis.counters.storage import Stored
from truerail.analysis.counters.traffic import traffic_of
from truerail.analysis.published import CollectorRun, EvaluatedRound, JournalState, Published
from truerail.analysis.round import Round
from truerail.analysis.running_jobs import Jobs, settled
from truerail.analysis.trends.link_past import Past
from truerail.journal import Changes, Journal, Lives
from truerail.model import Evaluation, Plan, Reading, Snapshot
from truerail.model.finding import Lasting
from truerail.model.history import Acknowledgement, MaintenanceWindow, RoundRecord, RowRange
from truerail.model.names import without_figures
from truerail.model.open_fault import OpenFault
from truerail.model.pause import garbage_collection_paused
from truerail.model.probe_facts import PROBE_COLLECTORS
from truerail.outputs.worklist import Worklist
from truerail.questions.rail_status import rail_status_of
from truerail.rounds import evaluate
from truerail.service.hook_jobs import ReportedJobs
from truerail.service.job_settings import JobSettings
from truerail.service.logs import logger
from truerail.service.mutes import mutes, work_now
from truerail.service.settings import Settings
from truerail.views.fabric_map import FabricMap, fabric_map
from truerail.views.faults import open_faults
from truerail.views.lines import cause_lines
from truerail.views.lists import step_lines
from truerail.views.pieces import StepLine
from truerail.views.view import view_of, warm

# ----------------------------------------------------------------------------------------------------------------------
# The sentences of open faults, kept while only their numbers change: each other text is another series of metrics.

KEPT: Final = timedelta(minutes=15)
"""A share or rate that changes with every round makes at most four series an hour for a fault."""


class Wordings:
    """By the key of each open fault: its sentence, and since when it reads so. One caller at a time."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, datetime]] = {}

    def steady(self, faults: Sequence[OpenFault], at: datetime) -> tuple[OpenFault, ...]:
        """The faults with sentences whose numbers are at most a quarter of an hour old."""
        kept = {fault.key: self._sentence(fault, at) for fault in faults}
        self._kept = kept
        return tuple(replace(fault, summary=kept[fault.key][0]) for fault in faults)

    def _sentence(self, fault: OpenFault, at: datetime) -> tuple[str, datetime]:
        known, since = self._kept.get(fault.key, ("", at))
        same = without_figures(known) == without_figures(fault.summary)
        return (known, since) if same and abs(at - since) < KEPT else (fault.summary, at)


# ----------------------------------------------------------------------------------------------------------------------
# From the current snapshot to the published evaluation: rules, causes, lives, punch list, everything readers need.

MOST_CHANGES = 10_000
"""Most link changes within the counters' window: the newest ones, if a whole pod was re-plugged."""

Prepare = Callable[[Published], object]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation with everything derived from it."""

    publication: Published
    map: FabricMap
    steps: tuple[StepLine, ...]
    changes: Changes
    record: RoundRecord


@dataclass
class Evaluator:
    """Evaluates one snapshot after the other, never two at a time. Runs in a thread beside the event loop.

    `prepare` are called with each publication before it is shown, so that no reader waits for an index.
    """

    fabric: str
    lives: Lives
    number: int
    prepare: list[Prepare] = field(default_factory=list)
    worklist: Worklist = field(default_factory=lambda: Worklist(kept=timedelta(hours=1)))
    window: Window = field(default_factory=Window)
    plugs: Plugs = field(default_factory=Plugs)
    past: Past | None = None
    """The signals of all links over days; None before the first evaluation."""
    cabled: Wiring | None = None
    """The wiring of the last evaluation."""
    traffic: bool = True
    """Whether publications carry the traffic of every link."""
    page_url: str = ""
    """The public address of the page."""
    jobs: Jobs = field(default_factory=Jobs)
    """The jobs of the last evaluation, and what is shown of them."""
    lasting: Lasting = field(default_factory=Lasting)
    """The causes of load of the last evaluations."""
    reported: ReportedJobs = field(default_factory=ReportedJobs)
    """The jobs that schedulers report by themselves."""
    asked: JobSettings = field(default_factory=JobSettings)
    """Which schedulers are asked."""
    first: int = 1
    """The number of its first evaluation, if the journal does not have it or a higher one."""
    wordings: Wordings = field(default_factory=Wordings)
    _set_by: float | None = None
    """Seconds by which the system's clock had been set at the last evaluation; None before the first."""
    _counting: threading.Lock = field(default_factory=threading.Lock)
    """Held while the window is filled, copied or replaced."""

    @classmethod
    def begin(cls, settings: Settings, *, last: int = 0) -> "Evaluator":
        """An evaluator without history. `last` is the number of the last evaluation that readers have seen."""
        recovery = settings.recovery
        lives = Lives(recovery.resolve_after, recovery.flapping_episodes, recovery.flapping_within)
        made = cls(settings.fabric, lives, last + 1, first=last + 1)
        made.settle(settings)
        return made

    def resume(self, journal: Journal) -> None:
        """Continues where the journal ends, at any time between two evaluations. Raises JournalUnavailableError.

        Earlier evaluations, made while it could not be read, are numbered after its own.
        """
        memory, next_number = journal.restore(), journal.next_number()
        self.lives.restore(memory)
        if memory.at is not None:
            self.reported.restore(memory.jobs, memory.at)
            seen = {one.port: one.seen for one in memory.links if one.seen is not None}
            self.plugs = self.plugs.restored(seen, memory.at.timestamp())
            self._remember_plugs(journal, memory.at)
        self.number += max(self.first, next_number) - self.first

    def _remember_plugs(self, journal: Journal, at: datetime) -> None:
        """Finds cables moved since the newest stored counters: counters stored for them end there."""
        with self._counting:
            counters = self.window.view()
        if counters is not None and len(counters.order):
            since = datetime.fromtimestamp(counters.oldest - LONGEST_UNSEEN_SECONDS, UTC)
            changes = journal.link_changes(since, at, page=RowRange(MOST_CHANGES))
            self.plugs = self.plugs.moved_in(reversed(changes))

    def remember(self, stored: Stored) -> None:
        """Continues with the counters of a former run, if there are none yet and they are counted in the same way."""
        window = stored.window
        with self._counting:
            alike = (window.samples, window.step_seconds) == (self.window.samples, self.window.step_seconds)
            if alike and not self.window.sources:
                self.window, self.plugs = window, self.plugs.moved(stored.replugged)

    def remember_past(self, past: Past) -> None:
        """Continues with the past of a former run, unless this one is longer by now."""
        if self.past is None or len(self.past.links.samples) < len(past.links.samples):
            self.past = past

    def _follow(self, set_by: float) -> None:
        """Times that people read are those of the system's clock: where that was set, what is held of earlier rounds
        moves with it, so that nothing lasts longer or shorter.
        """
        seconds, self._set_by = set_by - (set_by if self._set_by is None else self._set_by), set_by
        if seconds:
            logger().warning("the system's clock was set; times of before move with it", seconds=seconds)
            with self._counting:
                self.window.move(seconds)
            self.plugs = self.plugs.later(seconds)
            self.lives.move(timedelta(seconds=seconds))

    def counters(self) -> tuple[Window, Spans]:
        """A copy of the counters, and when ports were replugged. May be called during an evaluation."""
        with self._counting:
            return self.window.copy(), self.plugs.replugged.spans

    def settle(self, settings: Settings) -> None:
        """Applies new settings of recovery and metrics from the next evaluation on."""
        recovery = settings.recovery
        self.lives.use(recovery.resolve_after, recovery.flapping_episodes, recovery.flapping_within)
        self.traffic = settings.metrics.traffic
        self.page_url = settings.page.url
        now, before = settings.jobs, self.asked
        self.jobs = settled(self.jobs, now.show_users, now.show_names, now.differing(before))
        self.asked = now

    def evaluate(
        self,
        plan: Plan,
        snapshot: Snapshot,
        counted: Sequence[Reading],
        notes: Sequence[str],
        runs: Mapping[str, CollectorRun],
        journal: JournalState,
        acknowledged: Sequence[Acknowledgement],
        windows: Sequence[MaintenanceWindow],
        now: datetime,
        set_by: float = 0.0,
    ) -> Evaluated:
        """The next publication. `counted` are the readings of counters since the last one; times of `runs` are by a
        clock that the system's is ahead of by `set_by` seconds.
        """
        began, by = time.monotonic(), timedelta(seconds=set_by)
        self._follow(set_by)
        snapshot = self.reported.joined(snapshot)
        with garbage_collection_paused(old=True):
            with self._counting:
                self.window.put(counted)
                counters = self.window.view()
            round = Round(plan, snapshot, counters, self.plugs, self.past, self.cabled, self.jobs, self._lasting(plan))
            self.cabled = round.cabling
            self.plugs = round.plugs
            evaluation = evaluate(round, notes=notes, work=work_now(plan, windows, now))
            self.past, self.jobs, self.lasting = round.past, round.jobs, evaluation.lasting
            changes = self.lives.update(evaluation, round.cabling, round.jobs, snapshot.inventory)
            evaluated_round = EvaluatedRound(round, evaluation)
            findings = (*evaluation.findings, *changes.pending_resolution)
            pending = (changes.pending_causes, changes.pending_resolution)
            faults = open_faults(evaluated_round, changes.cause_lives, changes.lives, *pending)
            publication = Published(
                number=self.number,
                fabric=self.fabric,
                evaluated=evaluated_round,
                plan_digest=plan.digest,
                lives=changes.lives,
                cause_lives=changes.cause_lives,
                pending_resolution=changes.pending_resolution,
                pending_causes=changes.pending_causes,
                mutes=mutes(plan, findings, evaluation.causes, acknowledged, windows, now),
                runs={name: replace(one, last_at=one.last_at and one.last_at + by) for name, one in runs.items()},
                journal=journal,
                traffic=traffic_of(round) if self.traffic else None,
                open_faults=self.wordings.steady(faults, evaluation.at),
                page_url=self.page_url,
                evaluated_seconds=time.monotonic() - began,
            )
            self.worklist.update(evaluation)
            self._warm(publication)
            steps = step_lines(self.worklist, publication)
            evaluated = Evaluated(publication, fabric_map(publication), steps, changes, _record(publication))
        self.number += 1
        return evaluated

    def _lasting(self, plan: Plan) -> Lasting:
        """The causes of load of the rounds before; none of another plan."""
        return self.lasting if self.cabled is not None and self.cabled.index.plan is plan else Lasting()

    def remark(self, publication: Published) -> FabricMap:
        """The map of a publication whose mutes changed, with every cache warm for its readers."""
        self._warm(publication)
        return fabric_map(publication)

    def _warm(self, publication: Published) -> None:
        warm(publication)
        rail_status_of(publication.evaluated)
        cause_lines(view_of(publication))
        for prepare in self.prepare:
            prepare(publication)


def _record(publication: Published) -> RoundRecord:
    evaluation: Evaluation = publication.evaluation
    summary = evaluation.summary
    readings = [one for one in publication.snapshot.readings if one.collector not in PROBE_COLLECTORS]
    return RoundRecord(
        number=publication.number,
        at=publication.at,
        took_seconds=publication.evaluated_seconds,
        devices=len({reading.device for reading in readings}),
        devices_read=len({reading.device for reading in readings if not reading.error}),
        cables_planned=summary.cables_planned,
        cables_right=summary.cables_right,
        cables_wrong=summary.cables_wrong,
        cables_missing=summary.cables_missing,
        cables_unknown=summary.cables_unknown,
        findings=dict(summary.findings),
        causes=len(evaluation.causes),
        plan_digest=publication.plan_digest,
    )
