"""Every error is a problem that names the value, and tells nothing of the inside."""

import pytest

from tests.api_client import Api, problem_of
from tests.fake_tower import FakeTower, published
from truerail.web.context import RequestContext

READS = (
    "fabric", "map", "devices", "devices/gpu-001", "ports", "cables", "findings", "findings/a", "causes", "causes/a",
    "steps", "history", "plan", "verdicts", "collection-errors", "where?port=a",
    "job?nodes=a", "blast?of=a", "path?from=a&to=b",
    "diff?since=2h", "diff?planned=true", "why?finding=a", "storm", "storm?of=a", "timeline?of=a",
    "find?text=a",
)  # fmt: skip


def test_nothing_is_read_before_the_first_evaluation() -> None:
    tower = FakeTower()
    with Api(tower) as api:
        for url in READS:
            response = api.get(url)
            assert problem_of(response, 503)["type"] == "urn:truerail:problem:not-ready", url
            assert int(response.headers["retry-after"]) > 0
        problem_of(api.get("//readyz"), 503)
        assert api.get("//healthz").status_code == 200
        assert api.get("//metrics").status_code == 200
        tower.publish(published())
        assert api.get("//readyz").status_code == 200
        assert api.get("fabric").status_code == 200


def test_what_needs_the_journal_says_that_it_is_gone(api: Api) -> None:
    api.tower.history.gone = True
    for url in ("rounds", "history", "plans", "audit", "diff?since=2h", "timeline?of=gpu-001", "acknowledgements"):
        response = api.get(url)
        assert problem_of(response, 503)["type"] == "urn:truerail:problem:history-gone", url
        assert "retry-after" in response.headers
    body = {"target": published().evaluation.findings[0].id, "reason": "known"}
    assert problem_of(api.post("acknowledgements", body), 503)["title"] == "History gone"


def test_what_merely_lacks_the_journal_goes_on_and_says_so(api: Api) -> None:
    finding = published().evaluation.findings[0].id
    for url in ("where?port=gpu-001", "devices/gpu-001", f"why?finding={finding}"):
        assert "truerail-missing" not in api.get(url).headers
        api.tower.history.gone = True
        response = api.get(url)
        assert response.status_code == 200
        assert response.headers["truerail-missing"] == "history", url
        api.tower.history.gone = False


def test_a_name_that_is_not_there_is_answered_with_the_nearest(api: Api) -> None:
    for url in ("devices/gpu-0013", "where?port=gpu-0013", "blast?of=gpu-0013", "job?nodes=gpu-0013"):
        detail = problem_of(api.get(url), 404)["detail"]
        assert "gpu-0013" in detail
        assert "did you mean 'gpu-013'?" in detail, url
    for url in ("causes/nope", "findings/nope", "acknowledgements/7", "maintenance/7"):
        problem_of(api.get(url), 404)


@pytest.mark.parametrize(
    ("url", "value"),
    [
        ("devices?nodes=gpu-[1-", "gpu-[1-"),
        ("cables?nodes=nobody", "nobody"),
        ("cables?state=wrnog", "wrnog"),
        ("cables?rail=77", "77"),
        ("findings?severity=loud", "loud"),
        ("ports?facing=sideways", "sideways"),
        ("findings?cause=nope", "nope"),
        ("diff?since=soon", "soon"),
        ("diff?planned=true&since=2h", "planned=true"),
        ("history?since=now&until=2h", "ends"),
        ("devices?cursor=rubbish", "rubbish"),
        ("rounds?cursor=WzFd", "WzFd"),
        ("job?nodes=p1-leaf-0", "p1-leaf-0"),
    ],
)
def test_a_question_that_cannot_be_understood_names_the_value(api: Api, url: str, value: str) -> None:
    assert value in problem_of(api.get(url), 400)["detail"]


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("devices?node=gpu-001", "query node"),
        ("cables?limit=0", "query limit"),
        ("cables?limit=1001", "query limit"),
        ("cables?rail=one", "query rail"),
        ("cables?rail=1&rail=2", "query rail"),
        ("where", "query port"),
        ("where?port=", "query port"),
        ("where?port=" + "x" * 300, "query port"),
        ("fabric?x=1", "query x"),
        ("findings?muted=perhaps", "query muted"),
        ("history?kind=all", "query kind"),
        ("acknowledgements/0", "path number"),
        ("//metrics?pods=p1", "query pods"),
    ],
)
def test_a_wrong_parameter_is_named(api: Api, url: str, where: str) -> None:
    assert where in [one["where"] for one in problem_of(api.get(url), 422)["errors"]]


def test_a_mistyped_filter_is_reported_the_right_one(api: Api) -> None:
    assert "did you mean 'severity'?" in problem_of(api.get("findings", severty="critical"), 422)["detail"]


def test_hostile_names_come_back_as_harmless_text(api: Api) -> None:
    for text in ("<script>alert(1)</script>", "\x1b[2J\x00", "‮gpu", "'; DROP TABLE x; --", "../../etc/passwd", "%s%n"):
        for url in ("where", "blast", "timeline"):
            response = api.get(url, **{"where": {"port": text}}.get(url, {"of": text}))
            detail = problem_of(response, 404)["detail"]
            assert not any(ord(char) < 32 or char == "‮" for char in detail), detail
    problem_of(api.get("devices/%3Cscript%3E%2Fx"), 404)
    problem_of(api.get("where", port="\udc80".encode("utf-8", "surrogateescape").decode("latin-1")), 404)


def test_an_unknown_path_or_method_is_a_problem_too(api: Api) -> None:
    assert "/api/v1/nope" in problem_of(api.get("nope"), 404)["detail"]
    problem_of(api.get("//api/v2/fabric"), 404)
    response = api.ask("PUT", "fabric")
    problem_of(response, 405)
    assert response.headers["allow"] == "GET, HEAD"
    assert api.ask("PATCH", "maintenance").headers["allow"] == "GET, HEAD, POST"
    for page in ("//docs", "//redoc"):
        problem_of(api.get(page), 404)


def test_a_body_that_is_no_json_or_too_large(api: Api) -> None:
    problem_of(api.ask("POST", "recheck", content=b"{", headers={"Content-Type": "application/json"}), 422)
    problem_of(api.ask("POST", "recheck", content=b"devices=a", headers={"Content-Type": "text/plain"}), 422)
    huge = b'{"devices": "' + b"a" * (2 << 20) + b'"}'
    problem_of(api.ask("POST", "recheck", content=huge, headers={"Content-Type": "application/json"}), 413)


def test_a_query_of_any_length_is_refused(api: Api) -> None:
    response = api.get("devices?nodes=" + "a" * 60_000)
    assert response.status_code in (414, 422, 431)
    problem_of(response, response.status_code)


def test_what_breaks_inside_stays_inside(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: RequestContext) -> None:
        raise RuntimeError("password=hunter2 in /srv/secret.py")

    monkeypatch.setattr(RequestContext, "shown", broken)
    problem = problem_of(api.get("fabric"), 500)
    assert "hunter2" not in str(problem)
    assert "secret" not in str(problem)
