"""A real receiver of notifications on loopback: an HTTP server, over TLS if it is asked to."""

import json
import queue
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.loopback import Silent, threaded
from tests.patience import ENOUGH


@dataclass(frozen=True)
class Request:
    """One POST; the names of its headers in small letters."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Posts:
    """What an HTTP receiver got. `answers` are its next statuses; then 200. `hold` keeps it from answering."""

    base: str = ""
    answers: list[int] = field(default_factory=list)
    got: "queue.Queue[Request]" = field(default_factory=queue.Queue)
    hold: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Request:
        """The next one, as soon as it is there."""
        return self.got.get(timeout=ENOUGH)

    def take(self, number: int) -> list[Any]:
        """The JSON of the next ones."""
        return [self.next().json for _ in range(number)]


@contextmanager
def posts(answers: Sequence[int] = (), tls: Mapping[str, str] | None = None, location: str = "") -> Iterator[Posts]:
    """An HTTP server that notes POSTs. `location` is where it redirects to, if it answers with a redirect."""
    found = Posts(answers=list(answers))
    found.hold.set()

    class Handler(Silent):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.hold.wait(ENOUGH)
            status = found.answers.pop(0) if found.answers else 200
            found.got.put(Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = _context(tls).wrap_socket(server.socket, server_side=True)
    found.base = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    with threaded(server):
        try:
            yield found
        finally:
            found.hold.set()


def _context(tls: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls["certificate"], tls["key"])
    return context
