"""Orders that prove themselves: they hold on every kind of fabric, and each way to break one is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.accuracy.exact_orders import fewest_moves
from benchmarks.accuracy.orders import draw, heard, judged, permuted, ring
from tests.draws import draws
from tests.each import each
from tests.metrics_pages import all_samples, page, published
from tests.small_fabric import World, make_plan
from truerail.analysis.round import Round
from truerail.causes import lasting
from truerail.cli.app import app
from truerail.model import Cause, CauseKind, Move, Port
from truerail.model.finding import Rename
from truerail.outputs.report_json import render_json
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.verify import Proof, both_ways

Tamper = Callable[[tuple[Cause, ...]], tuple[Cause, ...]]
TAKEN, GONE = Port("leaf-0", "swp90"), Port("leaf-0", "swp61")


@pytest.mark.parametrize("count", [3, 4])
def test_all_permutations_of_one_leaf_are_put_right_in_the_fewest_moves(count: int) -> None:
    """Six and seven are judged by `python -m benchmarks.accuracy.orders --permutations`."""
    for hall in permuted(count):
        tally, problems = judged(hall)
        assert (tally["optimal"], tally["left"], problems) == (1, 0, []), hall.links


@settings(max_examples=draws(15, 3000), deadline=None)
@given(st.integers(0, 10**6))
def test_orders_hold_on_what_is_really_wired_and_none_is_shorter(seed: int) -> None:
    tally, problems = judged(draw(seed))
    assert tally["invalid"] + tally["not_optimal"] == 0, problems


@each("seed", [5, 26, 31, 84, 135, 254])
def test_plugs_of_hosts_and_uplinks_exchanged_at_their_leaf_move_there(seed: int) -> None:
    tally, problems = judged(draw(seed))
    assert (problems, tally["left"]) == ([], 0)
    assert tally["optimal"]


@each("seed", [3042, 20289, 20597, 20288, 20489, 71756])
def test_faults_on_top_of_each_other_have_orders_that_hold_and_leave_nothing(seed: int) -> None:
    """Two blocks on a leaf are two causes, each with its key; a cable of a bundle whose place an uplink's plug has is
    part of that plug's chain; of twelve cables none moves twice; cables that look right behind swapped names, and are
    not, have their order as well.
    """
    tally, problems = judged(draw(seed))
    assert (problems, tally["left"], tally["optimal"]) == ([], 0, 1)


def test_no_cable_is_moved_of_a_host_that_announces_anothers_name() -> None:
    hall, asked = draw(7516), "confirm before moving: gpu-004/enp26s0f0np0 is in leaf-0/swp5"
    causes = evaluate(Round(hall.plan, hall.snapshot)).causes
    assert [asked in one.to_confirm for one in causes if "announces another's name" in one.summary] == [True]
    assert not any(one.moves for one in causes)


@each("seed", [330, 480, 6985, 8917])
def test_hosts_of_two_models_with_each_others_names_are_one_cause(seed: int) -> None:
    hall = draw(seed)
    causes = [one for one in evaluate(Round(hall.plan, hall.snapshot)).causes if one.kind is CauseKind.HOST_SWAP]
    assert ["have each other's names" in one.summary for one in causes] == [True]
    assert (causes[0].names_only, len(causes[0].renames), len(causes[0].explains) > 5) == (True, 2, True)
    assert judged(hall)[0]["left"] == 0


def test_a_plug_in_the_way_is_seen_behind_a_swapped_name() -> None:
    tally, _ = judged(draw(7893))
    assert (tally["refused"], tally["invalid"]) == (1, 0)


@each("seed", [1185, 20194])
def test_a_plug_of_no_planned_cable_in_the_way_is_asked_about(seed: int) -> None:
    hall = draw(seed)
    tally, problems = judged(hall)
    assert (problems, tally["refused"]) == ([], 0)
    (cause,) = (one for one in evaluate(Round(hall.plan, hall.snapshot)).causes if "is in its way" in one.action)
    assert (cause.kind, cause.moves, len(cause.alternatives[0].moves)) == (CauseKind.CABLE_MOVE, (), 1)
    assert "It has to leave leaf-" in cause.to_confirm


def test_the_fewest_moves_of_a_cable_whose_plugs_are_both_wrong_are_two() -> None:
    a, b, c, d = (Port("h", name) for name in "abcd")
    assert fewest_moves([frozenset((a, b))], [frozenset((c, d))]) == 2
    assert fewest_moves([frozenset((a, b)), frozenset((c, d))], [frozenset((a, c)), frozenset((b, d))]) == 2
    assert fewest_moves([frozenset((a, b))], [frozenset((a, b))]) == 0


@pytest.fixture(scope="module")
def hall() -> World:
    """Three cables are rotated, one is in a free port, and the names of two leaves are swapped."""
    world = World(make_plan(8, 4))
    slots = [Port(f"h{host}", "nica") for host in (1, 2, 3)]
    places = [world.where[slot] for slot in slots]
    world.where |= zip(slots, [*places[1:], places[0]], strict=True)
    world.where[Port("h4", "nica")] = Port("leaf-0", "swp60")
    world.exchange_names("leaf-2", "leaf-3")
    world.swap(Port("h5", "nicc"), Port("h6", "nicc"))
    return world


def _moves(kind: CauseKind, change: Callable[[tuple[Move, ...]], tuple[Move, ...]]) -> Tamper:
    return lambda causes: tuple(
        replace(one, moves=change(one.moves)) if one.kind is kind and one.moves else one for one in causes
    )


ROTATION, MOVE, SWAP = CauseKind.CABLE_ROTATION, CauseKind.CABLE_MOVE, CauseKind.CABLE_SWAP
RIGHT = Move(Port("h7", "nica"), Port("leaf-0", "swp7"), Port("leaf-0", "swp70"))


@each(
    "tamper, why",
    [
        (_moves(ROTATION, lambda moves: moves[:2]), "is taken by the cable of"),
        (_moves(ROTATION, lambda moves: (*moves, moves[0])), "moves 2 times"),
        (_moves(ROTATION, lambda moves: (replace(moves[0], target=TAKEN), *moves[1:])), "not planned"),
        (_moves(MOVE, lambda moves: (replace(moves[0], source=GONE),)), "is not in leaf-0/swp61"),
        (_moves(MOVE, lambda moves: (*moves, RIGHT)), "is right in leaf-0/swp7"),
        (_moves(MOVE, lambda moves: (replace(moves[0], after_causes=("gone",)),)), "no cause of the report"),
        (_moves(SWAP, lambda moves: tuple(replace(one, after_causes=()) for one in moves)), "changes the name of"),
        (lambda causes: (*causes, replace(next(c for c in causes if c.kind is MOVE), subjects=("x",))), "as well"),
        (
            lambda causes: tuple(
                replace(one, moves=tuple(replace(m, after_causes=(one.key,)) for m in one.moves)) for one in causes
            ),
            "wait for each other",
        ),
    ],
)  # fmt: skip
def test_an_order_that_cannot_be_followed_is_refused_with_the_reason(hall: World, tamper: Tamper, why: str) -> None:
    causes = tamper(evaluate(Round(hall.plan, hall.snapshot())).causes)
    links = both_ways(
        {slot: place and place._replace(device=hall.name(place.device)) for slot, place in hall.where.items()}
        | {slot: place for slot, place in hall.where.items() if slot.device.startswith("leaf")}
    )
    broken = Proof(causes, links, hall.plan).broken
    assert any(why in words for words in broken.values()), broken


def test_plugs_of_two_cycles_never_hang_loose_at_once() -> None:
    plan = ring(4)
    far = {cable.a: cable.b for cable in plan.cables}
    one, two, three, four = far
    crossed = both_ways({one: far[two], two: far[one], three: far[four], four: far[three]})
    moves = tuple(Move(port, there, far[port]) for port in (one, three, two, four) for there in [crossed[port]])
    cause = Cause("C1", CauseKind.CABLE_ROTATION, ("x",), "", "", moves=moves)
    assert "hang loose at once" in Proof([cause], crossed, plan).broken[cause.key]
    in_turn = replace(cause, moves=(moves[0], moves[2], moves[1], moves[3]))
    assert Proof([in_turn], crossed, plan).broken == {}
    assert Proof([in_turn], crossed, plan).ends() == both_ways(far)


def test_what_waits_for_a_refused_order_is_refused(hall: World) -> None:
    causes = list(evaluate(Round(hall.plan, hall.snapshot())).causes)
    move = next(one for one in causes if one.kind is MOVE)
    bad = replace(move, moves=(replace(move.moves[0], source=GONE),))
    later = next(one for one in causes if one.kind is ROTATION)
    waits = replace(later, moves=tuple(replace(one, after_causes=(bad.key,)) for one in later.moves))
    broken = Proof([bad, waits], both_ways(hall.where), hall.plan).broken
    assert broken[waits.key] == f"it waits for {bad.id}, whose order does not hold"


def test_check_prints_no_order_that_cannot_be_followed_and_counts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is made to take a right cable's port."""
    plan = make_plan(8, 4)
    world = World(plan, where={Port("h4", "nica"): Port("leaf-0", "swp60")})
    explain = lasting.explain

    def mistaken(*given: object) -> tuple[Cause, ...]:
        target = Port("leaf-0", "swp5")
        return tuple(
            replace(one, moves=tuple(replace(move, target=target) for move in one.moves)) for one in explain(*given)
        )

    monkeypatch.setattr(lasting, "explain", mistaken)
    publication = published(plan, world.snapshot())
    (cause,) = publication.evaluation.causes
    assert (cause.kind, cause.moves, cause.unproven) == (CauseKind.UNKNOWN, (), True)
    assert cause.summary.endswith("cannot be followed: the cable of h4/nica is not planned in leaf-0/swp5")
    assert any("fault of truerail" in note for note in publication.evaluation.notes)
    assert ("truerail_causes_unproven", (("fabric", "lab"),), 1.0) in all_samples(page(publication))


def test_names_of_nics_count_as_planned_once_they_are_changed() -> None:
    plan = make_plan(2, 2)
    one, other = Port("h1", "nica"), Port("h1", "nicb")
    links = both_ways({one: Port("leaf-1", "swp9")})
    names = Cause("C1", CauseKind.GPU_NIC_ORDER, ("h1",), "", "", renames=(Rename(str(one), str(other)),))
    move = Move(one, Port("leaf-1", "swp9"), Port("leaf-1", "swp1"))
    moved = Cause("C2", CauseKind.CABLE_MOVE, (str(one),), "", "", moves=(move,))
    assert Proof([names, moved], links, plan).broken == {}
    assert "not planned" in Proof([moved], links, plan).broken[moved.key]


def test_the_command_replays_a_report_on_its_capture(tmp_path: Path) -> None:
    simulation = simulate(Shape(hosts=5, rails=2, spines=0), [Fault(CauseKind.CABLE_MOVE)], seed=3)
    capture = simulation.write(tmp_path)
    report = tmp_path / "report.json"
    text = render_json(evaluate(Round(simulation.plan, simulation.snapshot())))
    asked = ["verify", str(report), "--plan", str(tmp_path / "plan.csv"), "--from", str(capture)]
    report.write_text(text, "utf-8")
    good = CliRunner().invoke(app, asked)
    assert (good.exit_code, good.stdout.splitlines()[-1]) == (0, "1 of 1 orders hold.")
    report.write_text(text.replace('"to": "', '"to": "x'), "utf-8")
    bad = CliRunner().invoke(app, asked)
    assert (bad.exit_code, bad.stdout.splitlines()[-1]) == (1, "0 of 1 orders hold.")
    report.write_text("{}", "utf-8")
    assert "is no report" in str(CliRunner().invoke(app, asked).exception)


def test_a_fabric_whose_devices_are_as_planned_has_no_order() -> None:
    plan = ring(3)
    tally, problems = judged(heard(plan, both_ways({cable.a: cable.b for cable in plan.cables}), "right"))
    assert (tally["orders"], problems) == (0, [])
