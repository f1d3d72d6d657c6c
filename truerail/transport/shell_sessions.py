"""What a session with a shell is, over SSH or on this machine: output that comes in, an end, and what that means."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Protocol

from truerail.errors import SilentSessionError, TransportError
from truerail.model.names import printable
from truerail.transport.framing import Frames
from truerail.transport.protocol import Answer


class Sink(Protocol):
    """Takes a session's output."""

    @property
    def since(self) -> float:
        """When the command that runs now began, by the event loop's clock."""

    @property
    def flooded(self) -> bool:
        """Whether enough was taken, and the session must end."""

    def out(self, data: bytes) -> None:
        """Takes standard output."""

    def err(self, data: bytes) -> None:
        """Takes standard error."""


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
