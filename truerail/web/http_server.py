"""Serves an application with uvicorn in the running event loop, until stopped."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import uvicorn
from starlette.types import ASGIApp

from truerail.model.open_files import raise_open_files
from truerail.service.settings import Http, Settings
from truerail.web.access.expiry import every_day
from truerail.web.access.tls import Certificates
from truerail.web.connection_limits import MOST_CONNECTIONS, BoundedProtocol
from truerail.web.listen import listen
from truerail.web.shutdown import GRACE_SECONDS, GracefulShutdown

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
