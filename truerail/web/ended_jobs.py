"""The answer about a job that does not run: from the journal, or from what Slurm still knows of it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from truerail.analysis.jobs import without_step
from truerail.errors import JournalUnavailableError, NoJobError, NoJobQueryError
from truerail.model.history import History, RowRange
from truerail.model.job_record import JobRecord
from truerail.questions.job import ended_job
from truerail.questions.question import Asked
from truerail.web.answering import pondered
from truerail.web.cached_evaluation import CachedEvaluation
from truerail.web.context import RequestContext
from truerail.web.remembering import remembered

_MOST_RUNS = 100


async def running_or_ended(
    request: Request, desk: RequestContext, shown: CachedEvaluation, key: str, make: Callable[[], Any]
) -> Response:
    """The answer `make` gives for a running job, else that of its last run. Raises NotFoundError, QueryError."""
    try:
        return await pondered(request, desk, shown, make)
    except (NoJobError, NoJobQueryError):
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
            return ended_job(key, asked, found, lambda at: desk.past.of(asked, at))

        return await remembered(request, desk, ended)
