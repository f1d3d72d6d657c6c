"""Switches by SSH: exec channels on one held connection each.

Network operating systems have no POSIX shell, so each command has a channel of its own; a shell is opened only where a
switch refuses exec channels.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from truerail.errors import NoExecError, TransportError
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Limits, first_line, refusal
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Ended, ask_in_sessions
from truerail.transport.ssh_connections import Connections
from truerail.transport.ssh_hosts import HANDSHAKES
from truerail.transport.ssh_session import converse_with
from truerail.transport.switch_shell import Shell

_MOST_SHELLS = 1000
"""Threads: each waits for one switch that has a shell alone."""


class OneCommand:
    """One command, and its output."""

    opening = b""

    def __init__(self, command: str, limits: Limits) -> None:
        self.script = command
        self._limits = limits
        self.since = asyncio.get_running_loop().time()
        self.output = bytearray()
        self.complaint = bytearray()

    @property
    def started(self) -> bool:
        """Whether the device has printed anything."""
        return bool(self.output or self.complaint)

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


class SwitchCli:
    """The transport for network operating systems: SONiC, Cumulus, EOS, NX-OS, Junos."""

    def __init__(self, *, handshakes: int = HANDSHAKES, limits: Limits = LIMITS) -> None:
        self._connections = Connections(handshakes)
        self._limits = limits
        self._threads = ThreadPoolExecutor(_MOST_SHELLS, thread_name_prefix="truerail-switch")
        self._shells: dict[tuple[Hop, str], Shell] = {}
        """Of the switches that refuse exec channels."""

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, within `target.timeout_seconds` for the login and for each command.

        Raises `TransportError` if the device cannot be queried, `UndeclaredCommandError` before anything is sent.
        """
        refuse_undeclared(target, commands)
        return await ask_in_sessions(commands, lambda left: self._session(target, left[0]))

    async def close(self) -> None:
        """Ends all connections and waits for all threads."""
        for shell in self._shells.values():
            shell.close()
        self._shells.clear()
        await self._connections.close()
        await asyncio.to_thread(self._threads.shutdown)

    async def _session(self, target: Target, command: str) -> list[Answer]:
        hop = device_hop(target)
        key = (hop, target.platform)
        if key not in self._shells:
            try:
                return [await self._answer(hop, command)]
            except NoExecError:
                self._shells[key] = Shell(hop, target.platform, self._limits, self._threads)
        return [await self._shells[key].run(await self._connections.to(hop), command)]

    async def _answer(self, hop: Hop, command: str) -> Answer:
        begin = partial(OneCommand, command, self._limits)
        sink, ended, status = await converse_with(self._connections, hop, begin, hop.seconds)
        took = asyncio.get_running_loop().time() - sink.since
        if ended is Ended.SLOW:
            return Answer(command, error=f"no answer within {hop.seconds:g} s", took_seconds=took)
        if ended is Ended.FLOODED:
            return Answer(command, error=f"more than {self._limits.answer_bytes} bytes of output, not read")
        if ended is Ended.LOST:
            raise TransportError(f"{hop.where}: connection lost")
        why = refusal(max(0, status or 0), first_line(sink.complaint))
        return Answer(command, sink.output.decode(errors="replace"), why, took, bool(why))
