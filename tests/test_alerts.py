"""The rules for Prometheus, what is generated from them, and their unit tests, checked with the real tools."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import promql_parser
import pytest
import yaml

from dashboards.generate import GENERATED, ROOT, RUNBOOKS, files, main, stale
from dashboards.outputs.promtool import RULES_FILE, unit_tests
from dashboards.outputs.runbooks import NOTE
from dashboards.outputs.template import rendered
from dashboards.rules import ALERTS, CHAPTERS, GROUPS
from dashboards.rules.declared import Alert, Group
from dashboards.rules.findings import FINDING_ALERTS
from rules import rules
from tests.real import require
from truerail.outputs.metrics.declared import CATALOGUE

HERE = ROOT / GENERATED
STORIES = {chapter.name: unit_tests(chapter, RUNBOOKS) for chapter in CHAPTERS}
RECORDS = {record.name for group in GROUPS for record in group.records}
EXPRESSIONS = [*(record.expr for group in GROUPS for record in group.records), *(alert.expr for alert in ALERTS)]
REPORTED_BY_CABLES = {"CAB001", "CAB002", "CAB003", "CAB004", "CAB006", "CAB008", "NIC003"}
"""Rules about one cable each: the state of the cable is the alert, with the cable's name."""


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    require(command[0])
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)


def test_what_is_kept_is_current() -> None:
    assert stale(ROOT, files()) == [], "run `make docs`"


def test_what_is_no_longer_made_is_removed(tmp_path: Path) -> None:
    site = ["--out", str(tmp_path)]
    (tmp_path / "docs/runbooks").mkdir(parents=True)
    (tmp_path / "docs/runbooks/OLD001.md").write_text(f"{NOTE}\nof a rule that is gone")
    (tmp_path / "docs/runbooks/ByHand.md").write_text("written by hand")
    assert main([*site, "--check"]) == 1
    assert main(site) == 0
    assert main([*site, "--check"]) == 0
    assert not (tmp_path / "docs/runbooks/OLD001.md").exists()
    assert (tmp_path / "docs/runbooks/ByHand.md").exists()


def test_promtool_takes_the_rules() -> None:
    checked = tool("promtool", "check", "rules", "--lint=all", "--lint-fatal", "prometheus/truerail.rules.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "SUCCESS" in checked.stdout


def reported_by(checked: subprocess.CompletedProcess[str]) -> str:
    return (checked.stdout + checked.stderr)[:5000]


def placed(folder: Path, rules_text: str, story: str) -> str:
    """A unit test beside the rules that it names. Gives its path."""
    file = folder / "tests" / "story.yaml"
    file.parent.mkdir()
    file.write_text(story)
    beside = (file.parent / RULES_FILE).resolve()
    beside.parent.mkdir()
    beside.write_text(rules_text)
    return str(file)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_every_story_goes_as_reported(chapter: Group, tmp_path: Path) -> None:
    story = placed(tmp_path, (HERE / "prometheus/truerail.rules.yaml").read_text(), STORIES[chapter.name])
    checked = tool("promtool", "test", "rules", story)
    assert checked.returncode == 0, reported_by(checked)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ('muted="no", severity!="info"', "muted and informative findings would alert"),
        (" unless on(fabric) fabric:truerail_evaluation_number:steady2m", "what is gone would stand on"),
        ("(device:truerail_device_findings:held unless", "a restart would end the alert"),
    ],
)
def test_the_stories_notice_a_broken_rule(tmp_path: Path, broken: str, why: str) -> None:
    rule_text = (HERE / "prometheus/truerail.rules.yaml").read_text()
    assert broken in rule_text
    instead = "(vector(0) < 0 unless" if broken.endswith("unless") else ""
    few = unit_tests(replace(FINDING_ALERTS, alerts=FINDING_ALERTS.alerts[:2]), RUNBOOKS)
    checked = tool("promtool", "test", "rules", placed(tmp_path, rule_text.replace(broken, instead), few))
    assert checked.returncode == 1, why
    assert "FAILED" in checked.stdout + checked.stderr


def test_every_alert_has_its_story() -> None:
    found = [test for story in STORIES.values() for test in yaml.safe_load(story)["tests"]]
    checks = [check for test in found for check in test["alert_rule_test"]]
    for alert in ALERTS:
        mine = [check["exp_alerts"] for check in checks if check["alertname"] == alert.name]
        loud = [[one for one in reported if one["exp_labels"]["severity"] == alert.severity.value] for reported in mine]
        assert [bool(reported) for reported in loud] == [False, False, True, True, True, True, False], alert.name


def test_alerts_do_not_come_twice() -> None:
    assert len({(alert.name, alert.severity) for alert in ALERTS}) == len(ALERTS)


def test_every_rule_has_an_alert_of_each_severity_that_it_finds() -> None:
    alerts = {code: set(map(str, rule.alert.severities)) for code, rule in rules().items() if rule.alert}
    informative = {code for code, rule in rules().items() if rule.severity == "info"}  # which never alerts
    assert alerts.keys() | REPORTED_BY_CABLES | informative == rules().keys()
    assert not alerts.keys() & (REPORTED_BY_CABLES | informative)
    for code, severities in alerts.items():
        source = re.sub(r"alert=Alert\(.*?\n    \),", "", _source(rules()[code].name), flags=re.DOTALL)
        loud = "Severity.CRITICAL" in source
        assert ("critical" in severities) is loud, code
        always = loud and "Severity.WARNING" not in source
        assert ("warning" in severities) is not always, code


def _source(name: str) -> str:
    """The text of a rule and of the helpers that it imports."""
    text = (ROOT / f"rules/{name}.py").read_text()
    return text + "".join(
        (ROOT / f"rules/{one}.py").read_text() for one in re.findall(r"from rules\.(_\w+) import", text)
    )


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_names_only_what_there_is(text: str) -> None:
    promql_parser.parse(text)
    named = set(re.findall(r"\b(?:\w+:)?truerail_\w+(?::\w+)?", text))
    assert named
    assert named <= CATALOGUE.keys() | RECORDS


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_recording_rule_is_named_by_level_metric_and_operation(name: str) -> None:
    assert re.fullmatch(r"(fabric|pod|role|rail|switch|host|device|link):truerail_[a-z_]+:[a-z0-9_]+", name)


def test_a_recording_rule_is_recorded_before_it_is_used() -> None:
    seen: set[str] = set()
    for group in GROUPS:
        for record in group.records:
            own = {record.name}  # its own last sample, while truerail is silent
            assert {name for name in RECORDS if name in record.expr} <= seen | own, record.name
            seen.add(record.name)
        for alert in group.alerts:
            assert {name for name in RECORDS if name in alert.expr} <= seen, alert.name


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: f"{alert.name}-{alert.severity.value}")
def test_an_alert_says_what_and_what_next(alert: Alert) -> None:
    assert (ROOT / f"docs/runbooks/{alert.page}.md").read_text().count(alert.name)
    assert "Next: " in alert.description
    assert len(alert.summary) < 900
    labels = dict(alert.story.fires)
    for text in (alert.summary, alert.description):
        reported = rendered(text, labels, alert.story.value)
        assert "{{" not in reported
        assert "  " not in reported


def test_a_cable_is_named_with_host_rail_and_both_ends() -> None:
    text = STORIES["truerail.cables"]
    assert (
        "description: 'The cable of gpu-001/nic0 (rail 0) belongs in leaf-0/swp1. It is on leaf-6/swp1. Rack r01, "
        "the switch in rack net. Next: `truerail where gpu-001/nic0` confirms the cause; then "
        "move the plug from leaf-6/swp1 to leaf-0/swp1. Until then jobs on gpu-001"
    ) in text


@pytest.mark.parametrize(
    ("action", "ordered", "reported"),
    [
        ("move", True, "swap the plugs in leaf-0/swp1 and leaf-6/swp1"),
        ("none", False, "move no cable. `truerail where gpu-001/nic0` names the device that carries a wrong name"),
        ("decide", False, "move no cable yet. `truerail where gpu-001/nic0` names what comes first, or what decides."),
        ("", False, "move no cable yet"),
    ],
)
def test_no_alert_orders_a_move_that_no_cause_orders(action: str, ordered: bool, reported: str) -> None:
    alerts = [alert for alert in ALERTS if alert.name == "TruerailCableWrong"]
    for alert in alerts:
        other = {"other_host": "gpu-002", "other_nic": "nic0", "other_rail": "6"}
        labels = {**dict(alert.story.fires), **other, "action": action}
        text = rendered(alert.description, labels, 3)
        assert reported in text
        assert ("swap the plugs" in text) is ordered
        assert ("are swapped" in rendered(alert.summary, labels, 3)) is ordered
    assert len(alerts) == 2


def test_a_template_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no template of ours asks 'ne \$labels.rail \"0\"'"):
        rendered('{{ if ne $labels.rail "0" }}{{ end }}', {}, 1)
    with pytest.raises(ValueError, match="no template of ours says 'toUpper'"):
        rendered("{{ toUpper }}", {}, 1)
