"""The alerts on what truerail really shows, and the real Alertmanager's opinion of who is woken."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml

from dashboards.generate import GENERATED, ROOT
from dashboards.rules import GROUPS
from tests.metrics_pages import all_samples, page, published
from tests.patience import ENOUGH, soon
from tests.ports import free_address
from tests.real import require
from truerail.model.finding import CauseKind
from truerail.simulator import Fault, Shape, simulate

CONFIG = ROOT / GENERATED / "alertmanager/alertmanager.yml"
RULES = ROOT / GENERATED / "prometheus/truerail.rules.yaml"
ASKED = 'count by (alertname, severity) (ALERTS{alertstate="firing"})'
ACTIONS = 'count by (action) (ALERTS{alertstate="firing", alertname="TruerailCableWrong"})'
SWAPPED = 'count(link:truerail_link_state:held{other_host=~".+", other_nic=~".+", other_rail=~".+"})'
SHAPE = Shape(hosts=12, rails=4, pods=1, spines=2, uplinks=4)
LINK = {"fabric": "lab", "host": "h1", "nic": "n1", "switch": "leaf-1"}


def assert_firing(
    folder: Path, expected: dict[tuple[str, str], int], *faults: Fault, swapped: int = 0, action: str = "move"
) -> None:
    """Exactly so many alerts of each name and severity fire on the page that truerail shows of a fabric, so many
    cables are named with the other one that they are swapped with, and each alert on a wrong cable has this action.
    """
    require("promtool")
    simulation = simulate(SHAPE, list(faults), seed=1)
    shown = all_samples(page(published(simulation.plan, simulation.snapshot())))
    series = [
        {
            "series": f"{name}{{{','.join(f'{key}={json.dumps(reported)}' for key, reported in labels)}}}",
            "values": f"{value:g}x40",
        }
        for name, labels, value in shown
    ]
    samples = [
        {"labels": f'{{alertname="Truerail{name}", severity="{severity}"}}', "value": count}
        for (name, severity), count in expected.items()
    ]
    pairs = [{"labels": "{}", "value": swapped}] if swapped else []
    wrong = sum(count for (name, _), count in expected.items() if name == "CableWrong")
    actions = [{"labels": f'{{action="{action}"}}', "value": wrong}] if wrong else []
    asked = [
        {"expr": ACTIONS, "eval_time": "40m", "exp_samples": actions},
        {"expr": ASKED, "eval_time": "40m", "exp_samples": samples},
        {"expr": SWAPPED, "eval_time": "40m", "exp_samples": pairs},
    ]
    verdict(folder, {"interval": "1m", "input_series": series, "promql_expr_test": asked})


def verdict(folder: Path, test: dict[str, Any]) -> None:
    """What promtool says of our rules on these series."""
    file = folder / "real.yaml"
    order = [group.name for group in GROUPS]
    every = {"evaluation_interval": test["interval"], "group_eval_order": order}
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], **every, "tests": [test]}))
    reported = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert reported.returncode == 0, (reported.stdout + reported.stderr)[:3000]


def test_on_a_fabric_that_is_whole_nothing_fires(tmp_path: Path) -> None:
    assert_firing(tmp_path, {})


@pytest.mark.parametrize("variant", ["one-host", "across"])
def test_two_swapped_cables_are_two_alerts_of_one_name_each_with_the_other(tmp_path: Path, variant: str) -> None:
    """One page, since alerts are grouped by name. A lost host would say less: not which cables."""
    assert_firing(tmp_path, {("CableWrong", "critical"): 2}, Fault(CauseKind.CABLE_SWAP, variant), swapped=2)


def test_three_cables_in_a_circle_are_not_reported_as_swapped(tmp_path: Path) -> None:
    assert_firing(tmp_path, {("CableWrong", "critical"): 3}, Fault(CauseKind.CABLE_ROTATION, "one-host"))


def test_hosts_that_carry_each_others_name_page_nobody(tmp_path: Path) -> None:
    """Names or all cables, which would stay on their leaves: no answer decides, and nobody is affected either way."""
    assert_firing(
        tmp_path, {("CableWrong", "warning"): 8}, Fault(CauseKind.HOST_SWAP, "labels"), swapped=8, action="decide"
    )


def test_swapped_leaves_are_reported_as_leaves(tmp_path: Path) -> None:
    """Alertmanager mutes the alerts on their cables and uplinks. The hosts have lost nothing of their own."""
    expected = {("CableWrong", "warning"): 24, ("LeafMiscabled", "warning"): 2, ("UplinkBad", "warning"): 8}
    assert_firing(tmp_path, expected, Fault(CauseKind.LEAF_SWAP), swapped=24, action="none")


def test_a_name_alone_pages_nobody_even_where_its_finding_is_critical(tmp_path: Path) -> None:
    link = 'fabric="lab", pod="p1", host="h1", rail="0", nic="n1"'
    series = {
        'truerail_build_info{version="1", python="3.11"}': "1x40",
        'truerail_evaluation_number{fabric="lab"}': "7x40",
        'truerail_rail_right_ratio{fabric="lab", pod="p1", rail="0"}': "1x40",
        f"truerail_link_state{{{link}}}": "3x40",
        f'truerail_link_info{{{link}, switch="leaf-0", switch_port="p1"}}': "1x40",
        'truerail_device_findings{fabric="lab", pod="p1", host="h1", rail="0", rule="CAB001", severity="critical", '
        'muted="no"}': "1x40",
    }
    for action, severity in (("move", "critical"), ("decide", "critical"), ("none", "warning")):
        seen = f'truerail_link_actual_info{{{link}, action="{action}"}}'
        reported = [{"labels": f'{{alertname="TruerailCableWrong", severity="{severity}"}}', "value": 1}]
        given = [{"series": name, "values": values} for name, values in {**series, seen: "1x40"}.items()]
        asked = [{"expr": ASKED, "eval_time": "40m", "exp_samples": reported}]
        verdict(tmp_path, {"interval": "1m", "input_series": given, "promql_expr_test": asked})


OUTAGE = {
    'truerail_build_info{version="1", python="3.11"}': "1x240",
    'truerail_evaluation_number{fabric="lab"}': "7x119 stale _ 8x119",
    'truerail_device_findings{fabric="lab", host="h1", rule="NIC005", severity="critical", muted="no"}':
        "1x119 stale _x5 1x20 stale _x94",
    'truerail_device_findings{fabric="lab", host="h2", rule="LNK003", severity="critical", muted="no"}':
        "1x100 stale _x139",
}  # fmt: skip
"""In steps of 15 s: an outage of half a minute, a minute in which the host has not answered yet, and after five more
the repair. Another host is put right five minutes before the outage.
"""


def test_a_short_outage_ends_no_alert_and_brings_none_back(tmp_path: Path) -> None:
    require("promtool")
    series = [{"series": name, "values": values} for name, values in OUTAGE.items()]
    minutes = {"29m": 1, "30m15s": 1, "30m45s": 1, "31m15s": 1, "32m": 1, "36m": 1, "38m": 0}
    asked = [
        {"expr": ASKED, "eval_time": minute, "exp_samples": [
            {"labels": '{alertname="TruerailPcieDowntrained", severity="critical"}', "value": 1}][:firing]}
        for minute, firing in minutes.items()
    ]  # fmt: skip
    verdict(tmp_path, {"interval": "15s", "input_series": series, "promql_expr_test": asked})


def test_amtool_takes_the_configuration() -> None:
    require("amtool")
    checked = subprocess.run(["amtool", "check-config", str(CONFIG)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "9 inhibit rules" in checked.stdout


@pytest.mark.parametrize(("severity", "receiver"), [("critical", "pager"), ("warning", "tickets"), ("", "tickets")])
def test_the_severity_decides_who_is_reported(severity: str, receiver: str) -> None:
    require("amtool")
    asked = ["amtool", "config", "routes", "test", f"--config.file={CONFIG}", f"--verify.receivers={receiver}"]
    routed = subprocess.run([*asked, f"severity={severity}"], capture_output=True, text=True, check=False)
    assert (routed.returncode, routed.stdout.strip()) == (0, receiver)


@contextmanager
def alertmanager(folder: Path) -> Iterator[str]:
    """A real Alertmanager with our configuration. Gives its address."""
    require("prometheus-alertmanager")
    address = free_address()
    options = [f"--config.file={CONFIG}", f"--storage.path={folder}/data", f"--web.listen-address={address}"]
    with open(folder / "log", "wb") as log:
        command = ["prometheus-alertmanager", *options, "--cluster.listen-address="]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield f"http://{address}/api/v2/alerts"
        finally:
            process.terminate()
            process.wait(ENOUGH)


def asked(url: str, body: object = None) -> Any:
    """The answer, as soon as somebody listens."""
    data = None if body is None else json.dumps(body).encode()
    deadline = time.monotonic() + ENOUGH
    while True:
        try:
            with urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=ENOUGH) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def muted(folder: Path, expected: set[str], *alerts: dict[str, str]) -> dict[str, bool]:
    """For each alert, by its `id`, whether Alertmanager lets another one mute it: as soon as it says what is expected,
    or finally, because it learns of one alert after the other.
    """
    reported: dict[str, bool] = {}

    def as_expected() -> bool:
        reported.update({one["labels"]["id"]: bool(one["status"]["inhibitedBy"]) for one in asked(url)})
        return len(reported) == len(alerts) and {name for name, is_muted in reported.items() if is_muted} == expected

    with alertmanager(folder) as url, suppress(AssertionError):
        asked(url, [{"labels": labels} for labels in alerts])
        soon(as_expected)
    return reported


def alert(name: str, severity: str, **labels: str) -> dict[str, str]:
    known = labels.pop("id", "")
    return {"alertname": f"Truerail{name}", "severity": severity, "id": known or f"{name} {severity}", **labels}


def test_what_is_explained_by_another_alert_wakes_nobody(tmp_path: Path) -> None:
    leaf = {"fabric": "lab", "switch": "leaf-9"}
    expected = {
        "of the leaf",
        "the leaf itself",
        "the same cable",
        "the rail of that cable",
        "a rail of that host",
        "a cable of it",
        "elsewhere",
    }
    reported = muted(
        tmp_path,
        expected,
        alert("LeafDown", "critical", **leaf),
        alert("CableMissing", "critical", id="of the leaf", **leaf, host="h7", nic="n9"),
        alert("DeviceUnreachable", "warning", id="the leaf itself", **leaf),
        alert("CableMissing", "critical", id="of another leaf", **{**leaf, "fabric": "b"}, host="h7", nic="n9"),
        alert("CableWrong", "critical", **LINK),
        alert("SignalDegraded", "warning", id="the same cable", **LINK),
        alert("SignalDegraded", "warning", id="the cable beside it", **{**LINK, "nic": "n2"}),
        alert("CableMissing", "critical", **{**LINK, "host": "h2"}),
        alert("RailCut", "critical", id="the rail of that cable", **{**LINK, "host": "h2"}),
        alert("RailCut", "critical", id="a rail that no cable cuts", **{**LINK, "host": "h5"}),
        alert("HostRailsDown", "warning", id="a rail of that host", fabric="lab", host="h2"),
        alert("HostRailsDown", "critical", id="a host", fabric="lab", host="h3"),
        alert("CableMissing", "critical", id="a cable of it", **{**LINK, "host": "h3"}),
        alert("CableWrong", "critical", id="a cable of it that is elsewhere", **{**LINK, "host": "h3"}),
        alert("PfcStorm", "critical", **{**LINK, "host": "h4"}),
        alert("PausePressure", "warning", id="elsewhere", fabric="lab", switch="leaf-2"),
        alert("EcmpPolarization", "critical", fabric="lab", switch="leaf-3"),
        alert("DataStale", "warning", fabric="lab", collector="lldp_host"),
    )  # fmt: skip
    assert {name for name, is_muted in reported.items() if is_muted} == expected
    assert len(reported) == 18
