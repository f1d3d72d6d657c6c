"""Threads for answers: each caller has a few at a time, and at the deadline the work ends.

A thread cannot be killed, but an exception can be raised in it between two steps of Python
(https://docs.python.org/3.11/c-api/init.html#c.PyThreadState_SetAsyncExc). A single step in C is not interrupted: what
an answer reads is bounded, so that none of them takes long.
"""

import asyncio
import ctypes
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from truerail.errors import QueryLimitError, TooManyQueriesError

T = TypeVar("T")
DEADLINE_SECONDS = 50.0
"""Of an answer, with the time that it waits for a thread: before a front gives up (`processes.front_link`)."""
MOST_ASKED = 200
"""Most questions of one caller in a pool, running and waiting. A page asks fewer than 10 at once, and many pages may
share an account.
"""


_STEPS = 100
"""An exception that is raised in a thread comes at its next step back in a loop: the first of these."""


class _TimeIsUpError(BaseException):
    """Raised in a thread: no `except Exception` of an answer may take it for a fault of its own."""


class _Work:
    """A function that another thread can end."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._ended = self._raised = False

    def __call__(self) -> Any:
        """What the function returns. Raises QueryLimitError if it was ended."""
        try:
            with self._lock:
                self._thread = None if self._ended else threading.get_ident()
            try:
                return self._make() if self._thread else None
            finally:
                with self._lock:
                    self._thread = None
                for _ in range(_STEPS if self._raised else 0):
                    pass  # the thread goes on to other work: what was raised late comes here, and not there
        except _TimeIsUpError:
            raise QueryLimitError("the answer was given up") from None

    def end(self) -> None:
        """Ends the work, whether it has begun or not; nothing if it is over. Nothing is ever taken back: a thread that
        is asked to raise nothing makes Python look for it for good, and hang under a debugger.
        """
        with self._lock:
            self._ended = True
            if self._thread is not None and not self._raised:
                self._raised = True
                raised = ctypes.py_object(_TimeIsUpError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), raised)


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
        work = _Work(make)
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
