"""Questions that also ask the journal: in threads of their own, since a database may take its time."""

import asyncio
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
"""Header of an answer that would say more if the journal could be read: `history`, or `rows` and the numbers of those
that cannot be read, which can be deleted.
"""


class _Noting:
    """A history that notes whether it could not be read. What it cannot say it raises, as ever."""

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
    """The answer to a question that the journal is asked too. Where the answer goes on without it, or without rows of
    `table` that cannot be read, a header says so.

    Raises JournalUnavailableError where nothing can be said without the journal.
    """
    noting = _Noting(desk.tower.history)
    loop = asyncio.get_running_loop()
    answer = await loop.run_in_executor(desk.journal_threads, ask, cast("History", noting))
    response = reported(request, answer)
    if noting.gone:
        response.headers[MISSING] = "history"
    elif lost := desk.tower.history.unreadable(table):
        response.headers[MISSING] = f"rows {', '.join(map(str, sorted(lost)[:_MOST_ROWS]))}"
    return response
