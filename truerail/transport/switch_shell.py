"""A switch that has only an interactive shell, driven by netmiko over a channel of the held connection.

netmiko finds prompts, turns paging off and separates answers from echoes. For that it sends commands of its own, which
change nothing but its terminal: `terminal length 0` and `terminal width 511` (EOS, NX-OS, IOS-XR, OS10, the first also
in sonic-cli, which is entered with `sonic-cli`), `set cli screen-length 0`, `set cli screen-width 511`, `set cli
complete-on-space off` (Junos), `no page` (AOS-CX), `screen-length disable` (Comware), `screen-length 0
temporary` (VRP), `environment complete-on-space false` and `environment cli-engine type basic` (SR Linux).
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

import asyncssh

from truerail.errors import TransportError
from truerail.extras import needs
from truerail.model.names import printable
from truerail.model.platforms import TABLE
from truerail.transport.framing import Limits
from truerail.transport.hops import Hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import reason

_DRIVERS = {one.name: one.shell for one in TABLE if one.shell}
_T = TypeVar("_T")


class _TooMuch(Exception):  # noqa: N818 - what the switch printed
    """More output than is taken."""


class _Terminal(asyncssh.SSHClientSession[bytes]):
    """A shell's channel: the event loop fills it, netmiko empties it in a thread, as if it were paramiko's.

    It is also netmiko's SSH client, which so opens no connection, has no secret and trusts no key.
    """

    def __init__(self, limit: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = SimpleQueue[bytes | None]()
        self._limit = self._left = limit
        self.channel: Any = None
        self.ended = False

    def connection_made(self, chan: Any) -> None:
        """The channel is open."""
        self.channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Output came. What is too much is dropped."""
        if self._left >= 0:
            self._left -= len(data)
            self._received.put(data if self._left >= 0 else None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, by the device or with the connection."""
        self.ended = True
        self._received.put(b"")

    def renew(self) -> None:
        """A new command begins."""
        self._left = self._limit

    def connect(self, **_: object) -> None:
        """The connection is there already."""

    def invoke_shell(self, **_: object) -> "_Terminal":
        """The shell is open already."""
        return self

    def settimeout(self, seconds: float) -> None:
        """No read of netmiko's waits: it looks first."""

    def recv_ready(self) -> bool:
        """Whether there is output."""
        return not self._received.empty()

    def recv(self, size: int) -> bytes:
        """Output as it came; empty at its end."""
        data = self._received.get()
        if data is None:
            raise _TooMuch
        return data

    def sendall(self, data: bytes) -> None:
        """Types."""
        if not self.ended:
            self._loop.call_soon_threadsafe(self.channel.write, data)

    def close(self) -> None:
        """The channel is closed by who opened it."""


class Shell:
    """One switch's shell: one command at a time, in a thread."""

    def __init__(self, hop: Hop, platform: str, limits: Limits, threads: Executor) -> None:
        self._hop = hop
        self._platform = platform
        self._limits = limits
        self._threads = threads
        self._busy = asyncio.Lock()
        self._terminal: _Terminal | None = None
        self._netmiko: Any = None

    async def run(self, connection: asyncssh.SSHClientConnection, command: str) -> Answer:
        """A command's answer, without its echo and the prompt. Raises `TransportError` if no shell opens."""
        async with self._busy:
            if self._terminal is None or self._terminal.ended:
                await self._open(connection)
            answer = await self._bounded(partial(self._type, command), "no answer")
            if answer.error:
                self.close()
            return answer

    def close(self) -> None:
        """Ends the shell, whatever a thread waits for in it."""
        if self._terminal and self._terminal.channel:
            self._terminal.channel.abort()
        self._terminal = self._netmiko = None

    async def _open(self, connection: asyncssh.SSHClientConnection) -> None:
        """Opens the shell, on a terminal wide enough for any line, and waits for its first prompt."""
        where, name = self._hop.where, _DRIVERS.get(self._platform)
        if name is None:
            shown = self._platform or "?"
            raise TransportError(f"{where}: exec channels are refused, and no shell of platform {shown} is known")
        needs("switches", "the shell of a switch")
        terminal = self._terminal = _Terminal(self._limits.answer_bytes)
        try:
            async with asyncio.timeout(self._hop.seconds):
                await connection.create_session(
                    lambda: terminal, term_type="vt100", term_size=(511, 1000), encoding=None
                )
        except (TimeoutError, asyncssh.Error, OSError) as error:
            self.close()
            raise TransportError(f"{where}: shell: {reason(error)}") from None
        self._netmiko = await self._bounded(partial(self._prompt, name, terminal), "no prompt")

    def _prompt(self, name: str, terminal: _Terminal) -> Any:
        """netmiko's class for a platform, on a shell that is open. In a thread."""
        from netmiko.exceptions import NetmikoBaseException, NetmikoTimeoutException
        from netmiko.ssh_dispatcher import CLASS_MAPPER

        driver = type("Driver", (CLASS_MAPPER[name],), {"_build_ssh_client": lambda _: terminal})
        try:
            return driver(device_type=name, host="connected", conn_timeout=self._hop.seconds)
        except _TooMuch:
            why = f"more than {self._limits.answer_bytes} bytes before the first prompt"
        except (NetmikoBaseException, NetmikoTimeoutException, ValueError, OSError) as error:
            why = printable(str(error).strip(), 120)
        raise TransportError(f"{self._hop.where}: shell: {why}")

    def _type(self, command: str) -> Answer:
        """Types a command and reads on to the next prompt. In a thread."""
        from netmiko.exceptions import NetmikoBaseException

        began = time.monotonic()
        self._netmiko.remote_conn.renew()
        try:
            text, error = self._netmiko.send_command(command, read_timeout=self._hop.seconds), ""
        except _TooMuch:
            text, error = "", f"more than {self._limits.answer_bytes} bytes of output, not read"
        except NetmikoBaseException:
            text, error = "", f"no prompt within {self._hop.seconds:g} s"
        return Answer(command, str(text), error, time.monotonic() - began)

    async def _bounded(self, work: Callable[[], _T], what: str) -> _T:
        """Work in a thread, for as long as the device may take: what ends the shell ends the thread's wait."""
        try:
            async with asyncio.timeout(self._hop.seconds + 1):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except TimeoutError:
            self.close()
            raise TransportError(f"{self._hop.where}: {what} within {self._hop.seconds:g} s") from None
        except BaseException:
            self.close()
            raise
