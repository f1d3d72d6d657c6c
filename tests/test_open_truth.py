"""What the truth of a simulated fabric leaves open, and how a verdict that leaves it open is scored."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.behaviours.scoring import Named, behaviour_score
from truerail.analysis.round import Round
from truerail.model import Cause, CauseKind
from truerail.model.finding import Alternative
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate

SHAPE = Shape(hosts=12, rails=4, spines=2, uplinks=4, platforms=("cumulus",))


def test_hosts_of_which_nothing_is_heard_are_not_part_of_an_order_that_others_may_have() -> None:
    faults = [Fault(CauseKind.BUNDLE_SWAP), Fault(CauseKind.UNREACHABLE, "off")]
    made = simulate(SHAPE, faults, seed=1, behaviours=["topo_no_nic"])
    bundle, lost = made.truth.causes
    (order,) = bundle.alternatives
    assert order.kind is CauseKind.GPU_NIC_ORDER
    assert set(order.subjects) == set(made.world.fabric.models).difference(lost.subjects)
    score = behaviour_score(made, evaluate(Round(made.plan, made.snapshot())))
    assert (score.causes_found, score.problems) == (2, [])


@pytest.mark.parametrize("young", ["", "young_link@0.1"])
def test_ends_that_name_each_other_decide_beside_a_neighbour_of_the_past(young: str) -> None:
    """After a swap all ports list both neighbours. Where the old one says nothing any more, the two that hear each
    other are one cable, and of the bundle only such cables are seen.
    """
    shape = replace(SHAPE, hosts=24)
    flags = ["swap_two_neighbors", *([young] if young else [])]
    made = simulate(shape, [Fault(CauseKind.BUNDLE_SWAP)], seed=3, folders="inventory", behaviours=flags)
    assert bool(made.truth.wrong) == bool(young)
    score = behaviour_score(made, evaluate(Round(made.plan, made.snapshot())))
    assert (score.causes_unknown, score.problems) == (1, [])


def test_a_name_that_two_hosts_send_without_a_mac_says_nothing() -> None:
    """systemd-networkd sends the machine id and the interface's name: which of two hosts of one name it is, neither."""
    made = simulate(SHAPE, [], seed=1, behaviours=["networkd", "clone_name@0.4"])
    unknown = {port.device for port in made.truth.unknown}
    assert unknown
    pairs = {frozenset((f"gpu-{2 * i - 1:03}", f"gpu-{2 * i:03}")) for i in range(1, 7)}
    assert unknown == set().union(*(pair for pair in pairs if pair & unknown))
    by_mac = simulate(SHAPE, [], seed=1, behaviours=["clone_name@0.4"])
    assert not by_mac.truth.unknown


BOXES = Shape(hosts=16, rails=8, rails_per_leaf=2, spines=2, uplinks=8, platforms=("infiniband",), host_ports="rdma")
CHIPS = ["ib_multi_asic"]


def scored(*faults: Fault, seed: int, behaviours: Sequence[str] = CHIPS) -> tuple[list[CauseKind], list[str]]:
    """The kinds of the true causes that answers can show, and the problems of the evaluation."""
    made = simulate(BOXES, faults, seed=seed, behaviours=behaviours)
    score = behaviour_score(made, evaluate(Round(made.plan, made.snapshot())))
    return [cause.kind for cause in made.truth.causes], score.problems


def test_nics_with_each_others_names_are_wrong_by_name_also_where_boxes_do_not_tell_their_ports() -> None:
    kinds, problems = scored(Fault(CauseKind.GPU_NIC_ORDER, "names"), seed=2)
    assert (kinds, problems) == ([CauseKind.GPU_NIC_ORDER], [])


def test_an_order_of_nics_shows_in_topologies_where_no_box_tells_its_ports() -> None:
    """Both NICs are on one box as planned; of all answers only the host's own matrix shows that they are swapped."""
    shape = replace(BOXES, hosts=8)
    for seed in range(6):
        made = simulate(shape, [Fault(CauseKind.GPU_NIC_ORDER, "names")], seed=seed, behaviours=CHIPS)
        (order,) = made.truth.causes
        assert (order.kind, order.alternatives) == (CauseKind.GPU_NIC_ORDER, ())


@pytest.mark.parametrize(("desc", "shows"), [("default", False), ("localhost", False), ("netdev", True)])
def test_names_of_hosts_that_no_adapter_sends_are_wrong_nowhere(desc: str, shows: bool) -> None:
    """The hosts are polled by their addresses, and their adapters' descriptions say which host it is, or do not."""
    shape = Shape(hosts=6, rails=2, spines=0, platforms=("infiniband",), host_ports="rdma")
    swapped = Fault(CauseKind.HOST_SWAP, "labels")
    made = simulate(shape, [swapped], seed=1, folders="inventory", behaviours=[f"ib_desc={desc}"])
    assert (bool(made.truth.causes), bool(made.truth.wrong)) == (shows, shows)
    score = behaviour_score(made, evaluate(Round(made.plan, made.snapshot())))
    assert (score.right_moved, score.causes_found, score.problems) == (0, int(shows), [])


def test_bundles_of_nameless_boxes_are_no_more_tha_swapped_names() -> None:
    kinds, problems = scored(Fault(CauseKind.BUNDLE_SWAP), seed=1, behaviours=["ib_unmanaged", *CHIPS])
    assert (kinds, problems) == ([], [])
    assert scored(Fault(CauseKind.BUNDLE_SWAP), seed=1)[0] == [CauseKind.BUNDLE_SWAP]
    assert scored(Fault(CauseKind.BUNDLE_SWAP), seed=1, behaviours=["ib_unmanaged"])[0] == [CauseKind.BUNDLE_SWAP]


def test_hosts_in_each_others_places_on_the_same_boxes_show_nowhere_whatever_else_is_crossed() -> None:
    swapped = Fault(CauseKind.HOST_SWAP)
    assert scored(swapped, seed=3)[0] == []
    kinds, problems = scored(Fault(CauseKind.BUNDLE_SWAP), swapped, seed=3)
    assert (kinds, problems) == ([CauseKind.BUNDLE_SWAP], [])
    nameless = scored(Fault(CauseKind.BUNDLE_SWAP), swapped, seed=3, behaviours=["ib_unmanaged", *CHIPS])
    assert nameless[0] == [CauseKind.HOST_SWAP]


@pytest.mark.parametrize("seed", [2, 4, 12, 14, 29])
def test_of_a_circle_among_boxes_the_cables_on_other_boxes_are_the_circle_that_shows(seed: int) -> None:
    made = simulate(BOXES, [Fault(CauseKind.CABLE_ROTATION)], seed=seed, behaviours=CHIPS)
    (cause,) = made.truth.causes
    (swap,) = (one for one in cause.alternatives if one.kind is CauseKind.CABLE_SWAP)
    assert set(swap.subjects) < set(map(str, cause.cables))
    assert behaviour_score(made, evaluate(Round(made.plan, made.snapshot()))).problems == []


def order(alternatives: int) -> Cause:
    others = tuple(Alternative(CauseKind.BUNDLE_SWAP, f"bundles {i}") for i in range(alternatives))
    return Cause("C1", CauseKind.GPU_NIC_ORDER, ("gpu-1", "gpu-2"), "", "", (), (), 0.5, others)


KEY = (CauseKind.GPU_NIC_ORDER, frozenset(("gpu-1", "gpu-2")))


def test_one_order_stands_for_as_many_crossed_bundles_as_it_names() -> None:
    named = Named([order(2)])
    assert [named.take(KEY) for _ in range(3)] == [True, True, False]
    assert not named.left()


def test_two_causes_of_one_kind_on_the_same_subjects_are_two() -> None:
    named = Named([order(1), order(1)])
    assert named.take(KEY)
    assert len(named.left()) == 1
    assert named.take(KEY)
    assert not named.take(KEY)
    assert not named.take((CauseKind.HOST_SWAP, KEY[1]))
