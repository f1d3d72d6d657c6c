"""The front's side of the link: keeps the connection to the judge, passes questions on, and notices silence."""

import asyncio
import contextlib
import itertools
import socket
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from truerail.errors import JournalUnavailableError, JudgeUnavailableError
from truerail.model.steady import STEADY
from truerail.processes.messages import ALIVE_SECONDS, Message, received

DEADLINE_SECONDS = 60.0
"""A question that the judge has not answered by then is given up."""
SILENT_SECONDS = 5.0
"""A judge that has not reported for so long is away: it reports each second."""
AGAIN_SECONDS = 0.2
OnEvent = Callable[[int, str, bytes], Awaitable[None]]


class FrontLink:
    """One for the front. `on_event` takes each event, `on_stale` when the view begins or ceases to be stale; `refresh`
    reads the view before a stale one counts as the newest again.
    """

    def __init__(
        self,
        path: Path,
        on_event: OnEvent,
        on_stale: Callable[[datetime | None], None],
        refresh: Callable[[], Awaitable[None]],
        seconds: Callable[[], float] = STEADY.seconds,
    ) -> None:
        self._path, self._on_event, self._on_stale, self._refresh = path, on_event, on_stale, refresh
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._ids = itertools.count(1)
        self._last_event: int | None = None
        self._seconds, self._confirmed = seconds, seconds()
        self._connected = asyncio.Event()
        self.heard = asyncio.Event()
        """Set once the judge has reported, after the events of before."""
        self._stale: datetime | None = None
        self.figures: Mapping[str, float] = {}
        self.problem = ""
        """Why the view is not the newest, though the other end reports; empty if it is."""

    @property
    def age_seconds(self) -> float:
        """The time since the judge last confirmed that the view is the newest."""
        return self._seconds() - self._confirmed

    @property
    def stale_since(self) -> datetime | None:
        """When the judge last confirmed a view that may not be the newest any more; None while it is. This is no state
        of `_watch`: a process that was stopped answers before that has looked.
        """
        silent = self.age_seconds > SILENT_SECONDS
        return self._stale or (datetime.now(UTC) - timedelta(seconds=self.age_seconds) if silent else None)

    async def run(self) -> None:
        """Connects, and connects again, until it is cancelled."""
        watching = asyncio.create_task(self._watch())
        try:
            while True:
                with contextlib.suppress(JudgeUnavailableError, OSError):
                    await self._talk()
                self._lost()
                await asyncio.sleep(AGAIN_SECONDS)
        finally:
            watching.cancel()
            self._lost()

    async def ask(self, kind: str, fields: Mapping[str, Any], body: bytes = b"") -> Message:
        """The judge's answer. Raises JudgeUnavailableError, and JournalUnavailableError for an audit."""
        number = next(self._ids)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(DEADLINE_SECONDS if self.stale_since is None else SILENT_SECONDS):
                await self._connected.wait()
                assert self._writer is not None  # noqa: S101 - it is connected
                self._waiting[number] = answer
                self._writer.write(Message(kind, {"id": number, **fields}, body).framed())
                found = await answer
        except TimeoutError:
            raise JudgeUnavailableError(self._words()) from None
        finally:
            self._waiting.pop(number, None)
        if found.kind == "failed":
            raise JournalUnavailableError(str(found.fields["error"]))
        if found.kind == "away":
            raise JudgeUnavailableError(str(found.fields["error"]))
        return found

    def _words(self) -> str:
        since = f" since {self.stale_since:%Y-%m-%d %H:%M:%S UTC}" if self.stale_since else ""
        return f"the process that evaluates rounds has not answered{since}: this question needs it; ask again later"

    async def _talk(self) -> None:
        reader, writer = await asyncio.open_unix_connection(str(self._path), limit=1 << 20)
        try:
            writer.write(Message("hello", {"after": self._last_event}).framed())
            self._writer = writer
            self._connected.set()
            while True:
                await self._heard(await received(reader))
        finally:
            writer.close()

    async def _heard(self, message: Message) -> None:
        if message.kind == "alive":
            self.figures, self.problem = message.fields["figures"], message.fields.get("problem", "")
            self.heard.set()
            if message.fields["written"]:
                if self.stale_since is not None:
                    await self._refresh()
                self._confirmed = self._seconds()
                self._become(None)
        elif message.kind == "event":
            self._last_event = int(message.fields["number"])
            await self._on_event(self._last_event, message.fields["event"], message.body)
        elif (waiting := self._waiting.get(message.fields["id"])) is not None and not waiting.done():
            waiting.set_result(message)

    def _lost(self) -> None:
        """The connection has ended: what was asked over it has no answer."""
        self._writer = None
        self._connected.clear()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(JudgeUnavailableError(self._words()))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            self._become(self.stale_since)

    def _become(self, since: datetime | None) -> None:
        if since != self._stale:
            self._stale = since
            self._on_stale(since)


def listening_at(path: Path) -> socket.socket:
    """A socket at which a judge listens; its queue lasts while one judge follows the other."""
    found = socket.socket(socket.AF_UNIX)
    found.bind(str(path))
    path.chmod(0o600)
    found.listen(16)
    return found
