"""Switches by SSH: exec channels on one held connection each, by paramiko in a bounded number of threads.

Network operating systems have no POSIX shell, so each command has a channel of its own; a shell is opened only where a
switch refuses exec channels.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from truerail.errors import TransportError
from truerail.extras import needs
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.ssh_connections import AT_ONCE, reach
from truerail.transport.turns import Turns

if TYPE_CHECKING:
    from truerail.transport.ssh_hosts import SshExec
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
        self._old: SshExec | None = None

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, within `target.timeout_seconds` for the login and for each command.

        Raises `TransportError` if the device cannot be queried, `UndeclaredCommandError` before anything is sent.
        """
        refuse_undeclared(target, commands)
        if target.ssh.legacy_algorithms:
            return await self._by_asyncssh().ask(target, commands)
        device = self._device(target)
        async with device.busy, self._turns.turn():
            return await self._ask(device, commands)

    async def close(self) -> None:
        """Ends all connections and waits for all threads."""
        if self._old:
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

    def _by_asyncssh(self) -> "SshExec":
        from truerail.transport.ssh_hosts import SshExec

        if self._old is None:
            self._old = SshExec(handshakes=THREADS, limits=self._limits)
        return self._old
