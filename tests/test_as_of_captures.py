"""`--at TIME` over a capture: the last round up to then answers, and what is too early names the span."""

import json
from pathlib import Path

import pytest

from tests.live_site import Run
from truerail.model import CauseKind
from truerail.plans import dump_csv
from truerail.simulator import Fault, Shape, simulate

SHAPE = Shape(hosts=4, rails=2, spines=1, uplinks=2)
ROUNDS = ("2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z", "2026-11-20T14:00:00Z")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three rounds: right, two cables swapped, right again."""
    folder = tmp_path_factory.mktemp("as_of")
    right, swapped = simulate(SHAPE), simulate(SHAPE, (Fault(CauseKind.CABLE_SWAP, "one-host"),), seed=2)
    for simulation, name in zip((right, swapped, right), ROUNDS, strict=True):
        simulation.write(folder / "made").rename(folder / name)
    (folder / "plan.csv").write_text(dump_csv(right.plan))
    return folder


@pytest.mark.parametrize(
    ("at", "of", "wrong"),
    [("13:00", 1, 2), ("59m", 1, 2), ("12:59", 0, 0), ("now", 2, 0), ("2026-11-20T15:10+01:00", 2, 0)],
)
def test_the_last_round_up_to_then_answers(captures: Path, run: Run, at: str, of: int, wrong: int) -> None:
    words = ("status", "--from", captures, "--plan", captures / "plan.csv", "--at", at)
    _, out, err = run(*words, "--format", "json")
    found = json.loads(out)
    assert not err
    assert found["as_of"]["source"] == "capture"
    assert found["as_of"]["round_at"] == f"{ROUNDS[of].removesuffix('Z')}+00:00"
    assert found["cables"]["wrong"] == wrong
    assert [cause["action"] for cause in found["causes"]] == [""] * bool(wrong)
    assert not found["action"]


def test_the_text_names_the_time_and_a_gap(captures: Path, run: Run) -> None:
    code, out, _ = run("where", "gpu-003", "--from", captures, "--plan", captures / "plan.csv", "--at", "13:30:00")
    assert code == 1
    assert out.startswith("As of 2026-11-20 13:30:00 UTC, from the capture; not live")
    assert "No round between 2026-11-20 13:00:00 UTC and 2026-11-20 14:00:00 UTC" in " ".join(out.split())


def test_what_no_round_answers_is_an_error(captures: Path, run: Run) -> None:
    plan = captures / "plan.csv"
    for words, wanted in (
        (("--from", captures, "--at", "11:00"), "has no round up to 2026-11-20 11:00:00 UTC, it has 3 rounds, from"),
        (("--from", captures / ROUNDS[1], "--at", "1900-01-01"), "it has 1 round, from"),
        (("--from", captures, "--at", "soon"), "'soon' is not a time"),
        (("--from", captures.parent / "none", "--at", "2h"), "none: "),
        (("--inventory", plan, "--at", "2h"), "--at needs a journal or earlier rounds"),
    ):
        code, _, err = run("status", "--plan", plan, *words)
        assert code == 2
        assert wanted in err
