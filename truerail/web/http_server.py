"""Serves an application with uvicorn in the running event loop, until stopped."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from truerail.errors import ListenError
from truerail.model.own_process import raise_open_files
from truerail.service.settings import Http, Settings
from truerail.web.access.expiry import every_day
from truerail.web.access.tls import Certificates
from truerail.web.connection_limits import MOST_CONNECTIONS, BoundedProtocol

# ----------------------------------------------------------------------------------------------------------------------
# Opens the service's listening sockets.

_BACKLOG = 2048


def listen(host: str, port: int) -> list[socket.socket]:
    """Listening sockets for every address of a host (`localhost` has two), all on one port. Raises ListenError.

    An address that this machine lacks (`::1` without IPv6) is skipped if there is another.
    """
    found: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, address in _addresses(host, port):
            taken = found[0].getsockname()[1] if found else port
            try:
                found.append(socket.create_server((address[0], taken, *address[2:]), family=family, backlog=_BACKLOG))
            except OSError as error:
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                missing = error
        if not found and missing:
            raise missing
    except OSError as error:
        for one in found:
            one.close()
        raise ListenError(_words(host, port, error)) from error
    return found


def _addresses(host: str, port: int) -> list[tuple[int, tuple[str, int, *tuple[int, ...]]]]:
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((info[0], info[4]) for info in infos))  # type: ignore[misc] # IPv4 and IPv6 only


def _words(host: str, port: int, error: OSError) -> str:
    where = f"http.host {host}, http.port {port}"
    if error.errno == errno.EADDRINUSE:
        return f"{where}: something listens there already"
    if isinstance(error, socket.gaierror):
        return f"{where}: no such host ({error.strerror})"
    reason = os.strerror(error.errno) if error.errno else error
    return f"{where}: cannot listen there: {reason}"


# ----------------------------------------------------------------------------------------------------------------------
# Ends running requests when the service stops: an event stream would keep it alive as long as a page is open.

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


# ----------------------------------------------------------------------------------------------------------------------
# Serves an application with uvicorn in the running event loop, until stopped.

_STOP_SECONDS = int(GRACE_SECONDS) + 2


@dataclass(frozen=True, slots=True)
class Listening:
    """The service accepts requests. `port` is the actual one if the settings have 0."""

    host: str
    port: int
    url: str
    certificates: Certificates | None
    """With TLS: its `reload` applies renewed files."""


async def serve(
    app: ASGIApp,
    settings: Settings,
    stop: asyncio.Event,
    ready: Callable[[Listening], None] = lambda _: None,
    sockets: list[socket.socket] | None = None,
) -> None:
    """Answers requests until `stop` is set and running ones have ended, within seconds. Leaves signals to the caller.

    `sockets` listen already; else it listens where the settings say.

    Raises ListenError if the address is not available, CertificateError if TLS cannot be used.
    """
    raise_open_files()
    http = settings.http
    certificates = Certificates(http.tls) if http.tls else None
    sockets = listen(http.host, http.port) if sockets is None else sockets
    try:
        leaving = GracefulShutdown(app)
        found = replace(listening_address(http, sockets), certificates=certificates)
        server = _Server(_config(leaving, certificates), lambda: ready(found))
        beside = [asyncio.create_task(_stop(stop, server, leaving))]
        if certificates:
            beside.append(asyncio.create_task(every_day(certificates.warn)))
        try:
            await server.serve(sockets)
        finally:
            for task in beside:
                task.cancel()
    finally:
        for one in sockets:
            one.close()


async def _stop(stop: asyncio.Event, server: uvicorn.Server, leaving: GracefulShutdown) -> None:
    await stop.wait()
    server.should_exit = True
    leaving.begin()


class _Server(uvicorn.Server):
    """Signals when it listens, and installs no signal handler."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: ASGIApp, certificates: Certificates | None) -> uvicorn.Config:
    """`proxy_headers` off: uvicorn would trust X-Forwarded-For from any process on this machine."""
    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=_STOP_SECONDS,
        ssl_context_factory=(lambda *_: certificates.context) if certificates else None,
    )


def listening_address(http: Http, sockets: list[socket.socket]) -> Listening:
    """Where these sockets listen."""
    port = sockets[0].getsockname()[1]
    name = f"[{http.host}]" if ":" in http.host else http.host
    return Listening(http.host, port, f"{'https' if http.tls else 'http'}://{name}:{port}/", None)
