"""The front: page, API, metrics and events, from the view. It evaluates nothing and holds nothing of its own."""

import asyncio
import itertools
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import orjson

from truerail.analysis.published import Published
from truerail.errors import (
    AccessError,
    BusMessageError,
    CertificateError,
    CommandError,
    JournalUnavailableError,
    JudgeUnavailableError,
    ListenError,
    NotInViewError,
)
from truerail.history.past_counters import PastCounters
from truerail.link.codec import pack, unpack
from truerail.link.messages import Alive, Answer, Ask, Audit, Event, Failed, Hello
from truerail.link.socket_link import framed, read_frame
from truerail.model.history import History, NoHistory
from truerail.model.pause import garbage_of_the_young_only
from truerail.model.steady import STEADY
from truerail.model.step_marks import StepMark
from truerail.model.tasks import end
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.roles.front_link import AWAY_SECONDS, DEADLINE_SECONDS, SILENT_SECONDS, FrontLink, Takes
from truerail.roles.judge import SWITCH_SECONDS, journal_of
from truerail.roles.post import Post, signals
from truerail.service.events import EventLog
from truerail.service.freeing import free
from truerail.service.logs import logger
from truerail.service.settings import Settings
from truerail.viewfile.reader import Read, ViewReader
from truerail.views.pieces import StepLine
from truerail.web.application import create_app
from truerail.web.http_server import Listening, serve

if TYPE_CHECKING:
    from truerail.roles.front_bus import JudgePlace

# ----------------------------------------------------------------------------------------------------------------------
# The link of a front to the judge on its machine: keeps the connection, and passes questions on.

AGAIN_SECONDS = 0.2


class SocketFrontLink(FrontLink):
    """Over the socket at `path`."""

    def __init__(self, path: Path, takes: Takes, seconds: Callable[[], float] = STEADY.seconds) -> None:
        super().__init__(takes, seconds)
        self._path = path
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[Answer | Failed]] = {}
        self._numbers = itertools.count(1)
        self._last_event: int | None = None
        self._speaks = asyncio.Event()
        """Set from the first word of the judge on a connection until that one ends."""

    async def ask(self, message: Ask | Audit) -> Answer:
        """The judge's answer. Raises JudgeUnavailableError."""
        number = next(self._numbers)
        answer: asyncio.Future[Answer | Failed] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(AWAY_SECONDS):
                await self._speaks.wait()
            async with asyncio.timeout(DEADLINE_SECONDS if self.stale_since is None else SILENT_SECONDS):
                if self._writer is None or self._writer.is_closing():
                    raise TimeoutError
                self._waiting[number] = answer
                self._writer.write(framed(pack((number, message))))
                found = await answer
        except TimeoutError:
            raise JudgeUnavailableError(self._words()) from None
        finally:
            self._waiting.pop(number, None)
        if isinstance(found, Failed):
            raise JudgeUnavailableError(found.error)
        return found

    def _words(self) -> str:
        since = f" since {self.stale_since:%Y-%m-%d %H:%M:%S UTC}" if self.stale_since else ""
        return f"the process that evaluates rounds has not answered{since}: this question needs it; ask again later"

    async def _follow(self) -> None:
        """Connects, and connects again."""
        try:
            while True:
                with suppress(BusMessageError, OSError):
                    await self._talk()
                self._lost()
                await asyncio.sleep(AGAIN_SECONDS)
        finally:
            self._lost()

    async def _talk(self) -> None:
        """Until the connection ends. Raises OSError, and BusMessageError for what is no message."""
        reader, writer = await asyncio.open_unix_connection(str(self._path), limit=1 << 20)
        try:
            writer.write(framed(pack((0, Hello(self._last_event)))))
            self._writer = writer
            while (data := await read_frame(reader)) is not None:
                self._speaks.set()
                number, message = unpack(tuple[int, Answer | Failed | Event | Alive], data)
                if isinstance(message, Alive | Event):
                    self._last_event = message.id if isinstance(message, Event) else self._last_event
                    await self.take(message)
                elif (waiting := self._waiting.get(number)) is not None and not waiting.done():
                    waiting.set_result(message)
        finally:
            writer.close()

    def _lost(self) -> None:
        """The connection has ended: what was asked over it has no answer."""
        self._writer = None
        self._speaks.clear()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(JudgeUnavailableError(self._words()))


# ----------------------------------------------------------------------------------------------------------------------
# The journal of a front that cannot reach it: the judge reads it.


class JudgeHistory:
    """Stands in place of a `History`. Each of its queries raises NotInViewError, so that the judge answers the whole
    question; while the judge is away JournalUnavailableError, so that what needs no journal is answered without it.
    """

    def __init__(self, away: Callable[[], bool]) -> None:
        self._away = away

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def query(*_: object, **__: object) -> NoReturn:
            if self._away():
                raise JournalUnavailableError("the judge, which reads the journal, is away")
            raise NotInViewError(f"the journal's {name}")

        return query


# ----------------------------------------------------------------------------------------------------------------------
# The `ServiceAPI` of a front: the newest publication of the view, and the judge behind the link for the rest.

_LOCAL_BITS = 10
"""An event of the judge has its number times 1,024 here: events of the front itself come between."""


class FrontEvents(EventLog):
    """The judge's events, and those that the front adds. After a restart the same events have the same numbers."""

    def __init__(self) -> None:
        super().__init__(first=1)
        self._of_judge = 0

    def pass_on(self, event: Event) -> None:
        """Appends an event of the judge."""
        if event.id != self._of_judge + 1:
            self._kept.clear()
        self._of_judge, self._next = event.id, event.id << _LOCAL_BITS
        self.add(event.kind, event.data)


class FrontService:
    """One for the front; event loop's thread only. Writes are the judge's: `web.relay` passes them on."""

    counted: Callable[[datetime], PastCounters | None] | None = None
    """None: questions of the past are the judge's."""

    def __init__(self, view: Path, link: Callable[[Takes], FrontLink], history: History | None) -> None:
        """`history` is None where the judge is on another machine, and reads the journal."""
        self._reader, self.now = ViewReader(view), partial(datetime.now, UTC)
        self._read: Read | None = None
        self._last: Read | None = None
        self._remote = history is None
        self.history: History = history or cast("History", JudgeHistory(lambda: self.link.stale_since is not None))
        """The journal, or an empty history without one."""
        self.events = FrontEvents()
        self.link = link(Takes(self._on_event, self._on_stale, self.refresh))

    async def run(self) -> None:
        """Follows the judge until it is cancelled."""
        try:
            await self.link.run()
        finally:
            self._reader.close()

    async def _on_event(self, event: Event) -> None:
        await self.refresh()
        self.events.pass_on(event)

    def _on_stale(self, since: datetime | None) -> None:
        if since is None:
            logger().info("the judge reports again")
        elif self._read is None:
            logger().info("the judge has made no evaluation yet", since=since.isoformat())
        else:
            why = self.away or "the judge does not report"
            logger().error("the last view is shown", why=why, since=since.isoformat())
        self.events.add("stale", orjson.dumps({"since": since, "why": self.away}))

    async def refresh(self) -> None:
        """Takes the newest publication of the view, if it is newer. The last but one is freed piece by piece: a request
        that started with the last may still run.
        """
        try:
            newest = await asyncio.to_thread(self._reader.refresh)
        except sqlite3.Error as error:
            logger().error("the view cannot be read; the last one is shown", error=str(error))
            return
        if newest is not self._read:
            former, self._last, self._read = [self._last], self._read, newest
            await asyncio.to_thread(free, former)

    def scrape_page(self) -> ScrapePage | None:
        """The text of the metrics. In any thread."""
        return self._reader.scrape_page()

    # --- ServiceAPI ---------------------------------------------------------------------------------------------------

    @property
    def publication(self) -> Published | None:
        """The newest evaluation; None before the first."""
        return self._read.publication if self._read else None

    @property
    def stale_since(self) -> datetime | None:
        """Since when the judge has not confirmed that this is the newest evaluation; None while it does."""
        return self.link.stale_since

    @property
    def away(self) -> str:
        """Why this front does not show the newest evaluation; empty: it does, or the judge on its machine is silent."""
        if self.link.stale_since is None:
            return ""
        return self.link.problem or ("the judge is not followed" if self._remote else "")

    @property
    def steps(self) -> Sequence[StepLine]:
        """The punch list with its ticks."""
        return self._read.state.steps if self._read else ()

    @property
    def step_marks(self) -> Sequence[StepMark]:
        """What people wrote on these steps."""
        return self._read.state.marks if self._read else ()

    @property
    def counters(self) -> Mapping[str, float]:
        """The judge's own metrics as it last reported them, and the age of the view. Those in the view have what a
        front on another machine must not count again.
        """
        known = self.link.figures or (self._read.state.figures if self._read and not self._remote else {})
        return {**known, "view_age_seconds": self.link.age_seconds}

    async def audit(self, who: str, action: str, detail: str) -> None:
        """Records a write of the front (a log-in). Raises JournalUnavailableError."""
        try:
            await self.link.ask(Audit(who, action, detail))
        except JudgeUnavailableError as error:
            raise JournalUnavailableError(str(error)) from error

    def _write(self, *_: object, **__: object) -> NoReturn:
        """Raises NotInViewError: the judge has to do it."""
        raise NotInViewError("a write")

    recheck = reload_plan = report_jobs = find_job = acknowledge = mark_step = withdraw = open_window = end_window = (
        _write
    )


class StoredExposition(Exposition):
    """The exposition whose text the judge has rendered."""

    def __init__(self, service: FrontService) -> None:
        super().__init__()
        self._service = service
        self._of: tuple[Published, ScrapePage] | None = None

    def page_of(self, publication: Published) -> ScrapePage:
        """The text of the newest publication, read from the view for its first scrape."""
        with self._lock:
            if self._of is None or self._of[0] is not publication:
                page = self._service.scrape_page()
                assert page is not None  # noqa: S101 - each publication is written with its page
                self._of = (publication, page)
            return self._of[1]


# ----------------------------------------------------------------------------------------------------------------------
# The front: page, API, metrics and events, from the view. It evaluates nothing and holds nothing of its own.


async def front(
    settings: Settings, post: Post, renewed: Callable[[], Settings] | None, place: "JudgePlace | None" = None
) -> None:
    """Serves until a signal comes. `renewed` reads the settings again, whose access applies then; it raises
    CommandError. `place`: the judge is on another machine, and reads the journal. Raises CommandError if it cannot
    start.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    garbage_of_the_young_only()
    remote = place is not None
    history = None if remote else await asyncio.to_thread(journal_of, settings) or NoHistory()
    service, stop = FrontService(post.view, _link(post, place), history), asyncio.Event()
    try:
        app = create_app(service, settings, ask=service.link.ask, exposition=StoredExposition(service), remote=remote)
    except AccessError as error:
        raise CommandError(str(error)) from error

    def listening(found: Listening) -> None:
        app.state.desk.certificates = found.certificates
        post.started()
        if place:
            place.ready(post.url)

    following: list[asyncio.Task[None]] = []
    await service.refresh()
    with signals(stop, (lambda: _renew(app, renewed)) if renewed else None):
        following.append(asyncio.create_task(service.run()))
        following.append(asyncio.create_task(_say_stop(service, stop)))
        with suppress(TimeoutError):  # readers that come back find the events that they missed
            async with asyncio.timeout(SILENT_SECONDS):
                await service.link.heard.wait()
        try:
            await serve(app, settings, stop, listening, post.http)
        except (ListenError, CertificateError) as error:
            raise CommandError(str(error)) from error
        finally:
            stop.set()
            await end(following, failed=True)


def _link(post: Post, place: "JudgePlace | None") -> Callable[[Takes], FrontLink]:
    if place is None:
        return partial(SocketFrontLink, post.link_path)
    from truerail.roles.front_bus import BusFrontLink

    return partial(BusFrontLink, place, post.view)


async def _say_stop(service: FrontService, stop: asyncio.Event) -> None:
    await stop.wait()
    service.events.add("stop", b"{}")


def _renew(app: Any, renewed: Callable[[], Settings]) -> None:
    """Applies renewed certificates and access."""
    certificates = app.state.desk.certificates
    try:
        if certificates is not None:
            certificates.reload()
            certificates.warn()
    except CertificateError as error:
        logger().error("certificate not reloaded, the old one is kept", error=str(error))
    try:
        app.state.gate.renew(renewed())
    except (AccessError, CommandError) as error:
        logger().error("access not reloaded, the old settings are kept", error=str(error))
