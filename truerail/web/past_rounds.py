"""Questions of the past: the last restored state is kept, one at a time, beside the live evaluation."""

import threading
from dataclasses import replace
from datetime import datetime
from typing import Any

from truerail.model.plan import Plan
from truerail.questions.answers.past import Past, past_of
from truerail.questions.question import Asked, Given, Question


class PastRounds:
    """Restores the state of one time, and keeps it for further questions of that time. One thread restores at a time,
    the others wait: at most one restored fabric stays in memory.
    """

    def __init__(self) -> None:
        self._restoring = threading.Lock()
        self._kept: tuple[datetime, Plan, Past] | None = None

    def answer(self, question: Question[Any], given: Given, asked: Asked, at: datetime) -> Any:
        """The answer to a question at a time. Raises what `past_of` and the question raise."""
        past = self._past(asked, at)
        answer = question.find(Asked(past.publication, past.history, at), given)
        orders = {"action": ""} if hasattr(answer, "action") else {}  # it may long be done
        return replace(answer, as_of=past.as_of, **orders)

    def _past(self, asked: Asked, at: datetime) -> Past:
        with self._restoring:
            kept = self._kept
            if kept is None or kept[0] != at or kept[1] is not asked.publication.plan:
                self._kept = None
                kept = self._kept = (at, asked.publication.plan, past_of(asked, at))
            return kept[2]
