"""A real OpenSSH sshd on a free port of the loopback, with host keys and a client key of its own, ended by its pid."""

import getpass
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import left_over
from tests.lab.system import signal_all
from tests.patience import ENOUGH, soon
from tests.ports import free_port
from tests.real import give_up, require
from truerail.model import SshAccess, Target
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.protocol import Answer
from truerail.transport.ssh_transports import SshHosts, SwitchCli

_CONFIG = (Path(__file__).parent / "daemons" / "sshd_config").read_text()


def install(path: Path, script: str) -> None:
    """Writes a program at once: one that is just being started cannot be written to ("Text file busy")."""
    new = path.with_suffix(".new")
    new.write_text(script)
    new.chmod(0o755)
    new.replace(path)


class Sshd:
    """One server. Everything it needs and writes lies in `folder`, which is also the home of those who log in: what the
    shell of this machine's user reads first (pyenv's rehash takes turns, a minute at most) is no part of a device.
    """

    def __init__(self, folder: Path, key_type: str = "ed25519", port: int = 0, extra: str = "") -> None:
        self.folder = folder
        self.key_type = key_type
        self.port = port or free_port()
        self.extra = extra
        self.key = folder / "id_ed25519"
        self.known_hosts = folder / "known_hosts"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def public_host_key(self) -> str:
        """The host key as known_hosts holds it."""
        return " ".join(self.folder.joinpath(f"host_{self.key_type}.pub").read_text().split()[:2])

    @property
    def log(self) -> str:
        """What the server says of logins and sessions."""
        return self.folder.joinpath("log").read_text()

    def program(self, name: str, script: str) -> None:
        """Puts a program of this name first on the path of those who log in: a shell script that prints an answer."""
        path = self.folder / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        install(path, f"#!/bin/sh\n{script}\n")

    def start(self) -> None:
        """Makes what keys are missing, and starts the server; returns once it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, kind in (("id_ed25519", "ed25519"), (f"host_{self.key_type}", self.key_type)):
            if not self.folder.joinpath(name).exists():
                new_key(self.folder / name, kind)
        shutil.copy(self.folder / "id_ed25519.pub", self.folder / "authorized_keys")
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {self.public_host_key}\n")
        config = self.folder / "sshd_config"
        mark = f"{left_over.MARK}={os.environ.get(left_over.MARK, '')}".replace("\\", r"\\").replace('"', r"\"")
        config.write_text(_CONFIG.format(mark=mark, **vars(self)))
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        sshd = shutil.which("sshd") or "/usr/sbin/sshd"
        command = [sshd, "-D", "-f", str(config), "-E", str(self.folder / "log")]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        self._wait()

    def _wait(self) -> None:
        try:
            soon(self._listens)
        except AssertionError:
            self.stop()
            give_up(f"sshd does not start: {self.log}")

    def _listens(self) -> bool:
        with socket.socket() as client:
            return not client.connect_ex(("127.0.0.1", self.port))

    def stop(self) -> None:
        """Ends the server and all that it started."""
        if self._process is None:
            return
        signal_all([*self.sessions(), self._process.pid], signal.SIGKILL)
        self._process.wait()
        self._process = None
        left = left_over.with_environment(f"HOME={self.folder}\0")  # of sessions that ended before
        signal_all([*left], signal.SIGKILL)

    def sessions(self) -> list[int]:
        """The processes that serve connections: the server's children, and theirs."""
        if self._process is None:
            return []
        found: list[int] = []
        parents = [self._process.pid]
        while parents:
            children = _children(parents.pop())
            found += children
            parents += children
        return found

    def target(self, name: str = "gpu-001", *, timeout_seconds: float = ENOUGH, **access: object) -> Target:
        """How this server is reached, as an inventory would say it."""
        files = {"key": str(self.key), "known_hosts": str(self.known_hosts)}
        login = {"user": getpass.getuser(), "port": self.port, "agent": False, **files, **access}
        ssh = SshAccess(**login)  # type: ignore[arg-type]  # a test names fields of SshAccess
        return Target(name, "127.0.0.1", platform="linux", timeout_seconds=timeout_seconds, ssh=ssh)


def _children(parent: int) -> list[int]:
    """The processes whose parent this is (proc(5), stat, field 4)."""
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
            found += [int(process)] if int(fields[1]) == parent else []
    return found


def new_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> None:
    """Makes a key pair."""
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "truerail-test", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


@contextmanager
def sshd(folder: Path, **options: str) -> Iterator[Sshd]:
    """A running server, ended with the block. Skips the test where there is none to run."""
    if not Path("/usr/sbin/sshd").exists():
        require("sshd")
    require("ssh-keygen")
    server = Sshd(folder, **options)  # type: ignore[arg-type]  # a test names the parameters
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def odd_server(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that is no sshd: `behave` is given each connection. Yields its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            held.append(client)
            behave(client)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for client in held:
            client.close()


def silent(client: socket.socket) -> None:
    """Takes the connection and says nothing."""


def resetting(client: socket.socket) -> None:
    """Resets the connection."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def stuck_after_banner(client: socket.socket) -> None:
    """Says that it is an SSH server, and nothing more."""
    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def closing_after_banner(client: socket.socket) -> None:
    """Says that it is an SSH server, and hangs up."""
    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    client.shutdown(socket.SHUT_RDWR)


ODD = (silent, stuck_after_banner, resetting, closing_after_banner)


async def asking(
    transport: type[SshHosts | SwitchCli], target: Target, *asked: list[str], limits: Limits = LIMITS
) -> list[list[Answer]]:
    """Asks one target in one round after the other, over what connection is held."""
    devices = transport(limits=limits)
    try:
        return [await devices.ask(target, commands) for commands in asked]
    finally:
        await devices.close()


def texts(answers: list[Answer]) -> list[tuple[str, str]]:
    """What each answer says, and why it says nothing."""
    return [(answer.text, answer.error) for answer in answers]
