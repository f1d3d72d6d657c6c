"""Devices by SSH: hosts with a session a round, switches with a channel for each command."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import asyncssh

from truerail.errors import SilentSessionError, TransportError
from truerail.extras import needs
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Frames, Limits, first_line, refusal
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Ended, Output, Sink, Whole, ask_in_sessions, outcome, reason
from truerail.transport.ssh_connections import AT_ONCE, Connections, reach
from truerail.transport.turns import Turns

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


# ----------------------------------------------------------------------------------------------------------------------
# Switches by SSH: exec channels on one held connection each, by paramiko in a bounded number of threads.
#
# Network operating systems have no POSIX shell, so each command has a channel of its own; a shell is opened only where
# a switch refuses exec channels.

if TYPE_CHECKING:
    from truerail.transport.switch_device import SwitchDevice

THREADS = 32
"""Switches that are at work at once. More threads than this only take the interpreter from each other."""
MOST_THREADS = 1000
"""Threads in all: the others wait for switches that are slow or hang."""
_CLOSING_THREADS = 8
"""To end a connection takes a tenth of a second, which the event loop must not wait for."""
_T = TypeVar("_T")


class SwitchCli:
    """The transport for network operating systems: SONiC, Cumulus, EOS, NX-OS, Junos."""

    def __init__(self, *, threads: int = THREADS, limits: Limits = LIMITS) -> None:
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="truerail-switch")
        self._closing = ThreadPoolExecutor(_CLOSING_THREADS, thread_name_prefix="truerail-closing")
        self._turns = Turns(threads, MOST_THREADS)
        self._reaching = asyncio.Semaphore(AT_ONCE)
        self._limits = limits
        self._devices: dict[tuple[Hop, str], SwitchDevice] = {}
        self._old = SshExec(handshakes=THREADS, limits=limits)

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, within `target.timeout_seconds` for the login and for each command.

        Raises `TransportError` if the device cannot be queried, `UndeclaredCommandError` before anything is sent.
        """
        refuse_undeclared(target, commands)
        if target.ssh.legacy_algorithms:
            return await self._old.ask(target, commands)
        device = self._device(target)
        async with device.busy, self._turns.turn():
            return await self._ask(device, commands)

    async def close(self) -> None:
        """Ends all connections and waits for all threads."""
        await self._old.close()
        for device in self._devices.values():
            self._closing.submit(device.let_go())
        self._devices.clear()
        for pool, ends_early in ((self._closing, False), (self._threads, True)):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=ends_early)

    async def _ask(self, device: "SwitchDevice", commands: Sequence[str]) -> list[Answer]:
        answers: list[Answer] = []
        for command in commands:
            try:
                answers.append(await self._answer(device, command))
            except TransportError as error:
                if not answers:
                    raise
                answers.append(Answer(command, error=f"not asked: {error}"))
        return answers

    async def _answer(self, device: "SwitchDevice", command: str) -> Answer:
        """A command's answer. A connection that was dead already, or dies during a command, is reopened once."""
        for again in (False, True):
            held = device.connected
            if not held:
                await self._connect(device)
            try:
                return await self._bounded(device, lambda: device.run(command), "no answer")
            except ConnectionError as error:
                if again or not held:
                    raise TransportError(f"{device.hop.where}: {error}") from None
        raise AssertionError("unreachable: the second try returns or raises")

    async def _connect(self, device: "SwitchDevice") -> None:
        """Logs in. A switch that cannot be reached is waited for in the event loop, and costs no thread."""
        reached: socket.socket | None = None
        if not device.hop.access.jump:
            async with self._reaching:
                reached = await reach(device.hop)
        try:
            await self._bounded(device, partial(device.connect, reached), "no login")
        except BaseException:
            if reached:
                reached.close()
            raise

    async def _bounded(self, device: "SwitchDevice", work: Callable[[], _T], what: str) -> _T:
        """Work in a thread, for as long as the device may take. Cutting its connections ends the thread's wait."""
        loop = asyncio.get_running_loop()
        running: Awaitable[_T] = loop.run_in_executor(self._threads, work)
        try:
            async with asyncio.timeout(device.hop.seconds + 1):
                return await running
        except TimeoutError:
            self._closing.submit(device.let_go())
            raise TransportError(f"{device.hop.where}: {what} within {device.hop.seconds:g} s") from None
        except asyncio.CancelledError:
            self._closing.submit(device.let_go())
            raise

    def _device(self, target: Target) -> "SwitchDevice":
        key = (device_hop(target), target.platform)
        if key not in self._devices:
            needs("switches", "the command line of a switch")
            from truerail.transport.switch_device import SwitchDevice

            self._devices[key] = SwitchDevice(*key, self._limits)
        return self._devices[key]
