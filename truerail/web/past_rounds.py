"""Answers of the past: the last restored states are kept, a few at a time, beside the live evaluation."""

import threading
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from secrets import token_hex
from typing import Any

from truerail.analysis.published import Published
from truerail.model.history import Acknowledgement, History
from truerail.model.life import Mute
from truerail.model.plan import Plan
from truerail.questions.past import Past, past_of
from truerail.questions.question import Asked, Given, Question
from truerail.service.muted_findings import mutes
from truerail.views.view import warm
from truerail.web.cached_evaluation import CachedEvaluation

MOST_KEPT = 2
"""Restored states in memory: one that is looked at, and the one before it."""
KEPT_FOR = timedelta(minutes=1)
"""A state is restored again after this time: what was still open may have ended, and queued rounds are written."""


@dataclass(frozen=True, slots=True)
class _Restored:
    at: datetime
    plan: Plan
    made: datetime
    past: Past
    shown: CachedEvaluation


class PastRounds:
    """Restores the state of a time, and keeps it for further questions of that time. One thread restores at a time, the
    others wait: at most `MOST_KEPT` restored fabrics, and one in the making, stay in memory.
    """

    def __init__(self) -> None:
        self._restoring = threading.Lock()
        self._kept: list[_Restored] = []
        self._serials = (f"{token_hex(6)}-{number}" for number in count(1))

    def answer(self, question: Question[Any], given: Given, asked: Asked, at: datetime) -> Any:
        """The answer to a question at a time. Raises what `past_of` and the question raise."""
        past = self._restored(asked, at).past
        answer = question.find(Asked(past.publication, past.history, at), given)
        orders = {"action": ""} if hasattr(answer, "action") else {}  # it may long be done
        return replace(answer, as_of=past.as_of, **orders)

    def of(self, asked: Asked, at: datetime) -> Past:
        """The past itself. Raises what `past_of` raises."""
        return self._restored(asked, at).past

    def shown(self, asked: Asked, at: datetime) -> CachedEvaluation:
        """The evaluation of a time, as endpoints show it. Raises what `past_of` raises."""
        return self._restored(asked, at).shown

    def _restored(self, asked: Asked, at: datetime) -> _Restored:
        with self._restoring:
            found = next((one for one in self._kept if one.at == at and one.plan is asked.publication.plan), None)
            if found is None or asked.now - found.made > KEPT_FOR:
                self._kept = [one for one in self._kept if one is not found][: MOST_KEPT - 1]
                found = self._restore(asked, at)
            self._kept = [found, *(one for one in self._kept if one is not found)]
            return found

    def _restore(self, asked: Asked, at: datetime) -> _Restored:
        past = past_of(asked, at)
        publication = replace(past.publication, mutes=_mutes(past.publication, asked.history, at))
        shown = CachedEvaluation(publication, next(self._serials), past.history)
        warm(publication)
        assert shown.map_body  # noqa: S101 - computed here, in a thread
        return _Restored(at, publication.plan, asked.now, replace(past, publication=publication), shown)


def _mutes(past: Published, history: History, at: datetime) -> dict[str, Mute]:
    """What was acknowledged or under maintenance then. Raises JournalUnavailableError."""
    findings = (*past.evaluation.findings, *past.pending_resolution)
    notes = [replace(one, ended_at=None) for one in history.acknowledgements(open_only=False) if _in_force(one, at)]
    windows = [one for one in history.windows(open_only=False) if one.at <= at]
    return mutes(past.plan, findings, past.evaluation.causes, notes, windows, at)


def _in_force(note: Acknowledgement, at: datetime) -> bool:
    return note.at <= at and (note.ended_at is None or at < note.ended_at)
