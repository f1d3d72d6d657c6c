"""Hosts wired to each other, without a switch: rings and meshes."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.accuracy.orders import heard, mesh, ring
from tests.draws import draws
from tests.each import each
from tests.followed import followed
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Plan, Port
from truerail.rounds import evaluate
from truerail.verify import both_ways


def found(plan: Plan, far: Mapping[Port, Port | None]) -> Evaluation:
    """The evaluation of what every host hears."""
    return evaluate(Round(plan, heard(plan, both_ways(far), "").snapshot))


def test_exchanged_plugs_at_one_host_of_a_ring_are_one_swap_there() -> None:
    plan = ring(4)
    far = {cable.a: cable.b for cable in plan.cables}
    far[Port("h0", "p1")] = Port("h1", "p1")
    del far[Port("h1", "p1")]
    far[Port("h2", "p0")] = Port("h1", "p0")
    (cause,) = found(plan, far).causes
    assert (cause.kind, cause.subjects) == (CauseKind.CABLE_SWAP, ("h0/p1", "h2/p0"))
    assert {(str(move.source), str(move.target)) for move in cause.moves} == {("h1/p1", "h1/p0"), ("h1/p0", "h1/p1")}
    assert followed(plan, far, [cause]) == both_ways({cable.a: cable.b for cable in plan.cables})


@each("plan", [ring(5), ring(8), mesh(4), mesh(5)])
def test_exchanged_names_are_asked_about_and_nothing_moves(plan: Plan) -> None:
    swap = {"h1": "h3", "h3": "h1"}
    renamed = {
        cable.a._replace(device=swap.get(cable.a.device, cable.a.device)): cable.b._replace(
            device=swap.get(cable.b.device, cable.b.device)
        )
        for cable in plan.cables
    }
    (cause,) = found(plan, renamed).causes
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.HOST_SWAP, ("h1", "h3"), ())
    assert "serial numbers" in cause.to_confirm
    other, plan_is_wrong = cause.alternatives
    assert not plan_is_wrong.moves
    as_moves = replace(cause, moves=other.moves, kind=CauseKind.BUNDLE_SWAP)
    assert followed(plan, renamed, [as_moves]) == both_ways({cable.a: cable.b for cable in plan.cables})


@settings(max_examples=draws(60, 3000), deadline=None)
@given(st.sampled_from([ring(3), ring(8), mesh(3), mesh(5)]), st.randoms(use_true_random=False), st.integers(2, 5))
@example(mesh(5), Random(1), 4)
def test_exchanged_plugs_are_put_right_with_one_move_for_each_wrong_cable(
    plan: Plan, random: Random, count: int
) -> None:
    ends = [port for cable in plan.cables for port in (cable.a, cable.b)]
    some = random.sample(ends, count)
    into = dict(zip(some, [*some[1:], some[0]], strict=True))
    far = {into.get(cable.a, cable.a): into.get(cable.b, cable.b) for cable in plan.cables}
    evaluation = found(plan, far)
    planned, now = both_ways({cable.a: cable.b for cable in plan.cables}), both_ways(far)
    assert {p for p, state in evaluation.cable_states.items() if state is not CableState.RIGHT} == {
        cable.a for cable in plan.cables if now[cable.a] != cable.b
    }
    if not any(cause.kind is CauseKind.HOST_SWAP for cause in evaluation.causes):
        assert followed(plan, far, evaluation.causes) == planned
        moves = [move for cause in evaluation.causes for move in cause.moves]
        assert len(moves) == sum(planned[here] != there for here, there in far.items())
