"""Links that are up and on which no one hears anybody: there is light, so the cable is unknown and never missing."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import CableState, CauseKind
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=12, rails=4, spines=2, uplinks=4, spare_ports=6, platforms=("sonic",))


def made(flag: str, faults: list[Fault], seed: int) -> Simulation:
    return simulate(SHAPE, faults, seed=seed, folders="inventory", behaviours=[flag])


def report(simulation: Simulation, folder: Path) -> dict[str, Any]:
    """What `truerail check` reports of a capture."""
    capture = simulation.write(folder)
    plan = folder / "plan.csv"
    said = CliRunner().invoke(app, ["check", "--from", str(capture), "--plan", str(plan), "--format", "json"])
    return dict(json.loads(said.stdout))


@pytest.mark.parametrize("seed", [1, 2])
def test_links_without_a_frame_are_unknown(tmp_path: Path, seed: int) -> None:
    reported = report(made("young_link@0.1", [], seed), tmp_path / "site")
    silent = [one for one in reported["findings"] if one["rule"] == "CAB003"]
    assert silent
    assert {(one["reason"], one["severity"]) for one in silent} == {("silent", "warning")}
    assert all("link is up, but neither end sees the other" in one["summary"] for one in silent)
    summary = reported["summary"]
    assert (summary["cables_missing"], summary["cables_wrong"]) == (0, 0)
    assert summary["cables_unknown"] == len(silent)
    assert {cause["kind"] for cause in reported["causes"]} == {"unknown"}
    assert not any(cause["moves"] for cause in reported["causes"])


@pytest.mark.parametrize("flag", ["young_link@0.1", "lldp_lost_rows@0.3"])
def test_a_cable_without_light_among_them_is_missing(flag: str) -> None:
    simulation = made(flag, [Fault(CauseKind.LINK_DOWN, "host")], seed=3)
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    missing = {port for port, state in evaluation.cable_states.items() if state is CableState.MISSING}
    assert missing == set(simulation.truth.missing)
    assert [cause.kind for cause in evaluation.causes if cause.kind is not CauseKind.UNKNOWN] == [CauseKind.LINK_DOWN]
