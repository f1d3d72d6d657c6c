"""Ready-made questions of the history store for the web: few at a time, each in a process of its own."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from starlette.requests import Request

from truerail.errors import HistoryStoreError, NotFoundError, QueryError
from truerail.history.query.query_request import MEBIBYTE, Limits, QueryRequest
from truerail.history.query.run_query import QueryReport, run_query
from truerail.service.logs import logger
from truerail.service.settings import Settings
from truerail.web.question_pool import QuestionPool

AT_ONCE = (2, 1)
"""Queries that run at the same time, and those of one caller; others wait."""
LIMITS = Limits(seconds=30, memory_bytes=512 * MEBIBYTE, nice=10)
"""Of one query; rounds come first. All ready-made questions take less than a second at 1,000 hosts and 30 days
(benchmarks/results/history-questions.md).
"""
MOST_CSV_ROWS = 100_000


class HistoryQueries:
    """One for each application. The threads wait for processes, so that neither the event loop nor a round does."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.history.path if settings.history else None
        self.pool = QuestionPool(*AT_ONCE, "history queries")

    @property
    def store(self) -> Path:
        """The folder of the store. Raises NotFoundError without one."""
        if self._path is None:
            raise NotFoundError("this service keeps no history store: add history: {path: DIR} to its settings")
        return self._path

    async def run(self, request: Request, query: QueryRequest) -> tuple[bytes, QueryReport]:
        """The result and what it lacks. A request that ends takes its query along. Raises what the pool and `run_query`
        raise.
        """
        endings: list[Callable[[], None]] = []
        out = BytesIO()
        try:
            report = await self.pool.run(request, lambda: run_query(query, out, endings.append))
        except (QueryError, HistoryStoreError) as error:
            logger().error("history not readable", error=str(error.args[0]))
            raise HistoryStoreError(
                "the history store cannot be read; the log of the service has the details"
            ) from None
        finally:
            for end in endings:
                end()
        return out.getvalue(), report
