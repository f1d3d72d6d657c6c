"""What a rule could not evaluate is not lost beside what it found: in every report, in the API and in a job's
answer."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.fake_tower import FakeTower, published
from tests.live_site import runner
from tests.switch_rounds import checked, ethtool, of_rule, rounds
from truerail.model import CauseKind, NotEvaluated, Role, Status, Verdict
from truerail.outputs.narrow import narrowed
from truerail.questions.job import job
from truerail.simulator import Fault, Shape, simulate
from truerail.views.fabric import fabric_view

PLAN = "".join(f"gpu-{n + 1},host,eth0,leaf-0,leaf,Ethernet{8 * n},0,,400\n" for n in range(8))
SHAPE = Shape(hosts=6, rails=4, spines=1, uplinks=2)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, int]:
    """A swap, and a host and two leaves that are not read: as many cables as leaves are seen from neither end."""
    simulation = simulate(SHAPE, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=4)
    wrong = {port.device for port in simulation.truth.wrong}
    right = next(device.name for device in simulation.plan.of_role(Role.HOST) if device.name not in wrong)
    simulation.write(tmp_path)
    for device in (right, *(leaf.name for leaf in simulation.plan.of_role(Role.LEAF))):
        shutil.rmtree(tmp_path / "capture" / device)
    monkeypatch.chdir(tmp_path)
    return tmp_path, SHAPE.rails


def report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    code, out, err = runner(monkeypatch, capsys)("check", "--plan", "plan.csv", "--from", "capture", *more)
    assert (code, err) == (1, "")
    return out


def test_the_json_report_has_the_part_beside_the_findings(
    site: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = json.loads(report(monkeypatch, capsys, "--format", "json"))
    (verdict,) = [one for one in reported["verdicts"] if one["rule"] == "CAB001"]
    (part,) = verdict["unknown"]
    assert verdict["status"] == "fail"
    assert (part["what"], part["count"], part["of"]) == ("cable", site[1], 24)
    assert all("/" in port for port in part["examples"])
    assert part["why"].startswith("4 of 24 cables are unknown: neither end could be read (")
    assert verdict["why"] == part["why"]


def test_the_reports_for_people_and_for_ci_say_it(
    site: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = " ".join(report(monkeypatch, capsys, "--format", "text").split())
    assert "(CAB001 also has findings): 4 of 24 cables are unknown: neither end could be read" in words
    assert "(CAB001 also has findings): 4 of 24 cables are unknown" in report(monkeypatch, capsys, "--format", "html")
    suite = ET.fromstring(report(monkeypatch, capsys, "--format", "junit"))
    skipped = [case for case in suite.iter("testcase") if case.find("skipped") is not None]
    summary = {case.get("classname"): case.find("skipped").get("message") for case in skipped}  # type: ignore[union-attr]
    assert summary["truerail.CAB001"].startswith("unknown in addition to its findings: 4 of 24 cables are unknown")


def test_cables_that_nobody_sees_do_not_pass(
    site: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = json.loads(report(monkeypatch, capsys, "--format", "json"))
    status = {one["rule"]: one["status"] for one in reported["verdicts"]}
    assert {status[code] for code in ("CAB002", "CAB003", "CAB004")} == {"unknown"}


def test_a_rule_of_counters_says_which_links_it_did_not_evaluate_beside_a_bad_one(tmp_path: Path) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        bad = ethtool({"rx_corrected_bits_phy": 42_500 * sample, "rx_symbol_err_phy": 40_000 * sample})
        clean = ethtool({"rx_corrected_bits_phy": 42_500 * sample, "rx_symbol_err_phy": 0})
        return {f"gpu-{host}/ethtool_-S_eth0": bad if host == 1 else clean for host in (1, 2, 6)}

    reported = checked(tmp_path, PLAN, rounds(answers))
    status, findings = of_rule(reported, "LNK004")
    assert (status, [one["subject"] for one in findings]) == ("fail", ["gpu-1/eth0"])
    (verdict,) = [one for one in reported["verdicts"] if one["rule"] == "LNK004"]
    assert [(one["what"], one["count"], one["of"]) for one in verdict["unknown"]] == [("link", 5, 8)]
    assert verdict["unknown"][0]["examples"] == ["gpu-3", "gpu-4", "gpu-5", "gpu-7", "gpu-8", "leaf-0"]


PART = NotEvaluated("neither end of 5 of 8 links counts errors: leaf-0", "link", 5, 8, ("leaf-0",), rest_evaluated=True)


def failing() -> Any:
    """A publication of which one rule about links found something, and could not evaluate five of them."""
    shown = published()
    verdicts = tuple(one for one in shown.evaluation.verdicts if one.rule != "LNK004")
    verdict = Verdict("LNK004", Status.FAIL, why=PART.why, not_evaluated=(PART,))
    return replace(
        shown, evaluated=replace(shown.evaluated, evaluation=replace(shown.evaluation, verdicts=(*verdicts, verdict)))
    )


def test_a_jobs_answer_says_what_a_failing_rule_did_not_evaluate() -> None:
    shown = failing()
    hosts = ",".join(device.name for device in shown.plan.of_role(Role.HOST))
    assert f" In addition, LNK004 could not evaluate everything ({PART.why})." in job(shown, hosts).summary


def test_the_api_has_it() -> None:
    (verdict,) = [one for one in fabric_view(failing(), FakeTower(failing()).now()).verdicts if one["rule"] == "LNK004"]
    assert verdict["unknown"] == [PART.as_dict()]


def test_a_report_on_some_devices_does_not_pass_what_was_not_evaluated() -> None:
    (verdict,) = [one for one in narrowed(failing().evaluation, {"no-such"}, set()).verdicts if one.rule == "LNK004"]
    assert (verdict.status, verdict.not_evaluated) == (Status.UNKNOWN, (PART,))
