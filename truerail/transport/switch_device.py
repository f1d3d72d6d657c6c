"""One switch: its connection, held between rounds, and how it takes commands. Blocking, but for `cut`."""

import asyncio
import getpass
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import asyncssh
import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from paramiko.pkey import UnknownKeyType

from truerail.errors import ConnectError, NoExecError, TransportError
from truerail.model import SshAccess
from truerail.model.names import printable
from truerail.transport.framing import Limits, first_line, refusal
from truerail.transport.hops import Hop, hop_before
from truerail.transport.protocol import Answer, secret_text
from truerail.transport.ssh_login import MODERN, identities, old_device, refused_login, system_words, trusted

# ----------------------------------------------------------------------------------------------------------------------
# Logging in to one switch with paramiko. Blocking: it runs in a thread, and closing the transport ends it.

_LOG = logging.getLogger("truerail.transport.paramiko")
_LOG.addFilter(lambda _: False)
"""paramiko logs each failed login with a traceback, and what a device sends, even if it repeats the password. The error
reports what failed. A filter, since configuring the logs of a server turns every disabled logger on again.
"""


_PLAINLY = {
    "": "connection closed during the login",
    "No existing session": "the switch closed the connection before the login (too many tries or sessions, or "
    "no algorithm for the login in common)",
}
"""What paramiko's words mean."""


def log_in(hop: Hop, opened: list[Any], reached: socket.socket | None = None) -> Any:
    """A paramiko transport to a switch, via its jump hosts, or on a connection to it. Raises `TransportError`.

    Every transport is added to `opened` before the first wait, so that the caller can close them on a timeout.
    """
    known = trusted(hop.access.known_hosts, hop.address, hop.access.port)
    before = hop_before(hop)
    via = log_in(before, opened) if before else None
    secret = secret_text(hop.access.password, "password") if hop.access.password else None
    try:
        transport = paramiko.Transport(reached or _reach(hop, via))
        opened.append(transport)
        transport.set_log_channel(_LOG.name)
        transport.auth_timeout = transport.banner_timeout = hop.seconds
        _offer(transport, MODERN.host_keys(known.algorithms))
        transport.start_client(timeout=hop.seconds)
        key = transport.get_remote_server_key()
        refused = known.refusal(asyncssh.import_public_key(f"{key.get_name()} {key.get_base64()}"))
        if refused:
            raise refused
        _authenticate(transport, hop.access, secret)
    except paramiko.ssh_exception.IncompatiblePeer as error:
        said = printable(str(error), 160)
        raise TransportError(f"{hop.where}: no algorithm in common: {said}{old_device(hop.access)}") from None
    except paramiko.SSHException as error:
        said = "(not shown)" if secret and secret in str(error) else printable(str(error), 160)
        raise TransportError(f"{hop.where}: {_PLAINLY.get(said, said)}") from None
    except EOFError:
        raise ConnectError(f"{hop.where}: connection closed during the login") from None
    except OSError as error:
        raise ConnectError(f"{hop.where}: {system_words(error)}") from None
    return transport


def _reach(hop: Hop, via: Any) -> Any:
    """A socket to the hop, or a channel of the jump host in place of one."""
    if via is None:
        return socket.create_connection((hop.address, hop.access.port), timeout=hop.seconds)
    return via.open_channel("direct-tcpip", (hop.address, hop.access.port), ("127.0.0.1", 0), timeout=hop.seconds)


def _offer(transport: Any, host_key_algorithms: tuple[str, ...]) -> None:
    """Sets what is offered, as far as paramiko has it. It has no SHA-1 key exchange since its release 5."""
    options = transport.get_security_options()
    options.ciphers = _known(MODERN.ciphers, transport._cipher_info)
    options.kex = _known(MODERN.key_exchanges, transport._kex_info)
    options.digests = _known(MODERN.macs, transport._mac_info)
    options.key_types = _known(host_key_algorithms, transport._key_info)


def _known(names: tuple[str, ...], available: Any) -> list[str]:
    return [name for name in names if name in available]


def _authenticate(transport: Any, access: SshAccess, secret: str | None) -> None:
    """Offers keys, then the password where the inventory has one. Raises `TransportError` where none is taken."""
    user = access.user or getpass.getuser()
    for key in _keys(access):
        if _taken(transport.auth_publickey, user, key):
            return
    if secret is not None and access.keyboard_interactive:
        if _taken(transport.auth_interactive, user, lambda title, summary, asked: [secret] * len(asked)):
            return
    elif secret is not None and _taken(transport.auth_password, user, secret, None, False):
        return
    host, port = transport.getpeername()[:2]
    raise TransportError(f"{host} port {port}: {refused_login(access)}")


def _taken(method: Any, *arguments: Any) -> bool:
    try:
        return not method(*arguments)
    except paramiko.AuthenticationException:
        return False


def _keys(access: SshAccess) -> Iterator[Any]:
    """The keys that a login offers, in paramiko's form: the agent's before the user's own, of which those of a type
    that paramiko does not have are skipped. Raises `TransportError` where the inventory names such a key.
    """
    offered = identities(access)
    if offered["agent_path"]:
        named = offered.get("agent_identities")
        yield from (key for key in paramiko.Agent().get_keys() if not named or key.asbytes() in named)
    for read, _ in offered["client_keys"]:
        path = os.fsdecode(read.get_filename())
        try:
            key = paramiko.PKey.from_path(path)
        except (paramiko.SSHException, UnknownKeyType, UnsupportedAlgorithm, ValueError) as error:
            if access.key:
                raise TransportError(f"key {path}: {printable(str(error), 120)}") from None
        else:
            yield key


# ----------------------------------------------------------------------------------------------------------------------
# One command on one exec channel of a paramiko transport. Blocking: it runs in a thread.

_CHUNK_BYTES = 1 << 16


def run(transport: Any, command: str, limits: Limits, seconds: float) -> Answer:
    """A command's answer. Raises `NoExecError`, paramiko's and the socket's errors where the connection fails."""
    began = time.monotonic()
    channel = transport.open_session(timeout=seconds)
    try:
        channel.settimeout(seconds)
        try:
            channel.exec_command(command)
        except paramiko.SSHException:
            if transport.is_active():
                raise NoExecError(command) from None
            raise
        refused = False
        text, error = _read(channel, limits.answer_bytes, began + seconds)
        if not error:
            channel.status_event.wait(max(0.0, began + seconds - time.monotonic()))
            complaint = channel.recv_stderr(limits.complaint_bytes) if channel.recv_stderr_ready() else b""
            error = refusal(max(0, channel.exit_status), first_line(complaint))
            refused = bool(error)
        return Answer(command, text.decode(errors="replace"), error, time.monotonic() - began, refused)
    finally:
        channel.close()


def _read(channel: Any, most: int, deadline: float) -> tuple[bytes, str]:
    """Standard output until its end, or empty and the reason why it is incomplete."""
    parts: list[bytes] = []
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return b"", "no answer in time"
        channel.settimeout(left)
        try:
            part = channel.recv(_CHUNK_BYTES)
        except TimeoutError:
            return b"", "no answer in time"
        if not part:
            return b"".join(parts), ""
        size += len(part)
        if size > most:
            return b"", f"more than {most} bytes of output, not read"
        parts.append(part)


# ----------------------------------------------------------------------------------------------------------------------
# One switch: its connection, held between rounds, and how it takes commands. Blocking, but for `cut`.


class SwitchDevice:
    """A connection to one switch. `busy` is held during a query."""

    def __init__(self, hop: Hop, platform: str, limits: Limits) -> None:
        self.hop = hop
        self.busy = asyncio.Lock()
        self._platform = platform
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
            self._transport = log_in(self.hop, opened, reached)
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
