"""How large a request may be and how long it may take, without a server around it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import Request

from tests.access_site import OPERATOR, WITH_TOKENS, Site
from truerail.errors import RequestRefusedError
from truerail.web.access.middleware import MOST_HEADERS, MOST_PATH, MOST_QUERY, whole_body

SMALL = {"body_bytes": 2000}


def pieces(size: int, each: int = 100) -> Iterator[bytes]:
    for _ in range(0, size, each):
        yield b"x" * each


def test_a_body_up_to_the_limit_comes_through_whole() -> None:
    site = Site(WITH_TOKENS, SMALL)
    for content in (b"x" * 2000, pieces(2000)):
        answer = asyncio.run(_post(site, content))
        assert answer.json()["bytes"] == 2000


def test_a_larger_body_is_refused_reported_or_in_chunks() -> None:
    site = Site(WITH_TOKENS, SMALL)
    for content in (b"x" * 2001, pieces(2100)):
        answer = asyncio.run(_post(site, content))
        assert answer.status_code == 413
        assert answer.headers["connection"] == "close"
        assert "2000 bytes" in answer.json()["detail"]


async def _post(site: Site, content: Any) -> Any:
    import httpx

    async def chunks() -> Any:
        for piece in content:
            yield piece

    body = content if isinstance(content, bytes) else chunks()
    transport = httpx.ASGITransport(site.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.post("/api/v1/recheck", content=body, headers={"Authorization": f"Bearer {OPERATOR}"})


def test_nobody_unknown_makes_the_service_keep_a_body() -> None:
    taken: list[int] = []

    def counted() -> Iterator[bytes]:
        for piece in pieces(100_000):
            taken.append(len(piece))
            yield piece

    site = Site(WITH_TOKENS)
    answer = site.ask("POST", "/login", {"Content-Type": "application/json"}, content=_later(counted()))
    assert answer.status_code == 413
    assert sum(taken) <= 4096 + 200
    assert site.ask("POST", "/api/v1/recheck", content=b"x").status_code == 401


async def _later(content: Iterator[bytes]) -> Any:
    for piece in content:
        yield piece


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-length", b"5")]}
    with pytest.raises(RequestRefusedError, match=r"longer than 0\.05 s") as caught:
        asyncio.run(whole_body(Request(scope), never, 100, 0.05))
    assert caught.value.status == 408


def test_a_client_that_goes_away_in_the_middle_of_a_body_has_sent_no_request() -> None:
    async def gone() -> Any:
        return {"type": "http.disconnect"}

    async def reading() -> Any:
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"transfer-encoding", b"chunked")]}
        return await (await whole_body(Request(scope), gone, 100))()

    with pytest.raises(RequestRefusedError, match="the connection ended before the body did"):
        asyncio.run(reading())


@pytest.mark.parametrize(
    ("path", "status"),
    [("/" + "x" * MOST_PATH, 414), ("/?q=" + "x" * MOST_QUERY, 414), ("/?q=" + "x" * (MOST_QUERY - 2), 200)],
)
def test_path_and_query_have_limits(path: str, status: int) -> None:
    assert Site().ask("GET", path).status_code == status


def test_headers_have_limits() -> None:
    site = Site()
    assert site.ask("GET", "/", [(f"X-{n}", "x") for n in range(MOST_HEADERS)]).status_code == 431
    assert site.ask("GET", "/", {"X-Long": "x" * 40_000}).status_code == 431
    assert site.ask("GET", "/", {"X-Long": "x" * 30_000}).status_code == 200


def test_a_web_socket_is_closed() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    site = Site()
    asyncio.run(site.app({"type": "websocket", "path": "/", "headers": []}, send, send))  # type: ignore[arg-type] # nothing is received
    assert sent == [{"type": "websocket.close", "code": 1008}]
