"""The connection to a NATS server with JetStream. It comes back by itself; a problem is logged once, with the address
of the bus.

Source of the traps handled here: measured with nats-server 2.9.10 and nats-py. A publication without the right to make
it is a timeout for its caller, the reason comes to `error_cb` alone; the default one prints a traceback at each
reconnection.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nkeys
import structlog
from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.errors import NoStreamResponseError

from truerail.errors import BusError
from truerail.model.names import is_loopback
from truerail.model.tasks import end

FIRST_SECONDS, ANSWER_SECONDS, AGAIN_SECONDS = 5.0, 5.0, 0.5
"""The first connection; an answer of the server; between two attempts to come back."""
FAILED_SECONDS = 1.0
"""Before another attempt after one that failed."""
NEXT_SECONDS = 2.0
"""A server of several that has not answered in this time is passed over."""
PING_SECONDS = 5
"""A connection that answers no two pings has ended."""
CUT_OFF = "it cuts the connection off, as a server does that refuses a login"
"""What is reported of a connection that ended before the server's reason arrived."""
CUT_OFF_BY = (ConnectionResetError, BrokenPipeError)
_JWT = b"-----BEGIN NATS USER JWT-----"


@dataclass(frozen=True, slots=True)
class BusAddress:
    """Where the bus is: `tls://HOST:PORT`, or `nats://` for this machine alone, those of a cluster with commas between;
    the file of an nkey seed or of NATS credentials; the file of the certification authority, where it is not one of the
    system's; certificate and key of this role, where the bus asks for one. Raises BusError.
    """

    url: str
    creds: Path | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        schemes = {_scheme(server) for server in self.servers}
        if len(schemes) > 1:
            raise BusError(f"--bus {self.url}: tls:// and nats:// do not go together")
        if (self.certificate is None) is not (self.key is None):
            raise BusError(f"--{'key' if self.certificate else 'cert'}: give certificate and key together")
        for path in (self.creds, self.ca, self.certificate, self.key):
            if path and not path.is_file():
                raise BusError(f"{path}: there is no such file")

    @property
    def servers(self) -> list[str]:
        """The address of each server of the bus."""
        return [server.strip() for server in self.url.split(",")]

    def options(self) -> dict[str, Any]:
        """Those of nats-py that log in and encrypt. Raises BusError."""
        found: dict[str, Any] = {}
        try:
            if self.creds:
                text = self.creds.read_bytes().strip()
                if text.startswith(_JWT):
                    found["user_credentials"] = str(self.creds)
                else:
                    nkeys.from_seed(bytearray(text))
                    found["nkeys_seed_str"] = text.decode()
            if self.url.startswith("tls:"):
                found["tls"] = ssl.create_default_context(cafile=self.ca)
                if self.certificate:
                    found["tls"].load_cert_chain(self.certificate, self.key, password=_no_password)
        except (nkeys.NkeysError, ValueError):
            raise BusError(f"{self.creds}: neither an nkey seed nor NATS credentials") from None
        except (OSError, ssl.SSLError) as error:
            raise BusError(f"{error.filename or self.ca or self.creds}: {error.strerror or error}") from None
        return found


def _scheme(server: str) -> str:
    """That of the address of one server. Raises BusError."""
    try:
        parts = urlsplit(server)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise BusError(f"--bus: not an address: {error}") from None
    if parts.username or parts.password:
        raise BusError(f"--bus {parts.scheme}://...@{host}: an address holds no secret, give a file by --creds")
    if parts.scheme not in ("tls", "nats") or not host:
        raise BusError(f"--bus {server}: expected tls://HOST:PORT, or nats://127.0.0.1:PORT for this machine")
    if parts.scheme == "nats" and not is_loopback(host):
        raise BusError(f"--bus {server}: nats:// is not encrypted and for this machine alone; use tls://")
    return parts.scheme


def _no_password() -> str:
    raise BusError("--key: it has a passphrase, which cannot be asked for")


class BusClient(Client):
    """nats-py's client, which with `tls://` would also talk in the clear to a server that asks for no encryption: an
    attacker on the way could be that server. It would also take a connection that ends before the server's answer to
    the login for one that is made, and it would leave each failed connection open until the garbage collection.
    """

    async def _connect_to_server(self, s: Any) -> None:
        self.abandon()
        await super()._connect_to_server(s)

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and "tls" in self.options and not info.get("tls_required"):
            raise Error("it does not encrypt: the address is tls://, and the server has no tls in its configuration")
        await super()._process_info(info, initial_connection)

    async def _process_connect_init(self) -> None:
        await super()._process_connect_init()
        if not self.is_connected:
            for task in (self._reading_task, self._ping_interval_task, self._flusher_task):
                if task:
                    task.cancel()
            raise ConnectionResetError(CUT_OFF)

    @property
    def in_cluster(self) -> bool:
        """Whether the server that answers is one of a cluster. Source: INFO, docs.nats.io, "NATS Client Protocol"."""
        return bool(self._server_info.get("cluster"))

    def abandon(self) -> None:
        """Closes what a connection that failed has left open, in the loop's next turn: `close` waits until the server
        has closed its side of TLS as well, and the loop may end before that.
        """
        if isinstance(self._transport, TcpTransport) and self._transport._io_writer:
            self._transport._io_writer.transport.abort()


class Bus:
    """A connection. `changed` is called with True when it is back, and with False when it is lost."""

    def __init__(
        self, address: BusAddress, name: str, inbox: str, changed: Callable[[bool], None] = lambda _: None
    ) -> None:
        self.address = address
        self.problem = ""
        """What the server refused last, or why it cannot be reached."""
        self.reconnects_total = 0
        self._name, self._inbox, self._changed = name, inbox, changed
        self._log = structlog.get_logger()
        self._begun = False
        self._renew()

    def _renew(self) -> None:
        """Another client: nats-py opens none a second time."""
        self.client = BusClient()
        self.streams: JetStreamContext = self.client.jetstream(timeout=ANSWER_SECONDS)
        self.ended = asyncio.Event()
        """The connection has ended for good: the server refuses the login."""
        self._failed = asyncio.Event()
        self._refusals = 0

    @property
    def connected(self) -> bool:
        """Whether messages can be sent now."""
        return self.client.is_connected

    async def opened(self, report: Callable[[str], None] = lambda _: None) -> None:
        """Connects, as often as it takes. `report` is called with each new reason why it does not."""
        known = ""
        while True:
            try:
                await self.open()
                return
            except BusError as error:
                if str(error) != known:
                    known = str(error)
                    report(known)
            await asyncio.sleep(FAILED_SECONDS)

    async def open(self) -> None:
        """Connects, also after an end. Raises BusError with the address and the reason."""
        options, servers = self.address.options(), self.address.servers
        several = len(servers) > 1
        await self.close()
        self._renew()
        self._begun, self.problem = True, ""
        connecting = asyncio.create_task(
            self.client.connect(
                servers,
                name=self._name,
                inbox_prefix=self._inbox,
                error_cb=partial(self._error, self.client),
                disconnected_cb=partial(self._lost, self.client),
                reconnected_cb=partial(self._back, self.client),
                closed_cb=partial(self._closed, self.client),
                max_reconnect_attempts=-1,
                connect_timeout=int(NEXT_SECONDS if several else FIRST_SECONDS),
                reconnect_time_wait=AGAIN_SECONDS,  # type: ignore[arg-type]  # seconds; it takes a part of one as well
                ping_interval=PING_SECONDS,
                max_outstanding_pings=2,
                **options,
            )
        )
        failed = asyncio.create_task(self._failed.wait())
        patience = FIRST_SECONDS + NEXT_SECONDS * (len(servers) - 1)
        await asyncio.wait({connecting, failed}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        failed.cancel()
        if connecting.done() and connecting.exception() is None:
            return
        await end([connecting])
        if not self.problem:
            error = None if connecting.cancelled() else connecting.exception()
            self.problem = str(error or "no answer")
        await self.close()
        raise BusError(f"bus {self.address.url}: {self.problem}")

    async def close(self) -> None:
        """Ends the connection."""
        if not self._begun:
            return
        self._begun = False
        closing, self.client = self.client, BusClient()  # what the former one still reports counts no more
        # A handshake that failed is waited for without end. From Python 3.12 on, what was not yet written to a
        # connection that is lost raises TypeError: asyncio's transport calls a method that it had set to None.
        with suppress(Error, OSError, TypeError, asyncio.TimeoutError):
            await asyncio.wait_for(closing.close(), ANSWER_SECONDS)
        closing.abandon()

    async def listen(self, subject: str, take: Callable[[str, bytes, dict[str, str]], None]) -> None:
        """Calls `take` with subject, data and headers of each message. Subscriptions outlive a reconnection."""

        async def taken(message: Any) -> None:
            take(message.subject, message.data, message.headers or {})

        await self.client.subscribe(subject, cb=taken)

    async def send(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> None:
        """Sends to those who listen now. Raises BusError."""
        if not self.connected:
            raise BusError(f"bus {self.address.url}: {self.problem or 'not connected'}")
        await self.asked(self.client.publish(subject, data, headers=headers))

    async def asked(self, work: Awaitable[Any]) -> Any:
        """What the server answers. Raises BusError with its reason."""
        try:
            return await work
        except NoStreamResponseError:
            raise BusError(f"bus {self.address.url}: has no stream for this fabric: a judge makes it") from None
        except (TimeoutError, Error, OSError) as error:
            why = self.problem if isinstance(error, asyncio.TimeoutError) and self.problem else str(error)
            raise BusError(f"bus {self.address.url}: {why or type(error).__name__}") from None

    async def _error(self, client: BusClient, error: Exception) -> None:
        if client is not self.client:
            return
        if isinstance(error, CUT_OFF_BY):  # why was reported before, or the next attempt brings it
            self.problem = self.problem or CUT_OFF
            return
        problem = " ".join(str(error).split()) or type(error).__name__
        if problem != self.problem and (self.client.is_connected or self._failed.is_set()):
            self._log.error("the bus reports a problem", bus=self.address.url, problem=problem)
        self.problem = problem
        self._refusals += 1
        if self._refusals >= len(self.address.servers):  # none of them is left to try
            self._failed.set()

    async def _lost(self, client: BusClient) -> None:
        if client is self.client:
            self._log.warning("the bus does not answer", bus=self.address.url)
            self._changed(False)

    async def _back(self, client: BusClient) -> None:
        if client is self.client:
            self.reconnects_total += 1
            self.problem = ""
            self._log.info("the bus is back", bus=self.address.url)
            self._changed(True)

    async def _closed(self, client: BusClient) -> None:
        if client is self.client:
            self.ended.set()
