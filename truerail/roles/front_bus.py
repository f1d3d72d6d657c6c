"""Fronts on other machines than the judge: both ends of their link, which is the bus."""

import asyncio
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from truerail import __version__
from truerail.errors import BusError, BusMessageError, JudgeUnavailableError, TruerailError
from truerail.link.codec import expanded, pack, squeezed, unpack
from truerail.link.messages import Alive, Answer, Ask, Audit, Failed, Fetch, Notice, Part, Reply, Request, Rest, View
from truerail.link.nats_link import Bus, BusAddress
from truerail.link.subjects import Subjects
from truerail.model.tasks import Spawns, end
from truerail.roles.front_link import ALIVE_SECONDS, DEADLINE_SECONDS, FrontLink, Takes
from truerail.roles.judge_link import JudgeLink
from truerail.service.leadership import Leadership
from truerail.service.logs import logger
from truerail.viewfile.copying import ViewChanges, ViewCopy, changes

# ----------------------------------------------------------------------------------------------------------------------
# The link of a front to a judge on another machine, over the bus.
#
# It follows the judge that leads, brings a copy of its view into a file of this machine, and passes on questions and
# commands. The front reads that file as it reads a judge's own. What keeps it from the judge it reports in words.

SILENT_SECONDS = 3.5
"""A judge that has not reported for so long is away: it reports each second."""
FORGET_SECONDS = 30.0
"""After so long without the judge of the highest epoch, a lower one is believed: a bus that has lost its store counts
from the beginning. A former leader reports nothing: it knows after 6 s that it leads no more.
"""
_VIEW_SECONDS, _AGAIN_SECONDS = 30.0, 10.0
_OF_JUDGES = ("judge_leader", "judge_epoch")
"""Metrics that would count a judge twice."""


@dataclass(frozen=True, slots=True)
class JudgePlace:
    """The bus on which the judge of a front is, and its fabric. `ready` is called with the front's address, once it
    responds.
    """

    address: BusAddress
    subjects: Subjects
    ready: Callable[[str], None]


class BusFrontLink(FrontLink):
    """The copy of the view is at `view`."""

    def __init__(self, place: JudgePlace, view: Path, takes: Takes) -> None:
        super().__init__(takes)
        self._subjects, self._copy = place.subjects, ViewCopy(view)
        self._bus = Bus(place.address, "truerail front", place.subjects.front_inbox, self._changed)
        self._lost = asyncio.Event()
        self._notice: Notice | None = None
        self._heard_at = float("-inf")
        self._news = asyncio.Event()
        self._held: tuple[str, int] | None = None
        """Run and write of the judge that the copy has."""
        self._after: int | None = None
        self._trouble = self._logged = ""
        self._well_at = time.monotonic()

    # --- the judge that leads -----------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        alive = asyncio.create_task(self._report())
        try:
            while True:
                await self._bus.opened()
                await self._bus.client.subscribe(self._subjects.view, cb=self._take)
                fetching = asyncio.create_task(self._fetch_at_news())
                try:
                    await self._bus.ended.wait()
                finally:
                    await end([fetching])
        finally:
            await end([alive])
            await self._bus.close()
            self._copy.close()

    async def _report(self) -> None:
        while True:
            await self.take(self.alive())
            await asyncio.sleep(ALIVE_SECONDS)

    def _changed(self, connected: bool) -> None:
        """What was asked over a connection that has ended has no answer."""
        if not connected:
            self._lost.set()
            self._lost = asyncio.Event()

    async def _take(self, message: Msg) -> None:
        try:
            notice = unpack(Notice, message.data)
        except BusMessageError as error:
            self._trouble = str(error)
            return
        known, now = self._notice, time.monotonic()
        if known and notice.epoch < known.epoch and now - self._heard_at < FORGET_SECONDS:
            return  # a former leader
        if known is None or notice.run != known.run:
            logger().info("this judge leads", judge=notice.judge, epoch=notice.epoch)
        self._notice, self._heard_at = notice, now
        self._news.set()

    async def _fetch_at_news(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            notice = self._notice
            assert notice is not None  # noqa: S101 - it is the news
            if notice.release != __version__:
                self._trouble = (
                    f"the judge {notice.judge} has truerail {notice.release}, this front {__version__}, and their "
                    "views differ: upgrade judges first, then fronts"
                )
                continue
            if not notice.current:  # its view is that of a former judge, perhaps older than what this front shows
                continue
            if self._held == (notice.run, notice.written) and self._after == notice.event:
                self._trouble = ""
                continue
            try:
                await self._fetch(notice)
            except (TruerailError, sqlite3.Error) as error:
                self._trouble = f"the view of the judge {notice.judge} was not fetched: {error}"
                self._held = None
                await asyncio.sleep(_AGAIN_SECONDS if not isinstance(error, JudgeUnavailableError) else ALIVE_SECONDS)
            else:
                self._trouble = ""

    async def _fetch(self, notice: Notice) -> None:
        """Brings the copy to the judge's view, then gives its events. Raises TruerailError, sqlite3.Error."""
        known = self._held if self._held and self._held[0] == notice.run else None
        fetch = Fetch(known[1] if known else 0, self._after if known else None)
        found = await self._asked(notice.run, fetch, _VIEW_SECONDS)
        if not isinstance(found, View):
            raise JudgeUnavailableError(found.error if isinstance(found, Failed) else "no view")
        if found.changes:
            self._held = (notice.run, await asyncio.to_thread(self._apply, found.changes))
        for event in found.events:
            await self.take(event)
        self._after = max(notice.event, found.events[-1].id if found.events else 0)

    def _apply(self, body: bytes) -> int:
        changes = expanded(ViewChanges, body)
        self._copy.apply(changes)
        return changes.written

    @property
    def copied(self) -> bool:
        """Whether this machine has a view."""
        return self._copy.has_content

    # --- for the front ------------------------------------------------------------------------------------------------

    def alive(self) -> Alive:
        """The sign of life of each second. `written`: the copy has the newest view of the judge that leads."""
        problem, now = self._problem(), time.monotonic()
        self._well_at = self._well_at if problem else now
        if problem != self._logged and (not problem or now - self._well_at > SILENT_SECONDS):
            self._logged = problem
            if problem:
                logger().error("this front does not show the newest evaluation", why=problem)
        known = self._notice.figures if self._notice else {}
        return Alive(not problem, {name: value for name, value in known.items() if name not in _OF_JUDGES}, problem)

    def _problem(self) -> str:
        """What keeps this front from the judge; empty: nothing."""
        notice = self._notice
        if not self._bus.connected:
            return f"bus {self._bus.address.url}: {self._bus.problem or 'it does not answer'}"
        if notice is None or time.monotonic() - self._heard_at > SILENT_SECONDS:
            return self._trouble if notice is None and self._trouble else "no judge that leads reports on the bus"
        if self._trouble:
            return self._trouble
        newest = self._held is not None and self._held[0] == notice.run and notice.current
        if self.copied and not newest:
            return f"the judge {notice.judge} leads, and has not given a view of its own yet"
        return ""

    async def ask(self, message: Ask | Audit) -> Answer:
        """The answer of the judge that leads. Raises JudgeUnavailableError."""
        if self._notice is None:
            raise JudgeUnavailableError(self._problem())
        try:
            found = await self._asked(self._notice.run, message, DEADLINE_SECONDS)
        except BusMessageError as error:
            raise JudgeUnavailableError(str(error)) from None
        if not isinstance(found, Answer):
            raise JudgeUnavailableError(found.error if isinstance(found, Failed) else "no answer")
        return found

    async def _asked(self, run: str, message: Request, seconds: float) -> Reply:
        """The whole reply. Raises JudgeUnavailableError, BusMessageError."""
        part = await self._part(run, message, seconds)
        parts, size = [part.body], len(part.body)
        while size < part.size:
            rest = await self._part(run, Rest(part.reply, size), seconds)
            if not rest.body:
                raise JudgeUnavailableError("the judge's answer ends early")
            parts.append(rest.body)
            size += len(rest.body)
        reply: Reply = unpack(Reply, b"".join(parts))  # type: ignore[arg-type]  # a union
        return reply

    async def _part(self, run: str, message: Request, seconds: float) -> Part:
        bus = self._bus
        if not bus.connected:
            raise JudgeUnavailableError(self._problem())
        try:
            return unpack(Part, await self._requested(self._subjects.ask(run), pack(message), seconds))
        except NoRespondersError:
            raise JudgeUnavailableError("the judge that led is away, and no other one leads yet; ask again") from None
        except (TimeoutError, Error, OSError) as error:
            why = bus.problem or str(error) or f"no answer within {seconds:g} s"
            raise JudgeUnavailableError(f"the judge was not reached by the bus {bus.address.url}: {why}") from None

    async def _requested(self, subject: str, question: bytes, seconds: float) -> bytes:
        """The reply. Raises ConnectionResetError if the connection ends before it."""
        asking = asyncio.create_task(self._bus.client.request(subject, question, timeout=seconds))
        lost = asyncio.create_task(self._lost.wait())
        try:
            await asyncio.wait((asking, lost), return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise ConnectionResetError("the connection has ended")
            return bytes((await asking).data)
        finally:
            await end([asking, lost])


# ----------------------------------------------------------------------------------------------------------------------
# The judge's side of fronts on other machines: reports its view on the bus, gives what changed in it, and answers their
# questions and commands while it leads.

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
