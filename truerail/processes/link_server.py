"""The listening side of the link: gives events to the fronts of this machine, and answers their questions."""

import asyncio
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from truerail.errors import JudgeUnavailableError
from truerail.processes.messages import ALIVE_SECONDS, Message, received
from truerail.service.events import Event, EventLog

_KEEPING: Mapping[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
"""The next judge listens at the same socket: from Python 3.13 on, a server that ends would remove its path.
Source: https://docs.python.org/3/library/asyncio-eventloop.html#asyncio.loop.create_unix_server
"""
_LONGEST_QUEUE = 64 << 20
"""Bytes that wait for a front: one that reads nothing is dropped, and connects again."""


class LinkServer(ABC):
    """One for a process; `events` are what fronts receive, in order and after what happened."""

    def __init__(self, events: EventLog) -> None:
        self.events = events
        self._fronts: set[asyncio.Task[None]] = set()
        self._connected: Callable[[], None] | None = None

    @abstractmethod
    def alive(self) -> Message:
        """The sign of life of each second."""

    @abstractmethod
    async def answer(self, message: Message) -> Message:
        """The answer to a question, without its id."""

    @abstractmethod
    async def follow(self) -> None:
        """Brings events until it is cancelled."""

    async def run(self, listening: socket.socket, connected: Callable[[], None]) -> None:
        """Serves fronts until it is cancelled. `connected` is called for the first one."""
        self._connected = connected
        server = await asyncio.start_unix_server(self._accept, sock=listening, **_KEEPING)
        try:
            await self.follow()
        finally:
            server.close()
            for task in self._fronts:
                task.cancel()
            await asyncio.gather(*self._fronts, return_exceptions=True)

    # --- one front ----------------------------------------------------------------------------------------------------

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begins a task for a front. The one that asyncio makes of a coroutine reports its cancellation as an error."""
        task = asyncio.create_task(self._front(reader, writer))
        self._fronts.add(task)
        task.add_done_callback(self._fronts.discard)

    async def _front(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering: set[asyncio.Task[None]] = set()
        telling: list[asyncio.Task[None]] = []
        try:
            hello = await received(reader)
            known = self._resumed(writer, hello.fields.get("after"))
            telling += [asyncio.create_task(self._alive(writer)), asyncio.create_task(self._events(writer, known))]
            if self._connected is not None:
                connected, self._connected = self._connected, None
                connected()
            while True:
                message = await received(reader)
                answer = asyncio.create_task(self._answer(writer, message))
                answering.add(answer)
                answer.add_done_callback(answering.discard)
        except JudgeUnavailableError:
            pass
        finally:
            for one in (*telling, *answering):
                one.cancel()
            await asyncio.gather(*telling, *answering, return_exceptions=True)
            writer.close()

    async def _alive(self, writer: asyncio.StreamWriter) -> None:
        while True:
            self._send(writer, self.alive())
            await asyncio.sleep(ALIVE_SECONDS)

    def _resumed(self, writer: asyncio.StreamWriter, after: Any) -> int:
        """Sends the events after a number, or all that are kept, before anything else; returns the last one's."""
        log = self.events
        known = after if isinstance(after, int) and log.after(after) is not None else log.oldest - 1
        for event in log.after(known) or ():
            self._send_event(writer, event)
        return log.last

    async def _events(self, writer: asyncio.StreamWriter, known: int) -> None:
        async for event in self.events.follow(known):
            log = self.events
            found = [event] if event is not None else log.after(log.oldest - 1) or ()
            for one in found:  # after a gap all that are kept
                self._send_event(writer, one)
            with suppress(ConnectionError):
                await writer.drain()

    def _send_event(self, writer: asyncio.StreamWriter, event: Event) -> None:
        self._send(writer, Message("event", {"number": event.id, "event": event.kind}, event.data))

    def _send(self, writer: asyncio.StreamWriter, message: Message) -> None:
        if writer.transport.get_write_buffer_size() > _LONGEST_QUEUE:
            writer.transport.abort()
        elif not writer.is_closing():
            writer.write(message.framed())

    async def _answer(self, writer: asyncio.StreamWriter, message: Message) -> None:
        found = await self.answer(message)
        self._send(writer, Message(found.kind, {**found.fields, "id": message.fields.get("id")}, found.body))
