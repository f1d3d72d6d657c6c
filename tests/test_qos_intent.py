"""QoS that a plan declares: read, written, compared with what devices answer, and repaired as text."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.metrics_pages import published
from truerail.analysis.rule import Case
from truerail.cli.app import app
from truerail.model import NetLink, Plan, PortQos, QosBuffer, QosProfile, Role, Snapshot
from truerail.plans import dump_yaml
from truerail.plans.plan_yaml_read import read_yaml
from truerail.testing.cases import scene

DEVICES = """
hosts: {nodes: "gpu-[1-2]", nics: [nic0, nic1]}
leaves: {nodes: "leaf-[0-1]", platform: sonic}
host_links: {ports: "Ethernet[0,8]", speed: 400}
"""
QOS = """
qos:
  trust: dscp
  pfc_priorities: 3
  ecn_priorities: []
  global_pause: no
  watchdog: drop
  mtu: 9000
  dscp: [{values: 26, priority: 3}, {values: "[48-49]", priority: 6}]
  buffers:
    - {ecn_min_bytes: 1000, ecn_max_bytes: 2000}
    - {speed: 400, ecn_min_bytes: 153600, ecn_max_bytes: 1536000, ecn_probability: 0.05, headroom_bytes: 160000}
  roles: [host, leaf]
"""
PROFILE = QosProfile(
    trust="dscp",
    pfc_priorities=(3,),
    ecn_priorities=(),
    global_pause=False,
    watchdog="drop",
    dscp_to_priority=((26, 3), (48, 6), (49, 6)),
    mtu=9000,
    buffers=(QosBuffer(None, 1000, 2000), QosBuffer(400.0, 153600, 1536000, 0.05, 160000)),
    roles=(Role.HOST, Role.LEAF),
)
RECORDED = Path(__file__).parent / "recordings"


@pytest.mark.parametrize("profile", [None, PROFILE, QosProfile(), QosProfile(global_pause=True, pfc_priorities=())])
def test_a_profile_is_written_as_it_is_read(profile: QosProfile | None) -> None:
    plan = read_yaml(DEVICES + QOS, "plan.yaml")
    assert plan.qos == PROFILE
    assert read_yaml(dump_yaml(replace(plan, qos=profile)), "again.yaml").qos == profile


def test_a_fabric_that_is_wrong_everywhere_alike_is_found_from_what_devices_answer(tmp_path: Path) -> None:
    """All NICs trust PCP and have MTU 1500, and agree; the leaves are as planned. One finding, and one cause."""
    qos = "qos: {trust: dscp, pfc_priorities: 3, mtu: 9000, dscp: {values: 26, priority: 3}}\n"
    (tmp_path / "plan.yaml").write_text(DEVICES + qos)
    recorded = (RECORDED / "nic_qos" / "mlnx_qos" / "answer.txt").read_text()
    links = [{"ifname": f"nic{n}", "mtu": 1500, "flags": ["UP", "LOWER_UP"], "operstate": "UP"} for n in (0, 1)]
    for host in ("gpu-1", "gpu-2"):
        (tmp_path / "capture" / host).mkdir(parents=True)
        for nic in ("nic0", "nic1"):
            answer = recorded.replace("ens14f0", nic)
            (tmp_path / "capture" / host / f"mlnx_qos_-i_{nic}").write_text(answer)
        (tmp_path / "capture" / host / "ip_-j_link").write_text(json.dumps(links))
    runner = CliRunner()
    site = ["--plan", str(tmp_path / "plan.yaml"), "--from", str(tmp_path / "capture")]
    answer = json.loads(runner.invoke(app, ["check", *site, "--rule", "CFG001", "--format", "json"]).stdout)
    (finding,) = answer["findings"]
    assert finding["subject"] == "gpu-1"
    assert finding["summary"] == (
        "4 ports of gpu-1 and 1 other device have trust pcp instead of trust dscp (the plan), "
        "MTU 1500 instead of MTU 9000 (the plan)"
    )
    assert {one["kind"] for one in finding["evidence"]} == {"PortQos", "NetLink"}
    (verdict,) = answer["verdicts"]
    assert "4 of 8 ports report no PFC, trust and ECN settings: leaf-[0-1]" in str(verdict)


def test_each_setting_has_words_and_the_surer_source_counts() -> None:
    plan = "\n".join(f"gpu-{host}/nic0 leaf-0/swp{host} rail=0" for host in range(1, 4))
    right = PortQos("nic0", "dscp", (3,), (3,))
    wrong = PortQos("swp1", pfc_priorities=(4,), ecn_priorities=(), ecn_max_bytes=9, ecn_probability=0.5)
    facts = {
        **{f"gpu-{host}": [right] for host in range(1, 4)},
        "gpu-1": [right._replace(trust="pcp")],
        "leaf-0": [wrong],
    }
    qos = QosProfile(ecn_priorities=(3,), buffers=(QosBuffer(ecn_max_bytes=1500000, ecn_probability=0.05),))
    found = published(*_scene(facts, qos, plan)).evaluation.findings
    assert {(one.subject, one.summary, one.confidence) for one in found if one.rule == "CFG001"} == {
        ("gpu-1/nic0", ("gpu-1/nic0 has trust pcp instead of trust dscp (2 of 3 peers), "
         "PFC on 3 instead of PFC on 4 (the other end)"), 0.67),
        ("leaf-0/swp1", ("leaf-0/swp1 has ECN off instead of ECN on 3 (the plan), ECN to 9 bytes instead of ECN to "
         "1,500,000 bytes (the plan), ECN probability 0.5 instead of ECN probability 0.05 (the plan)"), 0.9),
    }  # fmt: skip


def test_a_declared_setting_that_a_port_does_not_report_is_unknown_there_and_named() -> None:
    facts = {"gpu-1": [PortQos("nic0", "dscp", (3,))], "leaf-0": [PortQos("swp1", pfc_priorities=(3,))]}
    qos = QosProfile(trust="dscp", pfc_priorities=(3,), watchdog="drop", buffers=(QosBuffer(headroom_bytes=1),))
    evaluation = published(*_scene(facts, qos)).evaluation
    (verdict,) = [one for one in evaluation.verdicts if one.rule == "CFG001"]
    assert [part.why for part in verdict.not_evaluated] == [
        "1 of 2 ports report no trust, PFC watchdog, headroom, which the plan declares: leaf-0"
    ]


def _scene(
    facts: dict[str, list[PortQos]], qos: QosProfile, plan: str = "gpu-1/nic0 leaf-0/swp1 rail=0"
) -> tuple[Plan, Snapshot]:
    round = scene(Case(facts, plan=plan, qos=qos))
    return round.plan, round.snapshot


def test_an_mtu_that_the_plan_declares_is_left_to_one_rule() -> None:
    plan = "\n".join(f"gpu-{host}/nic0 leaf-0/swp{host} rail=0" for host in range(1, 5))
    facts = {f"gpu-{host}": [NetLink("nic0", mtu=1500 if host == 1 else 9000)] for host in range(1, 5)}
    facts["leaf-0"] = [NetLink(f"swp{host}", mtu=1500 if host == 4 else 9216) for host in range(1, 5)]
    for qos, found in (
        (None, ["LNK002 gpu-1/nic0", "LNK002 gpu-4/nic0"]),
        (QosProfile(mtu=9000), ["CFG001 gpu-1/nic0", "CFG001 leaf-0/swp4"]),
        (QosProfile(mtu=9000, roles=(Role.HOST,)), ["CFG001 gpu-1/nic0", "LNK002 gpu-4/nic0"]),
    ):
        round = scene(Case(facts, plan=plan, qos=qos))
        findings = published(round.plan, round.snapshot).evaluation.findings
        assert sorted(f"{one.rule} {one.subject}" for one in findings if one.rule in ("CFG001", "LNK002")) == found
