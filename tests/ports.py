"""Ports of the loopback for servers that cannot say which one they took: no two tests of a machine get the same one."""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST, _LAST = 15000, 65535
_FOLDER = Path(tempfile.gettempdir()) / f"truerail-test-ports-{os.geteuid()}"
_HELD: list[int] = []
"""Locks, one for each port that was given out, kept until the module that wanted it ends."""


def free_port() -> int:
    """A port that no one listens on, by TCP or UDP, and that no other test is given until this module ends.

    It is none of those that the system gives to a program that asks for port 0 or connects to somebody.
    """
    low, high = map(int, _EPHEMERAL.read_text().split())
    _FOLDER.mkdir(mode=0o700, exist_ok=True)
    ports = [port for port in range(_FIRST, _LAST) if not low <= port <= high]
    random.SystemRandom().shuffle(ports)
    return next(port for port in ports if _lock(port) and _unused(port))


def free_address() -> str:
    """`127.0.0.1:PORT` with such a port."""
    return f"127.0.0.1:{free_port()}"


def give_back() -> None:
    """Other tests may be given these ports."""
    while _HELD:
        os.close(_HELD.pop())


@contextmanager
def refusing_port() -> Iterator[int]:
    """A TCP port that is taken and refuses every connection."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


def _lock(port: int) -> bool:
    """Whether the port is ours alone now; the lock ends with its descriptor."""
    descriptor = os.open(_FOLDER / str(port), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    _HELD.append(descriptor)
    return True


def _unused(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
