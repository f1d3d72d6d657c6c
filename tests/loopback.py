"""Real servers on loopback that a test or a benchmark starts and ends: a small web server, and a Prometheus."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.ports import free_address


@contextmanager
def served(answer: Callable[[str, str], tuple[str, bytes]]) -> Iterator[str]:
    """A web server. `answer` gets its address and a request's path with query, and gives content type and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = answer(base, self.path)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield base
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
