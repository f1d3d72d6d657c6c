"""Threads for answers: each caller has a few at a time, and at the deadline the work ends."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

from truerail.errors import QueryLimitError, TooManyQueriesError
from truerail.model.answer_limits import Work

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
