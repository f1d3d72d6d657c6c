"""Work in a thread that another thread can end.

A thread cannot be killed, but an exception can be raised in it between two steps of Python
(https://docs.python.org/3.11/c-api/init.html#c.PyThreadState_SetAsyncExc). A single step in C is not interrupted: what
is read is bounded, so that none of them takes long.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_STEPS = 100
"""An exception that is raised in a thread comes at its next step back in a loop: the first of these."""


class TimeIsUpError(BaseException):
    """Raised in work whose time is up: no `except Exception` in it may take it for a fault of its own."""


class Work(Generic[T]):
    """A function; `error` makes what is raised where it was ended before it returned."""

    def __init__(self, make: Callable[[], T], error: Callable[[], Exception]) -> None:
        self._make, self._error = make, error
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._ended = self._raised = False

    def __call__(self) -> T:
        """What the function returns."""
        try:
            with self._lock:
                if self._ended:
                    raise self._error()
                self._thread = threading.get_ident()
            try:
                return self._make()
            finally:
                with self._lock:
                    self._thread = None
                for _ in range(_STEPS if self._raised else 0):
                    pass  # the thread goes on to other work: what was raised late comes here, and not there
        except TimeIsUpError:
            if self._raised:
                raise self._error() from None
            raise  # of work that this is a part of

    def end(self) -> None:
        """Ends the work, whether it has begun or not; nothing if it is over. Nothing is ever taken back: a thread that
        is asked to raise nothing makes Python look for it for good, and hang under a debugger.
        """
        with self._lock:
            self._ended = True
            if self._thread is not None and not self._raised:
                self._raised = True
                thread, error = ctypes.c_ulong(self._thread), ctypes.py_object(TimeIsUpError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)
