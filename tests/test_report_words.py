"""What a first reader of a report stumbles over: a plan of another fabric, many silent devices, endings of files."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from tests.live_site import runner
from truerail.analysis.round import Round
from truerail.model import Cause, CauseKind, Evaluation, Move, Port, Reading
from truerail.model import facts as kinds
from truerail.model.finding import Status, Verdict
from truerail.outputs.options import Options
from truerail.outputs.report_words import misfit
from truerail.outputs.text import render_text
from truerail.outputs.unevaluated import unread_groups
from truerail.plans import dump_csv
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
SHAPE = Shape(hosts=6, rails=4, spines=1, uplinks=2)
QUESTION = "would have to move: is this the plan of this fabric?"


def evaluated(moves: int) -> Evaluation:
    simulation = simulate(SHAPE)
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    port = Port("leaf-0", "swp1")
    moved = Cause("C1", CauseKind.CABLE_ROTATION, ("leaf-0",), "", "", moves=(Move(port, port, port),) * moves)
    return replace(evaluation, causes=(moved,))


def test_a_plan_that_most_cables_contradict_is_doubted() -> None:
    planned = evaluated(0).summary.cables_planned
    assert planned == 32
    assert misfit(evaluated(16)) == ""
    assert misfit(evaluated(17)) == f"17 of 32 cables {QUESTION}"
    assert QUESTION in render_text(evaluated(17), Options(width=100))
    assert QUESTION not in render_text(evaluated(16), Options(width=100))


def test_many_silent_devices_are_one_block() -> None:
    simulation = simulate(SHAPE)
    silent = {"gpu-002", "gpu-003", "gpu-004"}
    seen = simulation.snapshot()
    left = [reading for reading in seen.readings if reading.device not in silent]
    reported = render_text(evaluate(Round(simulation.plan, replace(seen, readings=left))), Options(width=100))
    assert "C[1-3] unreachable  gpu-[002-004]  3 causes, explain 3 findings" in reported
    assert "3 devices do not answer." in reported
    assert "gpu-002 does not answer" not in reported
    full = render_text(evaluate(Round(simulation.plan, replace(seen, readings=left))), Options(width=100, details=True))
    assert "gpu-002 does not answer" in full


def test_equal_errors_in_the_folders_of_several_devices_are_reported_once() -> None:
    readings = [
        Reading(host, "lldp_host", AT, error=f"{host}/lldpctl_-f_json0: empty answer") for host in ("gpu-1", "gpu-2")
    ]
    (one,) = unread_groups(readings)
    assert one.devices == ("gpu-1", "gpu-2")
    assert one.error == "lldpctl_-f_json0: empty answer"


def test_every_kind_of_facts_has_words() -> None:
    for kind in get_args(kinds.Fact):
        said = Verdict("X", Status.UNKNOWN, missing=(kind.__name__,)).reason
        assert said.endswith(f" ({kind.__name__})")
    assert Verdict("X", Status.UNKNOWN, missing=("Neighbor", "Optic")).reason == (
        "no answer has neighbours (Neighbor) or readings of optics (Optic)"
    )


def test_counters_of_a_single_round_are_not_missed_but_too_few() -> None:
    verdicts = {verdict.rule: verdict for verdict in evaluated(0).verdicts}
    assert verdicts["PFC001"].status is Status.UNKNOWN
    assert verdicts["PFC001"].missing == ("PortCounters",)
    assert verdicts["PFC001"].reason == "it needs the counters of two rounds or more, at most 15 minutes apart"


@pytest.mark.parametrize(
    ("words", "summary"),
    [
        (("--from", "/"), "/: the files of this machine's system are no capture"),
        (("--from", "/proc"), "/proc: the files of this machine's system are no capture"),
        (("--from", "capture/gpu-001"), "it is a device's own folder: give its parent folder"),
        (("--from", "void"), "nothing to read"),
        (("--from", "capture", "--output", "report.pdf"), "no report format has the ending .pdf"),
    ],
)
def test_what_a_beginner_mistypes_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    summary: str,
) -> None:
    simulation = simulate(SHAPE)
    simulation.write(tmp_path)
    (tmp_path / "void").mkdir()
    (tmp_path / "plan.csv").write_text(dump_csv(simulation.plan))
    monkeypatch.chdir(tmp_path)
    code, out, err = runner(monkeypatch, capsys)("check", "--plan", "plan.csv", *words)
    assert (code, out) == (2, "")
    assert summary in err
    assert not (tmp_path / "report.pdf").exists()


def test_devices_that_the_plan_lacks_bear_their_own_names() -> None:
    small, large = simulate(Shape(hosts=4, rails=4, spines=1, uplinks=2)), simulate(SHAPE)
    notes = evaluate(Round(small.plan, large.snapshot())).notes
    assert not [note for note in notes if "announces itself" in note]
