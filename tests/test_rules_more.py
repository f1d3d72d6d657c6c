"""What the examples of rules cannot show: bad names, plans with holes, questions that no one asked, real captures."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs

import rules as rules_package
from collector import collectors
from rules import rules
from rules._examples import hears
from rules.stale_data import FREQUENT, RARE_SECONDS, STALE_AFTER_SECONDS
from truerail.analysis.cabling import State
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.model import (
    Finding,
    Neighbor,
    NetAddress,
    NetLink,
    Plan,
    RdmaLink,
    Reading,
    Severity,
    Snapshot,
    Transport,
)
from truerail.testing.cases import AT, explained_scene, plan_of, scene

PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0 speed=400
    gpu-2/nic0 leaf-0/swp2 rail=0 speed=400
    gpu-1/nic1 leaf-1/swp1 rail=1
    leaf-0/swp9 spine-1/swp1
"""
HOSTILE = "\x1b[31m<b>=cmd()\n\u202e" + "x" * 70_000
LAB = Path(__file__).resolve().parents[2] / "shared" / "lab" / "captures"


def evaluated(plan: Plan, snapshot: Snapshot) -> list[Finding]:
    found: list[Finding] = []
    for rule in rules().values():
        with suppress(InsufficientDataError):  # no counters here: what rules about them say then is tested with them
            round = Round(plan, snapshot)
            found += rule.findings(explained_scene(round) if rule.after_causes else round)
    return found


def codes(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.rule, finding.subject) for finding in findings}


def test_an_empty_plan_has_no_findings() -> None:
    assert evaluated(Plan({}, ()), Snapshot(AT, ())) == []


def test_nothing_seen_is_reported_as_unreachable_devices_and_nothing_else() -> None:
    plan = plan_of(Case(plan=PLAN))
    found = evaluated(plan, Snapshot(AT, ()))
    assert codes(found) == {("TEL001", name) for name in plan.devices}
    assert {finding.severity for finding in found} == {Severity.WARNING}


@pytest.mark.parametrize("missing", ["gpu-1", "leaf-0", "spine-1"])
def test_a_plan_whose_cables_name_an_unknown_device_breaks_no_rule(missing: str) -> None:
    made = scene(
        Case(
            {
                "gpu-1": [NetLink("nic0", mtu=9000, speed_gbps=100.0), RdmaLink("mlx5_0", 1, "DOWN", None, "nic0")],
                "leaf-0": [hears("swp1", "gpu-2/nic0"), NetLink("swp1", mtu=1500, speed_gbps=200.0)],
                "gpu-2": [NetAddress("nic0", "10.0.1.1", 24)],
            },
            plan=PLAN,
            rails="0=10.0.0.0/24 1=10.0.1.0/24",
        )
    )
    plan, seen = made.plan, made.snapshot
    devices = {name: device for name, device in plan.devices.items() if name != missing}
    found = evaluated(replace(plan, devices=devices), seen)
    assert ("CFG002", "gpu-2/nic0") in codes(found)
    assert ("TEL001", missing) not in codes(found)


def test_foreign_names_are_made_safe_in_every_text() -> None:
    made = scene(
        Case(
            {
                "gpu-1": [
                    Neighbor("nic0", system_name=HOSTILE, port_id=HOSTILE, port_id_type="ifname"),
                    RdmaLink("mlx5_0\x1b", 1, "DOWN\x1b", "POLLING\n", "nic0"),
                    NetLink("nic0"),
                ],
                "leaf-0": [Neighbor(port, system_name=HOSTILE) for port in ("swp2", "swp7\x1b")],
                "leaf-1": [hears("swp3", "gpu-1/nic7\x1b")],
            },
            plan=PLAN,
            errors={"gpu-2": HOSTILE},
        )
    )
    plan, seen = made.plan, made.snapshot
    found = evaluated(plan, seen)
    assert {"CAB004", "NIC002", "NIC003", "TEL001"} <= {finding.rule for finding in found}
    for finding in found:
        reported = [finding.subject, finding.summary, finding.action, finding.expected or "", finding.observed or ""]
        for text in (*reported, *(str(value) for _, value in finding.detail)):
            assert text.isprintable()
            assert len(text) < 1000


def test_two_nameless_ports_on_one_port_are_a_contradiction() -> None:
    case = Case({"leaf-0": [Neighbor("swp1", system_name="gpu-1"), Neighbor("swp1", system_name="gpu-2")]}, plan=PLAN)
    found = list(rules()["CAB005"].findings(scene(case)))
    assert [finding.subject for finding in found] == ["gpu-1/nic0"]
    assert "leaf-0/swp1 names gpu-1 and gpu-2" in found[0].summary


def test_a_bridge_beside_a_planned_device_is_no_contradiction() -> None:
    case = Case({"leaf-0": [Neighbor("swp1", system_name="br-7"), Neighbor("swp1", system_name="gpu-1")]}, plan=PLAN)
    made = scene(case)
    assert made.cabling.state[0] == State.RIGHT
    assert not list(rules()["CAB005"].findings(made))


def test_both_ends_may_name_a_nic_otherwise_than_the_plan() -> None:
    case = Case(
        {
            "gpu-1": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "enp26s0"), hears("enp26s0", "leaf-0/swp1")],
            "leaf-0": [hears("swp1", "gpu-1/enp26s0")],
        },
        plan="gpu-1/mlx5_0 leaf-0/swp1 rail=0",
    )
    made = scene(case)
    plan, seen = made.plan, made.snapshot
    assert made.cabling.state.tolist() == [State.RIGHT]
    assert evaluated(plan, seen) == []


def test_infiniband_has_no_lldp_to_miss() -> None:
    made = scene(Case({"gpu-1": [NetLink("nic0"), NetLink("nic1")]}, plan=PLAN))
    plan = made.plan
    assert [f.subject for f in rules()["TEL003"].findings(made)] == ["gpu-1"]
    assert not rules()["TEL003"].applies_to(replace(plan, transport=Transport.INFINIBAND))


def test_a_device_that_was_not_asked_is_named_where_its_cables_stay_unknown() -> None:
    plan = plan_of(Case(plan=PLAN))
    asked_links = Reading("gpu-2", "net_link", AT, (NetLink("nic0", operstate="UP"),))
    (found,) = rules()["TEL003"].findings(Round(plan, Snapshot(AT, (asked_links,))))
    assert (found.subject, found.severity) == ("gpu-2", Severity.WARNING)
    assert "not polled" in found.summary
    leaf = Reading("leaf-0", "lldp_switch", AT, (Neighbor("swp2", system_name="gpu-2", port_id="nic0"),))
    assert "gpu-2" not in {
        f.subject for f in rules()["TEL003"].findings(Round(plan, Snapshot(AT, (asked_links, leaf))))
    }


def test_a_newer_answer_to_the_same_question_is_not_stale() -> None:
    made = scene(Case({"gpu-1": [NetLink("nic0")]}, plan=PLAN, ages_seconds={"gpu-1": 900.0}))
    plan, seen = made.plan, made.snapshot
    rule = rules()["TEL002"]
    assert [f.subject for f in rule.findings(made)] == ["gpu-1"]
    again = tuple(structs.replace(reading, at=AT) for reading in seen.readings)
    assert not list(rule.findings(Round(plan, Snapshot(AT, (*seen.readings, *again)))))


def test_an_answer_counts_as_old_only_after_five_rounds_of_its_collector() -> None:
    for one in collectors().values():
        if set(one.yields) & set(FREQUENT):
            assert 5 * one.every_seconds <= RARE_SECONDS.get(one.name, STALE_AFTER_SECONDS), one.name


def test_the_discovery_of_an_infiniband_fabric_may_be_older() -> None:
    made = scene(Case(plan=PLAN))

    def named(age_seconds: float) -> list[str]:
        fact = Neighbor("swp2", system_name="gpu-2", port_id="nic0")
        reading = Reading("leaf-0", "ib_fabric", AT - timedelta(seconds=age_seconds), (fact,))
        newest = Reading("gpu-1", "net_link", AT)
        return [f.summary for f in rules()["TEL002"].findings(Round(made.plan, Snapshot(AT, (reading, newest))))]

    assert named(1400.0) == []
    assert named(1600.0) == ["leaf-0 answered ib_fabric 1600 s ago, more than 1500 s"]


def _why_unreachable(*errors: str) -> str:
    plan = plan_of(Case(plan=PLAN))
    readings = [Reading("gpu-1", f"c{number}", AT, error=error) for number, error in enumerate(errors, 1)]
    (found,) = (f for f in rules()["TEL001"].findings(Round(plan, Snapshot(AT, readings))) if f.subject == "gpu-1")
    return found.summary


def test_an_error_that_all_questions_met_is_named_once() -> None:
    assert "did not answer (timed out);" in _why_unreachable(*["timed out"] * 5)


def test_every_error_of_a_device_is_named_once_and_not_too_many() -> None:
    summary = _why_unreachable("timed out", "timed out", "reset", "refused", "cut", "slow")
    assert "(c1: timed out; c3: reset; c4: refused and 2 more)" in summary


def test_two_rules_cannot_claim_one_code(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = rules()["CAB001"]
    monkeypatch.setattr(rules_package, "rule_of", lambda name: rule)
    with pytest.raises(TypeError, match="CAB001 is claimed by both"):
        rules.__wrapped__()


@pytest.mark.skipif(not LAB.is_dir(), reason="the captures of real lldpd daemons are not beside the project")
@pytest.mark.parametrize("name", sorted(path.name for path in LAB.glob("*") if path.is_dir()))
def test_captures_of_real_daemons(name: str) -> None:
    from truerail.plans import load
    from truerail.transport.replay import read_capture

    plan = load(LAB / name / "plan.csv")
    findings = evaluated(plan, read_capture(LAB / name / "capture", devices=plan.devices).snapshot())
    truth = {frozenset(cable) for cable in json.loads((LAB / name / "truth.json").read_text())["cables"]}
    planned = {f"{c.a.device}:{c.a.name}": f"{c.b.device}:{c.b.name}" for c in plan.cables}
    wrong = {a.replace(":", "/") for a, b in planned.items() if frozenset((a, b)) not in truth}
    assert {f.subject for f in findings} == wrong
    assert {f.rule for f in findings} <= {"CAB001", "CAB002"}
    assert len(findings) == len(wrong) == (0 if name.startswith("right") else 2)
