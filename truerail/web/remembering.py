"""Answers that also need the journal: computed in their own threads, since a database may be slow."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from starlette.requests import Request
from starlette.responses import Response

from truerail.analysis.running_jobs import without_step
from truerail.errors import JournalUnavailableError, NoJobError, NoJobQueryError
from truerail.model.history import History, RowRange
from truerail.model.job_record import JobRecord
from truerail.questions.job import ended_job
from truerail.questions.question import Asked
from truerail.web.answering import pondered, reported
from truerail.web.context import CachedEvaluation, context_of

T = TypeVar("T")
_MOST_ROWS = 100
MISSING = "Truerail-Missing"
"""Header of an answer that is incomplete because the journal is unreadable: `history`, or `rows` and the numbers of
unreadable rows, which can be deleted.
"""


class _Noting:
    """A history that records whether it was unreadable. It still raises the errors."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.gone = False

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._history, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            try:
                return ask(*args, **kwargs)
            except JournalUnavailableError:
                self.gone = True
                raise

        return noted


async def remembered(request: Request, ask: Callable[[History], Any], table: str = "") -> Response:
    """An answer that also needs the journal. If it is given without it, or without unreadable rows of `table`, a header
    reports that.

    Raises JournalUnavailableError if there is no answer without the journal.
    """
    desk = context_of(request)
    noting = _Noting(desk.tower.history)
    response = reported(request, await desk.journal_threads.run(request, lambda: ask(cast("History", noting))))
    if noting.gone:
        response.headers[MISSING] = "history"
    elif lost := desk.tower.history.unreadable(table):
        response.headers[MISSING] = f"rows {', '.join(map(str, sorted(lost)[:_MOST_ROWS]))}"
    return response


# ----------------------------------------------------------------------------------------------------------------------
# The answer about a job that does not run: from the journal, or from what Slurm still knows of it.

_MOST_RUNS = 100


async def running_or_ended(request: Request, shown: CachedEvaluation, key: str, make: Callable[[], Any]) -> Response:
    """The answer `make` gives for a running job, else that of its last run. Raises NotFoundError, QueryError."""
    try:
        return await pondered(request, shown, make)
    except (NoJobError, NoJobQueryError):
        desk = context_of(request)
        key, history = without_step(key.strip()), desk.tower.history
        runs: Sequence[JobRecord] = ()
        with suppress(JournalUnavailableError):
            page = RowRange(_MOST_RUNS)
            runs = await desk.journal_threads.run(request, lambda: tuple(history.jobs_named(key, page=page)))
        found = runs or await desk.tower.find_job(key)
        if not found:
            raise
        now = desk.tower.now()

        def ended(kept: History) -> Any:
            asked = Asked(shown.publication, kept, now, desk.tower.counted)
            return ended_job(key, asked, found, lambda at: desk.past.restored(asked, at).past)

        return await remembered(request, ended)
