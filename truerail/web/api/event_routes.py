"""The event stream."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from enum import Enum
from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from truerail.errors import NotReadyError, TooManyStreamsError
from truerail.link.messages import Event
from truerail.web.context import RequestContext, WithContext
from truerail.web.head import WITHOUT_BODY

# ----------------------------------------------------------------------------------------------------------------------
# The event stream (server-sent events, WHATWG HTML section 9.2) of one reader.
#
# Every reader pulls from the shared log at its own pace: a slow one delays no other, holds no copies, and gets the
# whole state once it is further behind than the log reaches. One that reads nothing at all is dropped.

MOST_STREAMS = 200
QUIET_SECONDS = 15.0
"""After this time without an event a comment keeps proxies from closing the connection."""
STUCK_SECONDS = 60.0
"""A reader that has read nothing for this long is gone."""
LONGEST_SECONDS = 3600.0
"""A stream ends after this time; the reader reconnects with its number, and has to authenticate again."""
_RETRY_MILLISECONDS = 3000


class EventStream(Response):
    """Events after `known`, as long as the reader stays. Its constructor raises TooManyStreamsError."""

    media_type = "text/event-stream"

    def __init__(self, desk: RequestContext, known: int | None) -> None:
        if desk.streams >= MOST_STREAMS:
            raise TooManyStreamsError(f"{MOST_STREAMS} event streams are open, as many as may be")
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._desk = desk
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if not scope.get(WITHOUT_BODY):
            self._desk.streams += 1
            try:
                await self._run(receive, send)
            finally:
                self._desk.streams -= 1
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(STUCK_SECONDS):
                await send({"type": "http.response.body", "body": b""})

    async def _run(self, receive: Receive, send: Send) -> None:
        """Sends until the reader leaves, is stuck, or the stream ends."""
        sending = asyncio.ensure_future(self._send_all(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, timeout=LONGEST_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _ended(leaving)
            with contextlib.suppress(TimeoutError, OSError):
                await _ended(sending)

    async def _send_all(self, send: Send) -> None:
        async with contextlib.aclosing(self._texts()) as texts:
            async for text in texts:
                message: Message = {"type": "http.response.body", "body": text, "more_body": True}
                async with asyncio.timeout(STUCK_SECONDS):
                    await send(message)

    async def _texts(self) -> AsyncGenerator[bytes, None]:
        """The sent data: events, the whole state if the reader lacks it, comments in quiet times."""
        yield f"retry: {_RETRY_MILLISECONDS}\n\n".encode()
        log = self._desk.tower.events
        has_state = self._known is not None
        async with contextlib.aclosing(_or_quiet(log.follow(self._known))) as events:
            async for event in events:
                if event is _Quiet.NOW:
                    yield b": still here\n\n"
                elif event is None or event.kind == "state" or not (has_state or event.kind == "stop"):
                    number = log.last if event is None else event.id
                    state = await self._state()
                    has_state = state is not None
                    yield b": nothing is evaluated yet\n\n" if state is None else as_text(number, "state", state)
                else:
                    yield as_text(event.id, event.kind, event.data)
                    if event.kind == "stop":
                        return

    async def _state(self) -> bytes | None:
        try:
            return (await self._desk.shown()).map_body
        except NotReadyError:
            return None


class _Quiet(Enum):
    NOW = 0


async def _or_quiet(events: AsyncGenerator[Event | None, None]) -> AsyncGenerator[Event | _Quiet | None, None]:
    """The events, and a marker whenever none comes for `QUIET_SECONDS`."""
    coming: asyncio.Future[Event | None] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(events))
            if (await asyncio.wait({coming}, timeout=QUIET_SECONDS))[0]:
                event, coming = coming.result(), None
                yield event
            else:
                yield _Quiet.NOW
    finally:
        if coming is not None:
            await _ended(coming)
        await events.aclose()


def as_text(number: int, kind: str, data: bytes) -> bytes:
    """An event on the wire. JSON has no line ends of its own, so one `data` line is enough."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), data)


async def _left(receive: Receive) -> None:
    """Returns when the reader has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(task: asyncio.Future[Any]) -> None:
    """Cancels a task and waits until it ends. Its own exceptions are raised."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


# ----------------------------------------------------------------------------------------------------------------------
# The event stream.

router = APIRouter(tags=["service"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`state` (the fabric map), `round`, `mutes`, `steps`, `journal`, `stale`, `stop`, by `id`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/events", response_class=Response, responses=_STREAM)
async def events(desk: WithContext, last_event_id: Annotated[str | None, Header(max_length=40)] = None) -> Response:
    """Live changes as server-sent events. The whole state comes first, and again after a gap; with `Last-Event-ID`
    only newer events. Before the first evaluation the stream waits for it.
    """
    known = int(last_event_id) if last_event_id and last_event_id.isascii() and last_event_id.isdigit() else None
    return EventStream(desk, known)
