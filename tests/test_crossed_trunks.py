"""Several swaps that are one mistake: crossed trunk cables, with ports and by the devices' names alone."""

from collections.abc import Mapping, Sequence

import pytest

from tests.small_fabric import snapshot_of
from truerail.analysis.round import Round
from truerail.model import Cause, CauseKind, Neighbor, Plan, Port
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.simulator.fabric.builder import build

FABRIC = Shape(hosts=8, rails=2, spines=2, uplinks=4, spare_ports=2, style="eth")


def causes(plan: Plan, crossed: Mapping[Port, Port], *, ports: bool = True) -> Sequence[Cause]:
    """The causes where the cables of some upper ends are in others, as both ends of all cables report by LLDP."""
    said: dict[str, list[Neighbor]] = {}
    for cable in plan.cables:
        upper = crossed.get(cable.b, cable.b)
        for end, far in ((cable.a, upper), (upper, cable.a)):
            row = Neighbor(end.name, system_name=far.device, port_id=far.name if ports else None)
            said.setdefault(end.device, []).append(row)
    return evaluate(Round(plan, snapshot_of(said))).causes


def exchanged(one: Sequence[Port], other: Sequence[Port]) -> dict[Port, Port]:
    return {**dict(zip(one, other, strict=True)), **dict(zip(other, one, strict=True))}


def uplinks(plan: Plan, leaf: str, spine: str) -> list[Port]:
    return [cable.b for cable in plan.cables if (cable.a.device, cable.b.device) == (leaf, spine)]


def places(plan: Plan, leaf: str, numbers: Sequence[int]) -> list[Port]:
    hosts = [cable.b for cable in plan.cables if cable.b.device == leaf]
    return [hosts[number] for number in numbers]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return build(FABRIC).plan


def test_uplinks_of_two_leaves_that_are_crossed_at_a_spine_are_one_cause(plan: Plan) -> None:
    trunk, other = (uplinks(plan, leaf, "spine-1") for leaf in ("leaf-0", "leaf-1"))
    (cause,) = causes(plan, exchanged(trunk, other))
    assert (cause.kind, len(cause.moves)) == (CauseKind.BUNDLE_SWAP, 4)
    assert {move.cable for move in cause.moves} == {c.a for c in plan.cables if c.b in (*trunk, *other)}
    assert {(move.source, move.target) for move in cause.moves} == set(exchanged(trunk, other).items())
    assert cause.summary.startswith("the cables of spine-1/swp1, swp2 are crossed with those of spine-1/swp3, swp4")


def test_uplinks_of_one_leaf_that_are_crossed_between_two_spines_are_one_cause(plan: Plan) -> None:
    (cause,) = causes(plan, exchanged(*(uplinks(plan, "leaf-0", spine) for spine in ("spine-1", "spine-2"))))
    assert (cause.kind, len(cause.moves)) == (CauseKind.BUNDLE_SWAP, 4)


def test_three_neighbouring_host_ports_in_place_of_three_others_are_one_cause(plan: Plan) -> None:
    (cause,) = causes(plan, exchanged(places(plan, "leaf-0", (0, 1, 2)), places(plan, "leaf-1", (4, 5, 6))))
    assert (cause.kind, len(cause.moves)) == (CauseKind.BUNDLE_SWAP, 6)
    (cause,) = causes(plan, exchanged(places(plan, "leaf-0", (0, 1, 2)), places(plan, "leaf-0", (4, 5, 6))))
    assert (cause.kind, len(cause.moves)) == (CauseKind.PORT_SHIFT, 6)  # by the same number of ports on one leaf


@pytest.mark.parametrize(
    ("one", "other"), [((0, 1), (4, 5)), ((0, 1, 2), (4, 6, 5)), ((0, 2, 4), (1, 3, 7))], ids=["two", "order", "apart"]
)
def test_swaps_that_may_be_several_mistakes_stay_apart(plan: Plan, one: Sequence[int], other: Sequence[int]) -> None:
    found = causes(plan, exchanged(places(plan, "leaf-0", one), places(plan, "leaf-1", other)))
    assert [(cause.kind, len(cause.moves)) for cause in found] == [(CauseKind.CABLE_SWAP, 2)] * len(one)


def test_a_trunk_beside_another_swap(plan: Plan) -> None:
    trunk = exchanged(places(plan, "leaf-0", (0, 1, 2)), places(plan, "leaf-1", (4, 5, 6)))
    found = causes(plan, trunk | exchanged(places(plan, "leaf-0", (4,)), places(plan, "leaf-1", (1,))))
    assert [(cause.kind, len(cause.moves)) for cause in found] == [
        (CauseKind.BUNDLE_SWAP, 6),
        (CauseKind.CABLE_SWAP, 2),
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_trunks_that_are_known_by_device_alone_are_named_and_move_nothing(plan: Plan, count: int) -> None:
    trunk, other = (uplinks(plan, leaf, "spine-1")[:count] for leaf in ("leaf-0", "leaf-1"))
    (cause,) = causes(plan, exchanged(trunk, other), ports=False)
    assert cause.kind is (CauseKind.CABLE_SWAP if count == 1 else CauseKind.BUNDLE_SWAP)
    assert (cause.moves, len(cause.subjects)) == ((), 2 * count)
    assert cause.to_confirm.startswith("which ports of leaf-0 and leaf-1 are behind spine-1/swp1")


def test_one_cable_more_on_one_side_is_no_exchange(plan: Plan) -> None:
    """Three leaves' ports of one spine: the third hears the first, and nothing hears the third."""
    trunk, other = (uplinks(plan, leaf, "spine-1") for leaf in ("leaf-0", "leaf-1"))
    found = causes(plan, {trunk[0]: other[0], other[0]: Port("spine-1", "swp60")}, ports=False)
    assert not any(cause.moves for cause in found)
    assert {cause.kind for cause in found} <= {CauseKind.UNKNOWN}


@pytest.mark.parametrize("flags", [["junos_no_portid"], ["junos_no_portid", "descr=peer_of_plan"]])
def test_two_uplinks_at_one_junos_spine(flags: list[str]) -> None:
    """Junos' brief form names no port: this was four unknown causes."""
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4, spare_ports=6, platforms=("junos",))
    made = simulate(shape, [Fault(CauseKind.CABLE_SWAP, "uplinks")], seed=1, folders="inventory", behaviours=flags)
    (cause,) = evaluate(Round(made.plan, made.snapshot())).causes
    assert (cause.kind, cause.moves) == (CauseKind.CABLE_SWAP, ())
    assert set(cause.subjects) == set(made.truth.causes[0].subjects)
