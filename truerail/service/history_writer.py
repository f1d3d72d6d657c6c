"""Keeps the history store in the background: no round waits for it, and it holds no event loop.

The writer's thread takes the newest publication whenever it is ready, so that one that falls behind skips publications
instead of queueing them. It writes every five minutes and at the end. A disk that is full or gone is reported, and
tried again; meanwhile what waits stays in memory up to a limit (`Recorder`), beyond which the oldest minutes are lost
and counted.
"""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from truerail.analysis.published import Published
from truerail.errors import HistoryStoreError
from truerail.history.arrow_tables import arrow
from truerail.history.past_counters import PastCounters, counters_at
from truerail.history.recorder import Recorder
from truerail.history.store_folder import MANIFEST, StoreFolder
from truerail.model.history import RoundRecord
from truerail.model.names import printable
from truerail.service.freeing import free
from truerail.service.logs import logger
from truerail.service.settings import HistoryStore

FLUSH_SECONDS = 300.0
"""A process that dies loses at most these seconds of counters."""
FIRST_FLUSH_SECONDS = 60.0
"""A service that has just started has something to query soon."""
MAINTENANCE_SECONDS = 3600.0
CLOSE_SECONDS = 30.0
"""How long a graceful stop waits for the last write."""


class HistoryWriter:
    """One writer thread. Raises HistoryStoreError, MissingExtraError if the store cannot be used."""

    def __init__(self, settings: HistoryStore, fabric: str, clock: Callable[[], datetime]) -> None:
        arrow()
        self._settings, self._clock = settings, clock
        self._folder = StoreFolder(settings.path)
        self._folder.create(fabric)
        self._lock = _locked(self._folder)
        self._recorder = Recorder(self._folder)
        self._error = ""
        """Why the store is not written; empty while it is."""
        self._size_bytes = self._unreadable = self._flushes = 0
        self._newest: list[Published] = []
        self._records: list[RoundRecord] = []
        self._news = threading.Condition()
        self._ending = False
        self._due = time.monotonic() + min(FIRST_FLUSH_SECONDS, FLUSH_SECONDS)
        self._maintained_at = 0.0
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)
        self._thread.start()

    def put(self, publication: Published, record: RoundRecord) -> None:
        """Offers a publication. Returns at once."""
        with self._news:
            self._newest = [publication]
            self._records.append(record)
            self._news.notify_all()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Writes what waits and ends, within `seconds`."""
        with self._news:
            self._ending = True
            self._news.notify_all()
        self._thread.join(seconds)
        os.close(self._lock)

    @property
    def figures(self) -> Mapping[str, float]:
        """The metrics of the store."""
        return {
            "history_failing": float(bool(self._error)),
            "history_writes_total": self._flushes,
            "history_lost_minutes_total": self._recorder.samples.lost_minutes,
            "history_waiting_rows": self._recorder.samples.waiting_rows,
            "history_unreadable_files": self._unreadable,
            "history_bytes": self._size_bytes,
        }

    def counters_at(self, at: datetime) -> PastCounters | None:
        """The counters of a time. In any thread."""
        return counters_at(self._folder, at)

    def _run(self) -> None:
        self._guarded(self._resume)
        while not self._ending or self._newest:
            taken, records = self._next()
            if taken:
                self._guarded(self._recorder.observe, taken[0], records)
            free(taken)
            if time.monotonic() >= self._due and not self._ending:
                self._guarded(self._flush)
        self._guarded(self._flush)

    def _next(self) -> tuple[list[Any], list[RoundRecord]]:
        """The newest publication, and all rounds since the last one; nothing when it is time to write."""
        with self._news:
            self._news.wait_for(lambda: self._newest or self._ending, max(self._due - time.monotonic(), 0))
            taken, records = self._newest, self._records
            if taken:
                self._newest, self._records = [], []
            return taken, records if taken else []

    def _resume(self) -> None:
        unreadable = self._recorder.resume()
        self._unreadable = len(unreadable)
        for one in unreadable:
            logger().warning("a file of the history is left out", file=str(one.path), why=one.why)
        self._size_bytes = self._folder.size_bytes()

    def _flush(self) -> None:
        self._due = time.monotonic() + FLUSH_SECONDS
        now = self._clock()
        self._recorder.flush(now)
        if time.monotonic() - self._maintained_at >= MAINTENANCE_SECONDS or not self._maintained_at:
            kept = self._settings
            self._recorder.maintain(now, kept.counters_minutes, kept.counters_hours, kept.retention)
            self._maintained_at = time.monotonic()
        self._flushes += 1
        self._size_bytes = self._folder.size_bytes()
        self._turn("")

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except OSError as error:
            self._turn(os.strerror(error.errno) if error.errno else str(error))
        except Exception as error:  # noqa: BLE001 - a bug in recording must not end it: it is logged and counted
            logger().error("recording history failed", exc_info=error)
            self._turn(f"{type(error).__name__}: {error}")

    def _turn(self, error: str) -> None:
        """Logs when writing begins to fail, and when it works again."""
        was, self._error = self._error, printable(error)
        if bool(was) is not bool(error):
            health = "failing" if error else "keeping"
            logger().warning("history", health=health, path=str(self._folder.path), error=self._error)


def _locked(folder: StoreFolder) -> int:
    """Locks a store for one writer. Raises HistoryStoreError."""
    opened = os.open(folder.path / MANIFEST, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        with suppress(OSError):
            os.close(opened)
        raise HistoryStoreError(f"{folder.path}: another process writes this history") from error
    return opened
