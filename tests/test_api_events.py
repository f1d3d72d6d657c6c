"""The event stream, over real connections to a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
import pytest

from tests.api_client import app_over
from tests.fake_tower import FakeTower, published, settings
from tests.patience import ENOUGH, until
from truerail.service.events import KEPT
from truerail.web.api import event_routes as stream
from truerail.web.http_server import Listening, serve

PATIENCE = ENOUGH


class Reported(NamedTuple):
    """One event as a reader gets it; a comment has the kind `:`."""

    kind: str
    id: int
    data: str


class Service:
    """A server on loopback and its tower, within the event loop of the test."""

    def __init__(self, tower: FakeTower, stop: asyncio.Event, at: Listening) -> None:
        self.tower, self.stop, self.at = tower, stop, at

    @asynccontextmanager
    async def reading(self, known: int | None = None) -> AsyncIterator[AsyncIterator[Reported]]:
        """A reader of the stream."""
        headers = {} if known is None else {"Last-Event-ID": str(known)}
        async with (
            httpx.AsyncClient(base_url=self.at.url, timeout=PATIENCE) as client,
            client.stream("GET", "/api/v1/events", headers=headers) as response,
        ):
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield _events(response.aiter_lines())


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[Reported]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line.startswith(":"):
            yield Reported(":", 0, line[1:].strip())
        elif line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield Reported(fields["event"], int(fields["id"]), fields["data"])
            fields = {}


@asynccontextmanager
async def served(tower: FakeTower | None = None) -> AsyncIterator[Service]:
    """A service, which ends within a few seconds."""
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    shown = tower or FakeTower(published())
    serving = asyncio.create_task(serve(app_over(shown), settings(http={"port": 0}), stop, ready.set_result))
    try:
        async with asyncio.timeout(3 * PATIENCE):
            yield Service(shown, stop, await ready)
    finally:
        stop.set()
        await asyncio.wait_for(serving, PATIENCE)


async def test_the_state_comes_first_and_then_what_happens() -> None:
    async with served() as service, service.reading() as events:
        first = await anext(events)
        assert (first.kind, first.id) == ("state", service.tower.events.last)
        assert json.loads(first.data)["hosts"][0] == "gpu-001"
        service.tower.publish(published(), data=b'{"number":2}')
        second = await anext(events)
        assert second == ("round", first.id + 1, '{"number":2}')


async def test_a_reader_that_comes_back_gets_what_it_missed() -> None:
    async with served() as service:
        known = service.tower.events.add("mutes", b"{}").id
        service.tower.events.add("round", b'{"number":8}')
        service.tower.events.add("journal", b'{"health":"failing"}')
        async with service.reading(known) as events:
            assert [(await anext(events)).kind for _ in range(2)] == ["round", "journal"]
        async with service.reading(service.tower.events.last) as events:
            service.tower.events.add("mutes", b"{}")
            assert (await anext(events)).kind == "mutes"


@pytest.mark.parametrize("known", [5, 10**15])
async def test_after_a_gap_the_state_comes_again(known: int) -> None:
    async with served() as service:
        for number in range(KEPT + 10):
            service.tower.publish(published(), data=b'{"number":%d}' % number)
        async with service.reading(known) as events:
            first = await anext(events)
            assert (first.kind, first.id) == ("state", service.tower.events.last)
            assert json.loads(first.data)["number"] == service.tower.publication.number


async def test_a_new_plan_sends_the_state_that_is_shown() -> None:
    async with served() as service, service.reading() as events:
        await anext(events)
        service.tower.publish(published(), "state", b"{}")
        reported = await anext(events)
        assert reported.kind == "state"
        assert json.loads(reported.data)["number"] == service.tower.publication.number


async def test_before_the_first_evaluation_the_stream_waits_for_it() -> None:
    tower = FakeTower()

    async with served(tower) as service, service.reading() as events:
        assert await anext(events) == (":", 0, "nothing is evaluated yet")
        tower.publish(published())
        assert (await anext(events)).kind == "state"
        tower.publish(published())
        assert (await anext(events)).kind == "round"


async def test_a_quiet_stream_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "QUIET_SECONDS", 0.05)

    async with served() as service, service.reading() as events:
        await anext(events)
        assert [(await anext(events)).data for _ in range(3)] == ["still here"] * 3
        service.tower.publish(published())
        while (reported := await anext(events)).kind == ":":
            pass
        assert reported.kind == "round"


async def test_stop_ends_every_stream() -> None:
    async with served() as service:
        async with service.reading() as one, service.reading() as other:
            for events in (one, other):
                await anext(events)
            service.tower.events.add("stop", b"{}")
            for events in (one, other):
                assert [event.kind async for event in events] == ["stop"]
        await until(lambda: service.tower.events.readers == 0)


async def test_the_service_ends_while_streams_are_open() -> None:
    async with served() as service, service.reading() as events:
        await anext(events)
        service.stop.set()
        service.tower.events.add("stop", b"{}")
        assert [event.kind async for event in events] == ["stop"]


async def test_a_reader_that_leaves_is_forgotten() -> None:
    async with served() as service:
        async with service.reading() as events:
            await anext(events)
            assert service.tower.events.readers == 1
        await until(lambda: service.tower.events.readers == 0)


async def test_as_many_streams_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MOST_STREAMS", 2)

    async with served() as service:
        async with (
            service.reading() as one,
            service.reading() as other,
            httpx.AsyncClient(base_url=service.at.url) as client,
        ):
            await anext(one)
            await anext(other)
            refused = await client.get("/api/v1/events")
            assert (refused.status_code, refused.json()["title"]) == (503, "Too many streams")
            assert (await client.get("/api/v1/fabric")).status_code == 200
        await until(lambda: service.tower.events.readers == 0)
        async with service.reading() as again:
            assert (await anext(again)).kind == "state"


async def test_a_reader_that_takes_nothing_holds_nobody_and_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "STUCK_SECONDS", 3.0)
    large = b'"' + b"x" * 400_000 + b'"'

    async with served() as service:
        _, stuck = await asyncio.open_connection(service.at.host, service.at.port, limit=1024)
        stuck.write(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await until(lambda: service.tower.events.readers == 1)
        async with service.reading() as events:
            await anext(events)
            for _ in range(60):
                service.tower.publish(published(), data=large)
            assert [(await anext(events)).kind for _ in range(60)] == ["round"] * 60
            await until(lambda: service.tower.events.readers == 1)
        stuck.transport.abort()
