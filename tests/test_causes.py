"""The cause engine on small fabrics: each kind alone, several at once, and what must never happen."""

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rules import rules
from tests.draws import draws
from tests.followed import followed
from tests.small_fabric import World, make_plan
from truerail.analysis.cabling import State, Wiring
from truerail.analysis.round import Round
from truerail.causes import explain
from truerail.model import Cause, CauseKind, Finding, Port, Severity
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.testing.cases import scene
from truerail.verify import both_ways


def causes_of(world: World) -> tuple[Wiring, tuple[Cause, ...]]:
    """Evaluates a world with one finding for each cable that is not right, and one for each misordered host."""
    round = Round(world.plan, world.snapshot())
    wiring = round.cabling
    findings = [
        Finding(code, "", Severity.CRITICAL, str(wiring.index.a_port(int(cable))), "", "")
        for code, state in (("CAB001", State.WRONG), ("CAB003", State.MISSING))
        for cable in wiring.cables(state)
    ]
    hosts = sorted(wiring.gpu_rails.misordered)
    findings += [Finding("NIC001", "", Severity.WARNING, wiring.index.devices.names[h], "", "") for h in hosts]
    return wiring, explain(round, findings)


def only(causes: tuple[Cause, ...]) -> Cause:
    assert len(causes) == 1, [(c.kind, c.subjects) for c in causes]
    return causes[0]


def nic(host: int, rail: int) -> Port:
    return Port(f"h{host}", f"nic{chr(97 + rail)}")


@pytest.mark.parametrize("by_inventory", [False, True])
@pytest.mark.parametrize("spines", [0, 2])
def test_a_right_fabric_has_no_cause(spines: int, by_inventory: bool) -> None:
    wiring, causes = causes_of(World(make_plan(spines=spines), folders_by_inventory=by_inventory))
    assert causes == ()
    assert (wiring.state == State.RIGHT).all()


def test_two_cables_of_one_host() -> None:
    world = World(make_plan())
    world.swap(nic(3, 1), nic(3, 2))
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects) == (CauseKind.CABLE_SWAP, ("h3/nicb", "h3/nicc"))
    assert {(str(m.cable), str(m.source), str(m.target)) for m in cause.moves} == {
        ("h3/nicb", "leaf-2/swp3", "leaf-1/swp3"),
        ("h3/nicc", "leaf-1/swp3", "leaf-2/swp3"),
    }
    assert cause.alternatives == ()


def test_without_a_topology_a_swap_on_one_host_may_be_one_of_names_and_moves_nothing() -> None:
    world = World(make_plan(), topology=False)
    world.swap(nic(3, 1), nic(3, 2))
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.CABLE_SWAP, ("h3/nicb", "h3/nicc"), ())
    assert [(a.kind, len(a.moves)) for a in cause.alternatives] == [
        (CauseKind.GPU_NIC_ORDER, 0),
        (CauseKind.CABLE_SWAP, 2),
    ]
    assert cause.to_confirm.startswith("`nvidia-smi topo -m`")
    assert not cause.names_only


@pytest.mark.parametrize("hide", ["none", "host reports", "leaf reports"])
def test_two_hosts_on_one_leaf(hide: str) -> None:
    world = World(make_plan())
    world.swap(nic(2, 1), nic(5, 1))
    world.deaf = {"none": set(), "host reports": {"h2", "h5"}, "leaf reports": {"leaf-1"}}[hide]
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, len(cause.moves)) == (CauseKind.CABLE_SWAP, ("h2/nicb", "h5/nicb"), 2)


def test_a_rotation() -> None:
    world = World(make_plan())
    one, two, three = nic(1, 0), nic(2, 1), nic(4, 3)
    world.where[one], world.where[two], world.where[three] = world.where[two], world.where[three], world.where[one]
    cause = only(causes_of(world)[1])
    assert (cause.kind, len(cause.moves)) == (CauseKind.CABLE_ROTATION, 3)
    assert cause.subjects == ("h1/nica", "h2/nicb", "h4/nicd")


def test_a_cable_in_a_free_port() -> None:
    world = World(make_plan())
    world.where[nic(2, 1)] = Port("leaf-3", "swp60")
    cause = only(causes_of(world)[1])
    assert (cause.kind, len(cause.moves)) == (CauseKind.CABLE_MOVE, 1)


def test_uplinks_swapped() -> None:
    world = World(make_plan())
    world.swap(Port("leaf-0", "swp101"), Port("leaf-2", "swp101"))
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects) == (CauseKind.CABLE_SWAP, ("leaf-0/swp101", "leaf-2/swp101"))


@pytest.mark.parametrize("seed", [17, 32], ids=["on two leaves", "on one leaf"])
def test_two_swapped_pairs_of_uplinks_are_no_swap_of_spines_whose_other_uplinks_are_right(seed: int) -> None:
    planted = simulate(
        Shape(hosts=8, rails=2, spines=2, uplinks=4), [Fault(CauseKind.CABLE_SWAP, "uplinks")] * 2, seed=seed
    )
    causes = evaluate(Round(planted.plan, planted.snapshot())).causes
    wanted = {frozenset(one.subjects) for one in planted.truth.causes}
    if seed == 32:  # all cables of the leaf to one spine are in the places of those to the other: crossed trunks
        wanted = {frozenset.union(*wanted)}
    assert {frozenset(cause.subjects) for cause in causes} == wanted


@pytest.mark.parametrize(("start", "count", "offset"), [(5, 4, 4), (2, 5, 1), (1, 3, 7)])
def test_a_block_shifted_into_free_ports(start: int, count: int, offset: int) -> None:
    world = World(make_plan(hosts=8))
    for i in range(start, start + count):
        world.where[nic(i, 2)] = Port("leaf-2", f"swp{i + offset}")
    for i in range(start + count, start + count + offset):  # the host that was there is not cabled
        if nic(i, 2) in world.where:
            world.where[nic(i, 2)] = None
    _, causes = causes_of(world)
    shift = only(tuple(c for c in causes if c.kind is not CauseKind.LINK_DOWN))
    assert (shift.kind, shift.subjects, len(shift.moves)) == (CauseKind.PORT_SHIFT, ("leaf-2",), count)


def test_a_block_shifted_around_its_own_end() -> None:
    world = World(make_plan(hosts=12))
    block = [nic(i, 1) for i in range(3, 9)]
    places = [world.where[p] for p in block]
    for port, place in zip(block, places[2:] + places[:2], strict=True):
        world.where[port] = place
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, len(cause.moves)) == (CauseKind.PORT_SHIFT, ("leaf-1",), 6)


@pytest.mark.parametrize("gone", [3, 4, 6, 8])
@pytest.mark.parametrize("by", [2, -2])
def test_a_block_shifted_around_its_own_end_with_a_cable_that_is_not_seen(by: int, gone: int) -> None:
    world = World(make_plan(hosts=12))
    block = [nic(i, 1) for i in range(3, 10)]
    places = [world.where[p] for p in block]
    for port, place in zip(block, places[by:] + places[:by], strict=True):
        world.where[port] = place
    world.where[nic(gone, 1)] = None
    _, causes = causes_of(world)
    cause = only(tuple(c for c in causes if c.kind is not CauseKind.LINK_DOWN))
    assert (cause.kind, cause.subjects, len(cause.moves)) == (CauseKind.PORT_SHIFT, ("leaf-1",), 6)


def test_a_cable_moved_back_over_right_ones_is_not_of_the_block() -> None:
    world = World(make_plan(hosts=12))
    for i in range(3, 7):
        world.where[nic(i, 1)] = Port("leaf-1", f"swp{i + 1}")
    world.where[nic(7, 1)] = None
    world.where[nic(12, 1)] = Port("leaf-1", "swp3")
    _, causes = causes_of(world)
    kinds = {cause.kind: cause for cause in causes if cause.kind is not CauseKind.LINK_DOWN}
    assert set(kinds) == {CauseKind.PORT_SHIFT, CauseKind.CABLE_MOVE}
    assert [str(move.cable) for move in kinds[CauseKind.CABLE_MOVE].moves] == [str(nic(12, 1))]
    assert "not found" not in kinds[CauseKind.CABLE_MOVE].summary
    assert [move.after for move in kinds[CauseKind.PORT_SHIFT].moves] == ["the cable of h12/nicb is moved", "", "", ""]
    followed(world.plan, world.where, causes)


@pytest.mark.parametrize("by_inventory", [False, True])
def test_host_names_swapped(by_inventory: bool) -> None:
    world = World(make_plan(), folders_by_inventory=by_inventory)
    world.exchange_names("h2", "h6")
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.HOST_SWAP, ("h2", "h6"), ())
    assert bool(cause.alternatives) is not by_inventory  # the MACs decide where the inventory names the folders


@pytest.mark.parametrize("by_inventory", [False, True])
@pytest.mark.parametrize("deaf", ["none", "leaves", "hosts"])
def test_leaf_names_swapped(deaf: str, by_inventory: bool) -> None:
    world = World(make_plan(), folders_by_inventory=by_inventory)
    world.exchange_names("leaf-1", "leaf-3")
    world.deaf = {"none": set(), "leaves": {"leaf-1", "leaf-3"}, "hosts": {f"h{i}" for i in range(1, 9)}}[deaf]
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.LEAF_SWAP, ("leaf-1", "leaf-3"), ())
    assert cause.names_only
    shown = by_inventory and deaf != "leaves"  # else the plan may have the two in each other's places
    assert [(other.kind, other.moves) for other in cause.alternatives] == [] if shown else [(CauseKind.LEAF_SWAP, ())]
    assert (cause.confidence > 0.9) is shown


def test_three_leaf_names_in_a_ring() -> None:
    world = World(make_plan(rails=6))
    world.called = {"leaf-1": "leaf-2", "leaf-2": "leaf-4", "leaf-4": "leaf-1"}
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.LEAF_SWAP, ("leaf-1", "leaf-2", "leaf-4"), ())


@pytest.mark.parametrize(("machine", "kind"), [("leaf-2", CauseKind.LEAF_SWAP), ("h4", CauseKind.HOST_SWAP)])
def test_a_name_that_no_plan_has(machine: str, kind: CauseKind) -> None:
    world = World(make_plan(), called={machine: "localhost"})
    cause = only(evaluate(Round(world.plan, world.snapshot())).causes)
    assert (cause.kind, cause.subjects, cause.moves) == (kind, (machine, "localhost"), ())


def test_a_strange_name_is_seen_through_where_the_folder_says_whose_it_is() -> None:
    world = World(make_plan(), called={"leaf-2": "localhost"}, folders_by_inventory=True)
    wiring, causes = causes_of(world)
    assert causes == ()
    assert [wiring.index.devices.names[d] for d in wiring.identity.strange.values()] == ["leaf-2"]


def test_all_host_cables_of_two_leaves_crossed() -> None:
    world = World(make_plan())
    for i in range(1, 9):
        world.swap(nic(i, 1), nic(i, 3))
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, len(cause.moves)) == (CauseKind.BUNDLE_SWAP, ("leaf-1", "leaf-3"), 16)


def test_without_uplinks_label_and_bundle_cannot_be_distinguished() -> None:
    world = World(make_plan(spines=0))
    for i in range(1, 9):
        world.swap(nic(i, 1), nic(i, 3))
    cause = only(causes_of(world)[1])
    assert cause.kind is CauseKind.LEAF_SWAP
    assert [a.kind for a in cause.alternatives] == [CauseKind.BUNDLE_SWAP, CauseKind.LEAF_SWAP]
    assert cause.to_confirm
    assert cause.confidence < 0.8


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (3, 2, 1, 0), (1, 2, 3, 0)])
@pytest.mark.parametrize("hosts", [("h4",), tuple(f"h{i}" for i in range(1, 9)), ("h1", "h2", "h3")])
def test_nic_names_in_another_order(hosts: tuple[str, ...], order: tuple[int, ...]) -> None:
    names = [f"nic{chr(97 + r)}" for r in range(4)]
    world = World(make_plan(), nic_names={h: {names[r]: names[order[r]] for r in range(4)} for h in hosts})
    cause = only(causes_of(world)[1])
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.GPU_NIC_ORDER, hosts, ())


def test_a_swapped_pair_inside_a_swapped_leaf_is_two_causes() -> None:
    world = World(make_plan())
    world.exchange_names("leaf-1", "leaf-3")
    world.swap(nic(2, 1), nic(5, 1))
    kinds = {c.kind: c for c in causes_of(world)[1]}
    assert set(kinds) == {CauseKind.LEAF_SWAP, CauseKind.CABLE_SWAP}
    assert len(kinds[CauseKind.CABLE_SWAP].moves) == 2


def _leaf_and_host(world: World) -> None:
    world.exchange_names("leaf-0", "leaf-2")
    world.exchange_names("h1", "h7")


def _swap_and_host(world: World) -> None:
    world.exchange_names("h1", "h7")
    world.swap(nic(3, 0), nic(4, 0))


@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (_leaf_and_host, [CauseKind.LEAF_SWAP, CauseKind.HOST_SWAP]),
        (_swap_and_host, [CauseKind.CABLE_SWAP, CauseKind.HOST_SWAP]),
    ],
)
def test_compound_faults(make: Callable[[World], None], kinds: list[CauseKind]) -> None:
    world = World(make_plan())
    make(world)
    assert [c.kind for c in causes_of(world)[1]] == kinds


def test_an_unread_host_is_not_wrong() -> None:
    wiring, causes = causes_of(World(make_plan(), unread={"h3"}, deaf={"leaf-1"}))
    assert causes == ()
    unknown = [str(wiring.index.a_port(int(c))) for c in wiring.cables(State.UNKNOWN)]
    assert unknown == ["h3/nicb"]  # its other leaves hear it


def test_crossed_bundles_none_of_whose_cables_can_go_straight_to_its_place_are_a_rotation() -> None:
    world = World(make_plan(hosts=6))
    places = {nic(h, 0): Port("leaf-1", f"swp{h}") for h in range(1, 6)}
    places |= {nic(h, 1): Port("leaf-0", f"swp{h - 1}") for h in range(2, 6)}
    places |= {nic(6, 0): Port("leaf-0", "swp5"), nic(6, 1): Port("leaf-0", "swp6"), nic(1, 1): Port("leaf-1", "swp6")}
    world.where |= places
    causes = causes_of(world)[1]
    assert {c.kind for c in causes} == {CauseKind.CABLE_ROTATION}
    assert sorted(m.cable for c in causes for m in c.moves) == sorted(places)


@settings(max_examples=draws(15, 240), deadline=None)
@given(st.permutations(range(12)), st.integers(0, 3))
@example([0, 1, 5, 2, 3, 7, 4, 6, 8, 9, 11, 10], 1)
@example([0, 2, 3, 4, 10, 9, 7, 6, 8, 1, 11, 5], 1)
def test_moves_never_touch_a_right_cable_and_lead_to_the_plan(order: list[int], deaf: int) -> None:
    world = World(make_plan(hosts=3), deaf={f"h{deaf}"})
    slots = [c.a for c in world.plan.cables if c.rail is not None]
    places = [world.plan.peer_of(slot) for slot in slots]
    world.where |= {slot: places[order[i]] for i, slot in enumerate(slots)}
    wiring, causes = causes_of(world)
    for cause in causes:
        for move in (*cause.moves, *(m for a in cause.alternatives for m in a.moves)):
            if cause.moves:
                assert world.where[move.cable] != world.plan.peer_of(move.cable)
    here = followed(world.plan, world.where, causes)
    if not any(c.kind in (CauseKind.LEAF_SWAP, CauseKind.HOST_SWAP, CauseKind.GPU_NIC_ORDER) for c in causes):
        assert here == both_ways({c.a: c.b for c in world.plan.cables})
        assert sum(len(c.moves) for c in causes) == len(wiring.cables(State.WRONG))


@settings(max_examples=draws(40, 2000), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 3))
@example(Random(1), 3)
def test_each_move_of_shifted_swapped_and_lost_cables_goes_to_a_free_port(random: Random, faults: int) -> None:
    world = World(make_plan(hosts=8, rails=2))
    planned = {cable.a: cable.b for cable in world.plan.cables}
    for _ in range(faults):
        cables = [nic(host, rail) for rail in random.sample(range(2), random.choice((1, 1, 2))) for host in range(1, 9)]
        first = random.randrange(len(cables) - 4)
        some = random.choice(
            (cables[first : first + random.randint(4, 8)], random.sample(cables, random.randint(2, 5)))
        )
        places = [world.where[cable] for cable in some]
        world.where |= zip(some, [*places[1:], random.choice((places[0], Port("leaf-0", "swp60")))], strict=True)
        if random.random() < 0.3:
            world.where[random.choice(cables)] = None
    taken = Counter(world.where.values())
    world.where |= {cable: None for cable, place in world.where.items() if taken[place] > 1}
    causes = causes_of(world)[1]
    here = followed(world.plan, world.where, causes)
    if not any(cause.kind in (CauseKind.LEAF_SWAP, CauseKind.HOST_SWAP, CauseKind.GPU_NIC_ORDER) for cause in causes):
        assert {cable: here.get(cable) for cable in planned} == {c: p and planned[c] for c, p in world.where.items()}


def test_what_sits_in_a_shifted_block_moves_with_it_or_before_it() -> None:
    world = World(make_plan(hosts=12))
    for i in range(3, 8):
        world.where[nic(i, 1)] = Port("leaf-1", f"swp{i + 1}")
    world.where[nic(8, 1)] = Port("leaf-1", "swp3")  # over its end
    world.swap(nic(5, 1), nic(2, 3))
    cause = only(causes_of(world)[1])
    assert (cause.kind, len(cause.moves)) == (CauseKind.PORT_SHIFT, 7)
    assert cause.summary.startswith("4 cables on leaf-1 are 1 port too high: swp3 to swp7 is one shifted block, and 3")
    assert followed(world.plan, world.where, [cause]) == both_ways({cable.a: cable.b for cable in world.plan.cables})


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_input_does_not_matter(random: object) -> None:
    world = World(make_plan())
    world.exchange_names("leaf-1", "leaf-3")
    world.swap(nic(2, 0), nic(5, 0))
    world.swap(nic(6, 0), nic(7, 2))
    first = causes_of(world)[1]
    snapshot = world.snapshot()
    readings = list(snapshot.readings)
    random.shuffle(readings)  # type: ignore[attr-defined]  # hypothesis's random.Random
    world.snapshot = lambda: type(snapshot)(snapshot.at, readings)  # type: ignore[method-assign]  # the same facts, shuffled
    assert causes_of(world)[1] == first


@pytest.mark.parametrize(
    ("second", "moved"), [(Fault(CauseKind.LEAF_SWAP, "labels"), 0), (Fault(CauseKind.BUNDLE_SWAP, "crossed"), 64)]
)
def test_swapped_switches_are_found_below_hosts_that_are_all_swapped(second: Fault, moved: int) -> None:
    """No cable is right, and none votes for one swap alone: its host and its switch both bear another's name."""
    faults = [Fault(CauseKind.LEAF_SWAP, "labels"), second, *[Fault(CauseKind.HOST_SWAP, "labels")] * 8]
    made = simulate(Shape(hosts=16, rails=8, rails_per_leaf=2), faults, seed=1)
    found = evaluate(Round(made.plan, made.snapshot()))
    assert {(one.kind, frozenset(one.subjects)) for one in found.causes} == {
        (one.kind, frozenset(one.subjects)) for one in made.truth.causes
    }
    assert all(one.explains for one in found.causes)
    moves = [move for one in found.causes for move in one.moves]
    assert len(moves) == len({move.cable for move in moves}) == moved
    assert {move.cable for move in moves} == {port for port in made.truth.moved if port in made.truth.wiring}


# Sessions that are down: symptoms of their cable's cause, or a cause of their own


SESSION_KINDS = (
    CauseKind.CONFIGURATION,
    CauseKind.LINK_DOWN,
    CauseKind.CONFIGURATION,
    CauseKind.CABLE_SWAP,
    CauseKind.CABLE_MOVE,
)


@pytest.mark.parametrize(("case", "kind"), [*zip(rules()["BGP001"].fires, SESSION_KINDS, strict=True)])
def test_a_session_has_the_cause_of_its_cable(case: object, kind: CauseKind) -> None:
    evaluation = evaluate(scene(case))  # type: ignore[arg-type]
    sessions = {one.id for one in evaluation.findings if one.rule == "BGP001"}
    (cause,) = [one for one in evaluation.causes if sessions & set(one.explains)]
    assert cause.kind is kind
    assert sessions <= set(cause.explains)
