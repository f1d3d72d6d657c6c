"""Counters of the last minutes, and the past of links over days, stored in the journal: a restarted service continues
with them.
"""

import threading
from collections.abc import Callable
from datetime import datetime

from truerail.analysis.counters import storage
from truerail.analysis.trends import link_past
from truerail.analysis.trends.link_past import Past
from truerail.errors import CounterWindowError, LinkPastError
from truerail.journal import Journal
from truerail.service.evaluator import Evaluator
from truerail.service.logs import logger

KEPT_SECONDS = 300.0
"""Interval between copies: a power failure loses at most these seconds."""
_COUNTERS, _PAST = "counters", "past"


class _Kept:
    """A part of an evaluator, and its copy in the journal. Methods wait for the disk: call them from a thread."""

    def __init__(self, evaluator: Evaluator, journal: Journal, clock: Callable[[], datetime]) -> None:
        self._evaluator, self._journal, self._clock = evaluator, journal, clock
        self._one_at_a_time = threading.Lock()


class KeptCounters(_Kept):
    """An evaluator's counters."""

    def restore(self) -> None:
        """Restores the evaluator's counters. Unreadable ones are dropped, and counting starts again. Raises
        JournalUnavailableError.
        """
        data = self._journal.blob(_COUNTERS)
        if data is None:
            return
        try:
            self._evaluator.remember(storage.loaded(data))
        except CounterWindowError as error:
            logger().warning("counting begins again", error=str(error))

    def keep(self) -> None:
        """Stores the counters; no evaluation waits for it. Raises JournalUnavailableError."""
        with self._one_at_a_time:
            counters, replugged = self._evaluator.counters()
            if counters.sources:
                self._journal.keep_blob(_COUNTERS, storage.packed(counters, replugged), self._clock())


class KeptPast(_Kept):
    """An evaluator's past of links."""

    _written: frozenset[int] = frozenset()
    """The numbers of the closed samples that are stored."""
    _of = b""
    """The ends of the cables that those are of."""
    _kept: Past | None = None

    def restore(self) -> None:
        """Restores the evaluator's past. An unreadable one is dropped, and it begins again. Raises
        JournalUnavailableError.
        """
        state = self._journal.blob(_PAST)
        if state is None:
            return
        try:
            past = link_past.loaded(state, lambda slot: self._journal.blob(_name(slot)))
        except LinkPastError as error:
            logger().warning("the past of links begins again", error=str(error))
            return
        self._evaluator.remember_past(past)
        self._of = past.links.plan.once(link_past.ends_of)
        self._written = frozenset(one.number for one in past.links.samples)

    def keep(self) -> None:
        """Stores what is new; no evaluation waits for it. Raises JournalUnavailableError."""
        with self._one_at_a_time:
            past = self._evaluator.past
            if past is None or past is self._kept:
                return
            plan = past.links.plan
            ends = plan.once(link_past.ends_of)
            if ends != self._of:
                self._of, self._written = ends, frozenset()
            for sample in past.links.samples:
                if sample.number not in self._written:
                    name = _name(link_past.slot_of(sample.number))
                    self._journal.keep_blob(name, link_past.packed_sample(sample, plan), self._clock())
                    self._written |= {sample.number}
            self._journal.keep_blob(_PAST, link_past.packed_state(past), self._clock())
            self._kept = past


def _name(slot: int) -> str:
    return f"{_PAST} {slot}"
