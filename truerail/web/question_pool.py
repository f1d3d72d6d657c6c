"""Threads for answers: each caller has a few at a time, and at the deadline the work ends."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request

from truerail.errors import HistoryStoreError, NotFoundError, QueryError, QueryLimitError, TooManyQueriesError
from truerail.history.query.query_request import MEBIBYTE, Limits, QueryRequest
from truerail.history.query.run_query import QueryReport, run_query
from truerail.model.answer_limits import Work
from truerail.service.logs import logger
from truerail.service.settings import Settings

# ----------------------------------------------------------------------------------------------------------------------
# Threads for answers: each caller has a few at a time, and at the deadline the work ends.

T = TypeVar("T")
DEADLINE_SECONDS = 50.0
"""Of an answer, with the time that it waits for a thread: before a front gives up (`processes.front_link`)."""
MOST_ASKED = 200
"""Most questions of one caller in a pool, running and waiting. A page asks fewer than 10 at once, and many pages may
share an account.
"""


class QuestionPool:
    """Some threads, of which one caller has at most `each` at a time. Used from the event loop's thread."""

    def __init__(self, threads: int, each: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._each = each
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._asked: Counter[str] = Counter()

    async def run(self, request: Request, make: Callable[[], T]) -> T:
        """What `make` returns. Raises TooManyQueriesError, QueryLimitError, and what it raises."""
        caller = getattr(request.state, "caller", None)
        name = caller.name if caller else ""
        if self._asked[name] >= MOST_ASKED:
            raise TooManyQueriesError(f"{MOST_ASKED} questions of {name} are running or waiting: ask again later")
        self._asked[name] += 1
        work = Work(make, lambda: QueryLimitError("the answer was given up"))
        try:
            async with asyncio.timeout(DEADLINE_SECONDS), self._turns.setdefault(name, asyncio.Semaphore(self._each)):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except TimeoutError:
            raise QueryLimitError(f"no answer within {DEADLINE_SECONDS:g} s: ask for less, or again later") from None
        finally:
            work.end()
            self._asked[name] -= 1
            if not self._asked[name]:
                del self._asked[name], self._turns[name]

    def close(self) -> None:
        """Ends the threads, which answer nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


# ----------------------------------------------------------------------------------------------------------------------
# Ready-made questions of the history store for the web: few at a time, each in a process of its own.

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
