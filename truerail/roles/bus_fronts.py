"""The judge's side of fronts on other machines: reports its view on the bus, gives what changed in it, and answers
their questions and commands while it leads.
"""

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error

from truerail import __version__
from truerail.errors import BusError, BusMessageError
from truerail.link.codec import pack, squeezed, unpack
from truerail.link.messages import Failed, Fetch, Notice, Part, Reply, Request, Rest, View
from truerail.link.nats_link import Bus
from truerail.model.tasks import Spawns, end
from truerail.roles.front_link import ALIVE_SECONDS
from truerail.roles.judge_link import JudgeLink
from truerail.service.leadership import Leadership
from truerail.service.logs import logger
from truerail.viewfile.copying import changes

PART_BYTES = 512 << 10
"""Of one message, if the server takes so much."""
_BESIDE_BYTES = 8192
"""Of a message, for what is not the body."""
_KEPT_SECONDS, _KEPT_BYTES, _KEPT_VIEWS = 60.0, 512 << 20, 4
_AT_ONCE = 32


class BusFronts(Spawns):
    """One for a judge, with a connection of its own."""

    def __init__(self, leadership: Leadership, link: JudgeLink, view: Path) -> None:
        super().__init__()
        self._leadership, self._link, self._view = leadership, link, view
        self._subjects, self._run = leadership.subjects, uuid4().hex
        self._bus = Bus(leadership.address, "truerail judge's fronts", self._subjects.inbox())
        self._views: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._reading = asyncio.Lock()
        self._answers: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._busy = asyncio.Semaphore(_AT_ONCE)

    async def run(self) -> None:
        """Serves fronts until it is cancelled."""
        try:
            await self._bus.opened()  # the judge's other connections report why it does not
            await self._bus.client.subscribe(self._subjects.ask(self._run), cb=self._take)
            self.spawn(self._report_events())
            while True:
                await self._report()
                await asyncio.sleep(ALIVE_SECONDS)
        finally:
            await end(self._tasks)
            await self._bus.close()

    # --- what the view is now -----------------------------------------------------------------------------------------

    async def _report_events(self) -> None:
        async for _ in self._link.events.follow(self._link.events.last):
            await self._report()

    async def _report(self) -> None:
        """Only while this judge leads. Fronts take it as the sign of life."""
        if not self._leadership.held:
            return
        link, alive = self._link, self._link.alive()
        notice = Notice(
            judge=self._leadership.judge, run=self._run, epoch=self._leadership.epoch, release=__version__,
            written=link.number, event=link.events.last, current=alive.written, figures=dict(alive.figures),
        )  # fmt: skip
        with suppress(BusError):
            await self._bus.send(self._subjects.view, pack(notice))

    # --- questions ----------------------------------------------------------------------------------------------------

    async def _take(self, message: Msg) -> None:
        self.spawn(self._reply(message))

    async def _reply(self, message: Msg) -> None:
        async with self._busy:
            try:
                part = await self._part(message.data)
            except BusMessageError as error:
                part = self._begun(Failed(str(error)))
            except Exception as error:  # noqa: BLE001 - whatever a front sends ends no judge: logged, and reported to it
                logger().error("a question of a front failed", exc_info=error)
                part = self._begun(Failed("the judge could not answer: its log has the reason"))
        with suppress(Error, OSError):
            await message.respond(pack(part))

    async def _part(self, data: bytes) -> Part:
        """Raises BusMessageError."""
        message: Request = unpack(Request, data)  # type: ignore[arg-type]  # a union
        if not self._leadership.held:
            return self._begun(Failed("this judge does not lead"))
        if isinstance(message, Rest):
            return self._rest(message)
        return self._begun(
            await self._changes_since(message) if isinstance(message, Fetch) else await self._link.answer(message)
        )

    async def _changes_since(self, message: Fetch) -> View:
        """The events come first: what has happened until then is in the view that is read after them."""
        events = self._link.missed(message.after)
        async with self._reading:
            body = self._views.get((message.since, self._link.number))
            if body is None:
                body = await self._read_since(message.since)
        return View(body, events)

    async def _read_since(self, since: int) -> bytes:
        number, body = await asyncio.to_thread(_changes, self._view, since)
        self._views[since, number] = body
        while len(self._views) > _KEPT_VIEWS:
            self._views.popitem(last=False)
        return body

    def _begun(self, reply: Reply) -> Part:
        """The first part of a reply; the rest waits until it is asked."""
        body, part = pack(reply), self._part_bytes
        if len(body) <= part:
            return Part(body, len(body))
        self._forget()
        name = uuid4().hex
        self._answers[name] = (time.monotonic(), body)
        return Part(body[:part], len(body), name)

    def _rest(self, message: Rest) -> Part:
        known = self._answers.get(message.reply)
        if known is None:
            return self._begun(Failed("this answer was not fetched in time"))
        body, end_ = known[1], message.offset + self._part_bytes
        if end_ >= len(body):
            del self._answers[message.reply]
        return Part(body[message.offset : end_], len(body), message.reply)

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
