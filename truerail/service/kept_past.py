"""The past of links over days, stored in the journal: a restarted service continues with it."""

import threading
from collections.abc import Callable
from datetime import datetime

from truerail.analysis.trends.link_past import Past, ends_of, loaded, packed_sample, packed_state, slot_of
from truerail.errors import LinkPastError
from truerail.journal import Journal
from truerail.service.evaluator import Evaluator
from truerail.service.logs import logger

_NAME = "past"


class KeptPast:
    """An evaluator's past of links, and its copy in the journal. Methods wait for the disk: call them from a thread."""

    def __init__(self, evaluator: Evaluator, journal: Journal, clock: Callable[[], datetime]) -> None:
        self._evaluator, self._journal, self._clock = evaluator, journal, clock
        self._one_at_a_time = threading.Lock()
        self._written: set[int] = set()
        """The numbers of the closed samples that are stored."""
        self._of = b""
        """The ends of the cables that those are of."""
        self._kept: Past | None = None

    def restore(self) -> None:
        """Restores the evaluator's past. An unreadable one is dropped, and it begins again. Raises
        JournalUnavailableError.
        """
        state = self._journal.blob(_NAME)
        if state is None:
            return
        try:
            past = loaded(state, lambda slot: self._journal.blob(_name(slot)))
        except LinkPastError as error:
            logger().warning("the past of links begins again", error=str(error))
            return
        self._evaluator.remember_past(past)
        self._of, self._written = past.links.plan.once(ends_of), {one.number for one in past.links.samples}

    def keep(self) -> None:
        """Stores what is new; no evaluation waits for it. Raises JournalUnavailableError."""
        with self._one_at_a_time:
            past = self._evaluator.past
            if past is None or past is self._kept:
                return
            plan = past.links.plan
            if plan.once(ends_of) != self._of:
                self._of, self._written = plan.once(ends_of), set()
            for sample in past.links.samples:
                if sample.number not in self._written:
                    self._journal.keep_blob(_name(slot_of(sample.number)), packed_sample(sample, plan), self._clock())
                    self._written.add(sample.number)
            self._journal.keep_blob(_NAME, packed_state(past), self._clock())
            self._kept = past


def _name(slot: int) -> str:
    return f"{_NAME} {slot}"
