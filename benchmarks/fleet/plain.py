"""The service with devices that are asked without SSH: the framed script and its answers over plain TCP, a connection
for each device, so that a machine which is the fleet as well has its processor for the service.

    python -m benchmarks.fleet.plain serve ...   as truerail serve ...
"""

import asyncio
import struct
import sys
from collections.abc import Sequence
from functools import partial

from truerail.errors import ConnectError
from truerail.model import Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import Frames
from truerail.transport.hops import Hop, device_hop
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Ended, ask_in_sessions, outcome
from truerail.transport.ssh_connections import reach
from truerail.transport.turns import Turns

SIZES = struct.Struct(">II")
"""Before a script and its nonce: the sizes of both. Before an answer: those of standard output and standard error."""
_AT_ONCE = 256
_PROGRAM = (sys.executable, "-m", "benchmarks.fleet.plain", "child")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Plain:
    """The transport to devices of `benchmarks.fleet.server` that speak without SSH."""

    def __init__(self) -> None:
        self._open: dict[str, Streams] = {}
        self._turns = Turns(_AT_ONCE)

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises `TransportError`."""
        refuse_undeclared(target, commands)
        session = partial(self._session, device_hop(target), seconds=target.answer_seconds)
        return await ask_in_sessions(commands, session)

    async def close(self) -> None:
        """Ends all connections."""
        for _, writer in self._open.values():
            writer.close()
        self._open.clear()

    async def _session(self, hop: Hop, commands: Sequence[str], seconds: float) -> list[Answer]:
        if hop.address not in self._open:
            async with self._turns.turn():
                self._open[hop.address] = await asyncio.open_connection(sock=await reach(hop), limit=1 << 20)
        reader, writer = self._open[hop.address]
        frames = Frames(commands, clock=asyncio.get_running_loop().time)
        script = frames.script.encode()
        writer.write(SIZES.pack(len(script), len(frames.opening)) + script + frames.opening)
        try:
            async with asyncio.timeout(seconds * len(commands)):
                out, errors = SIZES.unpack(await reader.readexactly(SIZES.size))
                frames.out(await reader.readexactly(out))
                frames.err(await reader.readexactly(errors))
        except asyncio.CancelledError:  # its answer would be read as the next one's
            self._drop(hop)
            raise
        except (OSError, EOFError, TimeoutError) as error:
            self._drop(hop)
            raise ConnectError(f"{hop.where}: {error or type(error).__name__}") from None
        return outcome(frames, Ended.BY_ITSELF, seconds)

    def _drop(self, hop: Hop) -> None:
        _, writer = self._open.pop(hop.address)
        writer.close()


def main() -> None:
    """A poller of such a service, or the service."""
    from truerail.poller import child
    from truerail.poller.processes import PollerProcesses

    if sys.argv[1] == "child":
        del sys.argv[1]
        child.main(Plain())
        return
    from truerail.cli.run import main as truerail

    PollerProcesses.__init__.__defaults__ = (_PROGRAM,)
    truerail()


if __name__ == "__main__":
    main()
