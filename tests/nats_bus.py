"""A real nats-server on loopback, its store in a folder: it can be killed, started again, and lose its store."""

import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.patience import soon
from tests.ports import free_address
from tests.real import require
from truerail.link.nats_link import BusAddress
from truerail.link.streams import Timing

TIMING = Timing(beat_seconds=0.3, ttl_seconds=1.5, check_seconds=0.5, gather_seconds=20.0)


class Addressed(Protocol):
    """A bus, as one role reaches it."""

    @property
    def address(self) -> BusAddress:
        """With its login."""


class NatsServer:
    """One server. `url` stays the same over restarts."""

    def __init__(self, folder: Path, extra: str = "", listen: str = "") -> None:
        self._folder = folder
        host, port = free_address().split(":")
        self.url = f"nats://{host}:{port}"
        self._endpoint = host, int(port)
        self.configuration = folder / "nats.conf"
        self.configuration.write_text(
            f'host: {listen or host}\nport: {port}\njetstream {{store_dir: "{folder}/store"}}\n{extra}\n'
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> BusAddress:
        """Without a login."""
        return BusAddress(self.url)

    def start(self) -> None:
        """Starts it, and waits until it listens."""
        command = ["nats-server", "-c", str(self.configuration), "-l", str(self._folder / "log")]
        self._process = subprocess.Popen(command)
        soon(self._listens, "nats-server listens")

    def kill(self) -> None:
        """By signal 9."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hold(self, held: bool) -> None:
        """Stops it without ending it, or lets it go on."""
        if self._process:
            self._process.send_signal(signal.SIGSTOP if held else signal.SIGCONT)

    def empty(self) -> None:
        """Removes the store of a server that does not run."""
        shutil.rmtree(self._folder / "store", ignore_errors=True)

    def _listens(self) -> bool:
        try:
            socket.create_connection(self._endpoint, 1.0).close()
        except OSError:
            return False
        return True


@contextmanager
def nats_server(folder: Path, extra: str = "", listen: str = "") -> Iterator[NatsServer]:
    """A server that runs, with these lines more in its configuration; it listens at this address, if one is given."""
    require("nats-server")
    server = NatsServer(folder, extra, listen)
    server.start()
    try:
        yield server
    finally:
        server.kill()
