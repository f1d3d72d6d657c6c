"""Old neighbours, shared names and dark ports: what a port still lists is not where a cable is."""

import pytest

from truerail.model import CableState, CauseKind, Judgement
from truerail.rounds import judge
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=12, rails=4, spines=2, uplinks=8, spare_ports=6)


def judged(simulation: Simulation) -> Judgement:
    return judge(simulation.plan, simulation.snapshot())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("variant", ["one-leaf", "other-leaf"])
def test_a_moved_cable_whose_planned_place_is_still_listed_is_not_right(variant: str, seed: int) -> None:
    """The free port that it is in is no other name of the planned one: the switch has both."""
    simulation = simulate(SHAPE, [Fault(CauseKind.CABLE_MOVE, variant)], seed=seed, behaviours=["swap_two_neighbors"])
    judgement, (moved,) = judged(simulation), simulation.truth.moved
    assert judgement.cable_states[moved] is not CableState.RIGHT
    assert not [cause for cause in judgement.causes if cause.kind is CauseKind.LINK_DOWN]


@pytest.mark.parametrize("seed", range(4))
def test_a_name_that_two_hosts_send_moves_no_cable(seed: int) -> None:
    """Where one of the two is not heard, the other seems to be it: their chassis ids, that both are there."""
    behaviours = ["networkd", "clone_name@0.9", "young_link@0.3"]
    judgement = judged(simulate(SHAPE, [], seed=seed, behaviours=behaviours))
    assert not [cause for cause in judgement.causes if cause.moves]
    assert CableState.WRONG not in judgement.cable_states.values()


@pytest.mark.parametrize("behaviours", [["dpu"], ["swap_two_neighbors"]])
def test_a_host_with_link_whose_planned_port_is_dark_has_no_link_down(behaviours: list[str]) -> None:
    """A block shifted into free ports leaves its first places dark, and its cables have link."""
    for seed in range(4):
        simulation = simulate(SHAPE, [Fault(CauseKind.PORT_SHIFT, "spare")], seed=seed, behaviours=behaviours)
        judgement = judged(simulation)
        assert not [cause for cause in judgement.causes if cause.kind is CauseKind.LINK_DOWN]
        states = {judgement.cable_states[port] for port in simulation.truth.moved}
        assert states <= {CableState.UNKNOWN, CableState.MISSING, CableState.WRONG} or behaviours == ["dpu"]
