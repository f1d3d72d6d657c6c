"""A changing fabric for other processes of this machine: one process has it, the others ask its devices over a Unix
socket. One connection is one question; its end is the end of the question, or of the answer.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from truerail.errors import ConnectError, TransportError
from truerail.model import Target
from truerail.simulator.live.transport import SimulatedTransport
from truerail.transport.protocol import Answer


class FabricSocket:
    """The side that has the fabric. It knows which poller has asked which device, and when."""

    def __init__(self, transport: SimulatedTransport, targets: Sequence[Target]) -> None:
        self._transport = transport
        self._targets = {target.name: target for target in targets}
        self._asked_at: dict[str, dict[str, float]] = {}

    async def listen(self, path: Path) -> asyncio.Server:
        """A server that listens."""
        return await asyncio.start_unix_server(self._serve, path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(json.dumps(await self._answer(json.loads(await reader.read()))).encode())
            await writer.drain()
        except (ConnectionError, asyncio.CancelledError):  # who asked has ended, or this process ends
            pass
        finally:
            writer.close()

    async def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        if "since" in question:
            found = {
                poller: sum(at >= question["since"] for at in devices.values())
                for poller, devices in self._asked_at.items()
            }
            return {"asked": found}
        target = self._targets[question["device"]]
        self._asked_at.setdefault(question["poller"], {})[target.name] = time.monotonic()
        try:
            return {"answers": [asdict(one) for one in await self._transport.ask(target, question["commands"])]}
        except TransportError as error:
            return {"error": str(error), "connect": isinstance(error, ConnectError)}


class FabricSocketTransport:
    """The `Transport` of a poller that has the fabric behind a socket."""

    def __init__(self, path: Path, poller: str) -> None:
        self._path, self._poller = path, poller

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises TransportError as the fabric's own transport does."""
        question = {"device": target.name, "commands": list(commands), "poller": self._poller}
        try:
            found = await asked(self._path, question)
        except (OSError, ValueError) as error:
            raise ConnectError(f"{target.address}: the simulated fabric does not answer: {error}") from error
        if "error" in found:
            raise (ConnectError if found["connect"] else TransportError)(found["error"])
        return [Answer(**one) for one in found["answers"]]

    async def close(self) -> None:
        """Nothing is open."""


async def asked(path: Path, question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one question. Raises OSError, and ValueError for an answer that was cut."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        writer.write(json.dumps(question).encode())
        writer.write_eof()
        found: dict[str, Any] = json.loads(await reader.read())
        return found
    finally:
        writer.close()
