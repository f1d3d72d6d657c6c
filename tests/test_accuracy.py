"""The accuracy benchmark can fail: its scoring sees each kind of mistake. And on a few fabrics there is none."""

from dataclasses import replace

import pytest

from benchmarks.accuracy.fabrics import draw
from benchmarks.accuracy.scoring import Score, score
from tests.draws import SOAK
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Move
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

POD = Shape(hosts=16, rails=8, spines=4, uplinks=8)
EVERY_SHAPE = (2000, 2002, 2003, 2004, 2005, 2006, 2007, 2010, 2011, 2012, 2019, 2027)
"""A seed for each shape, together with every platform and every kind of noise; `make soak` has all seeds of a row."""


@pytest.fixture(scope="module")
def swap() -> tuple[Simulation, Evaluation]:
    """Two cables of one host swapped, and a right evaluation of it."""
    simulation = simulate(POD, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=1)
    return simulation, evaluate(Round(simulation.plan, simulation.snapshot()))


def test_a_right_evaluation_has_no_mistakes(swap: tuple[Simulation, Evaluation]) -> None:
    simulation, evaluation = swap
    result = score(simulation.truth, evaluation)
    assert result.perfect
    assert (result.cables_found, result.moves, result.moves_needed) == (2, 2, 2)
    assert result.causes_found == {CauseKind.CABLE_SWAP: 1}


def test_a_missed_cause_and_its_moves_are_seen(swap: tuple[Simulation, Evaluation]) -> None:
    simulation, evaluation = swap
    result = score(simulation.truth, replace(evaluation, causes=()))
    assert result.causes_missed == {CauseKind.CABLE_SWAP: 1}
    assert result.moves_short == 2


def test_an_invented_kind_is_both_a_miss_and_a_false_alarm(swap: tuple[Simulation, Evaluation]) -> None:
    simulation, evaluation = swap
    other = replace(evaluation.causes[0], kind=CauseKind.CABLE_ROTATION)
    result = score(simulation.truth, replace(evaluation, causes=(other,)))
    assert result.causes_missed == {CauseKind.CABLE_SWAP: 1}
    assert result.causes_false == {CauseKind.CABLE_ROTATION: 1}


def test_a_cable_said_to_be_right_or_wrong_falsely_is_seen(swap: tuple[Simulation, Evaluation]) -> None:
    simulation, evaluation = swap
    turned = {
        port: CableState.RIGHT if state is CableState.WRONG else CableState.WRONG
        for port, state in evaluation.cable_states.items()
    }
    result = score(simulation.truth, replace(evaluation, cable_states=turned))
    assert (result.cables_found, result.cables_missed) == (0, 2)
    assert result.cables_false == len(simulation.plan.cables) - 2


def _with_moves(evaluation: Evaluation, *moves: Move) -> Evaluation:
    return replace(evaluation, causes=(replace(evaluation.causes[0], moves=moves),))


def test_moves_of_right_cables_and_into_wrong_places_are_seen(swap: tuple[Simulation, Evaluation]) -> None:
    simulation, evaluation = swap
    first, second = evaluation.causes[0].moves
    right = next(cable for cable in simulation.plan.cables if cable.a not in simulation.truth.wrong)
    idle = Move(right.a, right.b, first.target)
    assert score(simulation.truth, _with_moves(evaluation, first, second, idle)).moves_of_right == 1
    astray = Move(first.cable, first.source, right.b)
    result = score(simulation.truth, _with_moves(evaluation, astray, second))
    assert (result.moves_astray, result.moves_of_right, result.moves_beyond) == (1, 0, 0)


def test_what_cannot_be_decided_is_counted_apart() -> None:
    simulation = simulate(POD, [Fault(CauseKind.HOST_SWAP, "bundles")], seed=1)
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    result = score(simulation.truth, evaluation)
    assert result.undecidable == {"reported as an alternative": 1}
    assert not result.causes_found
    silent = score(simulation.truth, replace(evaluation, causes=()))
    assert silent.undecidable == {"missed": 1}
    assert not silent.perfect


def test_scores_add_up() -> None:
    total, one = Score(), Score(fabrics=1, cables=3, mistakes=["a"])
    one.causes_found[CauseKind.CABLE_SWAP] = 2
    total.add(one)
    total.add(one)
    assert (total.fabrics, total.cables, total.mistakes) == (2, 6, ["a", "a"])
    assert total.causes_found == {CauseKind.CABLE_SWAP: 4}


@pytest.mark.parametrize("seed", range(2000, 2028) if SOAK else EVERY_SHAPE)
def test_fabrics_of_every_shape_are_evaluated_without_mistake(seed: int) -> None:
    drawn = draw(seed)
    evaluation = evaluate(Round(drawn.simulation.plan, drawn.simulation.snapshot()))
    assert score(drawn.simulation.truth, evaluation).mistakes == [], str(drawn)
