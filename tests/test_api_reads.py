"""What the API reads out: the answers of the core as they are, with filters, tags and HEAD."""

import dataclasses
import re
from base64 import b64decode
from collections.abc import Iterator

import pytest

from tests.api_client import Api, problem_of
from tests.fake_tower import FakeTower, published, step
from truerail.outputs.metrics import CONTENT_TYPE
from truerail.questions.blast import blast
from truerail.questions.diff import diff_plan
from truerail.questions.job import job
from truerail.questions.path import path
from truerail.questions.storm import storm
from truerail.questions.where import where
from truerail.views.fabric_map import fabric_map, map_causes
from truerail.views.plain import as_json


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as one:
        one.tower.remember(links=30, rounds=30)
        yield one


def test_the_questions_have_the_answers_of_the_core(api: Api) -> None:
    shown = published()
    finding = shown.evaluation.findings[0]
    assert api.json("job", nodes="gpu-[001-006]") == as_json(job(shown, "gpu-[001-006]"))
    assert api.json("blast", of="p1-leaf-0") == as_json(blast(shown, "p1-leaf-0"))
    assert api.json("path", from_="gpu-001", to="gpu-002") == as_json(path(shown, "gpu-001", "gpu-002"))
    assert api.json("diff", planned="true") == as_json(diff_plan(shown))
    assert api.json("storm", of="gpu-001") == as_json(storm(shown, "gpu-001"))
    assert api.get("storm?of=nobody").status_code == 404
    reported = api.json("where", port=finding.subject)
    asked = as_json(where(shown, finding.subject))
    assert [one["subject"] for one in reported["paths"]] == [one["subject"] for one in asked["paths"]]
    assert api.json("why", finding=finding.id) == api.json(f"findings/{finding.id}")
    assert api.json("why", finding=finding.id)["finding"]["summary"] == finding.summary


def test_since_comes_from_the_journal(api: Api) -> None:
    newest = api.tower.history.changes[-1]
    reported = api.json("where", port=newest.port)
    assert reported["paths"][0]["since"] == newest.at.isoformat()


def test_the_map_is_that_of_the_core(api: Api) -> None:
    reported = api.json("map")
    assert reported == as_json(fabric_map(published()))
    assert len(b64decode(reported["cells"])) == len(reported["hosts"]) * len(reported["rails"])
    causes = api.json("map/causes")
    assert causes == as_json(map_causes(published()))
    assert (causes["number"], len(b64decode(causes["cells"]))) == (
        reported["number"],
        len(b64decode(reported["cells"])),
    )


def test_the_fabric_tells_the_age_of_what_it_knows(api: Api) -> None:
    reported = api.json("fabric")
    assert reported["cables"]["wrong"] > 0
    assert reported["collectors"][0]["age_seconds"] == 0
    assert sum(reported["findings"].values()) == len(published().evaluation.findings)


def test_lists_are_narrowed(api: Api) -> None:
    wrong = api.json("cables", state="wrong")
    assert {row["state"] for row in wrong["items"]} == {"wrong"}
    assert wrong["total"] == published().evaluation.summary.cables_wrong
    hosts = api.json("devices", nodes="gpu-[001-003]")
    assert [row["device"] for row in hosts["items"]] == ["gpu-001", "gpu-002", "gpu-003"]
    up = api.json("ports", nodes="p1-leaf-0", facing="up")
    assert {row["device"] for row in up["items"]} == {"p1-leaf-0"}
    assert {row["facing"] for row in up["items"]} == {"up"}
    loud = api.json("findings", severity="critical", muted="false")
    assert loud["total"] == sum(f.severity == "critical" for f in published().evaluation.findings)


def test_causes_one_by_one(api: Api) -> None:
    rows = api.json("causes")["items"]
    assert [row["impact"] for row in rows] == sorted((row["impact"] for row in rows), reverse=True)
    assert api.json(f"causes/{rows[0]['key']}") == rows[0]
    explained = api.json("findings", cause=rows[0]["key"])
    assert {row["id"] for row in explained["items"]} == set(rows[0]["explains"])


def test_steps_by_rack_and_nodes(api: Api) -> None:
    racks = {device.name: device.rack for device in published().plan.devices.values()}
    api.tower.steps = [step(1, "gpu-001", racks["gpu-001"]), step(2, "gpu-012", racks["gpu-012"])]
    assert [row["key"] for row in api.json("steps")["items"]] == ["s1", "s2"]
    assert [row["key"] for row in api.json("steps", nodes="gpu-[010-014]")["items"]] == ["s2"]
    assert "s1" in [row["key"] for row in api.json("steps", rack=racks["gpu-001"])["items"]]
    assert "r99" in problem_of(api.get("steps", rack="r99"), 400)["detail"]


def test_a_device_and_what_is_found_by_name(api: Api) -> None:
    assert len(api.json("devices/gpu-001")["paths"]) == 4
    assert api.json("devices/p1-leaf-0")["panel"]
    assert api.json("find", text="gpu-00")["items"][0]["name"] == "gpu-001"
    assert api.json("find", text="<script>")["items"] == []


def test_the_past(api: Api) -> None:
    assert [row["number"] for row in api.json("rounds", limit=2)["items"]] == [30, 29]
    links = api.json("history", since="10m")["items"]
    assert [row["seq"] for row in links] == list(range(30, 19, -1))
    events = api.json("history", kind="findings", since="2026-11-20T13:55:00Z", until="2026-11-20T14:00:00")["items"]
    assert {row["rule"] for row in events} == {"CAB003"}
    assert api.json("plans")["items"][0]["digest"] == "d1"
    assert api.json("diff", since="1h")["links"]
    assert api.json("timeline", of="gpu-001")["query"] == "gpu-001"


def test_a_plus_in_a_url_is_a_plus_in_a_time(api: Api) -> None:
    raw = api.get("history?since=2026-11-20T15:00:00+01:00&until=now")
    assert [row["seq"] for row in raw.json()["items"]] == list(range(30, 24, -1))


def test_plan_verdicts_and_unread(api: Api) -> None:
    plan = api.json("plan")
    assert plan["devices"]["host"] == 24
    assert plan["cables"] == len(published().plan.cables)
    rules = [row["rule"] for row in api.json("verdicts", limit=1000)["items"]]
    assert rules == sorted(one.rule for one in published().evaluation.verdicts)
    assert api.json("collection-errors")["total"] == len(published().evaluation.collection_errors)


def test_metrics_whole_and_by_pod(api: Api) -> None:
    whole = api.get("//metrics")
    assert whole.headers["content-type"] == CONTENT_TYPE
    assert "truerail_link_state" in whole.text
    pod = published().plan.devices["gpu-001"].pod
    part = api.get("//metrics", pod=pod)
    assert 0 < len(part.text) < len(whole.text)
    assert "nowhere" in problem_of(api.get("//metrics", pod="nowhere"), 404)["detail"]
    targets = api.get("//sd").json()
    assert {one["labels"]["__param_pod"] for one in targets} >= {pod}
    assert len(api.get("//sd", port=9100).json()) == 24


@pytest.mark.parametrize(
    ("asked", "targets"), [("127.0.0.1:8080", {"127.0.0.1:8080"}), ("rails.example.net", {"rails.example.net"})]
)
def test_scrape_targets_are_where_prometheus_reaches_the_service(asked: str, targets: set[str]) -> None:
    with Api(page={"url": "https://rails.example.net"}) as api:
        found = api.ask("GET", "//sd", headers={"Host": asked}).json()
    assert {target for one in found for target in one["targets"]} == targets


def test_every_get_has_a_tag_and_honours_it(api: Api) -> None:
    shown = published()
    finding, cause = shown.evaluation.findings[0].id, shown.evaluation.causes[0].key
    for url in (
        "fabric", "map", "devices", "devices/gpu-001", "ports", "cables", "findings", f"findings/{finding}", "causes",
        f"causes/{cause}", "steps", "rounds", "history", "plan", "plans", "verdicts", "collection-errors", "audit",
        "where?port=gpu-001", "job?nodes=gpu-001", "blast?of=gpu-001", "path?from=gpu-001&to=gpu-002",
        "diff?planned=true", f"why?finding={finding}", "storm", "timeline?of=gpu-001", "find?text=gpu",
        "acknowledgements", "maintenance",
    ):  # fmt: skip
        first = api.get(url)
        assert first.status_code == 200, url
        tag = first.headers["etag"]
        assert re.search("no-cache|no-store", first.headers["cache-control"]), url
        again = api.ask("GET", url, headers={"If-None-Match": f'"other", {tag}'})
        assert (again.status_code, again.content) == (304, b""), url
        assert again.headers["etag"] == tag


def test_a_tag_is_over_with_the_publication(api: Api) -> None:
    tag = api.get("map").headers["etag"]
    api.tower.publish(published())
    assert api.ask("GET", "map", headers={"If-None-Match": tag}).status_code == 200


def test_a_tag_is_over_with_a_mute(api: Api) -> None:
    finding = published().evaluation.findings[0].id
    tag = api.get("findings").headers["etag"]
    api.post("acknowledgements", {"target": finding, "reason": "known"})
    now = api.ask("GET", "findings", headers={"If-None-Match": tag})
    assert now.status_code == 200
    assert {row["id"]: row["muted"] for row in now.json()["items"]}[finding] == "acknowledged"


def test_a_tag_holds_for_its_own_question_only(api: Api) -> None:
    tag = api.get("job", nodes="gpu-001").headers["etag"]
    problem_of(api.ask("GET", "job?nodes=nobody", headers={"If-None-Match": tag}), 404)
    problem_of(api.ask("GET", "job?nodes=nobody", headers={"If-None-Match": "*"}), 404)


def test_an_age_is_never_taken_from_a_cache(api: Api) -> None:
    tag = api.get("fabric").headers["etag"]
    api.tower.moment = api.tower.moment.replace(minute=30)
    now = api.ask("GET", "fabric", headers={"If-None-Match": tag})
    assert now.status_code == 200
    assert now.json()["collectors"][0]["age_seconds"] == 25 * 60


def test_head_is_get_without_a_body(api: Api) -> None:
    for url in ("fabric", "cables?state=wrong", "//metrics", "//healthz", "events"):
        head, get = api.ask("HEAD", url), None if url == "events" else api.get(url)
        assert head.content == b""
        assert head.status_code == 200
        if get is not None:
            assert head.headers["content-length"] == get.headers["content-length"]
            assert head.headers["content-type"] == get.headers["content-type"]


def test_what_a_device_calls_itself_is_data() -> None:
    name = '<img src=x onerror="alert(1)">\x1b[31m'
    shown = published()
    affected = dataclasses.replace(shown.evaluation.findings[0], summary=name, observed=name)
    evaluation = dataclasses.replace(shown.evaluation, findings=(affected,))
    with Api(
        FakeTower(dataclasses.replace(shown, evaluated=dataclasses.replace(shown.evaluated, evaluation=evaluation)))
    ) as api:
        response = api.get("findings")
        assert response.json()["items"][0]["summary"] == name
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_text_that_utf8_cannot_carry_breaks_nothing() -> None:
    shown = published()
    affected = dataclasses.replace(shown.evaluation.findings[0], summary="\udcff end")
    evaluation = dataclasses.replace(shown.evaluation, findings=(affected,))
    with Api(
        FakeTower(dataclasses.replace(shown, evaluated=dataclasses.replace(shown.evaluated, evaluation=evaluation)))
    ) as api:
        assert api.json("findings")["items"][0]["summary"] == "\udcff end"
