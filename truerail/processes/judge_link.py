"""The judge's side of the link: brings each event into the view, then to the fronts, and answers their questions."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from starlette.types import ASGIApp
from starlette.types import Message as AsgiMessage

from truerail.errors import TruerailError
from truerail.outputs.metrics import Exposition
from truerail.processes.link_server import LinkServer
from truerail.processes.messages import Message
from truerail.service.api import ServiceAPI
from truerail.service.events import EventLog
from truerail.service.logs import logger
from truerail.viewfile.divided import Publication
from truerail.viewfile.writer import ViewWriter
from truerail.web.access.caller import Caller


class JudgeLink(LinkServer):
    """One for the judge. `app` is the application without access control: fronts have checked who asks."""

    def __init__(
        self, service: ServiceAPI, app: Callable[[], ASGIApp], writer: ViewWriter, exposition: Exposition
    ) -> None:
        super().__init__(EventLog(first=service.events.last + 1))
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

    async def follow(self) -> None:
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

    def alive(self) -> Message:
        """The sign of life of each second."""
        figures = {**self._service.counters, **self.figures}
        return Message("alive", {"written": self.written, "problem": self._problem, "figures": figures})

    async def answer(self, message: Message) -> Message:
        """The answer to a question or a record of a front, of this machine or another one."""
        if message.kind == "audit":
            try:
                await self._service.audit(*(message.fields[name] for name in ("who", "action", "detail")))
            except TruerailError as error:
                return Message("failed", {"error": str(error)})
            return Message("answer", {"status": 204, "headers": []})
        status, headers, body = await asked(await self._application(), message.fields, message.body)
        return Message("answer", {"status": status, "headers": headers}, body)


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
