"""The `ServiceAPI` of a front: the newest publication of the view, and the judge behind the link for the rest."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn, cast

import orjson

from truerail.analysis.published import Published
from truerail.errors import JournalUnavailableError, JudgeUnavailableError, NotInViewError
from truerail.history.past_counters import PastCounters
from truerail.link.messages import Audit, Event
from truerail.model.history import History
from truerail.model.step_marks import StepMark
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.roles.front_link import FrontLink, Takes
from truerail.service.events import EventLog
from truerail.service.freeing import free
from truerail.service.logs import logger
from truerail.viewfile.reader import Read, ViewReader
from truerail.views.models import StepLine

# ----------------------------------------------------------------------------------------------------------------------
# The journal of a front that cannot reach it: the judge reads it.


class JudgeHistory:
    """Stands in place of a `History`. Each of its queries raises NotInViewError, so that the judge answers the whole
    question; while the judge is away JournalUnavailableError, so that what needs no journal is answered without it.
    """

    def __init__(self, away: Callable[[], bool]) -> None:
        self._away = away

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def query(*_: object, **__: object) -> NoReturn:
            if self._away():
                raise JournalUnavailableError("the judge, which reads the journal, is away")
            raise NotInViewError(f"the journal's {name}")

        return query


# ----------------------------------------------------------------------------------------------------------------------
# The `ServiceAPI` of a front: the newest publication of the view, and the judge behind the link for the rest.

_LOCAL_BITS = 10
"""An event of the judge has its number times 1,024 here: events of the front itself come between."""


class FrontEvents(EventLog):
    """The judge's events, and those that the front adds. After a restart the same events have the same numbers."""

    def __init__(self) -> None:
        super().__init__(first=1)
        self._of_judge = 0

    def pass_on(self, event: Event) -> None:
        """Appends an event of the judge."""
        if event.id != self._of_judge + 1:
            self._kept.clear()
        self._of_judge, self._next = event.id, event.id << _LOCAL_BITS
        self.add(event.kind, event.data)


class FrontService:
    """One for the front; event loop's thread only. Writes are the judge's: `web.relay` passes them on."""

    counted: Callable[[datetime], PastCounters | None] | None = None
    """None: questions of the past are the judge's."""

    def __init__(self, view: Path, link: Callable[[Takes], FrontLink], history: History | None) -> None:
        """`history` is None where the judge is on another machine, and reads the journal."""
        self._reader = ViewReader(view)
        self._read: Read | None = None
        self._last: Read | None = None
        self._remote = history is None
        self.history: History = history or cast("History", JudgeHistory(lambda: self.link.stale_since is not None))
        """The journal, or an empty history without one."""
        self.events = FrontEvents()
        self.link = link(Takes(self._on_event, self._on_stale, self.refresh))

    async def run(self) -> None:
        """Follows the judge until it is cancelled."""
        try:
            await self.link.run()
        finally:
            self._reader.close()

    async def _on_event(self, event: Event) -> None:
        await self.refresh()
        self.events.pass_on(event)

    def _on_stale(self, since: datetime | None) -> None:
        if since is None:
            logger().info("the judge reports again")
        elif self._read is None:
            logger().info("the judge has made no evaluation yet", since=since.isoformat())
        else:
            why = self.away or "the judge does not report"
            logger().error("the last view is shown", why=why, since=since.isoformat())
        self.events.add("stale", orjson.dumps({"since": since, "why": self.away}))

    async def refresh(self) -> None:
        """Takes the newest publication of the view, if it is newer. The last but one is freed piece by piece: a request
        that started with the last may still run.
        """
        try:
            newest = await asyncio.to_thread(self._reader.refresh)
        except sqlite3.Error as error:
            logger().error("the view cannot be read; the last one is shown", error=str(error))
            return
        if newest is not self._read:
            former, self._last, self._read = [self._last], self._read, newest
            await asyncio.to_thread(free, former)

    def scrape_page(self) -> ScrapePage | None:
        """The text of the metrics. In any thread."""
        return self._reader.scrape_page()

    # --- ServiceAPI ---------------------------------------------------------------------------------------------------

    @property
    def publication(self) -> Published | None:
        """The newest evaluation; None before the first."""
        return self._read.publication if self._read else None

    @property
    def stale_since(self) -> datetime | None:
        """Since when the judge has not confirmed that this is the newest evaluation; None while it does."""
        return self.link.stale_since

    @property
    def away(self) -> str:
        """Why this front does not show the newest evaluation; empty: it does, or the judge on its machine is silent."""
        if self.link.stale_since is None:
            return ""
        return self.link.problem or ("the judge is not followed" if self._remote else "")

    @property
    def steps(self) -> Sequence[StepLine]:
        """The punch list with its ticks."""
        return self._read.state.steps if self._read else ()

    @property
    def step_marks(self) -> Sequence[StepMark]:
        """What people wrote on these steps."""
        return self._read.state.marks if self._read else ()

    @property
    def counters(self) -> Mapping[str, float]:
        """The judge's own metrics as it last reported them, and the age of the view. Those in the view have what a
        front on another machine must not count again.
        """
        known = self.link.figures or (self._read.state.figures if self._read and not self._remote else {})
        return {**known, "view_age_seconds": self.link.age_seconds}

    @property
    def now(self) -> Callable[[], datetime]:
        """The clock."""
        return lambda: datetime.now(UTC)

    async def audit(self, who: str, action: str, detail: str) -> None:
        """Records a write of the front (a log-in). Raises JournalUnavailableError."""
        try:
            await self.link.ask(Audit(who, action, detail))
        except JudgeUnavailableError as error:
            raise JournalUnavailableError(str(error)) from error

    def _write(self, *_: object, **__: object) -> NoReturn:
        """Raises NotInViewError: the judge has to do it."""
        raise NotInViewError("a write")

    recheck = reload_plan = report_jobs = find_job = acknowledge = mark_step = withdraw = open_window = end_window = (
        _write
    )


class StoredExposition(Exposition):
    """The exposition whose text the judge has rendered."""

    def __init__(self, service: FrontService) -> None:
        super().__init__()
        self._service = service
        self._of: tuple[Published, ScrapePage] | None = None

    def page_of(self, publication: Published) -> ScrapePage:
        """The text of the newest publication, read from the view for its first scrape."""
        with self._lock:
            if self._of is None or self._of[0] is not publication:
                page = self._service.scrape_page()
                assert page is not None  # noqa: S101 - each publication is written with its page
                self._of = (publication, page)
            return self._of[1]
