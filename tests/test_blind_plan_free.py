"""What an independent generator of fabrics showed of checks without a plan."""

import pytest

from truerail.model import CauseKind, Snapshot
from truerail.plans import infer
from truerail.simulator import Fault, Shape, simulate


def silent(snapshot: Snapshot) -> list[str]:
    return [note for note in infer(snapshot).notes if note.startswith("Not in the plan")]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_dead_cable_that_no_plan_has_is_noted(seed: int) -> None:
    sim = simulate(Shape(hosts=8), [Fault(CauseKind.LINK_DOWN)], seed=seed)
    assert silent(sim.snapshot()) == [
        "Not in the plan, as no neighbor is known where most hosts have one: 1 NICs: "
        + next(str(subject) for subject in sim.truth.causes[0].subjects if "gpu" in str(subject))
    ]


def test_of_many_some_are_named() -> None:
    sim = simulate(Shape(hosts=24), [Fault(CauseKind.LINK_DOWN)] * 16)
    (note,) = silent(sim.snapshot())
    assert note.endswith(", ...")


def test_a_right_fabric_has_no_such_note() -> None:
    assert silent(simulate(Shape(hosts=8, storage=True)).snapshot()) == []
