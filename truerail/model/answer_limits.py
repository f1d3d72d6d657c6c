"""What no answer of a device is: without end in its lines or blanks, or in the time to read it.

Readers search by patterns, and some need time that grows with the square of the length of a line, or of a run of
blanks. Both are therefore limited where answers enter, so that reading takes time as an answer is long. What is left is
cut short by limits of processor time: for an answer, and for all answers of a device.
"""

import ctypes
import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Generic, TypeVar

from truerail.errors import TOO_SLOW, SlowDeviceError, TooMuchError

# ----------------------------------------------------------------------------------------------------------------------
# Work in a thread that another thread can end.
#
# A thread cannot be killed, but an exception can be raised in it between two steps of Python
# (https://docs.python.org/3.11/c-api/init.html#c.PyThreadState_SetAsyncExc). A single step in C is not interrupted:
# what is read is bounded, so that none of them takes long.

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


# ----------------------------------------------------------------------------------------------------------------------
# What no answer of a device is: without end in its lines or blanks, or in the time to read it.

MOST_SECONDS = 2.0
"""Of processor time, for one answer: the longest of the speed benchmark take 0.1 s."""
LONGEST_LINE = 8192
"""Characters of a line of text; a document in JSON or XML may be one line. A kernel's command line has 4,096."""
_BLANK = 512
"""So many blanks or line feeds are in no answer: tables pad cells to the longest, and a text of LLDP has 255."""
_DOCUMENT = re.compile(r"""[ \t]*(?:[\[{][ \t]*["\[{}\]]|<[\w?!/]|")""")
"""How a long line begins that is a document, or a text in one."""
_CHECK_SECONDS = 0.1
_ENDS: ContextVar[float] = ContextVar("ends", default=math.inf)
"""The thread's processor time at which that of the answer is over that is read, or of the device whose answers are."""


def refuse_endless(answer: str, megabytes: int, *, long_lines: bool) -> None:
    """Raises `TooMuchError`. Between once and twice `_BLANK` blanks may be refused: it looks at whole blocks alone."""
    refuse_large(len(answer), megabytes)
    firsts = answer[: len(answer) - _BLANK + 1 : _BLANK] if len(answer) >= _BLANK else ""
    blank = (at * _BLANK for at, first in enumerate(firsts) if first.isspace())
    if any(answer[at : at + _BLANK].isspace() for at in blank):
        raise TooMuchError(f"more than {_BLANK} blanks in a row: no answer of a device")
    at = 0
    while not long_lines and len(answer) - at > LONGEST_LINE:
        end = answer.rfind("\n", at, at + LONGEST_LINE + 1)
        if end < 0:
            end = answer.find("\n", at) % (len(answer) + 1)
            if not _DOCUMENT.match(answer, at):
                number = answer.count("\n", 0, at) + 1
                raise TooMuchError(f"a line of {end - at:,} characters: no answer of a device", line=number)
        at = end + 1


def refuse_large(size: int, megabytes: int) -> None:
    """Raises `TooMuchError` for an answer of so many bytes, or characters."""
    if size > megabytes << 20:
        raise TooMuchError(f"an answer of {size / 2**20:.1f} MB, not read: {megabytes} MB are the most")


@dataclass(slots=True)
class TimeSpent:
    """The processor time that reading a device's answers has taken."""

    seconds: float = 0.0

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Gives this block what is left of so many seconds for all that is read: then it raises `SlowDeviceError`."""
        began = time.thread_time()
        token = _ENDS.set(began + seconds - self.seconds)
        try:
            yield
        finally:
            _ENDS.reset(token)
            self.seconds += time.thread_time() - began


def in_time(read: Callable[[], T]) -> T:
    """What `read` returns. Raises `TooMuchError` once it has taken `MOST_SECONDS` of processor time, or
    `SlowDeviceError` once that of the device is over.

    A signal does that, even inside one search of a pattern. Only the main thread of a process takes signals: pollers,
    and `check`, read there. Another thread is ended between two searches.
    """
    began = time.thread_time()
    left = _ENDS.get() - began
    if left <= 0:
        raise SlowDeviceError
    late, seconds = (SlowDeviceError, left) if left < MOST_SECONDS else (_late, MOST_SECONDS)
    if threading.current_thread() is not threading.main_thread():
        return _watched(Work(read, late), seconds)
    _take_signals()
    token = _ENDS.set(began + seconds)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _CHECK_SECONDS)
            return read()
        finally:
            _ENDS.set(math.inf)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            _ENDS.reset(token)
    except TimeIsUpError:
        raise late() from None


def _late() -> TooMuchError:
    return TooMuchError(f"{TOO_SLOW} {MOST_SECONDS:g} s to read")


def _watched(work: Work[T], seconds: float) -> T:
    clock, over = time.pthread_getcpuclockid(threading.get_ident()), threading.Event()
    ends = time.clock_gettime(clock) + seconds

    def watch() -> None:
        while not over.wait(max(_CHECK_SECONDS, ends - time.clock_gettime(clock))):
            if time.clock_gettime(clock) >= ends:
                work.end()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        return work()
    finally:
        over.set()
        watcher.join()


@cache
def _take_signals() -> None:
    def look(_: int, __: FrameType | None) -> None:
        if time.thread_time() >= _ENDS.get():  # else other threads of the process took the time
            raise TimeIsUpError

    signal.signal(signal.SIGVTALRM, look)
