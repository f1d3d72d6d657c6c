"""Answers that also need the journal: computed in their own threads, since a database may be slow."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from starlette.requests import Request
from starlette.responses import Response

from truerail.errors import JournalUnavailableError
from truerail.model.history import History
from truerail.web.answering import reported
from truerail.web.context import RequestContext

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


async def remembered(
    request: Request, desk: RequestContext, ask: Callable[[History], Any], table: str = ""
) -> Response:
    """An answer that also needs the journal. If it is given without it, or without unreadable rows of `table`, a header
    reports that.

    Raises JournalUnavailableError if there is no answer without the journal.
    """
    noting = _Noting(desk.tower.history)
    answer = await desk.journal_threads.run(request, lambda: ask(cast("History", noting)))
    response = reported(request, answer)
    if noting.gone:
        response.headers[MISSING] = "history"
    elif lost := desk.tower.history.unreadable(table):
        response.headers[MISSING] = f"rows {', '.join(map(str, sorted(lost)[:_MOST_ROWS]))}"
    return response
