"""The history in the API: ready-made questions over a real store. Its page: test_page_history.py."""

import asyncio
import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request

from tests.api_client import Api, problem_of
from tests.fake_tower import settings
from tests.history_rows import NOW, ago, cable, hour, patient, store_of
from truerail.errors import HistoryStoreError, TooManyQueriesError
from truerail.history.query.query_request import QueryRequest
from truerail.history.ready.ready_question import ready_questions
from truerail.web.question_pool import MOST_ASKED, HistoryQueries

REQUEST = Request({"type": "http", "headers": [], "state": {}})
FLAPS = {"gpu-1": 9, "gpu-2": 7, "gpu-3": 5, "=gpu\x1b[4m": 3}


_patient = patient


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(
        tmp_path_factory.mktemp("web") / "store",
        counters_hours=[hour(name, "nic0", 5, link_downs=float(downs)) for name, downs in FLAPS.items()],
        cables=[cable(f"gpu-{n}", 200, None, "leaf-0", "right", planned_port=f"swp{n}") for n in (1, 2, 3)],
    )


@pytest.fixture(scope="module")
def api(store: Path) -> Iterator[Api]:
    with Api(history={"path": store}) as one:
        one.tower.moment = NOW
        yield one


def test_the_questions_are_those_that_are_declared(api: Api) -> None:
    found = api.json("history/questions")
    assert [one["name"] for one in found["items"]] == list(ready_questions())
    assert found["total"] == len(found["items"])
    assert {"name", "type", "meaning", "default", "needed", "least", "example"} == set(
        found["items"][0]["parameters"][0]
    )


def test_an_answer_comes_in_pages_that_keep_their_times(api: Api) -> None:
    first = api.json("history/questions/flapping-ports", since="1d", limit=3)
    assert [row["device"] for row in first["items"]] == ["gpu-1", "gpu-2", "gpu-3"]
    assert first["parameters"]["since"] == ago(24).isoformat()
    assert [one["name"] for one in first["columns"]] == list(first["items"][0])
    api.tower.moment = ago(-48)
    try:
        last = api.json("history/questions/flapping-ports", since="1d", limit=3, cursor=first["next"])
    finally:
        api.tower.moment = NOW
    assert [row["link_downs"] for row in last["items"]] == [3]
    assert last["next"] is None


def test_what_an_answer_lacks_is_noted(api: Api) -> None:
    found = api.json("history/questions/rail-load")
    assert "0 of 3 NICs report bytes; the others are unknown." in found["notes"]
    found = api.json("history/questions/light-drift")
    assert found["items"] == []
    assert "lights: has no rows in this time." in found["notes"]
    assert found["no_data"].startswith("No module reported light")


def test_a_download_has_all_rows_and_no_formula(api: Api) -> None:
    response = api.get("history/questions/flapping-ports?format=csv&limit=1")
    assert response.headers["content-disposition"] == 'attachment; filename="flapping-ports.csv"'
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [row["device"] for row in rows] == ["gpu-1", "gpu-2", "gpu-3", "'=gpu\\x1b[4m"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("flapping-prots", 404, "did you mean 'flapping-ports'"),
        ("flapping-ports?sql=SELECT", 422, "no such parameter"),
        ("flapping-ports?step=1h", 400, "has no parameter 'step'"),
        ("flapping-ports?least=x", 400, "is not a number from 1"),
        ("flapping-ports?since=never", 400, "is not a time"),
        ("rail-load-between", 400, "needs rail"),
        ("flapping-ports?cursor=e30", 400, "is no cursor of this list"),
    ],
)
def test_a_wrong_request_is_named(api: Api, path: str, status: int, words: str) -> None:
    response = api.get(f"history/questions/{path}")
    assert words in problem_of(response, status)["detail"]


def test_a_store_that_cannot_be_read_shows_no_path(tmp_path: Path) -> None:
    queries = HistoryQueries(settings(history={"path": tmp_path / "gone"}))
    with pytest.raises(HistoryStoreError) as caught:
        asyncio.run(queries.run(REQUEST, QueryRequest(str(queries.store), "SELECT count(*) FROM cables")))
    assert str(tmp_path) not in str(caught.value)


def test_few_queries_run_and_the_event_loop_goes_on(store: Path) -> None:
    async def ask() -> tuple[list[object], int]:
        queries = HistoryQueries(settings(history={"path": store}))
        request = QueryRequest(str(store), "SELECT count(*) FROM cables")
        running = [asyncio.create_task(queries.run(REQUEST, request)) for _ in range(MOST_ASKED + 1)]
        turns = 0
        while not running[0].done():
            turns += 1
            await asyncio.sleep(0)
        for one in running[1:-1]:
            one.cancel()
        return await asyncio.gather(*running, return_exceptions=True), turns

    found, turns = asyncio.run(ask())
    assert isinstance(found[0], tuple)
    assert isinstance(found[-1], TooManyQueriesError)
    assert turns > 100
