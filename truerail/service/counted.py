"""The counters of the last minutes, stored in the journal: a restarted service continues with them."""

import threading
from collections.abc import Callable
from datetime import datetime

from truerail.analysis.counters.storage import loaded, packed
from truerail.errors import CounterWindowError
from truerail.journal import Journal
from truerail.service.evaluator import Evaluator
from truerail.service.logs import logger

KEPT_SECONDS = 300.0
"""Interval between copies: a power failure loses at most these seconds."""
_NAME = "counters"


class KeptCounters:
    """An evaluator's counters, and their copy in the journal. Methods wait for the disk: call them from a thread."""

    def __init__(self, evaluator: Evaluator, journal: Journal, clock: Callable[[], datetime]) -> None:
        self._evaluator, self._journal, self._clock = evaluator, journal, clock
        self._one_at_a_time = threading.Lock()

    def restore(self) -> None:
        """Restores the evaluator's counters. Unreadable ones are dropped, and counting starts again. Raises
        HistoryGone.
        """
        data = self._journal.blob(_NAME)
        if data is None:
            return
        try:
            self._evaluator.remember(loaded(data))
        except CounterWindowError as error:
            logger().warning("counting begins again", error=str(error))

    def keep(self) -> None:
        """Stores the counters; no evaluation waits for it. Raises JournalUnavailableError."""
        with self._one_at_a_time:
            counters, replugged = self._evaluator.counters()
            if counters.sources:
                self._journal.keep_blob(_NAME, packed(counters, replugged), self._clock())
