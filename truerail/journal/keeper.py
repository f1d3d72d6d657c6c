"""Writes rounds in the background: evaluation never waits for the database.

While the database is gone, rounds wait in memory and are retried. If too many wait, the oldest is dropped and counted;
the states that it set move to the next one, so that open entries, resolved entries and places of cables are right again
as soon as one round is written. Only the events of a dropped round are lost.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from truerail.analysis.published import JournalHealth, JournalState
from truerail.errors import JournalReadOnlyError, JournalUnavailableError
from truerail.journal.round_changes import Backlog, Changes
from truerail.journal.store import Journal
from truerail.model.history import RoundRecord
from truerail.model.names import printable

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 15.0
CLOSE_SECONDS = 10.0
"""How long a graceful stop waits for rounds that are not written yet."""


class Keeper:
    """One writer thread. It calls `changed` when the journal fails, and when it recovers."""

    def __init__(self, journal: Journal, max_queued_rounds: int, changed: Callable[[JournalState], None]) -> None:
        self._journal = journal
        self._most = max_queued_rounds
        self._changed = changed
        self._waiting: deque[tuple[RoundRecord, Changes]] = deque()
        self._backlog = Backlog()
        self._news = threading.Condition()
        self._until: float | None = None
        """When to give up after a close (monotonic seconds)."""
        self._busy = False
        self._error = ""
        self._since = datetime.now(UTC)
        self._lost = self._written = 0
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @property
    def state(self) -> JournalState:
        """The state of the journal."""
        with self._news:
            health = JournalHealth.FAILING if self._error else JournalHealth.KEEPING
            return JournalState(health, self._error, self._since, len(self._waiting), self._lost, self._written)

    def put(self, record: RoundRecord, changes: Changes) -> None:
        """Queues a round for writing. Returns at once."""
        with self._news:
            self._waiting.append((record, changes))
            self._drop_oldest()
            self._news.notify_all()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Writes queued rounds, for `seconds` at most, and ends. The rest is lost; `state` reports how many."""
        with self._news:
            self._until = time.monotonic() + seconds
            self._news.notify_all()
        self._thread.join(seconds)

    def _drop_oldest(self) -> None:
        """Not while a round is being written: the dropped round would be newer than the one that may come back."""
        while len(self._waiting) > self._most and not self._busy:
            self._backlog.add(self._waiting.popleft()[1])
            self._lost += 1

    def _run(self) -> None:
        wait = FIRST_WAIT_SECONDS
        while (taken := self._next()) is not None:
            try:
                self._journal.record(*taken)
            except JournalUnavailableError as error:
                if not isinstance(error, JournalReadOnlyError):
                    self._failed(str(error))
                    self._pause(wait)
                    wait = min(2 * wait, LONGEST_WAIT_SECONDS)
                    continue
                self._refused(taken[0], error)
            except Exception as error:  # noqa: BLE001 - one round that cannot be written must not end the writing
                self._refused(taken[0], error)
            else:
                self._done()
            wait = FIRST_WAIT_SECONDS

    def _next(self) -> tuple[RoundRecord, Changes] | None:
        """The round to write now; None when it is time to end."""
        with self._news:
            while not self._waiting and self._until is None:
                self._news.wait()
            if not self._waiting or (self._until is not None and time.monotonic() >= self._until):
                return None
            self._busy = True
            record, changes = self._waiting[0]
            return record, self._backlog.under(changes)

    def _done(self) -> None:
        with self._news:
            self._written += 1
            self._leave_behind()
        self._tell("")

    def _refused(self, record: RoundRecord, error: Exception) -> None:
        """Skips a round that can never be written."""
        with self._news:
            self._lost += 1
            self._leave_behind()
        self._tell(f"round {record.number} was not kept: {type(error).__name__}: {printable(str(error))}")

    def _leave_behind(self) -> None:
        self._waiting.popleft()
        self._backlog = Backlog()
        self._busy = False
        self._drop_oldest()

    def _failed(self, error: str) -> None:
        with self._news:
            self._busy = False
            self._drop_oldest()
        self._tell(error)

    def _tell(self, error: str) -> None:
        with self._news:
            turned = bool(error) is not bool(self._error)
            self._error = error
            if turned:
                self._since = datetime.now(UTC)
        if turned:
            self._changed(self.state)

    def _pause(self, seconds: float) -> None:
        """Waits before the next attempt; shorter during a close."""
        with self._news:
            closing = self._until is not None
            self._news.wait_for(
                lambda: not closing and self._until is not None, min(seconds, 0.5) if closing else seconds
            )
