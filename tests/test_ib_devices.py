"""What devices of InfiniBand fabrics do, through the command line: no cable of a faultless fabric is wrong, a fault is
found, and every undecidable part is named.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.live_site import Run
from truerail.analysis.round import Round
from truerail.causes.device_only import MIN_CABLES
from truerail.model import CableState, CauseKind
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate

SHAPE = Shape(hosts=12, rails=4, spines=2, uplinks=4, spare_ports=6, platforms=("infiniband",), host_ports="rdma")
NAMELESS = ["ib_unmanaged", "ib_director"]


def checked(run: Run, folder: Path, flags: Sequence[str], faults: Sequence[Fault] = ()) -> tuple[int, dict[str, Any]]:
    """Exit code and report of `truerail check`."""
    capture = simulate(SHAPE, faults, seed=2, folders="inventory", behaviours=flags).write(folder)
    code, out, _ = run("check", "--from", capture, "--plan", folder / "plan.csv", "--format", "json")
    return code, json.loads(out)


@pytest.mark.parametrize("flag", NAMELESS)
def test_switches_without_names_are_known_by_their_places(flag: str, run: Run, tmp_path: Path) -> None:
    code, report = checked(run, tmp_path, [flag])
    assert (code, report["causes"]) == (0, [])
    assert report["summary"]["cables_right"] == report["summary"]["cables_planned"] == 64
    (note,) = [note for note in report["notes"] if "known by the wiring alone" in note]
    assert note.startswith("6 switches of the plan are known by the wiring alone, so a whole switch in another's place")
    assert ("leaf-0 is director-1/L01/U1" if flag == "ib_director" else "leaf-0 is 0x") in note


@pytest.mark.parametrize("flag", NAMELESS)
def test_faults_at_switches_without_names_are_found(flag: str, run: Run, tmp_path: Path) -> None:
    code, report = checked(run, tmp_path, [flag], [Fault(CauseKind.CABLE_SWAP, "across")])
    (cause,) = report["causes"]
    assert (code, cause["kind"], len(cause["moves"])) == (1, "cable-swap", 2)
    code, report = checked(run, tmp_path / "down", [flag], [Fault(CauseKind.LINK_DOWN, "host")])
    assert (code, [cause["kind"] for cause in report["causes"]]) == (1, ["link-down"])


@pytest.mark.parametrize("flag", NAMELESS)
def test_without_names_a_switch_in_the_place_of_another_is_the_switch_of_that_place(
    flag: str, run: Run, tmp_path: Path
) -> None:
    code, report = checked(run, tmp_path, [flag], [Fault(CauseKind.LEAF_SWAP, "labels")])
    assert (code, report["causes"]) == (0, [])
    assert any("stays undetected; give GUIDs as chassis_ids in the plan" in note for note in report["notes"])


@pytest.mark.parametrize("more", [[], ["ib_init"]])
@pytest.mark.parametrize("flag", NAMELESS)
def test_without_names_host_cables_against_uplinks_move_nothing(
    flag: str, more: list[str], run: Run, tmp_path: Path
) -> None:
    """Its hosts make a leaf one switch, its uplinks another: either bundle may be crossed, and both are named."""
    _, report = checked(run, tmp_path, [flag, *more], [Fault(CauseKind.BUNDLE_SWAP)])
    (cause,) = [one for one in report["causes"] if one["kind"] != "configuration"]
    assert (cause["kind"], cause["moves"], len(cause["explains"])) == ("bundle-swap", [], 2)
    assert [other["kind"] for other in cause["alternatives"]] == ["cable-swap"]
    assert cause["to_confirm"]
    assert not any(one["rule"].startswith("CAB") for one in report["findings"])
    assert report["summary"]["cables_right"] == 32


def test_a_few_cables_between_switches_that_tell_no_ports_do_not_exchange_the_switches() -> None:
    """Five cables of 64 are in places of another leaf; the other ones are heard on their own."""
    shape = replace(SHAPE, hosts=32, rails=2, spare_ports=0)
    simulation = simulate(shape, [Fault(CauseKind.CABLE_SWAP, "across")] * 3, seed=2, behaviours=["ib_multi_asic"])
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert len([state for state in evaluation.cable_states.values() if state is CableState.WRONG]) >= MIN_CABLES
    assert {cause.kind for cause in evaluation.causes} == {CauseKind.UNKNOWN}
