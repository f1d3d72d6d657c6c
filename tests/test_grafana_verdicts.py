"""Colours of boards by what the rules say, evaluated by the real promtool."""

import subprocess
from pathlib import Path

import pytest
import yaml

from dashboards.grafana.boards import BOARDS
from dashboards.grafana.verdicts import NIC, WORDS, verdict
from tests.real import require

_RAILS = 'truerail_rail_state{fabric="$fabric"}'
_NICS = 'truerail_link_state{fabric="$fabric"}'
STEPPED = {"timeseries", "status-history", "table"}
SERIES = (
    *(f'truerail_rail_state{{fabric="lab", pod="p1", rail="{rail}"}} 0' for rail in range(3)),
    *(f'truerail_link_state{{fabric="lab", pod="p1", host="a", nic="n{nic}", rail="{nic}"}} 3' for nic in range(3)),
)


def found(rule: str, nic: int, severity: str, muted: str = "no") -> str:
    """A finding on a NIC."""
    labels = f'pod="p1", host="a", nic="n{nic}", rail="{nic}", rule="{rule}", severity="{severity}", muted="{muted}"'
    return f'truerail_device_findings{{fabric="lab", {labels}}} 2'


def status(rule: str, holds: str) -> tuple[str, ...]:
    """A rule's status on the fabric."""
    words = ("pass", "fail", "unknown", "error")
    return tuple(
        f'truerail_rule_status{{fabric="lab", rule="{rule}", status="{word}"}} {int(word == holds)}' for word in words
    )


def evaluated(folder: Path, expr: str, series: tuple[str, ...], expected: dict[str, int]) -> None:
    """Compares the values of an expression with `expected`, by the text of their labels."""
    given = [{"series": name, "values": value} for name, _, value in (one.rpartition(" ") for one in series)]
    samples = [{"labels": labels, "value": value} for labels, value in expected.items()]
    case = {"expr": expr.replace("$fabric", "lab"), "eval_time": "0m", "exp_samples": samples}
    file = folder / "verdicts.yaml"
    tests = [{"interval": "1m", "input_series": given, "promql_expr_test": [case]}]
    file.write_text(yaml.safe_dump({"rule_files": [], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("holds", "rest"), [("pass", 0), ("fail", 0), ("unknown", 1), ("error", 1)], ids=lambda value: str(value)
)
def test_a_verdict_is_the_worst_finding_and_unknown_is_not_green(tmp_path: Path, holds: str, rest: int) -> None:
    require("promtool")
    series = (
        *SERIES, *status("PFC001", holds), *status("PFC002", "fail"), *status("ECN001", "error"),
        found("PFC001", 0, "critical"), found("PFC002", 0, "warning"), found("PFC002", 1, "warning"),
        found("PFC002", 2, "critical", "acknowledged"), found("ECN001", 2, "critical"),
    )  # fmt: skip
    rails = {'{rail="0"}': 3, '{rail="1"}': 2, '{rail="2"}': rest}
    evaluated(tmp_path, verdict("PFC00.", _RAILS, "rail"), series, rails)
    nics = {
        f'{{fabric="lab", pod="p1", host="a", nic="n{nic}", rail="{nic}"}}': value
        for nic, value in enumerate((3, 2, rest))
    }
    evaluated(tmp_path, verdict("PFC00.", _NICS, NIC), series, nics)


def test_a_rule_that_reports_nothing_has_no_verdict(tmp_path: Path) -> None:
    require("promtool")
    evaluated(tmp_path, verdict("PFC001", _RAILS, "rail"), SERIES, {})
    assert [word for word, _ in WORDS.values()] == ["nothing found", "unknown", "warning", "critical"]


def test_only_what_no_rule_evaluates_is_coloured_by_a_limit_of_its_own() -> None:
    """Limits on a measured share in orange or red, outside the board of truerail itself."""
    limited = {
        (board.name, panel.title)
        for board in BOARDS
        if board.name != "service"
        for row in board.rows
        for panel in row.panels
        if panel.type_val in STEPPED and _judges(panel.field_config.defaults.thresholds.steps)
    }
    assert limited == {("rails", "Rails against the median rail")}


def _judges(steps: list[object]) -> bool:
    return any(getattr(step, "color", "") in ("orange", "red") for step in steps)
