"""The rules for Prometheus, what is generated from them, and their unit tests, checked with the real tools."""

import json
import re
import subprocess
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from dashboards.generate import GENERATED, ROOT, RUNBOOKS, files, main, stale
from dashboards.grafana.boards import BOARDS
from dashboards.outputs.promtool import RULES_FILE, expected, unit_tests
from dashboards.outputs.runbooks import NOTE
from dashboards.outputs.template import rendered
from dashboards.rules import ALERTS, GROUPS
from dashboards.rules.causes import CAUSE_GROUP
from dashboards.rules.declared import Alert, Group
from rules import rules
from tests.each import each
from tests.real import require
from truerail.model.cause_kinds import ALERTING, CauseKind
from truerail.outputs.metrics.declared import CATALOGUE

HERE = ROOT / GENERATED
RULES = HERE / "prometheus/truerail.rules.yaml"
TESTED = [group for group in GROUPS if group.alerts]
story_of = cache(unit_tests)
RECORDS = {record.name for group in GROUPS for record in group.records}
EXPRESSIONS = [*(record.expr for group in GROUPS for record in group.records), *(alert.expr for alert in ALERTS)]


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    require(command[0])
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return files()


def test_what_is_kept_is_current(made: dict[str, str]) -> None:
    assert stale(ROOT, made) == [], "run `make docs`"


def test_what_is_no_longer_made_is_removed(
    tmp_path: Path, made: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboards.generate.files", lambda: made)
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


def placed(folder: Path, rules: dict[str, Any], *stories: dict[str, Any]) -> list[str]:
    """Unit tests beside the rules that they name. Gives their paths."""
    paths = [folder / "tests" / f"{number}.yaml" for number in range(len(stories))]
    beside = (paths[0].parent / RULES_FILE).resolve()
    for path, content in zip((beside, *paths), (rules, *stories), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))  # YAML as well, and quicker
    return [str(path) for path in paths]


def rules_of(chapter: Group, text: str) -> dict[str, Any]:
    """The rules without other alerts, which no story of these asks for, and without what only they use."""
    names = {alert.name for alert in chapter.alerts}
    found: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    for group in found["groups"]:
        group["rules"] = [rule for rule in group["rules"] if "record" in rule or rule["alert"] in names]
    every = [rule for group in found["groups"] for rule in group["rules"]]
    used = [rule["expr"] for rule in every if "alert" in rule]
    for expr in used:
        used += [one["expr"] for one in every if one.get("record", "\0") in expr and one["expr"] not in used]
    for group in found["groups"]:
        group["rules"] = [rule for rule in group["rules"] if rule["expr"] in used]
    return found


def wordless(rules: dict[str, Any], story: dict[str, Any]) -> None:
    """Takes away all annotations: Prometheus writes those of each alert again in each minute."""
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        rule.pop("annotations", None)
    for alert in (
        alert for test in story["tests"] for check in test["alert_rule_test"] for alert in check["exp_alerts"]
    ):
        del alert["exp_annotations"]


def first_words(story: dict[str, Any]) -> None:
    """Leaves of the checks of each alert the first one at which it fires."""
    for test in story["tests"]:
        loud = [check for check in test["alert_rule_test"] if check["exp_alerts"]]
        test["alert_rule_test"] = list({check["alertname"]: check for check in reversed(loud)}.values())


@pytest.mark.parametrize("chapter", TESTED, ids=lambda chapter: chapter.name)
def test_every_story_goes_as_reported(chapter: Group, tmp_path: Path) -> None:
    """In each minute whether it fires; what it says, when it begins."""
    rules, story = rules_of(chapter, RULES.read_text()), yaml.load(story_of(chapter, RUNBOOKS), yaml.CSafeLoader)
    words = deepcopy(story)
    first_words(words)
    said = placed(tmp_path / "words", rules, words)
    wordless(rules, story)
    checked = tool("promtool", "test", "rules", *said, *placed(tmp_path / "minutes", rules, story))
    assert checked.returncode == 0, reported_by(checked)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ('muted="no", severity!="info"', "muted and informative findings would alert"),
        (" unless on(fabric) fabric:truerail_evaluation_number:steady2m", "what is gone would stand on"),
        ("(cause:truerail_cause_info:held unless", "a restart would end the alert"),
    ],
)
def test_the_stories_notice_a_broken_rule(tmp_path: Path, broken: str, why: str) -> None:
    rule_text = RULES.read_text()
    assert broken in rule_text
    instead = "(vector(0) < 0 unless" if broken.endswith("unless") else ""
    few = replace(CAUSE_GROUP, alerts=CAUSE_GROUP.alerts[:2])
    story = yaml.load(unit_tests(few, RUNBOOKS), yaml.CSafeLoader)
    (path,) = placed(tmp_path, rules_of(few, rule_text.replace(broken, instead)), story)
    checked = tool("promtool", "test", "rules", path)
    assert checked.returncode == 1, why
    assert "FAILED" in checked.stdout + checked.stderr


def test_every_alert_has_its_story() -> None:
    found = [test for group in TESTED for test in yaml.load(story_of(group, RUNBOOKS), yaml.CSafeLoader)["tests"]]
    checks = [check for test in found for check in test["alert_rule_test"]]
    for alert in ALERTS:
        mine = [check["exp_alerts"] for check in checks if check["alertname"] == alert.name]
        loud = [[one for one in reported if one["exp_labels"]["severity"] == alert.severity.value] for reported in mine]
        assert [bool(reported) for reported in loud] == [False, False, True, True, True, True, False], alert.name


def test_alerts_do_not_come_twice() -> None:
    assert len({(alert.name, alert.severity) for alert in ALERTS}) == len(ALERTS)


def test_every_kind_of_cause_has_an_alert_but_announced_work() -> None:
    assert {one.kind for one in ALERTING} == set(CauseKind) - {CauseKind.MAINTENANCE}
    assert len({one.alert for one in ALERTING}) == len(ALERTING)
    boards = {board.name for board in BOARDS}
    assert {one.dashboard for one in ALERTING} <= boards
    assert {one.runbook for one in ALERTING} <= rules().keys()


def test_the_guide_has_a_row_for_every_kind_of_cause() -> None:
    text = (ROOT / "docs/alerting.md").read_text(encoding="utf-8")
    for one in ALERTING:
        use = " in use" if one.needs_use else ""
        waits = f"{one.critical} min{use} | {one.warning} min"
        link = f"[{one.runbook}](runbooks/{one.runbook}.md)"
        assert f"| `{one.kind}` | `{one.alert}` | {one.title} | {waits} | {link} |\n" in text


@each("text", EXPRESSIONS)
def test_an_expression_names_only_what_there_is(text: str) -> None:
    promql_parser.parse(text)
    named = set(re.findall(r"\b(?:\w+:)?truerail_\w+(?::\w+)?", text))
    assert named
    assert named <= CATALOGUE.keys() | RECORDS


@each("name", sorted(RECORDS))
def test_a_recording_rule_is_named_by_level_metric_and_operation(name: str) -> None:
    assert re.fullmatch(
        r"(fabric|pod|role|rail|switch|host|device|link|cause|finding):truerail_[a-z_]+:[a-z0-9_]+", name
    )


def test_a_recording_rule_is_recorded_before_it_is_used() -> None:
    seen: set[str] = set()
    for group in GROUPS:
        for record in group.records:
            own = {record.name}  # its own last sample, while truerail is silent
            assert {name for name in RECORDS if name in record.expr} <= seen | own, record.name
            seen.add(record.name)
        for alert in group.alerts:
            assert {name for name in RECORDS if name in alert.expr} <= seen, alert.name


@each("alert", ALERTS, ids=lambda alert: f"{alert.name}-{alert.severity.value}")
def test_an_alert_says_what_and_what_next(alert: Alert) -> None:
    page = expected(alert, RUNBOOKS)["runbook_url"].rpartition("/")[2]
    assert (ROOT / f"docs/runbooks/{page}").read_text().count(alert.name)
    assert "Next: " in alert.description or "First: " in alert.description
    assert len(alert.summary) < 900
    for reported in expected(alert, RUNBOOKS).values():
        assert "{{" not in reported
        assert "  " not in reported


def test_a_template_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no template of ours asks 'ne \$labels.rail \"0\"'"):
        rendered('{{ if ne $labels.rail "0" }}{{ end }}', {}, 1)
    with pytest.raises(ValueError, match="no template of ours says 'toUpper'"):
        rendered("{{ toUpper }}", {}, 1)
