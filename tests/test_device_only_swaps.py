"""Cables in each other's places where the hosts are heard, and not their ports: DPUs, and Junos without port ids."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.accuracy.fabrics import STRAINS, draw
from benchmarks.behaviours.scoring import behaviour_score
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import CableState, CauseKind, Snapshot, Status
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

SWAP = [Fault(CauseKind.CABLE_SWAP, "across")]


def report(flag: str, platform: str, seed: int, folder: Path) -> tuple[Simulation, dict[str, Any]]:
    """A drawn fabric with one swap, and what `truerail check` reports of it."""
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4, spare_ports=6, platforms=(platform,))
    made = simulate(shape, SWAP, seed=seed, folders="inventory", behaviours=[flag])
    capture, plan = made.write(folder), folder / "plan.csv"
    said = CliRunner().invoke(app, ["check", "--from", str(capture), "--plan", str(plan), "--format", "json"])
    assert said.exit_code == 1, said.output
    return made, dict(json.loads(said.stdout))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("flag", "platform"), [("dpu", "cumulus"), ("dpu_offset=none", "eos")])
def test_hosts_without_ports_name_the_pair_and_move_nothing(
    tmp_path: Path, flag: str, platform: str, seed: int
) -> None:
    made, reported = report(flag, platform, seed, tmp_path / "site")
    (cause,) = reported["causes"]
    assert cause["kind"] == "cable-swap"
    assert set(cause["subjects"]) == set(made.truth.causes[0].subjects)
    assert cause["moves"] == []
    assert [other["kind"] for other in cause["alternatives"]] == ["cable-rotation"]
    assert cause["to_confirm"].startswith("which ")


def test_a_table_without_ids_shows_the_nic_of_a_host_by_its_description(tmp_path: Path) -> None:
    """Junos' brief form: lldpd describes a port by the interface's own name, which no port of the leaf has."""
    made, reported = report("junos_no_portid", "junos", 1, tmp_path / "site")
    (cause,) = reported["causes"]
    assert (cause["kind"], len(cause["moves"])) == ("cable-swap", 2)
    assert set(cause["subjects"]) == set(made.truth.causes[0].subjects)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("offset", ["0x10", "0x25"])
def test_the_macs_of_arms_tell_which_nic_it_is_where_the_host_is_wrong(tmp_path: Path, offset: str, seed: int) -> None:
    made, reported = report(f"dpu_offset={offset}", "cumulus", seed, tmp_path / "site")
    (cause,) = reported["causes"]
    assert (cause["kind"], len(cause["moves"])) == ("cable-swap", 2)
    assert set(cause["subjects"]) == set(made.truth.causes[0].subjects)


@pytest.mark.parametrize("offset", ["0x10", "0x25"])
def test_a_hint_alone_never_moves_a_cable(offset: str) -> None:
    """Two cables of one host: the right host is heard on both ports, and only the offsets say that they are crossed."""
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4)
    made = simulate(
        shape, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=1, folders="inventory",
        behaviours=[f"dpu_offset={offset}"],
    )  # fmt: skip
    evaluation = evaluate(Round(made.plan, made.snapshot()))
    assert not any(cause.moves for cause in evaluation.causes)
    states = {evaluation.cable_states[port] for port in made.truth.causes[0].cables}
    assert states == {CableState.UNKNOWN}


@pytest.mark.parametrize("kind", [CauseKind.CABLE_SWAP, CauseKind.CABLE_ROTATION])
def test_cables_of_one_host_in_each_others_places_are_said_to_be_unknown(kind: CauseKind) -> None:
    """Every leaf hears the DPU of the planned host: no answer differs from that of a right fabric, and none passes."""
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4)
    made = simulate(shape, [Fault(kind, "one-host")], seed=1, folders="inventory", behaviours=["dpu"])
    (cause,) = made.truth.causes
    assert CauseKind.UNKNOWN in [other.kind for other in cause.alternatives]
    evaluation = evaluate(Round(made.plan, made.snapshot()))
    assert not evaluation.causes
    assert {one.rule: one.status for one in evaluation.verdicts}["CAB001"] is Status.UNKNOWN
    said = {one.subject: dict(one.detail)["places_by_name"] for one in evaluation.findings if one.rule == "TEL003"}
    assert said[cause.cables[0].device] == 4
    score = behaviour_score(made, evaluation)
    assert (score.causes_unknown, score.causes_missed, score.problems) == (1, 0, [])
    assert {evaluation.cable_states[port] for port in cause.cables} == {CableState.UNKNOWN}
    passed = replace(evaluation, findings=(), cable_states=dict.fromkeys(evaluation.cable_states, CableState.RIGHT))
    assert behaviour_score(made, passed).causes_missed == 1  # no one says that it may be so


@pytest.mark.parametrize(("how", "flags"), [("across", ["dpu"]), ("one-host", []), ("one-host", ["junos_no_portid"])])
def test_answers_that_differ_from_those_of_a_right_fabric_decide(how: str, flags: list[str]) -> None:
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4, platforms=("junos",))
    made = simulate(shape, [Fault(CauseKind.CABLE_SWAP, how)], seed=1, folders="inventory", behaviours=flags)
    assert made.truth.decidable


def test_hosts_swapped_as_a_whole_are_no_pairs_of_cables() -> None:
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4)
    made = simulate(shape, [Fault(CauseKind.HOST_SWAP, "bundles")], seed=1, folders="inventory", behaviours=["dpu"])
    evaluation = evaluate(Round(made.plan, made.snapshot()))
    assert not any(cause.kind is CauseKind.CABLE_SWAP or cause.moves for cause in evaluation.causes)


@pytest.mark.parametrize("answering", ["gpu", "gpu spine", "gpu leaf", "spine"])
def test_swapped_leaves_that_send_no_ports_are_one_cause(answering: str) -> None:
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=8, platforms=("junos",))
    flags = ["junos_no_portid", "descr=peer_of_plan"]
    made = simulate(shape, [Fault(CauseKind.LEAF_SWAP, "labels")], seed=1, folders="inventory", behaviours=flags)
    seen = made.snapshot()
    reported = [one for one in seen.readings if one.device.startswith(tuple(answering.split()))]
    (cause,) = evaluate(Round(made.plan, Snapshot(seen.at, reported))).causes
    assert (cause.kind, set(cause.subjects)) == (CauseKind.LEAF_SWAP, set(made.truth.causes[0].subjects))
    assert cause.moves == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_cable_in_a_spare_port_of_its_own_leaf_is_found(seed: int) -> None:
    """The host hears its leaf and not the port; the planned port hears no one, and another one hears the host: the only
    NIC of the host that hears this leaf, and the leaf's only port that hears the host, are the ends of one cable.
    """
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=8, spare_ports=4, platforms=("junos",))
    flags = ["junos_no_portid", "descr=peer_of_plan"]
    fault = [Fault(CauseKind.CABLE_MOVE, "one-leaf")]
    made = simulate(shape, fault, seed=seed, folders="inventory", behaviours=flags)
    evaluation = evaluate(Round(made.plan, made.snapshot()))
    (port,) = made.truth.moved
    assert evaluation.cable_states[port] is CableState.WRONG
    (cause,) = evaluation.causes
    assert (cause.kind, cause.subjects) == (CauseKind.CABLE_MOVE, (str(port),))
    assert [move.source for move in cause.moves] == [made.truth.wiring[port]]
    assert sum(state is CableState.RIGHT for state in evaluation.cable_states.values()) == len(made.plan.cables) - 1


def test_leaves_that_bear_each_others_names_are_named_where_their_hosts_report_both_neighbours_on_each_port() -> None:
    made = simulate(
        Shape(hosts=12, rails=4, spines=2, uplinks=4, spare_ports=6, planes=2),
        [Fault(CauseKind.LEAF_SWAP, "labels")],
        seed=1,
        folders="inventory",
        behaviours=["bond_lldp_smeared"],
    )
    found = evaluate(Round(made.plan, made.snapshot()))
    assert [(cause.kind, set(cause.subjects), cause.moves) for cause in found.causes] == [
        (CauseKind.LEAF_SWAP, {"leaf-1a", "leaf-1b"}, ())
    ]
    assert behaviour_score(made, found).problems == []


def test_former_neighbours_do_not_turn_a_swap_of_names_into_moves() -> None:
    """A port that still shows the neighbour of before makes a device appear under its own name as well."""
    drawn = draw(1, next(strain for name, strain in STRAINS.items() if name.startswith("6 faults")))
    found = evaluate(Round(drawn.simulation.plan, drawn.simulation.snapshot()))
    named = {(cause.kind, frozenset(cause.subjects)) for cause in found.causes}
    assert (CauseKind.LEAF_SWAP, frozenset({"leaf-1", "leaf-2"})) in named
    moved = {move.cable for cause in found.causes for move in cause.moves}
    assert moved == {cable for cause in drawn.simulation.truth.causes if cause.moves == 2 for cable in cause.cables}
