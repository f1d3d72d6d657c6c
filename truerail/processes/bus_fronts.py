"""The judge's side of fronts on other machines: reports its view on the bus, gives what changed in it, and answers
their questions and commands while it leads.
"""

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error

from truerail import __version__
from truerail.bus.codec import pack
from truerail.bus.front_messages import ASK, AUDIT, REST, VIEW, Answer, Event, Notice, Question, View, squeezed, unpack
from truerail.bus.nats_link import Bus
from truerail.errors import BusError, BusMessageError
from truerail.model.tasks import end
from truerail.processes.judge_link import JudgeLink
from truerail.processes.messages import ALIVE_SECONDS, Message
from truerail.service.leadership import Leadership
from truerail.service.logs import logger
from truerail.viewfile.admission import view_format
from truerail.viewfile.copying import changes

PART_BYTES = 512 << 10
"""Of one message, if the server takes so much."""
_BESIDE_BYTES = 8192
"""Of a message, for what is not the body."""
_KEPT_SECONDS, _KEPT_BYTES, _KEPT_VIEWS = 60.0, 512 << 20, 4
_AT_ONCE = 32


class BusFronts:
    """One for a judge, with a connection of its own."""

    def __init__(self, leadership: Leadership, link: JudgeLink, view: Path) -> None:
        self._leadership, self._link, self._view = leadership, link, view
        self._subjects, self._run = leadership.subjects, uuid4().hex
        self._bus = self._connection()
        self._views: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._reading = asyncio.Lock()
        self._answers: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._busy = asyncio.Semaphore(_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serves fronts until it is cancelled."""
        try:
            await self._connect()
            await self._bus.client.subscribe(self._subjects.ask(self._run), cb=self._take)
            reporting = asyncio.create_task(self._report_events())
            self._tasks.add(reporting)
            while True:
                await self._report()
                await asyncio.sleep(ALIVE_SECONDS)
        finally:
            await end(self._tasks)
            await self._bus.close()

    def _connection(self) -> Bus:
        """One that was not opened; it is opened once."""
        return Bus(self._leadership.address, "truerail judge's fronts", self._subjects.inbox(), lambda _: None)

    async def _connect(self) -> None:
        while True:
            with suppress(BusError):  # the judge's other connections report it
                await self._bus.open()
                return
            await asyncio.sleep(ALIVE_SECONDS)
            self._bus = self._connection()

    # --- what the view is now -----------------------------------------------------------------------------------------

    async def _report_events(self) -> None:
        async for _ in self._link.events.follow(self._link.events.last):
            await self._report()

    async def _report(self) -> None:
        """Only while this judge leads. Fronts take it as the sign of life."""
        if not self._leadership.held:
            return
        link = self._link
        notice = Notice(
            judge=self._leadership.judge, run=self._run, epoch=self._leadership.epoch, release=__version__,
            format=view_format(), written=link.number, event=link.events.last, current=link.written,
            figures={name: float(value) for name, value in link.alive().fields["figures"].items()},
        )  # fmt: skip
        with suppress(BusError):
            await self._bus.send(self._subjects.view, pack(notice))

    # --- questions ----------------------------------------------------------------------------------------------------

    async def _take(self, message: Msg) -> None:
        task = asyncio.create_task(self._reply(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reply(self, message: Msg) -> None:
        async with self._busy:
            try:
                found = await self._answer(message.data)
            except BusMessageError as error:
                found = Answer(failed=str(error))
            except Exception as error:  # noqa: BLE001 - whatever a front sends ends no judge: logged, and reported to it
                logger().error("a question of a front failed", exc_info=error)
                found = Answer(failed="the judge could not answer: its log has the reason")
        with suppress(Error, OSError):
            await message.respond(pack(found))

    async def _answer(self, data: bytes) -> Answer:
        """Raises BusMessageError."""
        question = unpack(Question, data)
        if not self._leadership.held:
            return Answer(refused="this judge does not lead")
        if question.kind == VIEW:
            return self._begun({}, await self._view_since(question.fields))
        if question.kind == REST:
            return self._rest(question.fields)
        if question.kind not in (ASK, AUDIT):
            return Answer(failed=f"this judge knows no question of the kind {question.kind[:20]!r}")
        answer = await self._link.answer(Message(question.kind, question.fields, question.body))
        if answer.kind == "failed":
            return Answer(failed=answer.fields["error"])
        return self._begun(dict(answer.fields), answer.body)

    async def _view_since(self, fields: dict[str, Any]) -> bytes:
        """The events come first: what has happened until then is in the view that is read after them."""
        events, after, since = self._link.events, fields["after"], int(fields["since"])
        known = after if isinstance(after, int) and events.after(after) is not None else events.oldest - 1
        found = [Event(one.id, one.kind, one.data) for one in events.after(known) or ()]
        async with self._reading:
            body = self._views.get((since, self._link.number))
            if body is None:
                body = await self._read_since(since)
        return pack(View(body, found))

    async def _read_since(self, since: int) -> bytes:
        number, body = await asyncio.to_thread(_changes, self._view, since)
        self._views[since, number] = body
        while len(self._views) > _KEPT_VIEWS:
            self._views.popitem(last=False)
        return body

    def _begun(self, fields: dict[str, Any], body: bytes) -> Answer:
        """The first part of an answer; the rest waits until it is asked."""
        part = self._part_bytes
        if len(body) <= part:
            return Answer(fields=fields, body=body, size=len(body))
        self._forget()
        name = uuid4().hex
        self._answers[name] = (time.monotonic(), body)
        return Answer(fields=fields, body=body[:part], size=len(body), answer=name)

    def _rest(self, fields: dict[str, Any]) -> Answer:
        known = self._answers.get(fields["answer"])
        if known is None:
            return Answer(failed="this answer was not fetched in time")
        body, offset = known[1], int(fields["offset"])
        part = body[offset : offset + self._part_bytes]
        if offset + len(part) >= len(body):
            del self._answers[fields["answer"]]
        return Answer(body=part, size=len(body), answer=fields["answer"])

    def _forget(self) -> None:
        """Drops answers that no front has fetched."""
        now, held = time.monotonic(), sum(len(body) for _, body in self._answers.values())
        while self._answers:
            since, body = next(iter(self._answers.values()))
            if now - since < _KEPT_SECONDS and held < _KEPT_BYTES:
                return
            held -= len(body)
            self._answers.popitem(last=False)

    @property
    def _part_bytes(self) -> int:
        return max(min(PART_BYTES, self._bus.client.max_payload - _BESIDE_BYTES), 1024)


def _changes(view: Path, since: int) -> tuple[int, bytes]:
    """The number of the last write, and what changed after `since`, compressed; nothing for a view without content."""
    found = changes(view, since)
    return (found.written, squeezed(found)) if found else (0, b"")
