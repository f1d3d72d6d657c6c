"""This machine's own commands: the script and the frames of an SSH session, in a process group that ends in time."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from truerail.errors import TransportError
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Frames, Limits
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Output, Sink, ask_in_sessions, outcome

_REAPING_SECONDS = 1.0


class _Output(Output, asyncio.SubprocessProtocol):
    """The output of one script, and its end."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output came."""
        self.take(data, is_error=fd != 1)

    def process_exited(self) -> None:
        """The script has ended and is reaped."""
        self.exited.set()


class Local:
    """The transport for the machine that truerail runs on."""

    def __init__(self, *, limits: Limits = LIMITS) -> None:
        self._limits = limits

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, each within `target.answer_seconds`. Raises `TransportError`."""
        refuse_undeclared(target, commands)
        return await ask_in_sessions(commands, lambda left: self._session(left, target.answer_seconds))

    async def close(self) -> None:
        """No state is held between rounds."""

    async def _session(self, commands: Sequence[str], seconds: float) -> list[Answer]:
        loop = asyncio.get_running_loop()
        frames = Frames(commands, self._limits, loop.time)
        try:
            transport, output = await loop.subprocess_exec(
                lambda: _Output(frames), "/bin/sh", "-c", frames.script, start_new_session=True
            )
        except OSError as error:
            raise TransportError(f"/bin/sh does not start: {error.strerror}") from None
        try:
            _tell(transport, frames.opening)
            how = await output.end(seconds)
        finally:
            await _end(transport, output)
        return outcome(frames, how, seconds)


def _tell(transport: asyncio.SubprocessTransport, opening: bytes) -> None:
    stdin: Any = transport.get_pipe_transport(0)  # uvloop's is no asyncio.WriteTransport
    stdin.write(opening)
    stdin.close()


async def _end(transport: asyncio.SubprocessTransport, output: _Output) -> None:
    """Ends the script and all that it started, and waits until it is gone, unless the system cannot end it."""
    if transport.get_returncode() is None:
        with suppress(ProcessLookupError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAPING_SECONDS):
                await output.exited.wait()
    transport.close()
