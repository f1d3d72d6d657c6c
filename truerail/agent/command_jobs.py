"""Commands of the shell, without waiting: bounded in time and size, in a process group that ends as a whole."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

MOST_COMPLAINT_BYTES = 400
PATH = "/usr/local/sbin:/usr/sbin:/sbin"
"""What is added to PATH, as truerail does in an SSH session: Debian keeps lldpcli and rdma there."""
_PIECE_BYTES = 1 << 16
_REAPING_SECONDS = 0.2


class Result:
    """One command's end. `why` has the reason where there is no whole answer; times on the monotonic clock."""

    def __init__(self, command: str, read_at: float) -> None:
        self.command, self.read_at = command, read_at
        self.status, self.took_seconds = 0, 0.0
        self.output = self.complaint = b""
        self.why = ""


def started(words: Sequence[str], complaints: int) -> subprocess.Popen[bytes]:
    """A process in a group of its own, without standard input: its output is a pipe that does not block. `complaints`
    is for standard error, as `subprocess` has it. Raises OSError.
    """
    environment = dict(os.environ)
    environment["PATH"] = environment.get("PATH", os.defpath) + ":" + PATH
    environment.pop("CREDENTIALS_DIRECTORY", None)
    process = subprocess.Popen(  # noqa: S603 - a command of the list in this file, or a fixed one that only reads
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        env=environment,
        start_new_session=True,
    )
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
    return process


class Job:
    """A command that runs. `ended` takes its result; that may be within `start`."""

    def __init__(
        self,
        command: str,
        selector: selectors.BaseSelector,
        clock: Callable[[], float],
        seconds: float,
        most_bytes: int,
        ended: Callable[[Result], None],
    ) -> None:
        self._command, self._selector, self._clock, self._ended = command, selector, clock, ended
        self._most = most_bytes
        self._seconds = seconds
        self._output, self._complaint = bytearray(), bytearray()
        self._began = clock()
        self.deadline = self._began + seconds
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, as truerail does in an SSH session: a subshell of sh without standard input."""
        try:
            self._process = started(["/bin/sh", "-c", "( " + self._command + " )"], subprocess.PIPE)
        except OSError as error:
            self._end("/bin/sh does not start: " + str(error.strerror))
            return
        for pipe, into in ((self._process.stdout, self._output), (self._process.stderr, self._complaint)):
            assert pipe is not None  # noqa: S101 - both are pipes
            self._selector.register(pipe, selectors.EVENT_READ, partial(self.read, pipe, into))

    def read(self, pipe: object, into: bytearray) -> None:
        """Takes what a pipe has; the end of both is the end of the command."""
        process = self._process
        if process is None:
            return
        try:
            piece = os.read(pipe.fileno(), _PIECE_BYTES)  # type: ignore[attr-defined]  # a pipe of the process
        except BlockingIOError:
            return
        if not piece:
            self._selector.unregister(pipe)  # type: ignore[arg-type]  # a pipe of the process
            open_pipes = self._selector.get_map()
            if not any(one and one.fileno() in open_pipes for one in (process.stdout, process.stderr)):
                self._end("")
        elif into is self._complaint:
            into += piece[: max(0, MOST_COMPLAINT_BYTES - len(into))]
        else:
            into += piece
            if len(into) > self._most:
                self._end(f"more than {self._most} bytes of output, not read")

    def expire(self) -> None:
        """Ends it: its time is over."""
        self._end(f"no answer within {self._seconds:g} s")

    def cancel(self) -> None:
        """Ends it without a result."""
        self._ended = _nothing
        self._end("")

    def _end(self, why: str) -> None:
        process, self._process = self._process, None
        now = self._clock()
        result = Result(self._command, (self._began + now) / 2)
        result.took_seconds, result.why = now - self._began, why
        if process is not None:
            result.status = reap(process, self._selector, kill=bool(why) or self._ended is _nothing)
        if not why:
            result.output = bytes(self._output)
        result.complaint = bytes(self._complaint)
        self._ended(result)


def reap(process: subprocess.Popen[bytes], selector: selectors.BaseSelector, kill: bool) -> int:
    """The exit status. A process that the system cannot end is left to it."""
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            if pipe.fileno() in selector.get_map():
                selector.unregister(pipe)
            pipe.close()
    if kill:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    try:
        status = process.wait(_REAPING_SECONDS)
    except subprocess.TimeoutExpired:
        return 1
    return status if status >= 0 else 128 - status


def _nothing(_: Result) -> None:
    """A job that was cancelled has no result."""
