"""One session on an SSH connection: sends one command line, hands its output on as it comes, ends it in time."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol, TypeVar

import asyncssh

from truerail.errors import NoExecError, TransportError
from truerail.transport.hops import Hop
from truerail.transport.shell_sessions import Ended, Sink, end_of, reason
from truerail.transport.ssh_connections import Connections

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
    """Runs `command` with `opening`, if any, as its standard input until it ends, prints too much, or lets `seconds` go
    by with one of its commands: how it ended, and the exit status where the device gave one. The session is closed
    however this ends. Raises asyncssh's errors, and TimeoutError where no session opens in that time.
    """
    ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
    async with asyncio.timeout(seconds):
        channel, _ = await connection.create_session(
            partial(_Session, sink, ended), command, encoding=None, request_pty=False, window=_WINDOW_BYTES
        )
    try:
        with suppress(BrokenPipeError):  # the command needed no input, and has ended before it came
            if opening:  # the end of its input ends the command line of some switches
                channel.write(opening)
                channel.write_eof()
        how = await end_of(ended, sink, seconds)
        return how, channel.get_exit_status()
    finally:
        if not channel.is_closing():
            channel.kill()
            channel.abort()


class Conversation(Sink, Protocol):
    """What is sent in one session, and takes its output."""

    @property
    def script(self) -> str:
        """The command line."""

    @property
    def opening(self) -> bytes:
        """Its standard input."""

    @property
    def started(self) -> bool:
        """Whether the device has shown that the command runs."""


_C = TypeVar("_C", bound=Conversation)


async def converse_with(
    connections: Connections, hop: Hop, begin: Callable[[], _C], seconds: float
) -> tuple[_C, Ended, int | None]:
    """One session on the held connection; a second one where the held connection turns out to be dead.

    Raises `TransportError`, of which `NoExecError` where the server takes no command.
    """
    for again in (False, True):
        connection = await connections.to(hop)
        sink = begin()
        try:
            ended, status = await converse(connection, sink.script, sink.opening, sink, seconds)
        except TimeoutError:
            connections.drop(hop)
            raise TransportError(f"{hop.where}: the connection opens no session within {seconds:g} s") from None
        except (asyncssh.Error, OSError) as error:
            if isinstance(error, asyncssh.ChannelOpenError) and error.code == asyncssh.OPEN_REQUEST_SESSION_FAILED:
                raise NoExecError(f"{hop.where}: no session: {reason(error)}") from None
            connections.drop(hop)
            if again:
                raise TransportError(f"{hop.where}: no session: {reason(error)}") from None
            continue
        lost = ended is Ended.BY_ITSELF and status is None and connection.is_closed()
        if sink.started or again or not lost:
            break
    return sink, Ended.LOST if lost else ended, status
