"""Limits on a connection before its first request: uvicorn with httptools has none of its own.

httptools collects a header of any length in memory, and uvicorn waits for ever for the first request of a connection
and for the end of one that has begun.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 64 << 10
"""Limit of request line and headers, and of the framing of a chunked body."""
HEAD_SECONDS = 15.0
"""Time limit from a connection, or from the first byte of a further request, to the end of the headers."""
LINGER_SECONDS = 1.0
"""Time for a client to read that its request was refused."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._in_head = True
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refuse()
        elif self._in_head and self._head_timer is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._head_is_there()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = max(0, self._head_bytes - len(body))
        super().on_body(body)

    def _refuse(self) -> None:
        """Sends the reason, then reads and discards for a while: closing on a client that still sends resets the
        connection and loses the answer (RFC 9112 section 9.6). In the middle of an answer it only closes.
        """
        self._head_is_there()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()
            return
        self._refused = True
        self.transport.write(_TOO_LARGE)
        self._head_timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _head_is_there(self) -> None:
        self._in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
