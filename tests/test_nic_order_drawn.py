"""Hosts whose NICs carry other names than planned, of which not every GPU and not every cable is seen."""

import pytest

from truerail.model import CauseKind, Judgement
from truerail.rounds import judge
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=12, rails=8, host_ports="rdma", spines=2, uplinks=8, spare_ports=4)
RENAMED = [Fault(CauseKind.GPU_NIC_ORDER, "model")]


def judged(simulation: Simulation) -> Judgement:
    return judge(simulation.plan, simulation.snapshot())


@pytest.mark.parametrize("seed", range(6))
def test_a_lost_gpu_leaves_the_order_of_its_host_whole(seed: int) -> None:
    """No GPU is near to one NIC, because it fell off the bus: the other NICs show the order that it is in."""
    simulation = simulate(SHAPE, RENAMED, seed=seed, behaviours=["gpu_lost@0.3"])
    (cause,) = judged(simulation).causes
    assert (cause.kind, cause.moves) == (CauseKind.GPU_NIC_ORDER, ())
    assert set(cause.subjects) == set(simulation.truth.causes[0].subjects)


@pytest.mark.parametrize("seed", range(6))
def test_an_order_of_which_a_host_shows_a_part_is_the_same_order(seed: int) -> None:
    """Some of the cables are not heard yet: the hosts that they are of have the order of the others."""
    simulation = simulate(SHAPE, RENAMED, seed=seed, behaviours=["young_link@0.08"])
    (cause,) = [one for one in judged(simulation).causes if one.kind is not CauseKind.UNKNOWN]
    assert (cause.kind, cause.moves) == (CauseKind.GPU_NIC_ORDER, ())
    assert set(cause.subjects) == set(simulation.truth.causes[0].subjects)


def test_two_hosts_of_two_orders_stay_two_causes() -> None:
    """The NICs that would be in the other host's order are seen, and are right."""
    orders = {"gpu-003": (1, 0, 2, 3, 4, 5, 6, 7), "rest": (1, 0, 3, 2, 4, 5, 6, 7)}
    simulation = simulate(SHAPE, [], seed=1)
    for host in simulation.world.fabric.models:
        if host == "gpu-003" or host in ("gpu-005", "gpu-007", "gpu-009"):
            simulation.world.nic_order[host] = orders.get(host, orders["rest"])
    causes = judged(simulation).causes
    assert [cause.kind for cause in causes] == [CauseKind.GPU_NIC_ORDER] * 2
    assert {cause.subjects for cause in causes} == {("gpu-003",), ("gpu-005", "gpu-007", "gpu-009")}
