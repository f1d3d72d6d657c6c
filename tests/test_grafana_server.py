"""The check of a real Grafana, run against the documented answers of one, and the workflow that runs it."""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from dashboards.check.boards import Board, load
from dashboards.check.grafana import Grafana, main
from dashboards.check.pictures import pictures
from tests.deploying import DEPLOY, ROOT, passes, run, tool
from tests.fake_grafana import FakeGrafana
from tests.loopback import threaded
from tests.real import require

BOARDS = load()
QUERIES = sum(len(panel.queries) for board in BOARDS for panel in (*board.panels, *board.annotations))
WORKFLOW = ROOT / ".github/workflows/ci.yml"


@pytest.fixture
def grafana(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGrafana]:
    monkeypatch.setenv("GRAFANA_TOKEN", "glsa_test")
    with threaded(FakeGrafana(BOARDS)) as server:
        yield server


def check(server: FakeGrafana, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and what was complained of."""
    code = main(["--url", server.url])
    reported = capsys.readouterr()
    assert f"{len(BOARDS)} dashboards, {len(reported.err.splitlines())} complaints\n" in reported.out
    return code, reported.err


def test_every_query_of_every_dashboard_is_asked(grafana: FakeGrafana, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(grafana, capsys) == (0, "")
    asked = [one for board in BOARDS for one in board.variables if one.type == "query"]
    variables = sum(not one.json.get("multi") for one in asked)  # those that take several are "all" unasked
    assert len(grafana.asked) == QUERIES + variables
    assert {query["datasource"]["uid"] for query in grafana.asked} == {"prometheus"}
    assert {(query["instant"], query["range"]) for query in grafana.asked} == {(True, False), (False, True)}
    expressions = [query["expr"] for query in grafana.asked]
    assert not [expr for expr in expressions if re.search(r"\$(fabric|pod|rail|host|switch)\b", expr)]
    assert [expr for expr in expressions if "${__rate_interval}" in expr], "Grafana fills in its own variables"


def test_a_refused_query_is_reported(grafana: FakeGrafana, capsys: pytest.CaptureFixture[str]) -> None:
    grafana.refused = "truerail_hosts"
    code, reported = check(grafana, capsys)
    assert code == 1
    assert "truerail-day1.json: Hosts right: A: /api/ds/query: HTTP Error 400" in reported
    assert "bad_data: 1:7: parse error" in reported


def test_an_empty_panel_is_no_failure_and_an_empty_board_is(
    grafana: FakeGrafana, capsys: pytest.CaptureFixture[str]
) -> None:
    grafana.empty = "truerail_hosts"
    assert check(grafana, capsys) == (0, "")
    grafana.empty = "truerail_collector"
    assert check(grafana, capsys) == (0, "")
    grafana.empty = "("
    code, reported = check(grafana, capsys)
    assert code == 1
    assert "a variable has no value to choose" in reported or "shows nothing at all" in reported


def test_a_dashboard_that_is_missing_or_another_is_reported(
    grafana: FakeGrafana, capsys: pytest.CaptureFixture[str]
) -> None:
    other = deepcopy(dict(BOARDS[1].json))
    other["panels"] = other["panels"][:3]
    grafana.boards[BOARDS[1].uid] = Board(BOARDS[1].file, other)
    del grafana.boards[BOARDS[0].uid]
    code, reported = check(grafana, capsys)
    first, second = reported.splitlines()
    assert code == 1
    assert "is not loaded: " in first
    assert "HTTP Error 404: Not Found" in first
    assert "has other panels" in second


def test_a_dashboard_that_somebody_imported_is_reported(
    grafana: FakeGrafana, capsys: pytest.CaptureFixture[str]
) -> None:
    grafana.provisioned = False
    code, reported = check(grafana, capsys)
    assert (code, reported.count("was not provisioned from files")) == (1, len(BOARDS))


def test_whoever_may_not_ask_is_reported_so(
    grafana: FakeGrafana, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAFANA_TOKEN", "")
    monkeypatch.setenv("GRAFANA_PASSWORD", "wrong")
    code, reported = check(grafana, capsys)
    assert (code, reported.count("HTTP Error 401: Unauthorized")) == (1, len(BOARDS))
    assert "wrong" not in reported
    grafana.authorization = "Basic YWRtaW46d3Jvbmc="
    assert check(grafana, capsys) == (0, "")


def test_a_grafana_that_does_not_answer_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with threaded(FakeGrafana(BOARDS)) as server:
        gone = server.url
    assert main(["--url", gone]) == 1
    assert "Connection refused" in capsys.readouterr().err


def test_pictures_are_taken_of_what_is_chosen(grafana: FakeGrafana, tmp_path: Path) -> None:
    require("chromium-headless-shell")
    host = [board for board in BOARDS if board.uid == "truerail-host"]
    client = Grafana(grafana.url, grafana.authorization)
    assert pictures(host, client, tmp_path / "pictures") == []
    assert (tmp_path / "pictures/truerail-host.png").read_bytes().startswith(b"\x89PNG")
    asked = parse_qs(urlsplit(grafana.pages[0]).query, keep_blank_values=True)
    assert (asked["var-fabric"], asked["var-host"], asked["var-pod"]) == (["lab"], ["gpu-001"], ["$__all"])
    assert "kiosk" in asked
    grafana.marked = True
    reported = pictures(host, client, tmp_path / "pictures")
    assert {str(one) for one in reported} == {
        "truerail-host.json: truerail / Host: a panel shows Bad gateway (grafana)"
    }
    del grafana.boards["truerail-host"]
    assert [one.summary for one in pictures(host, client, tmp_path / "pictures")] == ["answers 404"]


def test_the_workflow_follows_its_schema(tmp_path: Path) -> None:
    both = WORKFLOW, WORKFLOW.with_name("release.yml")
    passes(tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *both))
    forms = [ROOT / ".github/ISSUE_TEMPLATE" / name for name in ("device.yml", "wrong-answer.yml")]
    passes(tool("check-jsonschema", "--builtin-schema", "vendor.github-issue-forms", *forms))
    broken = tmp_path / "ci.yml"
    broken.write_text(WORKFLOW.read_text().replace("runs-on:", "runs_on:"))
    assert tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", broken).returncode == 1


def test_the_workflow_runs_the_versions_that_are_shipped() -> None:
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["grafana"]["steps"]
    script = "\n".join(step.get("run", "") for step in steps)
    pinned = (DEPLOY / "compose/.env.example").read_text()
    for image, variable in (("grafana/grafana", "GRAFANA_VERSION"), ("prom/prometheus", "PROMETHEUS_VERSION")):
        assert f"{image}:${variable}" in script
        assert re.search(rf"^{variable}=v?\d+\.\d+\.\d+$", pinned, re.MULTILINE)
    for mounted in re.findall(r'"\$PWD/([^:"]+):', script):
        assert (ROOT / mounted).exists(), mounted
    assert "python -m dashboards.check.grafana" in script


def test_prometheus_takes_the_workflows_configuration(tmp_path: Path) -> None:
    require("promtool")
    shipped = (ROOT / ".github/prometheus.yml").read_text()
    config = tmp_path / "prometheus.yml"
    config.write_text(shipped.replace("/etc/dashboards", str(ROOT / "dashboards")))
    reported = passes(run("promtool", "check", "config", config))
    assert "1 rule files found" in reported
    assert "SUCCESS" in reported
