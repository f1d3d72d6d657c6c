"""Hosts whose NICs carry other names than planned, of which not every GPU and not every cable is seen."""

from dataclasses import replace

import pytest

from tests.draws import draws
from truerail.analysis.round import Round
from truerail.model import CauseKind, Evaluation, Status
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=12, rails=8, host_ports="rdma", spines=2, uplinks=8, spare_ports=4)
RENAMED = [Fault(CauseKind.GPU_NIC_ORDER, "model")]


def evaluated(simulation: Simulation) -> Evaluation:
    return evaluate(Round(simulation.plan, simulation.snapshot()))


@pytest.mark.parametrize("seed", range(draws(3, 0), 6))
def test_a_lost_gpu_leaves_the_order_of_its_host_whole(seed: int) -> None:
    """No GPU is near to one NIC, because it fell off the bus: the other NICs show the order that it is in."""
    simulation = simulate(SHAPE, RENAMED, seed=seed, behaviours=["gpu_lost@0.3"])
    (cause,) = evaluated(simulation).causes
    assert (cause.kind, cause.moves) == (CauseKind.GPU_NIC_ORDER, ())
    assert set(cause.subjects) == set(simulation.truth.causes[0].subjects)


@pytest.mark.parametrize("seed", range(draws(3, 0), 6))
def test_an_order_of_which_a_host_shows_a_part_is_the_same_order(seed: int) -> None:
    """Some of the cables are not heard yet: the hosts that they are of have the order of the others."""
    simulation = simulate(SHAPE, RENAMED, seed=seed, behaviours=["young_link@0.08"])
    (cause,) = [one for one in evaluated(simulation).causes if one.kind is not CauseKind.UNKNOWN]
    assert (cause.kind, cause.moves) == (CauseKind.GPU_NIC_ORDER, ())
    assert set(cause.subjects) == set(simulation.truth.causes[0].subjects)


def test_two_hosts_of_two_orders_stay_two_causes() -> None:
    """The NICs that would be in the other host's order are seen, and are right."""
    orders = {"gpu-003": (1, 0, 2, 3, 4, 5, 6, 7), "rest": (1, 0, 3, 2, 4, 5, 6, 7)}
    simulation = simulate(SHAPE, [], seed=1)
    for host in simulation.world.fabric.models:
        if host == "gpu-003" or host in ("gpu-005", "gpu-007", "gpu-009"):
            simulation.world.nic_order[host] = orders.get(host, orders["rest"])
    causes = evaluated(simulation).causes
    assert [cause.kind for cause in causes] == [CauseKind.GPU_NIC_ORDER] * 2
    assert {cause.subjects for cause in causes} == {("gpu-003",), ("gpu-005", "gpu-007", "gpu-009")}


def test_a_lost_gpu_beside_crossed_bundles_leaves_both_whole() -> None:
    """The NIC without a GPU seems right by its name, which another NIC of its host is known to bear."""
    faults = [*RENAMED, Fault(CauseKind.BUNDLE_SWAP)]
    for seed in range(draws(3, 0), 6):
        simulation = simulate(SHAPE, faults, seed=seed, behaviours=["gpu_lost@0.3"])
        kinds = {cause.kind: cause for cause in evaluated(simulation).causes}
        assert set(kinds) == {CauseKind.GPU_NIC_ORDER, CauseKind.BUNDLE_SWAP}
        assert len(kinds[CauseKind.GPU_NIC_ORDER].subjects) == SHAPE.hosts
        assert {move.cable for move in kinds[CauseKind.BUNDLE_SWAP].moves} == simulation.truth.moved


def test_a_gpu_that_one_host_alone_shows_does_not_make_its_own_rule() -> None:
    """Half of the GPUs have no NIC nearby; where two are swapped, one of that half stands where a NIC is."""
    found = 0
    for seed in range(8):
        simulation = simulate(SHAPE, [Fault(CauseKind.GPU_NIC_ORDER, "gpus")], seed=seed, behaviours=["topo_sparse"])
        if simulation.truth.decidable:
            (cause,) = evaluated(simulation).causes
            assert (cause.kind, cause.subjects) == (CauseKind.GPU_NIC_ORDER, simulation.truth.causes[0].subjects)
            found += 1
    assert found


@pytest.mark.parametrize("flag", ["topo_no_nic", "topo_gb200", "topo_flat", "topo_bond"])
def test_an_order_of_gpus_that_no_matrix_shows_is_unknown(flag: str) -> None:
    simulation = simulate(SHAPE, [Fault(CauseKind.GPU_NIC_ORDER, "gpus")], seed=2, behaviours=[flag])
    assert not simulation.truth.decidable
    evaluation = evaluated(simulation)
    assert evaluation.causes == ()
    assert [one.status for one in evaluation.verdicts if one.rule == "NIC001"] == [Status.UNKNOWN]


@pytest.mark.parametrize("flag", ["rename@0.9", "default_name@0.9", "clone_name@0.9"])
def test_hosts_with_swapped_names_bear_no_third_one(flag: str) -> None:
    """Two machines never answer from one folder: each host of the swap announces the other's name."""
    simulation = simulate(SHAPE, [Fault(CauseKind.HOST_SWAP, "labels")], seed=3, behaviours=[flag])
    folders = [folder for folder, _ in simulation.answers()]
    assert len(folders) == len(set(folders))


@pytest.mark.parametrize("kind", [CauseKind.BUNDLE_SWAP, CauseKind.GPU_NIC_ORDER])
def test_crossed_bundles_without_a_topology_may_be_another_order_of_nics(kind: CauseKind) -> None:
    """Names that follow the order of probing, and no matrix that shows NICs: both are named, and no cable moves."""
    fault = Fault(kind, "model" if kind is CauseKind.GPU_NIC_ORDER else "")
    causes = evaluated(simulate(SHAPE, [fault], seed=5, behaviours=["topo_no_nic"])).causes
    assert causes
    assert not [move for cause in causes for move in cause.moves]
    assert all(cause.alternatives and cause.to_confirm for cause in causes)


@pytest.mark.parametrize("rails_per_leaf", [1, 2])
@pytest.mark.parametrize("order", [(0, 5, 2, 3, 4, 1, 6, 7), (4, 1, 0, 3, 2, 5, 6, 7), (3, 4, 5, 0, 1, 2, 6, 7)])
def test_an_order_that_no_topology_shows_is_one_open_cause_of_all_its_hosts(
    order: tuple[int, ...], rails_per_leaf: int
) -> None:
    """Twelve hosts with the same NICs in each other's places are one order of a model, or one way of cabling."""
    shape = replace(SHAPE, rails_per_leaf=rails_per_leaf)
    simulation = simulate(shape, [], seed=1, behaviours=["topo_no_nic"])
    simulation.world.nic_order.update(dict.fromkeys(simulation.world.fabric.models, order))
    (cause,) = evaluated(simulation).causes
    assert (cause.kind, cause.moves) == (CauseKind.GPU_NIC_ORDER, ())
    assert set(cause.subjects) == set(simulation.world.fabric.models)
    moved = sum(place != rail for rail, place in enumerate(order)) * SHAPE.hosts
    assert sum(len(other.moves) for other in cause.alternatives) == moved


def test_two_hosts_with_one_open_order_are_two_swaps_to_be_confirmed() -> None:
    simulation = simulate(SHAPE, [], seed=1, behaviours=["topo_no_nic"])
    for host in ("gpu-003", "gpu-005"):
        simulation.world.nic_order[host] = (0, 5, 2, 3, 4, 1, 6, 7)
    causes = evaluated(simulation).causes
    assert [{subject.partition("/")[0] for subject in cause.subjects} for cause in causes] == [{"gpu-003"}, {"gpu-005"}]
    for cause in causes:
        assert (cause.kind, cause.moves, cause.undecided) == (CauseKind.CABLE_SWAP, (), True)
        assert [other.kind for other in cause.alternatives] == [CauseKind.GPU_NIC_ORDER, CauseKind.CABLE_SWAP]


@pytest.mark.parametrize(("order", "open_"), [((4, 5, 6, 7, 0, 1, 2, 3), 4), ((2, 3, 0, 1, 4, 5, 6, 7), 2)])
def test_what_a_topology_shows_of_some_nics_is_one_order_with_the_rest(order: tuple[int, ...], open_: int) -> None:
    """Half of the GPUs have no NIC nearby: what is open of their NICs is an alternative, and no second cause."""
    simulation = simulate(SHAPE, [], seed=1, behaviours=["topo_sparse"])
    simulation.world.nic_order["gpu-003"] = order
    (cause,) = evaluated(simulation).causes
    assert (cause.kind, cause.subjects, cause.moves) == (CauseKind.GPU_NIC_ORDER, ("gpu-003",), ())
    assert [len(other.moves) for other in cause.alternatives] == [open_]
    assert cause.to_confirm
    assert len(cause.explains) >= 2 * open_


@pytest.mark.parametrize("hosts", [1, SHAPE.hosts])
def test_an_order_that_no_cable_shows_is_named_on_a_few_hosts_and_unknown_on_most(hosts: int) -> None:
    """DPUs hide which NIC is where. One host that differs from the others shows it; an order that most hosts have may
    be the vendor's, and the plan's.
    """
    simulation = simulate(SHAPE, [], seed=1, behaviours=["dpu"])
    names = [*simulation.world.fabric.models][:hosts]
    simulation.world.nic_order.update(dict.fromkeys(names, (0, 5, 2, 3, 4, 1, 6, 7)))
    evaluation = evaluated(simulation)
    status = {one.rule: one.status for one in evaluation.verdicts}["NIC001"]
    assert status is (Status.FAIL if hosts == 1 else Status.UNKNOWN)
    assert [cause.subjects for cause in evaluation.causes] == ([("gpu-001",)] if hosts == 1 else [])


@pytest.mark.parametrize("seed", range(draws(3, 0), 6))
def test_an_order_of_which_only_the_leaves_are_heard_is_one_cause(seed: int) -> None:
    """Boxes of several chips do not tell their ports: each NIC is heard on the leaf of its GPU, and no cable is wrong.
    Nor are its leaves swapped, nor two of its cables.
    """
    shape = replace(SHAPE, platforms=("infiniband",))
    simulation = simulate(shape, [Fault(CauseKind.GPU_NIC_ORDER, "names")], seed=seed, behaviours=["ib_multi_asic"])
    (cause,) = evaluated(simulation).causes
    assert (cause.kind, cause.moves, cause.alternatives) == (CauseKind.GPU_NIC_ORDER, (), ())
    assert cause.subjects == simulation.truth.causes[0].subjects


@pytest.mark.parametrize("seed", range(draws(3, 0), 6))
def test_an_order_of_all_hosts_of_which_only_the_leaves_are_heard_exchanges_no_leaves(seed: int) -> None:
    """Every host names its NICs otherwise than planned: their leaves show that the GPUs are in the usual order."""
    shape = replace(SHAPE, rails=4, platforms=("infiniband",))
    (cause,) = evaluated(simulate(shape, RENAMED, seed=seed, behaviours=["ib_multi_asic"])).causes
    assert (cause.kind, cause.moves, cause.alternatives) == (CauseKind.GPU_NIC_ORDER, (), ())
    assert len(cause.subjects) == SHAPE.hosts
