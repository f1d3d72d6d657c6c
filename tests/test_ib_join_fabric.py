"""Whole InfiniBand fabrics through the real collectors: faults planted, evaluated, inferred; and a dump by itself."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from typer.testing import CliRunner

from benchmarks.accuracy.fabrics import draw_infiniband
from benchmarks.accuracy.scoring import score
from collector import collectors
from rules import rules
from tests.ib_fabric import discovery, hca, link, plan, switch
from tests.small_fabric import AT
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import (
    CableState,
    CauseKind,
    Device,
    LinkSpeed,
    Plan,
    RdmaLink,
    Reading,
    Role,
    Snapshot,
    Status,
    Transport,
)
from truerail.model.history import NoHistory
from truerail.plans.inference import infer
from truerail.questions.why import why
from truerail.rounds import evaluate, publication_of
from truerail.simulator import Fault, Noise, Shape, simulate

POD = Shape(hosts=16, rails=8, spines=4, uplinks=8, platforms=("infiniband",), host_ports="rdma")


def cables(of: Plan) -> set[tuple[str, str, int | None]]:
    return {(str(cable.a), str(cable.b), cable.rail) for cable in of.cables}


def alone(snapshot: Snapshot) -> Snapshot:
    """What a discovery tells without any other answer."""
    return Snapshot(snapshot.at, [reading for reading in snapshot.readings if reading.collector == "ib_fabric"])


@pytest.mark.parametrize("seed", range(14))
def test_every_fault_is_found_and_nothing_else(seed: int) -> None:
    drawn = draw_infiniband(seed)
    found = score(drawn.simulation.truth, evaluate(Round(drawn.simulation.plan, drawn.simulation.snapshot())))
    assert found.mistakes == []


@pytest.mark.parametrize("host_ports", ["netdev", "pci"])
def test_a_plan_may_name_adapters_by_what_the_hosts_alone_know(host_ports: str) -> None:
    shape = replace(POD, style="ib", host_ports=host_ports)
    faults = [Fault(CauseKind.GPU_NIC_ORDER), Fault(CauseKind.CABLE_SWAP, "across"), Fault(CauseKind.LINK_DOWN, "host")]
    simulation = simulate(shape, faults, seed=3, noise=Noise(unreachable=0.1))
    found = score(simulation.truth, evaluate(Round(simulation.plan, simulation.snapshot())))
    assert found.mistakes == []


def test_a_swap_is_one_swap_and_a_swapped_label_one_relabel() -> None:
    faults = [Fault(CauseKind.LEAF_SWAP), Fault(CauseKind.CABLE_SWAP, "one-host")]
    simulation = simulate(POD, faults, seed=1)
    reported = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert sorted((cause.kind, len(cause.moves)) for cause in reported.causes) == [
        (CauseKind.CABLE_SWAP, 2),
        (CauseKind.LEAF_SWAP, 0),
    ]


def test_a_right_fabric_has_no_finding_and_every_device_counts_as_read() -> None:
    simulation = simulate(POD)
    for seen in (simulation.snapshot(), alone(simulation.snapshot())):
        reported = evaluate(Round(simulation.plan, seen))
        assert reported.findings == ()
        assert (reported.summary.hosts_read, reported.summary.cables_right) == (16, len(simulation.plan.cables))
        assert reported.notes == ()


def test_rules_of_ethernet_do_not_apply() -> None:
    simulation = simulate(POD)
    reported = evaluate(Round(simulation.plan, simulation.snapshot()))
    idle = {verdict.rule for verdict in reported.verdicts if verdict.status is Status.NOT_APPLICABLE}
    assert {"TEL003", "PFC001", "LBL001", "ECN001", "CFG001"} <= idle


def test_a_link_at_half_its_speed_is_reported_by_the_discovery_alone() -> None:
    simulation = simulate(POD, [Fault(CauseKind.DEGRADED_LINK, "uplink")], seed=2)
    slow = {str(port) for port in simulation.world.slow}
    reported = list(rules()["LNK001"].findings(Round(simulation.plan, alone(simulation.snapshot()))))
    assert [finding.subject in slow for finding in reported] == [True]


def test_speeds_are_evaluated_where_nobody_else_tells_them() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1")
    cable = planned.cables[0]._replace(speed_gbps=400.0)
    planned = Plan(planned.devices, (cable,), transport=Transport.INFINIBAND)
    one = discovery(link(hca(1), switch(0, 1)), speeds=[LinkSpeed("1", 200.0, "leaf-0", switch(0, 1)[0])])
    assert [finding.subject for finding in rules()["LNK001"].findings(Round(planned, Snapshot(AT, [one])))] == [
        "gpu-1/mlx5_0"
    ]


DEGRADED = """CA: gpu-001 mlx5_0:
      0xa088c20300000101     11    1[  ] ==( {}        {} Gbps Active/  LinkUp)==>       1    1[  ] "leaf-1" ({})
Switch: 0xfc6a1c0300000100 leaf-1:
           1    1[  ] ==( {}        {} Gbps Active/  LinkUp)==>      11    1[  ] "gpu-001 mlx5_0" ({})
"""


@pytest.mark.parametrize(
    ("width", "lane", "said", "runs", "able"),
    [
        ("1X", "106.25", "Could be 4X ", 100, 400),
        ("2X", "106.25", "Could be 4X ", 200, 400),
        ("4X", "53.125", " Could be 106.25 Gbps", 200, 400),
        ("4X", "53.125", " Could be NDR", 200, 400),
        ("2X", "53.125", "Could be 4X Could be 106.25 Gbps", 100, 400),
        ("4X", "106.25", " ", 400, None),
        ("4X", "10.0", " Could be FDR10 (Found link at QDR but expected speed is FDR10)", 40, None),
    ],
)
def test_a_link_that_lost_lanes_or_speed_is_found_without_a_planned_speed(
    width: str, lane: str, said: str, runs: int, able: int | None
) -> None:
    facts = collectors()["ib_fabric"].read(DEGRADED.format(width, lane, said, width, lane, said), Device("ufm"))
    speeds = [fact for fact in facts if isinstance(fact, LinkSpeed)]
    assert [(speed.gbps, speed.able_gbps) for speed in speeds] == [(runs, able)] * 2
    planned = plan("gpu-001/mlx5_0 leaf-1/1")
    reported = Reading("ufm", "ib_fabric", AT, facts)
    looked = rules()["LNK001"].look(Round(planned, Snapshot(AT, [reported])))
    found = looked.findings
    assert bool(looked.not_evaluated) is (able is None)  # nothing to compare it with
    assert [finding.subject for finding in found] == ["gpu-001/mlx5_0"] * (able is not None)
    assert all(f"runs at {runs} Gb/s" in finding.summary for finding in found)
    assert all(finding.summary.endswith(f"both ends support {able} Gb/s") for finding in found)


@pytest.mark.parametrize(("slow", "fast", "limited"), [(16, 0, True), (9, 7, True), (8, 8, False), (7, 0, False)])
def test_a_speed_that_most_links_run_at_is_the_fabrics_limit(slow: int, fast: int, limited: bool) -> None:
    planned = plan("\n".join(f"gpu-{host}/mlx5_0 leaf-0/{host}" for host in range(slow + fast)))
    links = [link(hca(host), switch(0, host)) for host in range(slow + fast)]
    speeds = [LinkSpeed("mlx5_0", 200.0, f"gpu-{host}", hca(host)[0], 400.0) for host in range(slow)]
    speeds += [LinkSpeed("mlx5_0", 400.0, f"gpu-{host}", hca(host)[0]) for host in range(slow, slow + fast)]
    reported = rules()["LNK001"].look(Round(planned, Snapshot(AT, [discovery(*links, speeds=speeds)])))
    assert (len(reported.findings), [part.count for part in reported.not_evaluated]) == (
        (0, [slow]) if limited else (slow, [])
    )


def test_a_missing_link_is_reported_by_one_witness_or_by_two() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-1/mlx5_1 leaf-0/2")
    found = discovery(link(hca(1, 1), switch(0, 2)), by="gpu-2")
    own = Reading("gpu-1", "rdma_link", AT, (RdmaLink("mlx5_0", 1, "DOWN", "POLLING"),))
    (by_one,) = rules()["CAB003"].findings(Round(planned, Snapshot(AT, [found])))
    (by_two,) = rules()["CAB003"].findings(Round(planned, Snapshot(AT, [found, own])))
    assert by_one.summary.endswith("as the discovery of the fabric reports")
    assert by_two.summary.endswith("as gpu-1/mlx5_0 and the discovery of the fabric report")
    assert by_one.confidence < by_two.confidence


@pytest.mark.parametrize("only", [False, True], ids=["with hosts", "a dump alone"])
def test_a_plan_is_inferred_from_a_discovery(only: bool) -> None:
    simulation = simulate(POD)
    found = infer(alone(simulation.snapshot()) if only else simulation.snapshot())
    assert cables(found.plan) == cables(simulation.plan)
    assert (found.plan.transport, found.confidence, found.notes) == (Transport.INFINIBAND, 1.0, ())
    assert all(device.chassis_ids for device in found.plan.devices.values() if device.role is not Role.HOST)


def test_the_machine_that_tells_a_discovery_need_not_be_in_the_fabric() -> None:
    seen = alone(simulate(POD).snapshot())
    reported = infer(Snapshot(seen.at, [structs.replace(reading, device="ufm-1") for reading in seen.readings]))
    assert reported.notes == ()
    assert "ufm-1" not in reported.plan.devices


def test_a_cable_that_is_not_where_most_hosts_have_it_is_an_outlier() -> None:
    simulation = simulate(POD, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=4)
    found = infer(alone(simulation.snapshot()))
    assert {outlier.subject for outlier in found.outliers} == set(map(str, simulation.truth.moved))
    assert cables(found.plan) == cables(simulation.plan)


def test_a_host_with_a_dark_link_keeps_the_rails_of_its_other_adapters() -> None:
    simulation = simulate(POD, [Fault(CauseKind.LINK_DOWN, "host")], seed=5)
    (dead,) = simulation.truth.missing
    found = infer(alone(simulation.snapshot()))
    assert cables(simulation.plan) - cables(found.plan) == {
        (str(cable.a), str(cable.b), cable.rail) for cable in simulation.plan.cables if cable.a == dead
    }


def test_labels_that_are_swapped_after_the_plan_was_inferred_are_found_out() -> None:
    shape = Shape(hosts=16, rails=8, spines=0, platforms=("infiniband",), host_ports="rdma")
    before, after = simulate(shape), simulate(shape, [Fault(CauseKind.LEAF_SWAP)], seed=1)
    reported = evaluate(Round(infer(before.snapshot()).plan, after.snapshot()))
    assert [cause.kind for cause in reported.causes] == [CauseKind.LEAF_SWAP]


def test_switches_without_names_are_planned_under_their_guids() -> None:
    nameless = "Quantum-2 Mellanox Technologies"
    links = [link(hca(h, d), switch(d, h, nameless)) for h in range(1, 5) for d in (0, 1)]
    nodes = [link(switch(d, 65, nameless), (f"0xfc6a1c030000000{d}", f"0xfc6a1c030000000{d}", "1")) for d in (0, 1)]
    found = infer(Snapshot(AT, [discovery(*links, *nodes)]))
    leaves = [device.name for device in found.plan.of_role(Role.LEAF)]
    assert leaves == [switch(0, 1)[0], switch(1, 1)[0]]
    assert not found.plan.of_role(Role.SPINE)
    assert evaluate(Round(found.plan, Snapshot(AT, [discovery(*links, *nodes)]))).summary.cables_right == 8


@pytest.fixture
def dump(tmp_path: Path) -> tuple[Path, Path]:
    """A folder that holds a dump, beside the folders of two hosts; and the plan."""
    simulation = simulate(POD, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=1)
    capture = simulation.write(tmp_path / "all")
    folder = tmp_path / "dump"
    folder.mkdir()
    (capture / "gpu-001" / "ibnetdiscover").rename(folder / "ibnetdiscover")
    for host in ("gpu-002", "gpu-003"):
        (capture / host).rename(folder / host)
    return folder, tmp_path / "all" / "plan.csv"


def test_a_dump_beside_a_few_hosts_is_evaluated_as_a_fabric(dump: tuple[Path, Path]) -> None:
    folder, planned = dump
    reported = CliRunner().invoke(app, ["check", "--from", str(folder), "--plan", str(planned), "--format", "json"])
    assert reported.exit_code == 1, reported.output
    report = json.loads(reported.stdout)
    assert _cables_or_names(report)
    assert {finding["rule"] for finding in report["findings"]} == {"CAB001"}


def test_a_dump_alone_gives_a_plan_and_its_evaluation(dump: tuple[Path, Path], tmp_path: Path) -> None:
    folder, _ = dump
    written = tmp_path / "plan.yaml"
    inferred = CliRunner().invoke(app, ["plan", "infer", "--from", str(folder), "--output", str(written)])
    assert inferred.exit_code == 0, inferred.output
    assert "transport: infiniband" in written.read_text()
    reported = CliRunner().invoke(app, ["check", "--from", str(folder), "--plan", str(written), "--format", "json"])
    assert _cables_or_names(json.loads(reported.stdout))


def _cables_or_names(report: dict[str, Any]) -> bool:
    """Whether it leaves open which of the two is swapped: a dump has HCAs by the names that their drivers gave."""
    (cause,) = report["causes"]
    others = [(other["kind"], len(other["moves"])) for other in cause["alternatives"]]
    return (cause["kind"], cause["moves"], others) == ("cable-swap", [], [("gpu-nic-order", 0), ("cable-swap", 2)])


def test_files_beside_the_folders_that_tell_of_no_fabric_are_still_ignored(dump: tuple[Path, Path]) -> None:
    folder, planned = dump
    (folder / "notes.txt").write_text("where I was")
    reported = CliRunner().invoke(app, ["check", "--from", str(folder), "--plan", str(planned)])
    assert "files beside the folders of devices ignored: 1 (notes.txt)" in " ".join(reported.stdout.split())


def test_a_name_that_two_switches_bear_is_put_right_by_names_and_not_by_waiting() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-2/mlx5_0 leaf-0/2")
    seen = Snapshot(AT, [discovery(link(hca(1), switch(0, 1)), link(hca(2), switch(1, 1, "leaf-0")))])
    torn = list(rules()["CAB005"].findings(Round(planned, seen)))
    assert {finding.action for finding in torn} == {
        "Give each device a name of its own (CAB007), then discover the fabric again."
    }
    (twice,) = rules()["CAB007"].findings(Round(planned, seen))
    assert twice.summary == f"2 devices announce the name leaf-0: {switch(0, 1)[0]} and {switch(1, 1)[0]}"


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (RdmaLink("mlx5_0", 1, None, None), "It is not a gap in the discovery"),
        (RdmaLink("mlx5_0", 1, "DOWN", "POLLING"), "an end that answered reports"),
        (RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP"), ""),
    ],
    ids=["reported by the discovery", "reported by the host", "plugged in elsewhere"],
)
def test_on_call_is_reported_who_says_that_there_is_no_link(device: RdmaLink, words: str) -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-1/mlx5_1 leaf-0/2")
    readings = [discovery(link(hca(1, 1), switch(0, 2)), by="gpu-2"), Reading("gpu-1", "rdma_link", AT, (device,))]
    published = publication_of(Round(planned, Snapshot(AT, readings)), fabric="lab")
    (found,) = (one for one in published.evaluation.findings if one.rule == "CAB003")
    answer = why(published, NoHistory(), found.id)
    reported = " ".join(answer.ruled_out)
    assert words in reported
    assert "LLDP switched off" not in reported
    assert answer.path is not None
    assert "the discovery of the fabric" in answer.path.why


def test_a_cable_on_another_chip_of_an_unnamed_box_is_no_link_that_is_down() -> None:
    """Only the chip with most of the hosts is known to be the leaf; the others may have what it lacks."""
    shape = Shape(hosts=16, rails=8, rails_per_leaf=2, uplinks=16, host_ports="rdma", platforms=("infiniband",))
    simulation = simulate(shape, [], behaviours=["ib_unmanaged", "ib_multi_asic"])
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert {cause.kind for cause in evaluation.causes} <= {CauseKind.UNKNOWN}
    assert not {CableState.WRONG, CableState.MISSING}.intersection(
        evaluation.cable_states[cable.a] for cable in simulation.plan.cables if cable.a.device.startswith("leaf")
    )


@pytest.mark.parametrize("behaviours", [["ib_unmanaged", "ib_multi_asic"], ["ib_director", "ib_multi_asic"]])
def test_chips_that_are_cabled_to_each_other_alone_may_be_of_any_box(behaviours: list[str]) -> None:
    """With one rail a leaf no uplink is on the chip with the hosts, so no chip of the uplinks has a known neighbour."""
    shape = Shape(hosts=16, rails=8, spines=4, uplinks=16, host_ports="rdma", platforms=("infiniband",))
    simulation = simulate(shape, [], behaviours=behaviours)
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert (evaluation.findings, evaluation.causes) == ((), ())
    states = evaluation.cable_states
    assert {states[cable.a] for cable in simulation.plan.cables if cable.rail is not None} == {CableState.RIGHT}
    assert {states[cable.a] for cable in simulation.plan.cables if cable.rail is None} == {CableState.UNKNOWN}
    (verdict,) = (one for one in evaluation.verdicts if one.rule == "CAB003")
    (part,) = verdict.not_evaluated
    assert (verdict.status, part.count, part.of) == (Status.UNKNOWN, 128, 256)
    assert "the discovery has their switch as several nodes whose ports the plan does not number" in part.why


def test_a_cable_with_light_on_an_unnumbered_chip_is_no_finding() -> None:
    """The host reports link; on which of the unnamed nodes the cable is, no answer shows."""
    shape = Shape(hosts=16, rails=8, rails_per_leaf=2, uplinks=16, host_ports="rdma", platforms=("infiniband",))
    simulation = simulate(shape, [], behaviours=["ib_unmanaged", "ib_multi_asic"])
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert [one.summary for one in evaluation.findings if one.rule == "CAB003"] == []
