"""Real servers on loopback that a test or a benchmark starts and ends: a small web server, and a Prometheus."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer
from typing import Any, TypeVar

from tests.ports import free_address


class Silent(BaseHTTPRequestHandler):
    """Answers requests, and logs none."""

    def say(self, body: bytes, kind: str = "application/json", status: int = 200, **headers: str) -> None:
        """Sends an answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Silent."""


S = TypeVar("S", bound=BaseServer)


@contextmanager
def threaded(server: S) -> Iterator[S]:
    """The server, which serves in a thread meanwhile."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def served(answer: Callable[[str, str], tuple[str, bytes]]) -> Iterator[str]:
    """A web server. `answer` gets its address and a request's path with query, and gives content type and body."""

    class Handler(Silent):
        def do_GET(self) -> None:
            kind, body = answer(base, self.path)
            self.say(body, kind)

    with threaded(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        base = f"http://127.0.0.1:{server.server_port}"
        yield base


@contextmanager
def prometheus(
    folder: Path, jobs: Sequence[Mapping[str, Any]], waits: Mapping[str, str], rules: Path | None = None,
    address: str = "",
) -> Iterator[tuple[str, int]]:  # fmt: skip
    """A Prometheus with these scrape jobs, global intervals and rules, which keeps its data in `folder`.

    Gives its address and process. It may not listen yet.
    """
    address = address or free_address()
    config = {"global": waits, "rule_files": [str(rules)] if rules else [], "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(config))
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address={address}"], stdout=log, stderr=log)
        try:
            yield f"http://{address}", process.pid
        finally:
            process.terminate()
            process.wait(60)
