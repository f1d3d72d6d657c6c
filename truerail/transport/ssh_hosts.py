"""Devices by SSH with asyncssh: hosts with a session a round, old switches with an exec channel for each command."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import asyncssh

from truerail.errors import SilentSessionError, TransportError
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Frames, Limits, first_line, refusal
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Ended, Output, Sink, Whole, ask_in_sessions, outcome, reason
from truerail.transport.ssh_connections import Connections

# ----------------------------------------------------------------------------------------------------------------------
# One session on an SSH connection: sends one command line, hands its output on as it comes, ends it in time.

_WINDOW_BYTES = 1 << 20
"""How far a device may print ahead of what is read: so much of an endless answer is under way when it is cut."""


class _Session(Output, asyncssh.SSHClientSession[bytes]):
    """The output of one session."""

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Output came."""
        self.take(data, is_error=bool(datatype))


async def converse(
    connection: asyncssh.SSHClientConnection, command: str, opening: bytes, sink: Sink, seconds: float
) -> tuple[Ended, int | None]:
    """Runs `command` with `opening` as its standard input until it ends, prints too much, or lets `seconds` go by with
    one of its commands: how it ended, and the exit status where the device gave one. The session is closed however this
    ends. Raises asyncssh's errors, and TimeoutError where no session opens in that time.
    """
    session = _Session(sink)
    async with asyncio.timeout(seconds):
        channel, _ = await connection.create_session(
            lambda: session, command, encoding=None, request_pty=False, window=_WINDOW_BYTES
        )
    try:
        with suppress(BrokenPipeError):  # the command needed no input, and has ended before it came
            channel.write(opening)
            channel.write_eof()
        return await session.end(seconds), channel.get_exit_status()
    finally:
        if not channel.is_closing():
            channel.kill()
            channel.abort()


# ----------------------------------------------------------------------------------------------------------------------
# Hosts: thousands of them on one event loop, connections held between rounds, one session a round for each.

HANDSHAKES = 64
"""New logins at once. Key exchanges share one core: more at once only make each take longer, and time out."""


class SshHosts:
    """The transport for devices with a POSIX shell behind their SSH server.

    `handshakes` is how many logins are under way at once. One object serves one event loop.
    """

    def __init__(self, *, handshakes: int = HANDSHAKES, limits: Limits = LIMITS) -> None:
        self._connections = Connections(handshakes)
        self._limits = limits

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, within `timeout_seconds` for the login and `answer_seconds` for each.

        A command that hangs is aborted, and the next ones run in a new session. Raises `TransportError` if the device
        cannot be queried at all, and `UndeclaredCommandError` before anything is sent.
        """
        refuse_undeclared(target, commands)
        hop = device_hop(target)
        return await ask_in_sessions(commands, lambda left: self._session(hop, left, target.answer_seconds))

    async def close(self) -> None:
        """Ends all connections. No session is left open."""
        await self._connections.close()

    async def _session(self, hop: Hop, commands: Sequence[str], seconds: float) -> list[Answer]:
        frames, ended = await self._converse(hop, commands, seconds)
        try:
            return outcome(frames, ended, seconds)
        except SilentSessionError as error:
            self._connections.drop(hop)
            raise SilentSessionError(f"{hop.where}: logged in, but {error}") from None

    async def _converse(self, hop: Hop, commands: Sequence[str], seconds: float) -> tuple[Frames, Ended]:
        """One session, on the held connection; on a new one where the held one turns out to be dead."""
        for again in (False, True):
            connection = await self._connections.to(hop)
            frames = Frames(commands, self._limits, asyncio.get_running_loop().time)
            try:
                ended, _ = await converse(connection, frames.script, frames.opening, frames, seconds)
            except TimeoutError:
                self._connections.drop(hop)
                raise TransportError(f"{hop.where}: the connection opens no session within {seconds:g} s") from None
            except (asyncssh.Error, OSError) as error:
                self._connections.drop(hop)
                if again:
                    raise TransportError(f"{hop.where}: no session: {reason(error)}") from None
                continue
            if frames.started or again or not connection.is_closed():
                break
        return frames, ended


# ----------------------------------------------------------------------------------------------------------------------
# Old switches: one exec channel for each command, since asyncssh still has the key exchanges that they need.


class SshExec:
    """The transport for switches that need `legacy_algorithms`."""

    def __init__(self, *, handshakes: int, limits: Limits) -> None:
        self._connections = Connections(handshakes)
        self._limits = limits

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises `TransportError`."""
        hop = device_hop(target)
        return [await self._answer(hop, command) for command in commands]

    async def close(self) -> None:
        """Ends all connections."""
        await self._connections.close()

    async def _answer(self, hop: Hop, command: str) -> Answer:
        connection = await self._connections.to(hop)
        sink = Whole(self._limits)
        try:
            ended, status = await converse(connection, command, b"", sink, hop.seconds)
        except TimeoutError:
            self._connections.drop(hop)
            raise TransportError(f"{hop.where}: no session within {hop.seconds:g} s") from None
        except (asyncssh.Error, OSError) as error:
            self._connections.drop(hop)
            raise TransportError(f"{hop.where}: no session: {reason(error)}") from None
        took = asyncio.get_running_loop().time() - sink.since
        if ended is Ended.SLOW:
            return Answer(command, error=f"no answer within {hop.seconds:g} s", took_seconds=took)
        if ended is Ended.FLOODED:
            return Answer(command, error=f"more than {self._limits.answer_bytes} bytes of output, not read")
        why = refusal(max(0, status or 0), first_line(sink.complaint))
        return Answer(command, sink.output.decode(errors="replace"), why, took, bool(why))
