"""The judge's side of the link: brings each event into the view, then to the fronts, and answers their questions."""

import asyncio
import socket
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp
from starlette.types import Message as AsgiMessage

from truerail.errors import BusMessageError, TruerailError
from truerail.link.codec import pack, unpack
from truerail.link.messages import Alive, Answer, Ask, Audit, Event, Failed, Hello
from truerail.link.socket_link import framed, read_frame
from truerail.model.tasks import Spawns, end
from truerail.outputs.metrics import Exposition
from truerail.roles.front_link import ALIVE_SECONDS
from truerail.service.api import ServiceAPI
from truerail.service.events import EventLog
from truerail.service.logs import logger
from truerail.viewfile.publishing import Publication, PublicationWriter
from truerail.web.access.caller import Caller

_KEEPING: Mapping[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
"""The next judge listens at the same socket: from Python 3.13 on, a server that ends would remove its path.
Source: https://docs.python.org/3/library/asyncio-eventloop.html#asyncio.loop.create_unix_server
"""
_LONGEST_QUEUE = 64 << 20
"""Bytes that wait for a front: one that reads nothing is dropped, and connects again."""


class JudgeLink(Spawns):
    """One for the judge. `app` is the application without access control: fronts have checked who asks."""

    def __init__(
        self, service: ServiceAPI, app: Callable[[], ASGIApp], writer: PublicationWriter, exposition: Exposition
    ) -> None:
        super().__init__()
        self.events = EventLog(first=service.events.last + 1)
        """What fronts receive, in order and after the view has it."""
        self._connected: Callable[[], None] | None = None
        self._service, self._app, self._writer, self._exposition = service, app, writer, exposition
        self.written = not writer.has_content
        """Whether the view has the newest evaluation; that of a former judge is stale until this one has evaluated."""
        self._problem = ""
        """Why the view was not written."""
        self.figures: dict[str, float] = {}
        """Of the newest write of the view."""
        self._making: asyncio.Task[ASGIApp] | None = None

    @property
    def number(self) -> int:
        """Of the last write of the view."""
        return self._writer.number

    async def run(self, listening: socket.socket, connected: Callable[[], None]) -> None:
        """Serves fronts until it is cancelled. `connected` is called for the first one."""
        self._connected = connected
        server = await asyncio.start_unix_server(self._accept, sock=listening, **_KEEPING)
        try:
            await self._follow()
        finally:
            server.close()
            await end(self._tasks)

    async def _follow(self) -> None:
        """Writes the view at each event, and only then gives the event to the fronts."""
        self._application()  # the first question does not wait for it
        if self._service.publication is not None:
            await self._write()
        async for event in self._service.events.follow(self._service.events.last):
            if event is None or event.kind == "stop":  # a front ends its streams itself
                continue
            await self._write()
            self.events.take(event)

    def _application(self) -> "asyncio.Future[ASGIApp]":
        """The application. It is made once, beside the loop: that takes a second of a processor."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(self._app))
        return asyncio.shield(self._making)

    async def _write(self) -> None:
        service, shown = self._service, self._service.publication
        if shown is None:
            return
        publication = Publication(shown, service.steps, service.step_marks, service.counters)
        try:
            began = asyncio.get_running_loop().time()
            written = await asyncio.to_thread(lambda: self._writer.write(publication, self._exposition.page_of(shown)))
        except sqlite3.Error as error:
            if not self._problem:
                path = str(self._writer.path)
                logger().error("the view is not written; fronts show the last one", error=str(error), path=path)
            self.written, self._problem = False, f"the view cannot be written: {error}"
        else:
            self.written, self._problem = True, ""
            seconds = asyncio.get_running_loop().time() - began
            self.figures = {"view_write_seconds": seconds, "view_written_bytes": written.bytes}

    def alive(self) -> Alive:
        """The sign of life of each second."""
        why = self._problem or self._service.away
        return Alive(self.written and not why, {**self._service.counters, **self.figures}, why)

    async def answer(self, message: Ask | Audit) -> Answer | Failed:
        """The answer to a question or a record of a front, of this machine or another one."""
        if isinstance(message, Ask):
            return await asked(await self._application(), message)
        try:
            await self._service.audit(message.who, message.action, message.detail)
        except TruerailError as error:
            return Failed(str(error))
        return Answer()

    def missed(self, after: int | None) -> list[Event]:
        """The events after a number, or all that are kept."""
        log = self.events
        known = None if after is None else log.after(after)
        return (log.after(log.oldest - 1) or []) if known is None else known

    # --- one front ----------------------------------------------------------------------------------------------------

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begins a task for a front. The one that asyncio makes of a coroutine reports its cancellation as an error."""
        self.spawn(self._front(reader, writer))

    async def _front(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beside = Spawns()
        try:
            data = await read_frame(reader)
            if data is None:
                return
            _, hello = unpack(tuple[int, Hello], data)
            for event in self.missed(hello.after):  # before anything else
                _send(writer, event)
            beside.spawn(self._report(writer))
            beside.spawn(self._give_events(writer, self.events.last))
            if self._connected is not None:
                connected, self._connected = self._connected, None
                connected()
            while (data := await read_frame(reader)) is not None:
                beside.spawn(self._reply(writer, *unpack(tuple[int, Ask | Audit], data)))
        except BusMessageError as error:
            logger().error("a front was not understood", error=str(error))
        finally:
            await end(beside._tasks)
            writer.close()

    async def _report(self, writer: asyncio.StreamWriter) -> None:
        while True:
            _send(writer, self.alive())
            await asyncio.sleep(ALIVE_SECONDS)

    async def _give_events(self, writer: asyncio.StreamWriter, known: int) -> None:
        async for event in self.events.follow(known):
            for one in [event] if event is not None else self.missed(None):  # after a gap all that are kept
                _send(writer, one)
            with suppress(ConnectionError):
                await writer.drain()

    async def _reply(self, writer: asyncio.StreamWriter, number: int, message: Ask | Audit) -> None:
        _send(writer, await self.answer(message), number)


def _send(writer: asyncio.StreamWriter, message: Answer | Failed | Event | Alive, number: int = 0) -> None:
    """Sends a message: the reply to the question with a number."""
    if writer.transport.get_write_buffer_size() > _LONGEST_QUEUE:
        writer.transport.abort()
    elif not writer.is_closing():
        writer.write(framed(pack((number, message))))


async def asked(app: ASGIApp, request: Ask) -> Answer:
    """An application's response to a request that a front has let in."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": request.query.encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in request.headers],
        "client": None,
        "server": ("127.0.0.1", 0),
        "root_path": "",
        "state": {"caller": Caller(**request.caller) if request.caller else None},  # type: ignore[arg-type]  # its role
    }
    coming = [{"type": "http.request", "body": request.body, "more_body": False}]
    status, headers, parts = 500, [], []

    async def receive() -> AsgiMessage:
        return coming.pop() if coming else {"type": "http.disconnect"}

    async def send(sent: AsgiMessage) -> None:
        nonlocal status, headers
        if sent["type"] == "http.response.start":
            status = sent["status"]
            headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in sent["headers"]]
        elif sent["type"] == "http.response.body":
            parts.append(sent.get("body", b""))

    try:
        await app(scope, receive, send)
    except Exception as error:  # noqa: BLE001 - a bug in one answer must not end the link: logged, and answered by a 500
        logger().error("a question failed", path=request.path, exc_info=error)
    return Answer(status, headers, b"".join(parts))
