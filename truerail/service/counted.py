"""The counters of the last minutes, stored in the journal: a restarted service continues with them."""

import threading
from collections.abc import Callable
from datetime import datetime

from truerail.analysis.counters.storage import loaded
from truerail.errors import CounterWindowError
from truerail.journal import Journal
from truerail.service.evaluator import Evaluator
from truerail.service.logs import logger

KEPT_SECONDS = 300.0
"""Interval between copies: a power failure loses at most these seconds."""
_NAME = "counters"


class KeptCounters:
    """An evaluator's window and its copy in the journal. Both methods wait for the disk: call them from a thread."""

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
        """Stores the counters; evaluation waits for a copy in memory at most. Raises JournalUnavailableError."""
        with self._one_at_a_time:
            still = self._evaluator.counters()
            if still is not None:
                self._journal.keep_blob(_NAME, still.packed(), self._clock())
