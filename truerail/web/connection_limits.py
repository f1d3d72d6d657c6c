"""Limits on connections and on what comes before a request: uvicorn with httptools has none of its own.

A new connection takes the place of the oldest that has not sent a whole request, else of the one that is idle the
longest: who opens many and sends nothing keeps no reader out.

httptools collects a header of any length in memory, and uvicorn waits for ever for the first request of a connection
and for the end of one that has begun.
"""

import asyncio
from itertools import chain
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_CONNECTIONS = 1000
"""Most concurrent connections. If all of them wait for an answer, further ones get 503."""
MOST_HEAD_BYTES = 64 << 10
"""Limit of request line and headers, and of the framing of a chunked body."""
HEAD_SECONDS = 15.0
"""Time limit from a connection, or from the first byte of a further request, to the end of the headers."""
LINGER_SECONDS = 1.0
"""Time for a client to read that its request was refused."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    _silent: ClassVar[dict["BoundedProtocol", None]] = {}
    """Those that have not sent a whole request, the oldest first."""
    _idle: ClassVar[dict["BoundedProtocol", None]] = {}
    """Those that have had their answers, the oldest first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._in_head = True
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) >= MOST_CONNECTIONS:
            self._displace()
        self._silent[self] = None
        self._wait_for_head()

    def _displace(self) -> None:
        """Closes one of this server's connections on which nothing goes on."""
        waiting = (one for one in chain(self._silent, self._idle) if one.connections is self.connections)
        if (oldest := next(waiting, None)) is not None:
            oldest._goes_on()
            self.connections.discard(oldest)
            oldest.transport.abort()

    def _goes_on(self) -> None:
        """This one is not displaced: it has sent a request, or is closed."""
        self._silent.pop(self, None)
        self._idle.pop(self, None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._goes_on()
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

    def on_message_complete(self) -> None:
        self._goes_on()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None:
            self._idle[self] = None

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
