"""The devices of a fleet as a server: an address of the loopback for each, which says whose answers are wanted.

    python -m benchmarks.fleet.server FOLDER [plain]

They speak SSH, or with `plain` what `benchmarks.fleet.plain` does.

It listens on all addresses, and so runs in a network namespace that has nothing but the loopback.
"""

import asyncio
import re
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import asyncssh

from benchmarks.fleet.answers import Answers
from benchmarks.fleet.plain import SIZES

PORT = 2222
STORE, HOST_KEY, USER_KEY, DEVICES = "answers.sqlite", "host_key", "key", "devices"
_COMMAND = re.compile(r"; \( (.*?) \) </dev/null; say \d+ \$\?", re.DOTALL)


class Fleet:
    """All devices: their answers, and the time that they began at."""

    def __init__(self, folder: Path) -> None:
        self._answers = Answers(folder / STORE)
        self._began = (folder / STORE).stat().st_mtime
        words = (folder / DEVICES).read_text().split()
        self.of_address = dict(zip(words[::2], words[1::2], strict=True))

    def framed(self, device: str, commands: Sequence[str], nonce: bytes) -> tuple[bytes, bytes, int]:
        """What the device prints now for these commands, with a frame behind each if there is a nonce, on standard
        output and standard error; and the exit status of the last command.
        """
        out, errors, status, seconds = bytearray(), bytearray(), 0, time.time() - self._began
        for number, command in enumerate(["", *commands]):
            answer = self._answers.answer(device, command, seconds) if number else b""
            status = 127 if answer is None else 0
            out += answer or b""
            errors += b"sh: not found\n" if status else b""
            if nonce:
                frame = b"%b %d %d\n" % (nonce, number, status)
                out += frame
                errors += frame
        return bytes(out), bytes(errors), status


@lru_cache(maxsize=256)
def asked(script: str) -> tuple[str, ...]:
    """The commands in a framed script."""
    return tuple(_COMMAND.findall(shlex.split(script)[-1]))


class Session(asyncssh.SSHServerSession[bytes]):
    """One exec channel: the framed script, once it has its nonce, or a single command."""

    def __init__(self, fleet: Fleet, device: str) -> None:
        self._fleet, self._device = fleet, device

    def connection_made(self, chan: "asyncssh.SSHServerChannel[bytes]") -> None:
        """The channel is open."""
        self._channel = chan

    def exec_requested(self, command: str) -> bool:
        """Any command is taken."""
        self._command = command
        return True

    def session_started(self) -> None:
        """A single command is answered at once."""
        if not self._command.startswith("exec sh -c "):
            self._write([self._command], b"")

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """The nonce came: all answers, each with its frames."""
        self._write(asked(self._command), data.strip())

    def eof_received(self) -> bool:
        """The channel stays open until it is answered."""
        return True

    def _write(self, commands: Sequence[str], nonce: bytes) -> None:
        out, errors, status = self._fleet.framed(self._device, commands, nonce)
        self._channel.write(out)
        self._channel.write_stderr(errors)
        self._channel.exit(0 if nonce else status)


class Device(asyncssh.SSHServer):
    """The device at the address that was connected to."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Someone connects."""
        self._device = self._fleet.of_address[conn.get_extra_info("sockname")[0]]

    def session_requested(self) -> Session:
        """A new channel."""
        return Session(self._fleet, self._device)


async def speak(fleet: Fleet, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers one poller without SSH until it ends."""
    device = fleet.of_address[writer.get_extra_info("sockname")[0]]
    with suppress(OSError, EOFError):
        while True:
            script, opening = SIZES.unpack(await reader.readexactly(SIZES.size))
            commands = asked((await reader.readexactly(script)).decode())
            out, errors, _ = fleet.framed(device, commands, (await reader.readexactly(opening)).strip())
            writer.write(SIZES.pack(len(out), len(errors)) + out + errors)
            await writer.drain()
    writer.close()


async def serve(folder: Path, how: str = "ssh") -> None:
    """Serves until it is killed."""
    fleet = Fleet(folder)
    every = "0.0.0.0"  # noqa: S104 - the namespace has no other interface than the loopback
    if how == "plain":
        await asyncio.start_server(partial(speak, fleet), every, PORT, backlog=4096, reuse_port=True)
    else:
        await asyncssh.create_server(
            lambda: Device(fleet),
            every,
            PORT,
            server_host_keys=[str(folder / HOST_KEY)],
            authorized_client_keys=str(folder / f"{USER_KEY}.pub"),
            encoding=None,
            backlog=4096,
            login_timeout=0,
            reuse_port=True,
        )
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncssh.set_log_level("CRITICAL")
    asyncio.run(serve(Path(sys.argv[1]), *sys.argv[2:]))
