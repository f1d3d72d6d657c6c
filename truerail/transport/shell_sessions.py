"""What a session with a shell is, over SSH or on this machine: output that comes in, an end, and what that means."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any

from truerail.errors import SilentSessionError, TransportError
from truerail.model import Target
from truerail.model.names import printable
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Frames, Limits
from truerail.transport.protocol import Answer

# ----------------------------------------------------------------------------------------------------------------------
# What a session with a shell is, over SSH or on this machine: output that comes in, an end, and what that means.


class Whole:
    """Takes the output of one command."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.since = asyncio.get_running_loop().time()
        self.output = bytearray()
        self.complaint = bytearray()

    @property
    def flooded(self) -> bool:
        """Whether there is more than is taken."""
        return len(self.output) > self._limits.answer_bytes

    def out(self, data: bytes) -> None:
        """Takes standard output."""
        self.output += data

    def err(self, data: bytes) -> None:
        """Takes the beginning of standard error."""
        self.complaint += data[: max(0, self._limits.complaint_bytes - len(self.complaint))]


Sink = Frames | Whole
"""Takes a session's output: standard output, standard error, until it is `flooded`; `since` its command began."""


class Ended(Enum):
    """How a session ended."""

    BY_ITSELF = "the session ended"
    SLOW = "no answer came in time"
    FLOODED = "too much output came"


class Output:
    """Hands a session's output on in the event loop as it comes: no task, no queue and no copy for each session."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()

    def take(self, data: bytes, *, is_error: bool) -> None:
        """Output came, on standard error or standard output. Behind too much of it nothing is taken."""
        if self._ended.done():
            return
        (self._sink.err if is_error else self._sink.out)(data)
        if self._sink.flooded:
            self._ended.set_result(Ended.FLOODED)

    def connection_lost(self, exc: Exception | None) -> None:
        """The session has ended, by itself or with its connection, and all of its output is read."""
        if not self._ended.done():
            self._ended.set_result(Ended.BY_ITSELF)

    async def end(self, seconds: float) -> Ended:
        """Waits for the session's end, or until one of its commands takes longer than `seconds`."""
        now = asyncio.get_running_loop().time
        while not self._ended.done():
            left = self._sink.since + seconds - now()
            if left <= 0:
                return Ended.SLOW
            await asyncio.wait((self._ended,), timeout=left)
        return self._ended.result()


async def ask_in_sessions(
    commands: Sequence[str], session: Callable[[Sequence[str]], Awaitable[list[Answer]]]
) -> list[Answer]:
    """An answer for each command. `session` answers one or more of those it is given; the rest go into the next one.

    Raises `TransportError` where the first session fails; where a later one does, the answers before it still count.
    """
    answers: list[Answer] = []
    while len(answers) < len(commands):
        left = commands[len(answers) :]
        try:
            answers += await session(left)
        except TransportError as error:
            if not answers:
                raise
            answers += [Answer(command, error=f"not asked: {error}") for command in left]
    return answers


def outcome(frames: Frames, ended: Ended, seconds: float) -> list[Answer]:
    """What a session brought: its answers, an error for the command that broke it, and one for each behind that.

    Commands behind one that hung have no answer yet: a new session may ask them. Raises `SilentSessionError`.
    """
    answers = frames.answers()
    if frames.finished:
        return answers
    complaint = frames.complaint()
    if not frames.started:
        said = f", only: {complaint}" if complaint else ""
        raise SilentSessionError(f"no sign of the script, {ended.value} ({seconds:g} s){said}")
    culprit, *rest = frames.commands[len(answers) :]
    if ended is Ended.SLOW:
        return [*answers, Answer(culprit, error=f"no answer within {seconds:g} s", took_seconds=seconds)]
    if ended is Ended.FLOODED:
        why = f"more than {frames.limits.device_bytes} bytes of output in one session, cut off"
    else:
        why = "the session ended before the answer was whole" + (f": {complaint}" if complaint else "")
    return [*answers, Answer(culprit, error=why), *(Answer(command, error=f"not asked: {why}") for command in rest)]


def reason(error: Exception) -> str:
    """Why no session opened, in the words of the SSH library or of the system, where they have any."""
    said = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return printable(said, 160)


# ----------------------------------------------------------------------------------------------------------------------
# This machine's own commands: the script and the frames of an SSH session, in a process group that ends in time.

_REAPING_SECONDS = 1.0


class _Output(Output, asyncio.SubprocessProtocol):
    """The output of one script, and its end."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output came."""
        self.take(data, is_error=fd != 1)

    def process_exited(self) -> None:
        """The script has ended and is reaped."""
        self.exited.set()


class Local:
    """The transport for the machine that truerail runs on."""

    def __init__(self, *, limits: Limits = LIMITS) -> None:
        self._limits = limits

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, each within `target.answer_seconds`. Raises `TransportError`."""
        refuse_undeclared(target, commands)
        return await ask_in_sessions(commands, lambda left: self._session(left, target.answer_seconds))

    async def close(self) -> None:
        """No state is held between rounds."""

    async def _session(self, commands: Sequence[str], seconds: float) -> list[Answer]:
        loop = asyncio.get_running_loop()
        frames = Frames(commands, self._limits, loop.time)
        try:
            transport, output = await loop.subprocess_exec(
                lambda: _Output(frames), "/bin/sh", "-c", frames.script, start_new_session=True
            )
        except OSError as error:
            raise TransportError(f"/bin/sh does not start: {error.strerror}") from None
        try:
            _tell(transport, frames.opening)
            how = await output.end(seconds)
        finally:
            await _end(transport, output)
        return outcome(frames, how, seconds)


def _tell(transport: asyncio.SubprocessTransport, opening: bytes) -> None:
    stdin: Any = transport.get_pipe_transport(0)  # uvloop's is no asyncio.WriteTransport
    stdin.write(opening)
    stdin.close()


async def _end(transport: asyncio.SubprocessTransport, output: _Output) -> None:
    """Ends the script and all that it started, and waits until it is gone, unless the system cannot end it."""
    if transport.get_returncode() is None:
        with suppress(ProcessLookupError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAPING_SECONDS):
                await output.exited.wait()
    transport.close()
