"""The overview, the map and the lists as of a time, over a real journal."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.api_client import Api
from tests.as_of_journal import MOVED, Kept, kept_journal
from tests.fake_tower import FakeTower
from truerail.views.fabric_map import fabric_map

LISTS = ("causes", "findings", "cables", "devices", "ports", "racks")
VIEWS = ("fabric", "map", "map/causes", "topology")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with kept_journal(tmp_path_factory.mktemp("as_of_api")) as one:
        one.journal.acknowledge("f" * 12, "eve", "other", one.times[0])
        cause = one.past(3).publication.evaluation.causes[0].key
        note = one.journal.acknowledge(cause, "eve", "known", one.at(2))
        one.journal.withdraw(note.id, "eve", one.at(3) - timedelta(milliseconds=1))
        yield one


@pytest.fixture
def api(kept: Kept) -> Iterator[Api]:
    with Api(kept.tower()) as one:
        yield one


def asked(api: Api, path: str, **query: str) -> Any:
    return api.get(f"{path}?{urlencode(query)}")


def of(api: Api, path: str, at: datetime, **query: str) -> Any:
    answer = asked(api, path, at=at.isoformat(), **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_overview_is_that_of_the_time(kept: Kept, api: Api) -> None:
    before, during, now = of(api, "fabric", kept.at(1)), of(api, "fabric", kept.at(3)), api.get("fabric").json()
    assert (before["cables"]["wrong"], during["cables"]["wrong"], now["cables"]["wrong"]) == (0, 2, 0)
    assert during["causes"] == 1
    assert during["worst"]
    assert not during["repair"], "what was to do may be done"
    assert (now["as_of"], during["as_of"]["at"]) == (None, kept.at(3).isoformat())
    assert any("no counters" in one for one in during["as_of"]["unknown"])
    assert set(during["coverage"].values()) == {None}
    assert now["collectors"]
    assert not during["collectors"]
    assert {one["status"] for one in during["verdicts"]} <= {"unknown", "fail", "not applicable"}
    cells = [of(api, "map", kept.at(number))["cells"] for number in (1, 3)]
    assert cells[0] != cells[1]
    assert cells[1] == fabric_map(kept.past(3).publication).cells
    assert of(api, "map/causes", kept.at(3))["causes"][0]["kind"] == "cable-swap"


def test_the_lists_are_those_of_the_time(kept: Kept, api: Api) -> None:
    assert of(api, "cables", kept.at(3), state="wrong")["total"] == 2
    assert of(api, "cables", kept.at(1), state="wrong")["total"] == 0
    line = of(api, "cables", kept.at(3), text=str(MOVED))["items"][0]
    assert (line["state"], line["verified"]) == ("wrong", "unknown")
    assert of(api, "findings", kept.at(3))["total"] == 2
    assert sum(one["count"]["wrong"] for one in of(api, "devices", kept.at(3), role="host")["items"]) == 2
    assert {one["link"] for one in of(api, "ports", kept.at(3))["items"]} == {None}
    assert {one["steps"] for one in of(api, "racks", kept.at(3))["items"]} == {None}
    assert {one["steps"] for one in api.get("racks").json()["items"]} == {0}
    assert of(api, "topology", kept.at(3))["switches"]
    csv = asked(api, "cables", at=kept.at(3).isoformat(), format="csv", state="wrong")
    assert csv.text.count("wrong") == 2
    first = of(api, "cables", kept.at(3), limit="2")
    assert of(api, "cables", kept.at(3), limit="2", cursor=first["next"])["items"] != first["items"]


def test_a_cause_of_the_past_orders_nothing_and_says_what_became_of_it(kept: Kept, api: Api) -> None:
    line = of(api, "causes", kept.at(3))["items"][0]
    assert (line["action"], line["to_confirm"], line["repair"]) == ("", "", "")
    assert line["suggested"].startswith("Swap")
    ended = datetime.fromisoformat(line["ended"])
    assert kept.times[3] < ended <= kept.times[4]
    alone = of(api, f"causes/{line['key']}", kept.at(3))
    assert "2 cables changed" in alone.pop("repair")
    assert alone == {key: value for key, value in line.items() if key != "repair"}
    found = of(api, "findings", kept.at(3))["items"][0]
    assert (found["action"], bool(found["suggested"]), found["ended"]) == ("", True, line["ended"])
    why = of(api, f"findings/{found['id']}", kept.at(3))
    assert why["evidence"]
    assert why["ruled_out"] == []
    for path in (f"causes/{line['key']}", f"findings/{found['id']}"):
        gone = asked(api, path, at=kept.at(1).isoformat())
        assert (gone.status_code, f"{kept.at(1):%H:%M:%S UTC}" in gone.json()["detail"]) == (404, True)


def test_what_was_acknowledged_then_is_muted_then(kept: Kept, api: Api) -> None:
    muted = [of(api, "causes", at)["items"][0]["muted"] for at in (kept.at(2), kept.at(3))]
    assert muted == ["acknowledged", None]


def test_a_device_of_the_past_has_no_answers(kept: Kept, api: Api) -> None:
    view = of(api, "devices/h1", kept.at(3))
    assert view["count"]["wrong"] == 2
    assert view["readings"] == []
    path = next(one for one in view["paths"] if one["subject"] == str(MOVED))
    assert (path["verified"], datetime.fromisoformat(path["since"])) == ("unknown", kept.times[2])


def test_times_that_the_journal_does_not_have_are_errors(kept: Kept, api: Api) -> None:
    for path in (*VIEWS, *LISTS, "devices/h1", "causes/x", "findings/x"):
        for at, words in (
            ("soon", "is not a time"),
            ("2000-01-01", "lies before the journal"),
            ("2999-01-01", "to come"),
        ):
            refused = asked(api, path, at=at)
            assert (refused.status_code, words in refused.json()["detail"]) == (400, True)
    late = asked(api, "cables", at=kept.at(3).isoformat(), verified="none")
    assert (late.status_code, "does not keep which ends" in late.json()["detail"]) == (400, True)
    taking = {path for path, one in api.get("//openapi.json").json()["paths"].items() if _takes_at(one)}
    assert {f"/api/v1/{path}" for path in (*VIEWS, *LISTS)} < taking
    with Api(FakeTower(kept.live)) as without:
        assert "needs a journal" in without.get("map?at=2h").json()["detail"]
        assert without.get("journal").json()["begins"] is None


def _takes_at(methods: Any) -> bool:
    return any(one["name"] == "at" for one in methods.get("get", {}).get("parameters", ()))


def test_the_span_of_the_journal_and_its_changes(kept: Kept, api: Api) -> None:
    span = api.get("journal").json()
    begins, ends = (datetime.fromisoformat(span[word]) for word in ("begins", "ends"))
    assert begins == kept.times[0]
    assert ends == kept.times[-1] + timedelta(minutes=1)
    assert span["complete"]
    assert [one["kind"] for one in span["changes"]] == ["appeared", "resolved"]
    open_at = [of(api, "causes", datetime.fromisoformat(one["at"]))["total"] for one in span["changes"]]
    assert open_at == [1, 0], "the answer as of a change is the one after it"
