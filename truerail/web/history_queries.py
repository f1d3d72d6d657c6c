"""Ready-made questions of the history store for the web: few at a time, each in a process of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from truerail.errors import HistoryStoreError, NotFoundError, QueryError, TooManyQueriesError
from truerail.history.query.query_request import MEBIBYTE, Limits, QueryRequest
from truerail.history.query.run_query import QueryReport, run_query
from truerail.service.logs import logger
from truerail.service.settings import Settings

AT_ONCE = 2
"""Most queries that run at the same time; others wait."""
MOST_WAITING = 8
LIMITS = Limits(seconds=30, memory_bytes=512 * MEBIBYTE, nice=10)
"""Of one query; rounds come first. All ready-made questions take less than a second at 1,000 hosts and 30 days
(docs/measured/history-questions.md).
"""
MOST_CSV_ROWS = 100_000


class HistoryQueries:
    """One for each application. The threads wait for processes, so that neither the event loop nor a round does."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.history.path if settings.history else None
        self.threads = ThreadPoolExecutor(AT_ONCE, "history queries")
        self._asked = 0

    @property
    def store(self) -> Path:
        """The folder of the store. Raises NotFoundError without one."""
        if self._path is None:
            raise NotFoundError("this service keeps no history store: add history: {path: DIR} to its settings")
        return self._path

    async def run(self, request: QueryRequest) -> tuple[bytes, QueryReport]:
        """The result and what it lacks. A request that ends takes its query along. Raises TooManyQueriesError and what
        `run_query` raises.
        """
        if self._asked >= AT_ONCE + MOST_WAITING:
            raise TooManyQueriesError(f"{self._asked} questions of the history are running or waiting: ask again later")
        self._asked += 1
        endings: list[Callable[[], None]] = []
        out = BytesIO()
        try:
            running = asyncio.get_running_loop().run_in_executor(
                self.threads, lambda: run_query(request, out, endings.append)
            )
            report = await running
        except (QueryError, HistoryStoreError) as error:
            logger().error("history not readable", error=str(error.args[0]))
            raise HistoryStoreError(
                "the history store cannot be read; the log of the service has the details"
            ) from None
        except asyncio.CancelledError:
            for end in endings:
                end()
            raise
        finally:
            self._asked -= 1
        return out.getvalue(), report
