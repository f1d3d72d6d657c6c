"""The link of a front to the judge on its machine: keeps the connection, and passes questions on."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path

from truerail.errors import BusMessageError, JudgeUnavailableError
from truerail.link.codec import pack, unpack
from truerail.link.messages import Alive, Answer, Ask, Audit, Event, Failed, Hello
from truerail.link.socket_link import framed, read_frame
from truerail.model.steady import STEADY
from truerail.roles.front_link import DEADLINE_SECONDS, SILENT_SECONDS, FrontLink, Takes

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
        self._connected = asyncio.Event()

    async def ask(self, message: Ask | Audit) -> Answer:
        """The judge's answer. Raises JudgeUnavailableError."""
        number = next(self._numbers)
        answer: asyncio.Future[Answer | Failed] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(DEADLINE_SECONDS if self.stale_since is None else SILENT_SECONDS):
                await self._connected.wait()
                assert self._writer is not None  # noqa: S101 - it is connected
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
                with contextlib.suppress(BusMessageError, OSError):
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
            self._connected.set()
            while (data := await read_frame(reader)) is not None:
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
        self._connected.clear()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(JudgeUnavailableError(self._words()))
