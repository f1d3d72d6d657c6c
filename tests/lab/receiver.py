"""Alertmanager's receiver, as a program: takes webhooks and writes each down as a line of JSON, with the time.

python -m tests.lab.receiver PORT FILE
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def main(port: int, file: Path) -> None:
    """Listens until it is ended."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            line = json.dumps({"at": time.time(), "path": self.path, "body": json.loads(body)})
            with file.open("a", encoding="utf-8") as kept:
                kept.write(f"{line}\n")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Silent."""

    file.touch()
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
