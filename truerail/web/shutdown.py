"""Ends running requests when the service stops: an event stream would keep it alive as long as a page is open."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

GRACE_SECONDS = 3.0
"""Time for requests to end by themselves, and for the readers of streams to be notified."""


class GracefulShutdown:
    """ASGI wrapper around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running: set[asyncio.Timeout] = set()

    def begin(self) -> None:
        """Starts the grace period of running requests."""
        end = asyncio.get_running_loop().time() + GRACE_SECONDS
        for timer in self._running:
            timer.reschedule(end)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sending = _Sending(send)
        timer = asyncio.timeout(None)
        try:
            async with timer:
                self._running.add(timer)
                await self._app(scope, receive, sending)
        except TimeoutError:
            if not timer.expired():
                raise
            await sending.finish()
        finally:
            self._running.discard(timer)


class _Sending:
    """Sends, and can properly end an answer that was interrupted between two pieces."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False
        self._ended = False

    async def __call__(self, message: Message) -> None:
        self._started = True
        self._ended = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def finish(self) -> None:
        """Ends a stream, or sends a 503 if nothing was sent yet."""
        if self._ended:
            return
        if not self._started:
            headers = [(b"connection", b"close"), (b"content-length", b"0")]
            await self._send({"type": "http.response.start", "status": 503, "headers": headers})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
