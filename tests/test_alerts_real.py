"""The alerts on what truerail really shows, and the real Alertmanager's opinion of who is woken."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dashboards.generate import GENERATED, ROOT
from dashboards.rules import ALERTS, GROUPS
from tests.metrics_pages import all_samples, page, published
from tests.real import require
from truerail.model.cause_kinds import CauseKind
from truerail.simulator import Fault, Shape, simulate

CONFIG = ROOT / GENERATED / "alertmanager/alertmanager.yml"
RULES = ROOT / GENERATED / "prometheus/truerail.rules.yaml"
ASKED = 'count by (alertname, severity) (ALERTS{alertstate="firing"})'
MINUTES = max(alert.wait for alert in ALERTS) + 2
"""After these minutes all that fires at all fires: nothing changes meanwhile."""
SHAPE = Shape(hosts=12, rails=4, pods=1, spines=2, uplinks=4)


def assert_firing(folder: Path, expected: dict[tuple[str, str], int], *faults: Fault, shape: Shape = SHAPE) -> None:
    """Exactly so many alerts of each name and severity fire on the page that truerail shows of a fabric."""
    require("promtool")
    simulation = simulate(shape, list(faults), seed=1)
    shown = all_samples(page(published(simulation.plan, simulation.snapshot())))
    series = [
        {
            "series": f"{name}{{{','.join(f'{key}={json.dumps(reported)}' for key, reported in labels)}}}",
            "values": f"{value:g}x{MINUTES}",
        }
        for name, labels, value in shown
    ]
    samples = [
        {"labels": f'{{alertname="Truerail{name}", severity="{severity}"}}', "value": count}
        for (name, severity), count in expected.items()
    ]
    asked = [{"expr": ASKED, "eval_time": f"{MINUTES}m", "exp_samples": samples}]
    verdict(folder, {"interval": "1m", "input_series": series, "promql_expr_test": asked})


def verdict(folder: Path, test: dict[str, Any]) -> None:
    """What promtool says of our rules on these series."""
    file = folder / "real.yaml"
    order = [group.name for group in GROUPS]
    every = {"evaluation_interval": test["interval"], "group_eval_order": order}
    file.write_text(json.dumps({"rule_files": [str(RULES)], **every, "tests": [test]}))  # YAML as well, and quicker
    reported = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert reported.returncode == 0, (reported.stdout + reported.stderr)[:3000]


def test_on_a_fabric_that_is_whole_nothing_fires(tmp_path: Path) -> None:
    assert_firing(tmp_path, {})


@pytest.mark.parametrize(
    ("fault", "name", "severity"),
    [
        (Fault(CauseKind.CABLE_SWAP, "one-host"), "CableSwap", "critical"),
        (Fault(CauseKind.CABLE_SWAP, "across"), "CableSwap", "critical"),
        (Fault(CauseKind.CABLE_ROTATION, "one-host"), "CableRotation", "critical"),
        (Fault(CauseKind.CABLE_MOVE, "one-leaf"), "CableMove", "warning"),
        (Fault(CauseKind.CABLE_MOVE, "other-leaf"), "CableMove", "critical"),
        (Fault(CauseKind.PORT_SHIFT), "PortShift", "warning"),
        (Fault(CauseKind.HOST_SWAP, "labels"), "HostSwap", "warning"),
        (Fault(CauseKind.LEAF_SWAP), "LeafSwap", "warning"),
        (Fault(CauseKind.BUNDLE_SWAP), "BundleSwap", "critical"),
        (Fault(CauseKind.GPU_NIC_ORDER), "GpuNicOrder", "warning"),
        (Fault(CauseKind.LINK_DOWN, "host"), "LinkDown", "critical"),
        (Fault(CauseKind.LINK_DOWN, "uplink"), "LinkDown", "warning"),
        (Fault(CauseKind.UNREACHABLE, "hung"), "Unreachable", "warning"),
        (Fault(CauseKind.DEGRADED_LINK), "DegradedLink", "warning"),
    ],
    ids=lambda value: f"{value.kind}-{value.variant}" if isinstance(value, Fault) else value,
)
def test_one_fault_is_one_alert(tmp_path: Path, fault: Fault, name: str, severity: str) -> None:
    """Names alone page no one, whatever the severity of their findings."""
    assert_firing(tmp_path, {(name, severity): 1}, fault)


def test_a_host_that_is_switched_off_is_information(tmp_path: Path) -> None:
    assert_firing(tmp_path, {}, Fault(CauseKind.UNREACHABLE, "off"))


def test_two_faults_are_two_alerts(tmp_path: Path) -> None:
    faults = Fault(CauseKind.LINK_DOWN, "host"), Fault(CauseKind.LINK_DOWN, "host")
    assert_firing(tmp_path, {("LinkDown", "critical"): 2}, *faults)


OUTAGE = {
    'truerail_build_info{version="1", python="3.11"}': "1x240",
    'truerail_evaluation_number{fabric="lab"}': "7x119 stale _ 8x119",
    'truerail_cause_info{fabric="lab", cause="a", kind="slow-host", severity="critical", muted="no"}':
        "1x119 stale _x5 1x20 stale _x94",
    'truerail_cause_info{fabric="lab", cause="b", kind="slow-host", severity="critical", muted="no"}':
        "1x100 stale _x139",
}  # fmt: skip
"""In steps of 15 s: an outage of half a minute, a minute in which the cause is not shown again yet, and after five more
the repair. Another one is put right five minutes before the outage.
"""


def test_a_short_outage_ends_no_alert_and_brings_none_back(tmp_path: Path) -> None:
    require("promtool")
    series = [{"series": name, "values": values} for name, values in OUTAGE.items()]
    minutes = {"29m": 1, "30m15s": 1, "30m45s": 1, "31m15s": 1, "32m": 1, "36m": 1, "38m": 0}
    asked = [
        {"expr": ASKED, "eval_time": minute, "exp_samples": [
            {"labels": '{alertname="TruerailSlowHost", severity="critical"}', "value": 1}][:firing]}
        for minute, firing in minutes.items()
    ]  # fmt: skip
    verdict(tmp_path, {"interval": "15s", "input_series": series, "promql_expr_test": asked})


def test_amtool_takes_the_configuration() -> None:
    require("amtool")
    checked = subprocess.run(["amtool", "check-config", str(CONFIG)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "0 inhibit rules" in checked.stdout
    assert "1 templates" in checked.stdout


@pytest.mark.parametrize(("severity", "receiver"), [("critical", "pager"), ("warning", "tickets"), ("", "tickets")])
def test_the_severity_decides_who_is_reported(severity: str, receiver: str) -> None:
    require("amtool")
    asked = ["amtool", "config", "routes", "test", f"--config.file={CONFIG}", f"--verify.receivers={receiver}"]
    routed = subprocess.run([*asked, f"severity={severity}"], capture_output=True, text=True, check=False)
    assert (routed.returncode, routed.stdout.strip()) == (0, receiver)
