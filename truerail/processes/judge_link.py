"""The judge's side of the link: brings each event into the view, then to the fronts, and answers their questions."""

import asyncio
import socket
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp
from starlette.types import Message as AsgiMessage

from truerail.errors import JudgeUnavailableError, TruerailError
from truerail.outputs.metrics import Exposition
from truerail.processes.messages import ALIVE_SECONDS, Message, received
from truerail.service.api import ServiceAPI
from truerail.service.events import Event, EventLog
from truerail.service.logs import logger
from truerail.viewfile.divided import Publication
from truerail.viewfile.writer import ViewWriter
from truerail.web.access.caller import Caller

_LONGEST_QUEUE = 64 << 20
"""Bytes that wait for a front: one that reads nothing is dropped, and connects again."""


class JudgeLink:
    """One for the judge. `app` is the application without access control: fronts have checked who asks."""

    def __init__(
        self, service: ServiceAPI, app: Callable[[], ASGIApp], writer: ViewWriter, exposition: Exposition
    ) -> None:
        self._service, self._app, self._writer, self._exposition = service, app, writer, exposition
        self._sent = EventLog(first=service.events.last + 1)
        self._fronts: set[asyncio.Task[None]] = set()
        self._written = not writer.has_content
        """Whether the view has the newest evaluation; that of a former judge is stale until this one has evaluated."""
        self.figures: dict[str, float] = {}
        """Of the newest write of the view."""

    async def run(self, listening: socket.socket, connected: Callable[[], None]) -> None:
        """Serves fronts until it is cancelled. `connected` is called for the first one."""
        self._connected: Callable[[], None] | None = connected
        server = await asyncio.start_unix_server(self._accept, sock=listening)
        try:
            await self._publish()
        finally:
            server.close()
            for task in self._fronts:
                task.cancel()
            await asyncio.gather(*self._fronts, return_exceptions=True)

    async def _publish(self) -> None:
        """Writes the view at each event, and only then gives the event to the fronts."""
        if self._service.publication is not None:
            await self._write()
        async for event in self._service.events.follow(self._service.events.last):
            if event is None or event.kind == "stop":  # a front ends its streams itself
                continue
            await self._write()
            self._sent.take(event)

    async def _write(self) -> None:
        service, shown = self._service, self._service.publication
        if shown is None:
            return
        publication = Publication(shown, service.steps, service.step_marks, service.counters)
        try:
            began = asyncio.get_running_loop().time()
            written = await asyncio.to_thread(lambda: self._writer.write(publication, self._exposition.page_of(shown)))
        except sqlite3.Error as error:
            if self._written:
                logger().error("the view is not written; fronts show the last one", error=str(error))
            self._written = False
        else:
            self._written = True
            seconds = asyncio.get_running_loop().time() - began
            self.figures = {"view_write_seconds": seconds, "view_written_bytes": written.bytes}

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
            figures = {**self._service.counters, **self.figures}
            self._send(writer, Message("alive", {"written": self._written, "figures": figures}))
            await asyncio.sleep(ALIVE_SECONDS)

    def _resumed(self, writer: asyncio.StreamWriter, after: Any) -> int:
        """Sends the events after a number, or all that are kept, before anything else; returns the last one's."""
        log = self._sent
        known = after if isinstance(after, int) and log.after(after) is not None else log.oldest - 1
        for event in log.after(known) or ():
            self._send_event(writer, event)
        return log.last

    async def _events(self, writer: asyncio.StreamWriter, known: int) -> None:
        async for event in self._sent.follow(known):
            if event is not None:
                self._send_event(writer, event)
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
        number = message.fields.get("id")
        if message.kind == "audit":
            try:
                await self._service.audit(*(message.fields[name] for name in ("who", "action", "detail")))
            except TruerailError as error:
                self._send(writer, Message("failed", {"id": number, "error": str(error)}))
            else:
                self._send(writer, Message("answer", {"id": number, "status": 204, "headers": []}))
        elif message.kind == "ask":
            status, headers, body = await asked(self._app(), message.fields, message.body)
            self._send(writer, Message("answer", {"id": number, "status": status, "headers": headers}, body))


async def asked(app: ASGIApp, fields: Mapping[str, Any], body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body of an application's response to a request that a front has let in."""
    caller = fields["caller"]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": fields["method"],
        "scheme": "http",
        "path": fields["path"],
        "raw_path": fields["path"].encode(),
        "query_string": fields["query"].encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields["headers"]],
        "client": None,
        "server": ("127.0.0.1", 0),
        "root_path": "",
        "state": {"caller": Caller(**caller) if caller else None},
    }
    coming = [{"type": "http.request", "body": body, "more_body": False}]
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
        logger().error("a question failed", path=fields["path"], exc_info=error)
    return status, headers, b"".join(parts)
