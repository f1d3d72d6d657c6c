"""What people write on steps of the punch list, in memory as in the journal. Each entry is stored before it counts."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import orjson
from pydantic import TypeAdapter, ValidationError

from truerail.errors import JournalUnavailableError, NotFoundError
from truerail.journal import Journal
from truerail.journal.store import STEP_MARKS
from truerail.model.step_marks import StepChange, StepMark, changed
from truerail.service.logs import logger
from truerail.views.pieces import StepLine

MOST_MARKS = 5000
"""Steps with marks; those of steps that have left the list go first."""
_SHAPE = TypeAdapter(list[StepMark])


class StepMarks:
    """The marks of steps. Without a journal none can be made. The audit log has every entry with its account."""

    def __init__(self, journal: Journal | None, clock: Callable[[], datetime]) -> None:
        self._journal, self._clock = journal, clock
        self._marks: dict[str, StepMark] = {}
        self._loaded = False
        self._one_at_a_time = asyncio.Lock()

    def of(self, steps: Sequence[StepLine]) -> Sequence[StepMark]:
        """The marks of these steps. A mark older than the need for its step belongs to an earlier repair."""
        found = ((step, self._marks.get(step.key)) for step in steps)
        return tuple(mark for step, mark in found if mark and (step.since is None or mark.at >= step.since))

    async def write(self, steps: Sequence[StepLine], change: StepChange, who: str) -> StepMark:
        """Writes on a step. Raises NotFoundError, ConflictError, JournalUnavailableError."""
        async with self._one_at_a_time:
            await self._load()
            step = next((step for step in steps if step.key == change.step), None)
            if step is None:
                raise NotFoundError(f"the punch list has no step {change.step!r} any more")
            before = next(iter(self.of([step])), None)
            mark = changed(before, change, self._clock())
            if mark is not before:
                await self._keep(steps, mark, step, change, who)
            return mark

    async def _keep(
        self, steps: Sequence[StepLine], mark: StepMark, step: StepLine, change: StepChange, who: str
    ) -> None:
        marks = {**self._marks, mark.step: mark}
        if len(marks) > MOST_MARKS:
            listed = {step.key for step in steps}
            order = sorted(marks.values(), key=lambda one: (one.step in listed, one.at))
            marks = {one.step: one for one in order[-MOST_MARKS:]}
        words = f"{change.action.value} by {change.name} at {change.at.isoformat()}: {step.at} {change.note}".strip()
        await asyncio.to_thread(partial(self._store, marks, who, words))
        self._marks = marks

    def _store(self, marks: dict[str, StepMark], who: str, words: str) -> None:
        journal, now = self._with_journal(), self._clock()
        journal.keep_blob(STEP_MARKS, orjson.dumps(list(marks.values())), now)
        journal.note(who, "punch list", words, now)

    async def load(self) -> None:
        """Loads the journal's marks once; while it cannot be read there are none, and the next call retries."""
        if self._journal is not None:
            try:
                await self._load()
            except JournalUnavailableError:
                return

    async def _load(self) -> None:
        if self._loaded:
            return
        body = await asyncio.to_thread(self._with_journal().blob, STEP_MARKS)
        try:
            self._marks = {mark.step: mark for mark in _SHAPE.validate_json(body)} if body else {}
        except ValidationError as error:
            logger().warning("marks of the punch list begin again", error=str(error))
        self._loaded = True

    def _with_journal(self) -> Journal:
        if self._journal is None:
            raise JournalUnavailableError("there is no journal: set journal.url to store this")
        return self._journal
