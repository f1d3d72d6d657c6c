"""One connection to a NATS server: its text protocol over TLS, as far as an agent needs it.

Source: docs.nats.io, "Client Protocol". The server says INFO in the clear; TLS begins before CONNECT. The client's
certificate is the login: the server knows the user by the name in it. What a server sends is bounded, and of its
messages only the subject is used.
"""

from __future__ import annotations

import json
import selectors
import socket
import ssl
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

CONNECT_SECONDS, PING_SECONDS, SILENT_SECONDS = 5.0, 10.0, 30.0
"""For a connection and each step of its login; after so long without a word the server is asked for one, and after so
long a connection has ended.
"""
FIRST_SECONDS, MOST_SECONDS = 0.5, 30.0
"""Before another attempt: at first, and at most."""
MOST_LINE_BYTES, MOST_WAITING_BYTES = 1 << 16, 16 << 20
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_PIECE_BYTES = 1 << 16


class BusError(Exception):
    """The bus cannot be used: names why."""


class Address:
    """`tls://HOST:PORT`, or `nats://` for this machine alone, those of a cluster with commas between; files of
    authority, certificate and key.
    """

    def __init__(self, url: str, ca: str = "", certificate: str = "", key: str = "") -> None:
        servers = [_server(one.strip()) for one in url.split(",")]
        if len({encrypted for _, _, encrypted in servers}) > 1:
            raise BusError(f"--bus {url}: tls:// and nats:// do not go together")
        self.url, self.encrypted = url, servers[0][2]
        self._servers = deque((host, port) for host, port, _ in servers)
        self._files = ca, certificate, key

    @property
    def server(self) -> tuple[str, int]:
        """Host and port of the server that is used now."""
        return self._servers[0]

    def next_server(self) -> None:
        """The next attempt is made with another one."""
        self._servers.rotate(-1)

    def context(self) -> ssl.SSLContext:
        """Reads the files at each connection: a renewed certificate needs no restart. Raises BusError."""
        ca, certificate, key = self._files
        try:
            context = ssl.create_default_context(cafile=ca or None)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            if certificate:
                context.load_cert_chain(certificate, key or None, password=_no_password)
        except OSError as error:  # ssl.SSLError among them
            raise BusError(f"--ca, --cert or --key: {error.strerror or error}") from None
        except ValueError as error:
            raise BusError(f"--key: {error}") from None
        return context


def _server(url: str) -> tuple[str, int, bool]:
    """Host, port, and whether it is encrypted. Raises BusError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 4222
    except ValueError as error:
        raise BusError(f"--bus: not an address: {error}") from None
    if parts.username or parts.password:
        raise BusError("--bus: an address holds no secret")
    if parts.scheme not in ("tls", "nats") or not host:
        raise BusError(f"--bus {url}: expected tls://HOST:PORT")
    if parts.scheme == "nats" and host not in _LOOPBACK:
        raise BusError(f"--bus {url}: nats:// is not encrypted and for this machine alone; use tls://")
    return host, port, parts.scheme == "tls"


def _no_password() -> str:
    raise ValueError("the key has a passphrase: the agent cannot ask for it")


class Connection:
    """`heard` is called with the data of each message to `inbox`, `opened` when a login has succeeded, `report` with
    what people should read.
    """

    def __init__(
        self,
        address: Address,
        name: str,
        inbox: str,
        selector: selectors.BaseSelector,
        clock: Callable[[], float],
        *,
        opened: Callable[[], None],
        heard: Callable[[bytes], None],
        report: Callable[[str], None],
    ) -> None:
        self._address, self._name, self._inbox = address, name, inbox
        self._selector, self._clock = selector, clock
        self._opened, self._heard, self._report = opened, heard, report
        self._socket: socket.socket | None = None
        self._in = bytearray()
        self._out: deque[memoryview] = deque()
        self._waiting = 0
        self._expected: int | None = None
        self._pause = FIRST_SECONDS
        self._problem = self._refusal = ""
        self._last = self._pinged = 0.0
        self.ready = False
        """Whether messages can be sent."""
        self._next_at = 0.0
        self.most_payload = 1 << 20

    @property
    def due_at(self) -> float:
        """When `step` has something to do, by the clock."""
        return self._next_at if self._socket is None else max(self._last, self._pinged) + PING_SECONDS

    def step(self) -> None:
        """Connects where that is due; asks a silent server for a word, and ends a connection that has none."""
        now = self._clock()
        if self._socket is None:
            if now >= self._next_at:
                self._open()
        elif now - self._last > SILENT_SECONDS:
            self._lost(f"no word for {SILENT_SECONDS:g} s")
        elif now - max(self._last, self._pinged) > PING_SECONDS:
            self._pinged = now
            self._put(b"PING\r\n")

    def send(self, subject: str, data: bytes) -> None:
        """Sends a message, or keeps it until the server takes it. Without a connection it is lost."""
        if self.ready:
            self._put(b"PUB " + subject.encode() + b" %d\r\n" % len(data) + data + b"\r\n")

    def close(self) -> None:
        """Sends what waits, within a second, and ends the connection."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.settimeout(1.0)
                while self._out:
                    self._socket.sendall(self._out.popleft())
            self._end()

    def _open(self) -> None:
        try:
            plain = socket.create_connection(self._address.server, CONNECT_SECONDS)
        except OSError as error:
            self._lost(f"cannot be reached: {error.strerror or error}")
            return
        try:
            self._socket = self._login(plain)
            self._socket.setblocking(False)
        except (OSError, ValueError, BusError) as error:
            plain.close()
            self._socket = None
            self._lost(str(error))
            return
        self._in, self._expected, self._last = bytearray(), None, self._clock()
        self._selector.register(self._socket, selectors.EVENT_READ, self._ready_to)
        options = {
            "verbose": False,
            "pedantic": False,
            "tls_required": self._address.encrypted,
            "name": self._name,
            "lang": "truerail-agent",
            "version": "1",
            "protocol": 1,
            "headers": False,
            "no_responders": False,
        }
        login = f"CONNECT {json.dumps(options)}\r\nSUB {self._inbox} 1\r\nPING\r\n"
        self._put(login.encode())

    def _login(self, plain: socket.socket) -> socket.socket:
        """Reads INFO, and encrypts. INFO ends with its line: a byte behind it would have come in the clear."""
        line = b""
        while not line.endswith(b"\r\n"):
            byte = plain.recv(1)
            if not byte or len(line) > MOST_LINE_BYTES:
                raise BusError("it is no NATS server")
            line += byte
        if not line.startswith(b"INFO "):
            raise BusError("it is no NATS server")
        found = json.loads(line[5:])
        if not isinstance(found, dict):
            raise BusError("it is no NATS server")
        most = found.get("max_payload")
        self.most_payload = most if isinstance(most, int) and most > 0 else 1 << 20
        if not self._address.encrypted:
            return plain
        if not found.get("tls_required"):
            raise BusError("it does not encrypt: the address is tls://, and the server has no tls")
        return self._address.context().wrap_socket(plain, server_hostname=self._address.server[0])

    def _ready_to(self) -> None:
        """The socket can be read, or written."""
        self._read()
        if self._socket is not None:
            self._write()

    def _read(self) -> None:
        while self._socket is not None:
            try:
                piece = self._socket.recv(_PIECE_BYTES)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                return
            except OSError as error:
                self._lost(error.strerror or str(error))
                return
            if not piece:
                self._lost(self._problem or "it has ended the connection")
                return
            self._last = self._clock()
            self._in += piece
            try:
                self._take()
            except (BusError, ValueError) as error:
                self._lost(f"it does not speak NATS: {error}")
                return

    def _take(self) -> None:
        while True:
            if self._expected is not None:
                if len(self._in) < self._expected + 2:
                    return
                data = bytes(self._in[: self._expected])
                del self._in[: self._expected + 2]
                self._expected = None
                self._heard(data)
                continue
            end = self._in.find(b"\r\n")
            if end < 0:
                if len(self._in) > MOST_LINE_BYTES:
                    raise BusError("a line without an end")
                return
            line = bytes(self._in[:end])
            del self._in[: end + 2]
            self._line(line)
            if self._socket is None:
                return

    def _line(self, line: bytes) -> None:
        word, _, rest = line.partition(b" ")
        if word == b"PING":
            self._put(b"PONG\r\n")
        elif word == b"PONG":
            if not self.ready:
                self.ready, self._pause, self._problem = True, FIRST_SECONDS, ""
                self._report(f"connected to {self._address.server[0]}:{self._address.server[1]}")
                self._opened()
        elif word == b"MSG":
            self._expected = int(rest.rpartition(b" ")[2])
            if not 0 <= self._expected <= MOST_LINE_BYTES:
                raise BusError(f"a message of {self._expected} bytes")
        elif word == b"-ERR":
            self._problem = "the server refuses: " + rest.decode("ascii", "replace").strip("' ")
            if self._problem != self._refusal:
                self._report(f"bus {self._address.url}: {self._problem}")
            self._refusal = self._problem

    def _put(self, data: bytes) -> None:
        if self._waiting + len(data) > MOST_WAITING_BYTES:
            self._lost("it takes nothing any more")
            return
        self._out.append(memoryview(data))
        self._waiting += len(data)
        self._write()

    def _write(self) -> None:
        while self._out and self._socket is not None:
            try:
                sent = self._socket.send(self._out[0])
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                break
            except OSError as error:
                self._lost(error.strerror or str(error))
                return
            self._waiting -= sent
            if sent == len(self._out[0]):
                self._out.popleft()
            else:
                self._out[0] = self._out[0][sent:]
        if self._socket is not None:
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._out else 0)
            self._selector.modify(self._socket, wanted, self._ready_to)

    def _lost(self, why: str) -> None:
        if why != self._problem or self.ready:
            self._report(f"bus {self._address.url}: {why}")
        self._problem = why
        self._end()
        self._address.next_server()
        self._next_at = self._clock() + self._pause
        self._pause = min(self._pause * 2, MOST_SECONDS)

    def _end(self) -> None:
        if self._socket is not None:
            self._selector.unregister(self._socket)
            self._socket.close()
        self._socket, self.ready, self._waiting = None, False, 0
        self._out.clear()
