"""People's acknowledgements and maintenance windows. Each is stored before it takes effect."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

from truerail.analysis.published import Published
from truerail.errors import JournalUnavailableError, NotFoundError, QueryError
from truerail.journal import Journal
from truerail.model import Plan
from truerail.model.history import Acknowledgement, MaintenanceWindow
from truerail.service.muted_findings import checked_scope

T = TypeVar("T")
Changed = Callable[[], Awaitable[None]]


class Mutes:
    """Open acknowledgements and windows, in memory as in the journal. Without a journal none can be created."""

    def __init__(self, journal: Journal | None, clock: Callable[[], datetime], changed: Changed) -> None:
        self._journal = journal
        self._clock = clock
        self._changed = changed
        self._loaded = False
        self._acknowledged: dict[int, Acknowledgement] = {}
        self._windows: dict[int, MaintenanceWindow] = {}

    @property
    def acknowledged(self) -> Sequence[Acknowledgement]:
        """The open acknowledgements."""
        return tuple(self._acknowledged.values())

    @property
    def windows(self) -> Sequence[MaintenanceWindow]:
        """The windows that are announced or open."""
        return tuple(self._windows.values())

    async def load(self) -> None:
        """Loads the journal's entries once; while it cannot be read, nothing is muted and the next call retries."""
        if self._loaded or self._journal is None:
            return
        journal = self._journal
        try:
            notes, windows = await asyncio.to_thread(lambda: (journal.acknowledgements(), journal.windows()))
        except JournalUnavailableError:
            return
        self._acknowledged = {note.id: note for note in notes}
        self._windows = {window.id: window for window in windows}
        self._loaded = True
        await self._changed()

    async def acknowledge(
        self, shown: Published, target: str, who: str, reason: str, until: datetime | None
    ) -> Acknowledgement:
        """Acknowledges a finding (id) or a cause (key). Raises NotFoundError, QueryError, JournalUnavailableError."""
        if until is not None and until <= self._clock():
            raise QueryError(f"until {until.isoformat()} is in the past")
        findings = {finding.id for finding in (*shown.evaluation.findings, *shown.pending_resolution)}
        if target not in findings and target not in {cause.key for cause in shown.evaluation.causes}:
            raise NotFoundError(f"no open finding or cause {target!r}")
        note = await self._keep(lambda journal: journal.acknowledge(target, who, reason, self._clock(), until))
        self._acknowledged[note.id] = note
        await self._changed()
        return note

    async def withdraw(self, number: int, who: str) -> None:
        """Ends an acknowledgement. Raises NotFoundError, JournalUnavailableError."""
        if number not in self._acknowledged and number not in self._unreadable("acknowledgements"):
            raise NotFoundError(f"no open acknowledgement {number}")
        await self._keep(lambda journal: journal.withdraw(number, who, self._clock()))
        self._acknowledged.pop(number, None)
        await self._changed()

    async def resolved(self, targets: Collection[str]) -> None:
        """Ends the acknowledgements of resolved findings and causes: if they come back, they alert again."""
        over = [note.id for note in self._acknowledged.values() if note.target in targets]
        with suppress(JournalUnavailableError):  # retried after the next evaluation
            for number in over:
                await self._keep(partial(_end, number, self._clock()))
                del self._acknowledged[number]

    async def open_window(
        self, plan: Plan, scope: str, what: str, starts: datetime, ends: datetime, who: str, reason: str
    ) -> MaintenanceWindow:
        """Announces maintenance. Raises QueryError, JournalUnavailableError."""
        what = checked_scope(plan, scope, what)
        if ends <= starts:
            raise QueryError(f"ends {ends.isoformat()} is not after starts {starts.isoformat()}")
        if ends <= self._clock():
            raise QueryError(f"ends {ends.isoformat()} is in the past")
        window = await self._keep(
            lambda journal: journal.open_window(scope, what, starts, ends, who, reason, self._clock())
        )
        self._windows[window.id] = window
        await self._changed()
        return window

    async def end_window(self, number: int, who: str) -> None:
        """Ends a window early. Raises NotFoundError, JournalUnavailableError."""
        if number not in self._windows and number not in self._unreadable("windows"):
            raise NotFoundError(f"no open maintenance window {number}")
        await self._keep(lambda journal: journal.end_window(number, who, self._clock()))
        self._windows.pop(number, None)
        await self._changed()

    def _unreadable(self, table: str) -> Collection[int]:
        return self._journal.unreadable(table) if self._journal else ()

    async def audit(self, who: str, action: str, detail: str) -> None:
        """Records any other write. Without a journal it does nothing."""
        if self._journal is not None:
            await self._keep(lambda journal: journal.note(who, action, detail, self._clock()))

    def forget_ended(self) -> None:
        """Drops expired entries."""
        now = self._clock()
        self._windows = {n: window for n, window in self._windows.items() if now < window.ends}
        self._acknowledged = {
            n: note for n, note in self._acknowledged.items() if note.until is None or now < note.until
        }

    async def _keep(self, write: Callable[[Journal], T]) -> T:
        if self._journal is None:
            raise JournalUnavailableError("there is no journal: set journal.url to store this")
        return await asyncio.to_thread(write, self._journal)


def _end(number: int, at: datetime, journal: Journal) -> None:
    journal.withdraw(number, "truerail", at)
