"""Runs `truerail-probe` on a host over SSH: the one thing beside declared, read-only commands that is ever run.

What is run is one of the two commands below and no other. The host gets its tasks as one line of standard input, which
stays open: its end, by Ctrl-C or because the connection is lost, stops the probes.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Self

import asyncssh

from truerail.errors import TransportError
from truerail.model import Target
from truerail.model.names import printable
from truerail.transport.folders import MAX_ANSWER_BYTES
from truerail.transport.hops import device_hop
from truerail.transport.ssh_connections import Connections
from truerail.transport.ssh_transports import HANDSHAKES

INSTALLED = "truerail-probe"
"""With the forced command of its account this word is ignored; it is what the account's log shows."""
PIPED = 'python3 -I -c "import sys; b = sys.stdin.buffer; exec(b.read(int(b.readline())))"'
"""Runs a script that standard input carries, behind a line with its size in bytes."""
_STOP_SECONDS = 5.0
"""How long a host may take to print what it has, once it was stopped."""
_MOST_COMPLAINT = 4096
_HANDING = 64
"""Hosts that are handed their tasks at one time: those of a large fabric together would be gigabytes."""


class ProbeSession(asyncssh.SSHClientSession[bytes]):
    """Collects the output of one run; hands each whole line of standard error on."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._line = b""
        self.output = bytearray()
        self.complaint = ""
        self.ended = asyncio.Event()
        self.taken = asyncio.Event()
        self.taken.set()

    def pause_writing(self) -> None:
        """More was written than the host takes."""
        self.taken.clear()

    def resume_writing(self) -> None:
        """The host has taken nearly all."""
        self.taken.set()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Output, or a line of progress."""
        if not datatype:
            self.output += data
            if len(self.output) > MAX_ANSWER_BYTES:
                self.ended.set()
            return
        *lines, self._line = (self._line + data)[-_MOST_COMPLAINT:].split(b"\n")
        for line in lines:
            self.complaint = printable(line.decode(errors="replace"), 300)
            self._say(self.complaint)

    def connection_lost(self, exc: Exception | None) -> None:
        """The command has ended, or the connection."""
        self.ended.set()


class ProbeSessions:
    """Connections to the hosts of one run."""

    def __init__(self) -> None:
        self._connections = Connections(HANDSHAKES)
        self._handing = asyncio.Semaphore(_HANDING)

    async def connect(self, target: Target) -> None:
        """Logs in. Raises `TransportError`."""
        await self._connections.to(device_hop(target))

    async def run(
        self,
        target: Target,
        given: Callable[[], bytes],
        *,
        script: bytes | None,
        seconds: float,
        stops: Sequence[asyncio.Event],
        say: Callable[[str], None],
    ) -> str:
        """Gives a host its tasks, one line that is made when the host is ready for it, and returns what it prints. With
        `script`, that is run; else the installed one. Each of `stops` ends the probes early. Raises `TransportError`
        with the host's own reason if it has one.
        """
        hop = device_hop(target)
        connection = await self._connections.to(hop)
        session = ProbeSession(say)
        command = INSTALLED if script is None else PIPED
        async with self._handing:
            try:
                async with asyncio.timeout(target.timeout_seconds):
                    channel, _ = await connection.create_session(
                        lambda: session, command, encoding=None, request_pty=False
                    )
            except (asyncssh.Error, OSError) as error:
                raise TransportError(f"{hop.where}: no session: {printable(str(error), 160)}") from None
            try:
                first = b"" if script is None else b"%d\n" % len(script) + script
                channel.write(first + given())
                await _first_of((session.taken, session.ended), target.timeout_seconds)
            except BaseException as error:
                channel.abort()
                if not isinstance(error, OSError):
                    raise
                raise TransportError(f"{hop.where}: {session.complaint or printable(str(error), 160)}") from None
        try:
            await _first_of((session.ended, *stops), seconds)
            if not session.ended.is_set():
                channel.write_eof()
                await _first_of((session.ended,), _STOP_SECONDS)
            status = channel.get_exit_status()
        finally:
            channel.abort()
        if status or not session.output.endswith(b"\n"):
            why = session.complaint or f"no answer within {seconds:.0f} s"
            raise TransportError(why if status in (None, 0, 3) else f"exit status {status}: {why}")
        return session.output.decode(errors="replace")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Ends all connections."""
        await self._connections.close()


async def _first_of(events: Sequence[asyncio.Event], seconds: float) -> None:
    """Waits for one of these events, or so many seconds."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
