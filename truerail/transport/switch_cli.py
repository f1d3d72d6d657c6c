"""Switches by SSH: exec channels on one held connection each, by paramiko in a bounded number of threads.

Network operating systems have no POSIX shell, so each command has a channel of its own; a shell is opened only where a
switch refuses exec channels.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from truerail.model import Target
from truerail.transport.declared import refuse_undeclared
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer, TransportError

if TYPE_CHECKING:
    from truerail.transport.ssh_exec import SshExec
    from truerail.transport.switch_device import SwitchDevice

THREADS = 32
"""Switches that are asked at once. More threads than this only take the interpreter from each other."""
_T = TypeVar("_T")


class SwitchCli:
    """The transport for network operating systems: SONiC, Cumulus, EOS, NX-OS, Junos."""

    def __init__(self, *, threads: int = THREADS, limits: Limits = LIMITS) -> None:
        from truerail.transport.host_keys import HostKeys

        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="truerail-switch")
        self._slots = asyncio.Semaphore(threads)
        self._limits = limits
        self._host_keys = HostKeys()
        self._devices: dict[tuple[Hop, str], SwitchDevice] = {}
        self._old: SshExec | None = None

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, within `target.timeout_seconds` for the login and for each command.

        Raises `TransportError` where the device cannot be asked at all, `Undeclared` before anything is sent.
        """
        refuse_undeclared(target, commands)
        if target.ssh.legacy_algorithms:
            return await self._by_asyncssh().ask(target, commands)
        device = self._device(target)
        async with self._slots, device.busy:
            return await self._ask(device, commands)

    async def close(self) -> None:
        """Ends all connections and waits for all threads."""
        if self._old:
            await self._old.close()
        for device in self._devices.values():
            device.cut()
        self._devices.clear()
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)

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
        """A command's answer. A connection that was dead already, or dies with a command, is made anew once."""
        for again in (False, True):
            held = device.connected
            if not held:
                await self._bounded(device, device.connect, "no login")
            try:
                return await self._bounded(device, lambda: device.run(command), "no answer")
            except ConnectionError as error:
                if again or not held:
                    raise TransportError(f"{device.hop.where}: {error}") from None
        raise AssertionError("unreachable: the second try returns or raises")

    async def _bounded(self, device: "SwitchDevice", work: Callable[[], _T], what: str) -> _T:
        """Work in a thread, for as long as the device may take. Cutting its connections ends the thread's wait."""
        loop = asyncio.get_running_loop()
        running: Awaitable[_T] = loop.run_in_executor(self._threads, work)
        try:
            async with asyncio.timeout(device.hop.seconds + 1):
                return await running
        except TimeoutError:
            device.cut()
            raise TransportError(f"{device.hop.where}: {what} within {device.hop.seconds:g} s") from None
        except asyncio.CancelledError:
            device.cut()
            raise

    def _device(self, target: Target) -> "SwitchDevice":
        from truerail.transport.switch_device import SwitchDevice

        key = (device_hop(target), target.platform)
        if key not in self._devices:
            self._devices[key] = SwitchDevice(*key, self._host_keys, self._limits)
        return self._devices[key]

    def _by_asyncssh(self) -> "SshExec":
        from truerail.transport.ssh_exec import SshExec

        if self._old is None:
            self._old = SshExec(handshakes=THREADS, limits=self._limits)
        return self._old
