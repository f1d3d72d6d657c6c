"""Hosts by SSH: thousands of them on one event loop, connections held between rounds, one session a round for each."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from truerail.errors import SilentSessionError, TransportError
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Frames, Limits
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import ask_in_sessions, outcome, reason

if TYPE_CHECKING:
    from truerail.transport.shell_sessions import Ended

HANDSHAKES = 64
"""New logins at once. Key exchanges share one core: more at once only make each take longer, and time out."""


class SshHosts:
    """The transport for devices with a POSIX shell behind their SSH server.

    `handshakes` is how many logins are under way at once. One object serves one event loop.
    """

    def __init__(self, *, handshakes: int = HANDSHAKES, limits: Limits = LIMITS) -> None:
        from truerail.transport.ssh_connections import Connections

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

    async def _converse(self, hop: Hop, commands: Sequence[str], seconds: float) -> "tuple[Frames, Ended]":
        """One session, on the held connection; on a new one where the held one turns out to be dead."""
        from truerail.transport.ssh_session import converse

        for again in (False, True):
            connection = await self._connections.to(hop)
            frames = Frames(commands, self._limits, asyncio.get_running_loop().time)
            try:
                ended, _ = await converse(connection, frames.script, frames.opening, frames, seconds)
            except TimeoutError:
                self._connections.drop(hop)
                raise TransportError(f"{hop.where}: the connection opens no session within {seconds:g} s") from None
            except (_library_error(), OSError) as error:
                self._connections.drop(hop)
                if again:
                    raise TransportError(f"{hop.where}: no session: {reason(error)}") from None
                continue
            if frames.started or again or not connection.is_closed():
                break
        return frames, ended


def _library_error() -> type[Exception]:
    import asyncssh

    return asyncssh.Error
