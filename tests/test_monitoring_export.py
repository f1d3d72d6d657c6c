"""`truerail monitoring export`: what a site loads into Prometheus, Alertmanager, Grafana and Kubernetes."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from dashboards.generate import RUNBOOKS
from dashboards.outputs.prometheus import rules_file
from dashboards.rules import GROUPS
from rules import rules
from tests.live_site import runner
from tests.real import require
from truerail.outputs.monitoring import GRAFANA as SHIPPED_GRAFANA
from truerail.outputs.monitoring import OPERATOR_RULES, RULES, TRUERAIL, monitoring_files, write
from truerail.outputs.monitoring.derived import prometheus_rule

WIKI, PAGE = "https://wiki.example.com/rails", "https://truerail.example.com"
GRAFANA = "https://grafana.example.com"
RECORDS = "prometheus-records/truerail.records.yaml"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write(folder, monitoring_files(f"{WIKI}/", f"{PAGE}/", f"{GRAFANA}/"))
    return folder


def test_the_command_writes_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runner(monkeypatch, capsys)
    assert run("monitoring", "export", str(tmp_path), "--runbooks", WIKI)[0] == 0
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == set(monitoring_files())
    assert {name.split("/")[0] for name in written} == {
        "alertmanager", "grafana", "grafana-alerting", "kubernetes", "prometheus",
        "prometheus-records", "runbooks",
    }  # fmt: skip
    assert {f"runbooks/{code}.md" for code in rules()} <= written


@pytest.mark.parametrize(
    "address", ["wiki.example.com", "https://wiki example.com", 'https://wiki"', "file:///runbooks"]
)
@pytest.mark.parametrize("option", ["--runbooks", "--truerail", "--grafana"])
def test_what_is_no_address_is_refused(
    option: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, complaint = runner(monkeypatch, capsys)("monitoring", "export", str(tmp_path / "site"), option, address)
    assert code == 2
    assert f"{option}: expected a URL such as" in complaint
    assert not (tmp_path / "site").exists()


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    code, _, complaint = runner(monkeypatch, capsys)("monitoring", "export", str(tmp_path / "file"))
    assert code == 2
    assert "file" in complaint
    assert "cannot be written" in complaint


def test_alerts_lead_to_the_sites_runbooks_and_boards_to_its_truerail(site: Path) -> None:
    for name in (RULES, OPERATOR_RULES, "grafana-alerting/truerail.yaml"):
        text = (site / name).read_text()
        assert f"runbook_url: {WIKI}/PFC001.md" in text
        assert RUNBOOKS not in text
        assert f"{PAGE}/causes/{{{{ $labels.cause }}}}" in text
        assert f"dashboard_url: {GRAFANA}/d/truerail-overview?var-fabric={{{{ $labels.fabric }}}}" in text
        assert TRUERAIL not in text
        assert SHIPPED_GRAFANA not in text
    boards = sorted((site / "grafana").glob("*.json"))
    assert len(boards) == 9
    for board in boards:
        page = [v for v in json.loads(board.read_text())["templating"]["list"] if v["name"] == "truerail"]
        assert [(v["type"], v["query"], v["skipUrlSync"]) for v in page] == [("constant", PAGE, True)]
        assert TRUERAIL not in board.read_text()


def test_every_runbook_that_an_alert_names_is_written(site: Path) -> None:
    groups = yaml.load((site / RULES).read_text(), yaml.CSafeLoader)["groups"]
    urls = {rule["annotations"]["runbook_url"] for group in groups for rule in group["rules"] if "alert" in rule}
    assert len(urls) > 30
    every = {url.replace("{{ $labels.rule }}", code) for url in urls for code in rules()}
    assert [url for url in every if not (site / "runbooks" / url.removeprefix(f"{WIKI}/")).is_file()] == []


@pytest.mark.parametrize("file", [RULES, RECORDS])
def test_promtool_takes_the_rules(site: Path, file: str) -> None:
    require("promtool")
    command = ["promtool", "check", "rules", "--lint=all", "--lint-fatal", str(site / file)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "SUCCESS" in checked.stdout


def test_a_group_without_records_is_not_among_the_records(site: Path) -> None:
    groups = yaml.load((site / RECORDS).read_text(), yaml.CSafeLoader)["groups"]
    assert [group["name"] for group in groups] == [group.name for group in GROUPS if group.records]
    assert all("record" in rule for group in groups for rule in group["rules"])


def test_the_operator_gets_what_the_code_says() -> None:
    resource = yaml.load(prometheus_rule(rules_file(GROUPS, WIKI)), yaml.CSafeLoader)
    assert resource["kind"] == "PrometheusRule"
    assert resource["spec"] == yaml.load(rules_file(GROUPS, WIKI), yaml.CSafeLoader)


def test_the_same_rules_go_to_kubernetes_and_grafana(site: Path) -> None:
    groups = yaml.load((site / "prometheus/truerail.rules.yaml").read_text(), yaml.CSafeLoader)["groups"]
    resource = yaml.load((site / "kubernetes/truerail.prometheusrule.yaml").read_text(), yaml.CSafeLoader)
    assert resource["spec"]["groups"] == groups
    grafana = yaml.load((site / "grafana-alerting/truerail.yaml").read_text(), yaml.CSafeLoader)["groups"]
    theirs = [(rule["title"], rule["data"][0]["model"]["expr"]) for group in grafana for rule in group["rules"]]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    assert theirs == [(f"{rule['alert']} ({rule['labels']['severity']})", rule["expr"]) for rule in alerts]
    uids = [rule["uid"] for group in grafana for rule in group["rules"]]
    assert len(set(uids)) == len(uids)
    assert not [text for text in map(str, grafana) if "$value " in text]


def test_grafana_gets_the_texts_of_a_cause_from_further_queries(site: Path) -> None:
    """Its templates ask for no series, and a text is no label of an alert there either."""
    groups = yaml.load((site / "grafana-alerting/truerail.yaml").read_text(), yaml.CSafeLoader)["groups"]
    one = next(rule for group in groups for rule in group["rules"] if rule["title"] == "TruerailCableSwap (critical)")
    asked = {step["refId"]: step["model"].get("expr", "") for step in one["data"]}
    assert asked["cause_info"] == 'truerail_cause_info{muted="no"}'
    assert asked.keys() >= {"cause_affected_gpus", "cause_affected_hosts", "cause_since_timestamp_seconds"}
    summary = "{{ if $values.cause_info.Labels }}{{ $one := $values.cause_info }}{{ $one.Labels.summary }}"
    assert one["annotations"]["summary"].startswith(summary)
    assert not [text for text in map(str, groups) if "| query" in text]
