"""The interfaces of the service: for the web, and for what leaves it with each evaluation."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from truerail.analysis.published import Published
from truerail.history.past_counters import PastCounters
from truerail.model.history import Acknowledgement, History, MaintenanceWindow, PlanVersion
from truerail.model.job_record import JobRecord
from truerail.model.step_marks import StepChange, StepMark
from truerail.service.events import EventLog
from truerail.service.hook_jobs import JobsTaken
from truerail.views.pieces import StepLine

# ----------------------------------------------------------------------------------------------------------------------
# The interface of the service for the web: current state, history, and actions.


class ServiceAPI(Protocol):
    """One for the life of the service. Reads never wait for a round; writes are stored before they return."""

    @property
    def publication(self) -> Published | None:
        """The newest evaluation; None before the first."""

    @property
    def stale_since(self) -> datetime | None:
        """Since when it is not known whether that is the newest evaluation; None: it is."""

    @property
    def away(self) -> str:
        """Why the newest evaluation is not shown, or not of the newest answers; empty: it is, or the judge on this
        machine is silent.
        """

    @property
    def history(self) -> History:
        """The journal, or an empty history without one."""

    @property
    def counted(self) -> Callable[[datetime], PastCounters | None] | None:
        """The counters of a time in the past; None without a history store."""

    @property
    def events(self) -> EventLog:
        """The live events."""

    @property
    def steps(self) -> Sequence[StepLine]:
        """The punch list with its ticks."""

    @property
    def step_marks(self) -> Sequence[StepMark]:
        """What people wrote on these steps."""

    @property
    def counters(self) -> Mapping[str, float]:
        """The service's own metrics (`rounds_total`, `event_streams`, ...)."""

    @property
    def now(self) -> Callable[[], datetime]:
        """The clock."""

    async def recheck(self, devices: Collection[str], who: str) -> int:
        """Polls these devices with every collector now; returns their number. Answers are evaluated as they arrive."""

    async def reload_plan(self, who: str) -> PlanVersion:
        """Reads the plan file again. Raises `PlanError` with every problem; the plan in force then stays."""

    async def report_jobs(self, answer: str, complete: bool) -> JobsTaken:
        """Takes jobs that a scheduler's hooks report, as `ReportedJobs.take`. Raises `QueryError`, `ConflictError`."""

    async def find_job(self, key: str) -> Sequence[JobRecord]:
        """The runs of a job that Slurm is asked for by its id, the last first; none where no Slurm knows it."""

    async def acknowledge(self, target: str, who: str, reason: str, until: datetime | None) -> Acknowledgement:
        """Acknowledges a finding (id) or a cause (key). Raises `NotFoundError`, `JournalUnavailableError`."""

    async def mark_step(self, change: StepChange, who: str) -> StepMark:
        """Writes on a step. Raises `NotFoundError`, `ConflictError`, `JournalUnavailableError`."""

    async def withdraw(self, acknowledgement: int, who: str) -> None:
        """Ends an acknowledgement. Raises `NotFoundError`, `JournalUnavailableError`."""

    async def open_window(
        self, scope: str, what: str, starts: datetime, ends: datetime, who: str, reason: str
    ) -> MaintenanceWindow:
        """Announces maintenance. Raises `NotFoundError`, `QueryError`, `JournalUnavailableError`."""

    async def end_window(self, window: int, who: str) -> None:
        """Ends a maintenance window early. Raises `NotFoundError`, `JournalUnavailableError`."""

    async def audit(self, who: str, action: str, detail: str) -> None:
        """Records any other write (a log-in). Raises `JournalUnavailableError`."""


# ----------------------------------------------------------------------------------------------------------------------
# What leaves the service with each evaluation: the interface of notifications and exports.


class Outlet(Protocol):
    """Takes evaluations, and sends what follows from them in threads of its own."""

    def evaluated(self, publication: Published, *, resumed: bool) -> None:
        """Takes an evaluation, in a thread. `resumed`: the journal has been read, so that lives are whole."""

    def figures(self) -> Mapping[str, float]:
        """The outlet's own metrics, by name."""

    def close(self) -> None:
        """Ends it, before the journal is closed."""
