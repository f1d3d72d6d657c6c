"""Old switches: one exec channel for each command with asyncssh, which still has the key exchanges that they need."""

import asyncio
from collections.abc import Sequence

import asyncssh

from truerail.errors import TransportError
from truerail.model import Target
from truerail.transport.framing import Limits, first_line, refusal
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Ended, reason
from truerail.transport.ssh_connections import Connections
from truerail.transport.ssh_session import converse


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
