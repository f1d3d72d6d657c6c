"""`truerail diff` of captures: it compares two rounds, and names them."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.live_site import Run
from truerail.model import CauseKind
from truerail.plans import dump_csv
from truerail.simulator import Fault, Shape, simulate

SHAPE = Shape(hosts=4, rails=2, spines=1, uplinks=2)
EARLY, BROKEN, LATE = ("2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z", "2026-11-20T14:00:00Z")


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Three rounds: right, two cables swapped, and then no one but leaf-0 answers."""
    folder = tmp_path / "captures"
    right, swapped = simulate(SHAPE), simulate(SHAPE, (Fault(CauseKind.CABLE_SWAP, "one-host"),), seed=2)
    folder.mkdir()
    for simulation, name in ((right, EARLY), (swapped, BROKEN)):
        simulation.write(tmp_path / "made").rename(folder / name)
    shutil.copytree(folder / BROKEN / "leaf-0", folder / LATE / "leaf-0")
    (tmp_path / "plan.csv").write_text(dump_csv(right.plan))
    return folder


def asked(run: Run, *words: object) -> tuple[int, dict[str, object]]:
    code, out, err = run("diff", "--format", "json", *words)
    assert not err
    return code, json.loads(out)


def test_what_broke_between_two_rounds(captures: Path, run: Run) -> None:
    plan = captures.parent / "plan.csv"
    code, found = asked(run, "--from", captures, "--plan", plan, "--since", "12:00", "--until", "13:30")
    links, findings = found["links"], found["findings"]
    assert isinstance(links, list)
    assert isinstance(findings, list)
    assert code == 1
    assert [(one["was_state"], one["now_state"]) for one in links] == [("right", "wrong")] * 2
    assert {(one["kind"], one["rule"]) for one in findings} == {("appeared", "CAB001")}
    assert (found["start"], found["end"]) == ("2026-11-20T12:00:00+00:00", "2026-11-20T13:00:00+00:00")
    assert str(found["summary"]).endswith(
        f"Compared: round {EARLY} (1 of 3) of {captures} with round {BROKEN} (2 of 3) of {captures}."
    )


def test_what_nobody_tells_any_more_is_not_resolved(captures: Path, run: Run) -> None:
    code, found = asked(run, "--from", captures, "--plan", captures.parent / "plan.csv", "--since", "1h")
    kinds = {one["kind"] for one in found["findings"] if one["rule"] == "CAB001"}  # type: ignore[attr-defined]
    assert code == 1
    assert kinds <= {"unseen"}
    assert "were resolved" not in str(found["summary"])


def unbroken(text: str) -> str:
    """Text without its white space: a long path is broken where a line ends."""
    return "".join(text.split())


def test_a_repair_between_two_captures(captures: Path, run: Run, tmp_path: Path) -> None:
    shutil.copytree(captures / BROKEN, tmp_path / "before" / BROKEN)
    with tarfile.open(tmp_path / "after.tar", "w") as tar:
        tar.add(captures / EARLY, LATE)
    code, out, _ = run("diff", "--before", tmp_path / "before", "--from", tmp_path / "after.tar")
    assert code == 1
    assert "1 cause ended: 2 links changed, 2 were resolved." in out
    for summary in (
        f"round {BROKEN} (1 of 1) of {tmp_path}/before with round {LATE} (1 of 1) of {tmp_path}/after.tar.",
        "No plan is given: both are compared with what most hosts of the later one agree on.",
    ):
        assert unbroken(summary) in unbroken(out)


def test_folders_without_rounds_are_named_by_their_path(captures: Path, run: Run) -> None:
    plan = captures.parent / "plan.csv"
    here = captures / EARLY
    code, out, _ = run("diff", "--before", here, "--from", here, "--plan", plan)
    assert code == 0
    assert unbroken(out).startswith(unbroken(f"✓ Nothing changed. Compared: {here} with {here}."))


@pytest.mark.parametrize(
    ("words", "summary"),
    [
        (("--since", "1h", "--from", "one"), "one: has one round, a comparison needs two"),
        (("--since", "10:00", "--until", "12:30", "--from", "captures"), "has no two rounds up to 2026-11-20 12:30:00"),
        (("--since", "soon", "--from", "captures"), "'soon' is not a time"),
        (("--before", "captures"), "--before goes with --from"),
        (("--before", "captures", "--since", "1h", "--from", "captures"), "give one of: --since TIME"),
        (("--until", "12:30", "--planned"), "--until goes with --since"),
        (("--before", "void", "--from", "captures"), "no device gave a readable answer"),
    ],
)
def test_what_cannot_be_compared_is_said(
    captures: Path, run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], summary: str
) -> None:
    shutil.copytree(captures / EARLY, captures.parent / "one")
    (captures.parent / "void" / "gpu-001").mkdir(parents=True)
    monkeypatch.chdir(captures.parent)
    code, out, err = run("diff", *words)
    assert (code, out) == (2, "")
    assert summary in " ".join(err.split())
