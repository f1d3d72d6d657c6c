"""Messages over a socket between two processes of one service: four bytes of length, then the message."""

import asyncio
import struct
from collections.abc import Iterable

from truerail.errors import BusError
from truerail.link.poller_outbox import Outgoing

MOST_FRAME_BYTES = 256 << 20
"""The answer of a judge on the topology of 100,000 GPUs has a tenth of it."""
_LENGTH = struct.Struct(">I")


def framed(data: bytes) -> bytes:
    """A message as it is sent."""
    return _LENGTH.pack(len(data)) + data


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """The next message; None at the end of the stream, also in the middle of a message, and for one too long."""
    try:
        (size,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return await reader.readexactly(size) if size <= MOST_FRAME_BYTES else None
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


async def write_frame(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Sends a message. Waits while the other side does not read; raises BusError if there is none."""
    try:
        writer.write(framed(data))
        await writer.drain()
    except (ConnectionError, RuntimeError) as error:
        raise BusError(f"the other process is gone: {error}") from None


async def deliver(writer: asyncio.StreamWriter, messages: Iterable[Outgoing]) -> None:
    """Sends a poller's messages in order, each when there is room for it. Raises BusError."""
    for message in messages:
        await write_frame(writer, message.data)
