"""A switch that has only an interactive shell, driven by netmiko over a connection that is logged in already.

netmiko finds prompts, turns paging off and separates answers from echoes. For that it sends commands of its own, which
change nothing but its terminal: `terminal length 0` and `terminal width 511` (EOS, NX-OS, IOS-XR, OS10, the first also
in sonic-cli, which is entered with `sonic-cli`), `set cli screen-length 0`, `set cli screen-width 511`, `set cli
complete-on-space off` (Junos), `no page` (AOS-CX), `screen-length disable` (Comware), `screen-length 0
temporary` (VRP), `environment complete-on-space false` and `environment cli-engine type basic` (SR Linux).
"""

import time
from typing import Any

import paramiko
from netmiko.exceptions import NetmikoBaseException
from netmiko.ssh_dispatcher import CLASS_MAPPER

from truerail.errors import TransportError
from truerail.model.names import printable
from truerail.model.platforms import TABLE
from truerail.transport.framing import Limits
from truerail.transport.protocol import Answer

_DRIVERS = {one.name: one.shell for one in TABLE if one.shell}


class _TooMuch(Exception):  # noqa: N818 - what the switch printed
    """More output than is taken."""


class _Bounded:
    """A channel that ends a read once more came than is taken."""

    def __init__(self, channel: Any, limit: int) -> None:
        self._channel = channel
        self._limit = limit
        self.left = limit

    def recv(self, size: int) -> Any:
        """Output, as the channel gives it."""
        data = self._channel.recv(size)
        self.left -= len(data)
        if self.left < 0:
            raise _TooMuch
        return data

    def renew(self) -> None:
        """A new command begins."""
        self.left = self._limit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)


class _LoggedIn:
    """Replaces netmiko's SSH client: netmiko opens no connection, has no secret and trusts no key."""

    def __init__(self, transport: Any, limit: int) -> None:
        self._transport = transport
        self._limit = limit

    def connect(self, **_: object) -> None:
        """The connection is there already."""

    def invoke_shell(self, term: str = "vt100", width: int = 511, height: int = 1000) -> _Bounded:
        """A shell on a terminal wide enough for any line."""
        channel = self._transport.open_session(timeout=10)
        channel.get_pty(term, width, height)
        channel.invoke_shell()
        return _Bounded(channel, self._limit)

    def close(self) -> None:
        """The connection is closed by who opened it."""


class Shell:
    """One switch's shell. Blocking: it runs in a thread."""

    def __init__(self, transport: Any, platform: str, limits: Limits, seconds: float) -> None:
        """Opens the shell. Raises `TransportError` if netmiko finds no prompt or does not support the platform."""
        if platform not in _DRIVERS:
            raise TransportError(f"exec channels are refused, and no shell of platform {platform or '?'} is known")
        self._limits = limits
        self._seconds = seconds
        try:
            self._netmiko = _driver(_DRIVERS[platform], _LoggedIn(transport, limits.answer_bytes), seconds)
        except _TooMuch:
            raise TransportError(f"shell: more than {limits.answer_bytes} bytes before the first prompt") from None
        except (paramiko.SSHException, NetmikoBaseException, ValueError, OSError) as error:
            raise TransportError(f"shell: {printable(str(error).strip(), 120)}") from None

    def run(self, command: str) -> Answer:
        """A command's answer, without its echo and the prompt. Raises the connection's errors."""
        began = time.monotonic()
        self._netmiko.remote_conn.renew()
        try:
            text = self._netmiko.send_command(command, read_timeout=self._seconds)
            error = ""
        except _TooMuch:
            text, error = "", f"more than {self._limits.answer_bytes} bytes of output, not read"
        except NetmikoBaseException:
            text, error = "", f"no prompt within {self._seconds:g} s"
        return Answer(command, str(text), error, time.monotonic() - began)


def _driver(name: str, client: _LoggedIn, seconds: float) -> Any:
    """netmiko's class for a platform, on a connection that exists."""
    driver = type("Driver", (CLASS_MAPPER[name],), {"_build_ssh_client": lambda _: client})
    return driver(device_type=name, host="connected", conn_timeout=seconds)
