"""What operators may change: it is stored before it is answered, logged with its author, and checked first."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.api_client import Api, problem_of
from tests.fake_tower import NOW, published, step


def _window(**changed: Any) -> dict[str, Any]:
    hour = timedelta(hours=1)
    given = {"scope": "device", "what": "gpu-001", "starts": NOW, "ends": NOW + hour, "reason": "new transceivers"}
    return {key: getattr(value, "isoformat", lambda v=value: v)() for key, value in {**given, **changed}.items()}


def test_an_acknowledgement_from_begin_to_end(api: Api) -> None:
    finding = published().evaluation.findings[0].id
    until = (NOW + timedelta(days=1)).isoformat()
    made = api.post("acknowledgements", {"target": finding, "reason": " spare is ordered ", "until": until})
    assert made.status_code == 201
    assert made.headers["location"] == "/api/v1/acknowledgements/1"
    assert made.json()["author"] == "local"
    assert made.json()["reason"] == "spare is ordered"
    assert api.get("//" + made.headers["location"].lstrip("/")).json() == made.json()
    assert api.json("acknowledgements")["items"] == [made.json()]
    assert api.json("findings", muted="true")["items"][0]["id"] == finding
    assert api.json("audit")["items"][0]["who"] == "local"
    assert api.ask("DELETE", "acknowledgements/1").status_code == 204
    assert api.json("acknowledgements")["items"] == []
    problem_of(api.ask("DELETE", "acknowledgements/1"), 404)


def test_maintenance_from_begin_to_end(api: Api) -> None:
    made = api.post("maintenance", _window())
    assert made.status_code == 201
    assert made.headers["location"] == "/api/v1/maintenance/1"
    assert api.json("maintenance/1") == made.json() == api.json("maintenance")["items"][0]
    assert api.json("devices/gpu-001")["maintenance"] is None
    assert api.ask("DELETE", "maintenance/1").status_code == 204
    problem_of(api.get("maintenance/1"), 404)


def test_a_recheck_asks_the_devices_of_a_node_set(api: Api) -> None:
    response = api.post("recheck", {"devices": "gpu-[001-003],p1-leaf-0"})
    assert (response.status_code, response.json()) == (202, {"polled": 4})
    assert sorted(api.tower.rechecked) == ["gpu-001", "gpu-002", "gpu-003", "p1-leaf-0"]
    assert "gpu-999" in problem_of(api.post("recheck", {"devices": "gpu-999"}), 400)["detail"]
    assert len(api.tower.rechecked) == 4


def test_a_plan_is_read_anew_or_every_problem_is_named(api: Api) -> None:
    assert api.post("plan/reload", None).json()["digest"] == "d2"
    api.tower.bad_plan = True
    problem = problem_of(api.ask("POST", "plan/reload"), 422)
    assert problem["errors"] == [{"where": "plan.csv:7", "summary": "unknown device", "value": "leaf-<b>9"}]


EDGES = (
    "9999-12-31T23:59:59-01:00",
    "9999-12-31T23:59:59.999999-23:59",
    "9999-12-31T23:59:59Z",
    "2200-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "1969-12-31T23:59:59Z",
    -62135596800,
    1e18,
)


@pytest.mark.parametrize("edge", EDGES)
def test_times_at_the_edges_of_the_calendar_are_refused_at_the_door(api: Api, edge: str | float) -> None:
    finding = published().evaluation.findings[0].id
    acknowledged = problem_of(api.post("acknowledgements", {"target": finding, "reason": "x", "until": edge}), 422)
    assert acknowledged["errors"][0]["where"] == "body until"
    announced = problem_of(api.post("maintenance", {**_window(), "starts": edge, "ends": edge}), 422)
    assert [fault["where"] for fault in announced["errors"]] == ["body starts", "body ends"]
    assert api.json("maintenance")["items"] == api.json("acknowledgements")["items"] == []


def test_a_time_of_any_zone_is_answered_in_utc(api: Api) -> None:
    made = api.post("maintenance", _window(starts="2199-12-31T23:59:59+14:00", ends="2199-12-31T23:59:59-00:00"))
    assert made.json()["starts"] == "2199-12-31T09:59:59+00:00"


def test_rows_that_cannot_be_read_are_named_in_a_header(api: Api) -> None:
    api.tower.history.broken = {"windows": {7: "out of range", 5: "no time"}}
    assert api.get("maintenance").headers["truerail-missing"] == "rows 5, 7"
    assert "truerail-missing" not in api.get("acknowledgements").headers


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": "x"}, "body target"),
        ({"target": "a", "reason": ""}, "body reason"),
        ({"target": "a", "reason": "   "}, "body reason"),
        ({"target": "a", "reason": "x" * 501}, "body reason"),
        ({"target": "a", "reason": "two\nlines"}, "body reason"),
        ({"target": "a", "reason": "\u202etxet"}, "body reason"),
        ({"target": "a", "reason": "x", "until": "2026-11-21T00:00:00"}, "body until"),
        ({"target": "a", "reason": "x", "until": "tomorrow"}, "body until"),
        ({"target": "a", "reason": "x", "author": "root"}, "body author"),
        (["target"], "body"),
    ],
)
def test_an_acknowledgement_that_is_wrong(api: Api, body: Any, field: str) -> None:
    assert [one["where"] for one in problem_of(api.post("acknowledgements", body), 422)["errors"]] == [field]
    assert not api.tower.history.notes


def test_times_that_are_over(api: Api) -> None:
    finding = published().evaluation.findings[0].id
    past = NOW - timedelta(seconds=1)
    body = {"target": finding, "reason": "x", "until": past.isoformat()}
    assert past.isoformat() in problem_of(api.post("acknowledgements", body), 400)["detail"]
    assert "not after starts" in problem_of(api.post("maintenance", _window(ends=NOW)), 400)["detail"]
    long_ago = _window(starts=NOW - timedelta(hours=3), ends=NOW - timedelta(hours=2))
    assert "is in the past" in problem_of(api.post("maintenance", long_ago), 400)["detail"]
    assert problem_of(api.post("maintenance", _window(scope="world")), 422)["errors"][0]["where"] == "body scope"


def test_an_unknown_target_is_not_acknowledged(api: Api) -> None:
    assert "nope" in problem_of(api.post("acknowledgements", {"target": "nope", "reason": "x"}), 404)["detail"]


def test_readers_read_and_do_not_write() -> None:
    from truerail.service.token_hashes import new_token, token_hash

    token = new_token()
    tokens = [{"name": "wall", "hash": token_hash(token), "role": "reader"}]
    with Api(access={"tokens": tokens}) as api:
        known = {"Authorization": f"Bearer {token}"}
        problem_of(api.get("fabric"), 401)
        assert api.ask("GET", "fabric", headers=known).status_code == 200
        assert api.ask("GET", "me", headers=known).json()["role"] == "reader"
        for method, url in (
            ("POST", "acknowledgements"), ("DELETE", "acknowledgements/1"), ("POST", "maintenance"),
            ("DELETE", "maintenance/1"), ("POST", "recheck"), ("POST", "plan/reload"), ("GET", "audit"),
        ):  # fmt: skip
            problem_of(api.ask(method, url, headers=known, json={} if method == "POST" else None), 403)


def test_two_people_write_on_a_step_and_the_second_sees_the_first(api: Api) -> None:
    api.tower.steps = (step(1, "gpu-001"), step(2, "gpu-002"))

    def write(**entry: Any) -> Any:
        return api.post("steps/s1/marks", entry)

    early = NOW - timedelta(minutes=7)
    taken = write(action="take", name=" Ada ", at=early.isoformat()).json()
    assert (taken["taken_by"], taken["ticked_by"], taken["note"]) == ("Ada", "", "")
    assert datetime.fromisoformat(taken["taken_at"]) == early
    assert datetime.fromisoformat(taken["at"]) == NOW
    assert write(action="take", name="Ada").json() == taken
    for answer in (write(action="take", name="Bea"), write(action="release", name="Bea", was="Bea")):
        assert "Ada" in problem_of(answer, 409)["detail"]
        assert answer.json()["now"] == "Ada"
    assert write(action="tick", name="Bea", at=(NOW + timedelta(days=1)).isoformat()).json()["ticked_at"] == taken["at"]
    assert write(action="note", name="Bea", note="3 m cable").json()["noted_by"] == "Bea"
    refused = problem_of(write(action="note", name="Ada", note="optic"), 409)
    assert "3 m cable" in refused["detail"]
    assert refused["now"] == "3 m cable"
    assert write(action="note", name="Ada", note="optic", was="3 m cable").json()["note"] == "optic"
    assert write(action="take", name="Bea", was="Ada").json()["taken_by"] == "Bea"
    assert write(action="untick", name="Ada", was="Bea").json()["ticked_at"] is None
    (mark,) = api.json("steps/marks")["items"]
    assert (mark["step"], mark["taken_by"], mark["ticked_by"]) == ("s1", "Bea", "")
    assert [row["mark"] for row in api.json("steps")["items"]] == ["left", "left"]
    problem_of(api.post("steps/s9/marks", {"action": "take", "name": "Ada"}), 404)
    for wrong in ({"action": "repair"}, {"name": "\u202eAda"}, {"name": " "}, {"note": "x" * 501}, {"who": "Ada"}):
        problem_of(write(**{"action": "take", "name": "Ada", **wrong}), 422)
