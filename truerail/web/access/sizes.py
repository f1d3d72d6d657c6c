"""Limits of a request's size and duration.

The service's own URLs are short: the longest are node sets, a few hundred characters for a whole fabric when folded.
The limits are those of common front-end servers (nginx allows 32 KiB of headers, 8 KiB per line).
"""

import asyncio

from starlette.requests import Request
from starlette.types import Message, Receive

from truerail.errors import RequestRefusedError
from truerail.web.access.request import has_body, header

MOST_PATH = 2048
MOST_QUERY = 16 << 10
MOST_HEADERS = 100
MOST_HEADER_BYTES = 32 << 10
BODY_SECONDS = 20.0
"""Time limit for the whole body: a 1 MiB body at 52 KB/s."""


def check_head(request: Request) -> None:
    """Raises RequestRefusedError (414, 431) for a request line or headers that are too long."""
    if len(request["path"]) > MOST_PATH:
        raise RequestRefusedError(414, f"the path is longer than {MOST_PATH} characters")
    if len(request["query_string"]) > MOST_QUERY:
        raise RequestRefusedError(414, f"the query is longer than {MOST_QUERY} bytes: fold node sets, as gpu-[001-064]")
    size = sum(len(key) + len(value) for key, value in request.headers.raw)
    if len(request.headers.raw) > MOST_HEADERS or size > MOST_HEADER_BYTES:
        raise RequestRefusedError(431, f"more than {MOST_HEADERS} headers or {MOST_HEADER_BYTES} bytes of them")


async def whole_body(request: Request, receive: Receive, most: int, seconds: float = BODY_SECONDS) -> Receive:
    """Reads the body to its end, then passes it on in one piece. Raises RequestRefusedError (400, 408, 413).

    A too long body with Content-Length is refused before any of it is read, a chunked one as soon as it is too long.
    """
    if not has_body(request):
        return receive
    _check_reported(request, most)
    try:
        async with asyncio.timeout(seconds):
            body = await _read(receive, most)
    except TimeoutError:
        raise RequestRefusedError(408, f"the body took longer than {seconds:g} s") from None
    return _replay(body, receive)


def _check_reported(request: Request, most: int) -> None:
    reported = header(request, "content-length")
    if reported.isdecimal() and int(reported[:20]) > most:
        raise _too_large(most)


async def _read(receive: Receive, most: int) -> Message:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RequestRefusedError(400, "the connection ended before the body did")
        parts += message.get("body", b"")
        if len(parts) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return {"type": "http.request", "body": bytes(parts), "more_body": False}


def _replay(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _too_large(most: int) -> RequestRefusedError:
    return RequestRefusedError(413, f"the body is longer than {most} bytes: see http.body_bytes")
