"""A client of the web application in this process, for tests: every request runs on the one event loop of the test."""

import asyncio
from collections.abc import Iterator
from functools import cache
from types import TracebackType
from typing import Any

import httpx
from fastapi import FastAPI

from tests.fake_tower import FakeTower, published, settings
from truerail.web.application import create_app
from truerail.web.context import RequestContext

BASE = "http://127.0.0.1:8080"


class _Stand:
    """Stands for the tower of the test that runs, so that all of a process share one application: making one takes
    longer than most tests.
    """

    def __init__(self) -> None:
        self.tower = FakeTower()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tower, name)


_STAND = _Stand()


@cache
def _shared() -> FastAPI:
    return create_app(_STAND, settings())


def app_over(tower: FakeTower) -> FastAPI:
    """The application over a tower: the one that all tests share, for one of them at a time."""
    app = _shared()
    _STAND.tower, app.state.desk = tower, RequestContext(tower, settings())
    return app


class Api:
    """`get`, `post`, ... as httpx has them; paths that begin with `//` are not under `/api/v1`."""

    def __init__(self, tower: FakeTower | None = None, **changed: Any) -> None:
        self.tower = tower or FakeTower(published())
        self.app = create_app(self.tower, settings(**changed)) if changed else app_over(self.tower)
        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=BASE)

    def __enter__(self) -> "Api":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()
        self.app.state.desk.close()

    def ask(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """One request."""
        url = path if path.startswith("//") else f"/api/v1/{path}"
        return self._runner.run(self._client.request(method, url.removeprefix("/"), **parts))

    def get(self, path: str, **query: Any) -> httpx.Response:
        """GET with these query parameters; `from_` is `from`."""
        asked = {name.rstrip("_"): value for name, value in query.items()}
        return self.ask("GET", path, params=asked or None)

    def json(self, path: str, **query: Any) -> Any:
        """The answer of a GET that must succeed."""
        response = self.get(path, **query)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: Any) -> httpx.Response:
        """POST of JSON."""
        return self.ask("POST", path, json=body)

    def all(self, path: str, **query: Any) -> Iterator[Any]:
        """All rows of a list, part by part."""
        cursor = None
        while True:
            part = self.json(path, **query, **({"cursor": cursor} if cursor else {}))
            yield from part["items"]
            cursor = part["next"]
            if cursor is None:
                return


def problem_of(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem that a response is; it must have this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["title"]
    return problem
