"""The service's access check: each request is limited, identified, and admitted or refused here.

Plain ASGI: Starlette's BaseHTTPMiddleware would hold back event streams.
"""

import asyncio
import time
from collections.abc import Callable

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from truerail.errors import RequestRefusedError
from truerail.service.api import ServiceAPI
from truerail.service.logs import logger
from truerail.service.settings import Settings
from truerail.web.access.authenticator import LOGOUT, Authenticator, is_open
from truerail.web.access.login import MOST_BYTES, log_in, log_out
from truerail.web.access.refusal import LOGIN, answer
from truerail.web.access.request import asks, has_body, header, peer_name, writes
from truerail.web.problem_json import problem

# ----------------------------------------------------------------------------------------------------------------------
# Response headers for browsers: run only our own scripts, allow no frames, cache nothing personal.

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
STRICT_TRANSPORT_SECURITY = "max-age=31536000"
_ALWAYS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # `no-referrer` would make browsers send `Origin: null` with the log-in form (Fetch standard, Origin header)
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Frame-Options": "DENY",
}
_SHARED = ("public", "private", "no-store")
_PERSONAL = frozenset({"/login", "/logout", "/api/v1/me", "/api/v1/audit"})


def with_headers(send: Send, request: Request) -> Send:
    """Adds the headers to an outgoing response; headers set by the application stay."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _ALWAYS.items():
                headers.setdefault(name, value)
            _transport(headers, request)
            _keeping(headers, request)
        await send(message)

    return sending


def _transport(headers: MutableHeaders, request: Request) -> None:
    """HSTS applies to a host name with all its ports (RFC 6797 section 8.3): on another port than 443 it would cut
    browsers off from everything else that the machine serves over plain HTTP.
    """
    host = header(request, "host")
    if request.get("scheme") == "https" and not host.rpartition("]")[2].partition(":")[2]:
        headers.setdefault("Strict-Transport-Security", STRICT_TRANSPORT_SECURITY)


def _keeping(headers: MutableHeaders, request: Request) -> None:
    """No shared cache may store responses that need a log-in, and no cache those about the caller."""
    if request["path"] in _PERSONAL or "set-cookie" in headers:
        headers["Cache-Control"] = "no-store"
    elif not is_open(request["path"]):
        reported = headers.get("cache-control", "no-cache")
        headers["Cache-Control"] = reported if any(word in reported for word in _SHARED) else f"private, {reported}"
        headers.add_vary_header("Authorization, Cookie")


# ----------------------------------------------------------------------------------------------------------------------
# Limits of a request's size and duration.
#
# The service's own URLs are short: the longest are node sets, a few hundred characters for a whole fabric when folded.
# The limits are those of common front-end servers (nginx allows 32 KiB of headers, 8 KiB per line).

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


# ----------------------------------------------------------------------------------------------------------------------
# The service's access check: each request is limited, identified, and admitted or refused here.


class AuthMiddleware:
    """ASGI middleware. Sets `request.state.caller` to the `Caller`; None on public paths."""

    def __init__(self, app: ASGIApp, gate: Authenticator, body_bytes: int) -> None:
        self._app = app
        self._gate = gate
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request. Web sockets are not supported and closed."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        sent = _Sent(with_headers(send, request))
        try:
            receive = await self._let_in(scope, request, receive)
            await self._app(scope, receive, sent)
        except RequestRefusedError as refused:
            await answer(refused, request)(scope, receive, sent)
        except Exception:
            if not sent.status:  # a response from outside of this middleware would lack the headers
                await problem(500, "internal error; the log of the service has the details")(scope, receive, sent)
            raise
        finally:
            if writes(request) and not asks(request):
                _log(scope, request, sent.status)

    async def _let_in(self, scope: Scope, request: Request, receive: Receive) -> Receive:
        check_head(request)
        known = await self._gate.identify(request)
        scope.setdefault("state", {})["caller"] = known.caller if known else None
        self._gate.allow(request, known)
        most = min(MOST_BYTES, self._body_bytes) if is_open(request["path"]) else self._body_bytes
        return await whole_body(request, receive, most)


class _Sent:
    """Sends, and records the status; 0 while nothing was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


def _log(scope: Scope, request: Request, status: int) -> None:
    """One line for each write of a known caller, refused or not; unknown ones could fill the disk."""
    caller = scope.get("state", {}).get("caller")
    if caller:
        say = {"method": request.method, "path": request["path"], "status": status, "peer": peer_name(request)}
        logger().info("write", who=caller.name, **say)


# ----------------------------------------------------------------------------------------------------------------------
# Puts the access middleware before an application.


def install(
    app: FastAPI, settings: Settings, tower: ServiceAPI, clock: Callable[[], float] = time.monotonic
) -> Authenticator:
    """Protects every path of the application, and adds the log-in. Call before it serves.

    The authenticator is `app.state.gate`, whose `renew(settings)` applies changed settings. Raises AccessError where
    they cannot be used (a metrics token that is missing).
    """
    gate = Authenticator(settings, tower.audit, clock)
    app.state.gate = gate
    app.add_middleware(AuthMiddleware, gate=gate, body_bytes=settings.http.body_bytes)
    app.add_exception_handler(RequestRefusedError, _refused)
    app.router.add_route(LOGIN, log_in, methods=["POST"], include_in_schema=False)
    app.router.add_route(LOGOUT, log_out, methods=["POST"], include_in_schema=False)
    return gate


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefusedError)  # noqa: S101 - Starlette calls it for nothing else
    return answer(error, request)
