"""A server that gives the documented answers of a Grafana's HTTP API, and a page with the marks of its panels.

https://grafana.com/docs/grafana/latest/developer-resources/api-reference/http-api/
"""

import json
from html import escape
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from dashboards.check.boards import Board
from tests.loopback import Silent

TIME = {"name": "Time", "type": "time"}


class FakeGrafana(ThreadingHTTPServer):
    """What was asked is in `asked`. `refused` is a text of queries that fail, `empty` of those without series;
    `marked` makes the pages show an error.
    """

    def __init__(self, boards: list[Board]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.boards = {board.uid: board for board in boards}
        self.provisioned, self.marked = True, False
        self.refused, self.empty = "no query has this", "nor this"
        self.authorization = "Bearer glsa_test"
        self.asked: list[dict[str, Any]] = []
        self.pages: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, query: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """A result as Grafana frames it: a field of times, and one of values with its labels, for each series."""
        self.asked.append(query)
        if self.refused in query["expr"]:
            return 400, {"results": {query["refId"]: {"error": "bad_data: 1:7: parse error", "status": 400}}}
        labels = {"fabric": "lab", "pod": "p1", "rail": "0", "host": "gpu-001", "switch": "leaf-1"}
        fields = [TIME, {"name": "Value", "type": "number", "labels": labels}]
        frame = {"schema": {"refId": query["refId"], "fields": fields}, "data": {"values": [[1], [2.0]]}}
        frames = [] if self.empty in query["expr"] else [frame]
        return 200, {"results": {query["refId"]: {"status": 200, "frames": frames}}}


class _Handler(Silent):
    server: FakeGrafana

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        board = self.server.boards.get(path.rpartition("/")[2])
        if path.startswith("/d/") and board:
            self.server.pages.append(self.path)
            self.say(self._page(board), "text/html")
        elif path.startswith("/api/dashboards/uid/") and board:
            self._tell(200, {"meta": {"provisioned": self.server.provisioned}, "dashboard": board.json})
        else:
            self._tell(404, {"message": "Dashboard not found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/api/ds/query"
        self._tell(*self.server.answer(body["queries"][0]))

    def _page(self, board: Board) -> bytes:
        mark = '<i data-testid="data-testid Panel status error" aria-label="Bad gateway">!</i>' * self.server.marked
        titles = [escape(one.title) for one in board.panels]
        heads = "".join(f'<h2 data-testid="data-testid Panel header {title}">{title}{mark}</h2>' for title in titles)
        return f"<!doctype html><title>{escape(board.uid)}</title>{heads}".encode()

    def _tell(self, status: int, body: object) -> None:
        if self.headers["Authorization"] != self.server.authorization:
            status, body = 401, {"message": "Unauthorized"}
        self.say(json.dumps(body).encode(), status=status)
