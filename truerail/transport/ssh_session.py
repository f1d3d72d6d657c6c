"""One session on an SSH connection: sends one command line, hands its output on as it comes, ends it in time."""

import asyncio
from contextlib import suppress
from functools import partial

import asyncssh

from truerail.transport.shell_sessions import Ended, Sink, end_of

_WINDOW_BYTES = 1 << 20
"""How far a device may print ahead of what is read: so much of an endless answer is under way when it is cut."""


class _Session(asyncssh.SSHClientSession[bytes]):
    """Runs in the event loop as data comes: no task, no queue and no copy for each session."""

    def __init__(self, sink: Sink, ended: "asyncio.Future[Ended]") -> None:
        self._sink = sink
        self._ended = ended

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Output came."""
        if self._ended.done():
            return
        (self._sink.err if datatype else self._sink.out)(data)
        if self._sink.flooded:
            self._ended.set_result(Ended.FLOODED)

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, by the device or with the connection."""
        if not self._ended.done():
            self._ended.set_result(Ended.BY_ITSELF)


async def converse(
    connection: asyncssh.SSHClientConnection, command: str, opening: bytes, sink: Sink, seconds: float
) -> tuple[Ended, int | None]:
    """Runs `command` with `opening` as its standard input until it ends, prints too much, or lets `seconds` go by with
    one of its commands: how it ended, and the exit status where the device gave one. The session is closed however this
    ends. Raises asyncssh's errors, and TimeoutError where no session opens in that time.
    """
    ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
    async with asyncio.timeout(seconds):
        channel, _ = await connection.create_session(
            partial(_Session, sink, ended), command, encoding=None, request_pty=False, window=_WINDOW_BYTES
        )
    try:
        with suppress(BrokenPipeError):  # the command needed no input, and has ended before it came
            channel.write(opening)
            channel.write_eof()
        how = await end_of(ended, sink, seconds)
        return how, channel.get_exit_status()
    finally:
        if not channel.is_closing():
            channel.kill()
            channel.abort()
