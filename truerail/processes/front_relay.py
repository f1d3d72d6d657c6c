"""A front's machine without a judge: takes the judge's place for the front there, over the bus.

It follows the judge that leads, brings a copy of its view into a file of this machine, and passes on questions and
commands. The front reads that file as it reads a judge's own. What keeps it from the judge it reports in words.
"""

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from truerail import __version__
from truerail.bus.codec import pack
from truerail.bus.front_messages import ASK, AUDIT, REST, VIEW, Answer, Notice, Question, View, expanded, unpack
from truerail.bus.nats_link import Bus, BusAddress
from truerail.bus.subjects import Subjects
from truerail.errors import BusError, BusMessageError, JudgeUnavailableError, TruerailError
from truerail.model.tasks import end
from truerail.processes.link_server import LinkServer
from truerail.processes.messages import ALIVE_SECONDS, Message
from truerail.service.events import Event, EventLog
from truerail.service.logs import logger
from truerail.viewfile.admission import view_format
from truerail.viewfile.copying import ViewChanges, ViewCopy

SILENT_SECONDS = 3.5
"""A judge that has not reported for so long is away: it reports each second."""
FORGET_SECONDS = 30.0
"""After so long without the judge of the highest epoch, a lower one is believed: a bus that has lost its store counts
from the beginning. A former leader reports nothing: it knows after 6 s that it leads no more.
"""
_VIEW_SECONDS, _ASK_SECONDS, _AGAIN_SECONDS = 30.0, 60.0, 10.0
_OF_JUDGES = ("judge_leader", "judge_epoch")
"""Metrics that would count a judge twice."""


class FrontRelay(LinkServer):
    """One for the machine of a front."""

    def __init__(self, address: BusAddress, subjects: Subjects, view: Path) -> None:
        super().__init__(EventLog(first=1))
        self._subjects, self._copy = subjects, ViewCopy(view)
        self._address = address
        self._bus = self._connection()
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

    async def follow(self) -> None:
        """Follows the judge that leads until it is cancelled. Raises BusError if the bus refuses the login for good."""
        try:
            await self._connect()
            await self._bus.client.subscribe(self._subjects.view, cb=self._take)
            following = asyncio.create_task(self._fetch_at_news())
            ended = asyncio.create_task(self._bus.ended.wait())
            try:
                await asyncio.wait((following, ended), return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    await following
                raise BusError(f"bus {self._address.url}: {self._bus.problem or 'the connection has ended'}")
            finally:
                await end([following, ended])
        finally:
            await self._bus.close()
            self._copy.close()

    def _changed(self, connected: bool) -> None:
        """What was asked over a connection that has ended has no answer."""
        if not connected:
            self._lost.set()
            self._lost = asyncio.Event()

    def _connection(self) -> Bus:
        """One that was not opened; it is opened once."""
        return Bus(self._address, "truerail front", self._subjects.front_inbox, self._changed)

    async def _connect(self) -> None:
        while True:
            try:
                await self._bus.open()
            except BusError:
                await asyncio.sleep(ALIVE_SECONDS)
                self._bus = self._connection()
            else:
                return

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
            if notice.format != view_format():
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
        same = self._held is not None and self._held[0] == notice.run
        fields = {"since": self._held[1] if self._held and same else 0, "after": self._after if same else None}
        answer = await self._asked(notice.run, VIEW, fields, b"", _VIEW_SECONDS)
        found = unpack(View, answer.body)
        if found.changes:
            written = await asyncio.to_thread(self._apply, found.changes)
            self._held = (notice.run, written)
        for event in found.events:
            self.events.take(Event(event.number, event.kind, event.data))
        self._after = max(notice.event, found.events[-1].number if found.events else 0)

    def _apply(self, body: bytes) -> int:
        changes = expanded(ViewChanges, body)
        self._copy.apply(changes)
        return changes.written

    @property
    def copied(self) -> bool:
        """Whether this machine has a view."""
        return self._copy.has_content

    # --- for the front ------------------------------------------------------------------------------------------------

    def alive(self) -> Message:
        """The sign of life of each second. `written`: the copy has the newest view of the judge that leads."""
        problem, notice, now = self._problem(), self._notice, time.monotonic()
        self._well_at = self._well_at if problem else now
        if problem != self._logged and (not problem or now - self._well_at > SILENT_SECONDS):
            self._logged = problem
            if problem:
                logger().error("this front does not show the newest evaluation", why=problem)
        known = notice.figures if notice else {}
        figures = {name: value for name, value in known.items() if name not in _OF_JUDGES}
        return Message("alive", {"written": not problem, "problem": problem, "figures": figures})

    def _problem(self) -> str:
        """What keeps this front from the judge; empty: nothing."""
        notice = self._notice
        if not self._bus.connected:
            return f"bus {self._address.url}: {self._bus.problem or 'it does not answer'}"
        if notice is None or time.monotonic() - self._heard_at > SILENT_SECONDS:
            return self._trouble if notice is None and self._trouble else "no judge that leads reports on the bus"
        if self._trouble:
            return self._trouble
        newest = self._held is not None and self._held[0] == notice.run and notice.current
        if self.copied and not newest:
            return f"the judge {notice.judge} leads, and has not given a view of its own yet"
        return ""

    async def answer(self, message: Message) -> Message:
        """The answer of the judge that leads, or why there is none."""
        kind = AUDIT if message.kind == "audit" else ASK
        try:
            if self._notice is None:
                raise JudgeUnavailableError(self._problem())
            found = await self._asked(self._notice.run, kind, dict(message.fields), message.body, _ASK_SECONDS)
        except (JudgeUnavailableError, BusMessageError) as error:
            return Message("failed" if kind == AUDIT else "away", {"error": str(error)})
        return Message("answer", found.fields, found.body)

    async def _asked(self, run: str, kind: str, fields: dict[str, Any], body: bytes, seconds: float) -> Answer:
        """The whole answer. Raises JudgeUnavailableError, BusMessageError."""
        first = await self._question(run, kind, fields, body, seconds)
        parts, size = [first.body], len(first.body)
        while size < first.size:
            rest = await self._question(run, REST, {"answer": first.answer, "offset": size}, b"", seconds)
            if not rest.body:
                raise JudgeUnavailableError("the judge's answer ends early")
            parts.append(rest.body)
            size += len(rest.body)
        return Answer(fields=first.fields, body=b"".join(parts), size=size)

    async def _question(self, run: str, kind: str, fields: dict[str, Any], body: bytes, seconds: float) -> Answer:
        question = pack(Question(id=uuid4().hex, kind=kind, fields=fields, body=body))
        bus = self._bus
        if not bus.connected:
            raise JudgeUnavailableError(self._problem())
        try:
            message = await self._requested(self._subjects.ask(run), question, seconds)
        except NoRespondersError:
            raise JudgeUnavailableError("the judge that led is away, and no other one leads yet; ask again") from None
        except (TimeoutError, Error, OSError) as error:
            why = bus.problem or str(error) or f"no answer within {seconds:g} s"
            raise JudgeUnavailableError(f"the judge was not reached by the bus {self._address.url}: {why}") from None
        answer = unpack(Answer, message)
        if answer.refused or answer.failed:
            raise JudgeUnavailableError(answer.refused or answer.failed)
        return answer

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
