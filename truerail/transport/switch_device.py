"""One switch: its connection, held between rounds, and how it takes commands. Blocking, but for `cut`."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import paramiko

from truerail.errors import NoExecError, TransportError
from truerail.model.names import printable
from truerail.transport.framing import Limits
from truerail.transport.hops import Hop
from truerail.transport.host_keys import HostKeys
from truerail.transport.protocol import Answer
from truerail.transport.switch_exec import run
from truerail.transport.switch_login import log_in


class SwitchDevice:
    """A connection to one switch. `busy` is held during a query."""

    def __init__(self, hop: Hop, platform: str, host_keys: HostKeys, limits: Limits) -> None:
        self.hop = hop
        self.busy = asyncio.Lock()
        self._platform = platform
        self._host_keys = host_keys
        self._limits = limits
        self._opened: list[Any] = []
        self._transport: Any = None
        self._shell: Any = None
        self._shell_only = False

    @property
    def connected(self) -> bool:
        """Whether there is a connection that seems alive."""
        return self._transport is not None and self._transport.is_active()

    def connect(self, reached: socket.socket | None) -> None:
        """Logs in, by the connection that was made already where no jump host leads there. Raises `TransportError`."""
        self.cut()
        opened: list[Any] = []
        self._opened = opened
        try:
            self._transport = log_in(self.hop, self._host_keys, opened, reached)
        except BaseException:
            _close(opened)
            raise

    def run(self, command: str) -> Answer:
        """A command's answer. Raises `ConnectionError` where the connection is lost, and `TransportError`."""
        try:
            if not self._shell_only:
                try:
                    return run(self._transport, command, self._limits, self.hop.seconds)
                except NoExecError:
                    self._shell_only = True
            return self._in_shell(command)
        except (paramiko.SSHException, OSError, EOFError) as error:
            self.cut()
            raise ConnectionError(f"connection lost: {printable(str(error) or type(error).__name__, 120)}") from None

    def cut(self) -> None:
        """Ends the connection, whatever a thread waits for on it. Waits a tenth of a second for the library's thread:
        the event loop calls what `let_go` gives in a thread instead.
        """
        self.let_go()()

    def let_go(self) -> Callable[[], None]:
        """Forgets the connection; gives what ends it."""
        opened, self._opened = self._opened, []
        self._transport = self._shell = None
        return lambda: _close(opened)

    def _in_shell(self, command: str) -> Answer:
        from truerail.transport.switch_shell import Shell

        if self._shell is None:
            try:
                self._shell = Shell(self._transport, self._platform, self._limits, self.hop.seconds)
            except TransportError as error:
                raise TransportError(f"{self.hop.where}: {error}") from None
        answer: Answer = self._shell.run(command)
        if answer.error:
            self.cut()
        return answer


def _close(transports: list[Any]) -> None:
    """Closes connections, the device's before those of the jump hosts that lead to it."""
    for transport in reversed(transports):
        transport.close()
        transport.packetizer.complete_handshake()  # the thread of its timer would last 15 s
