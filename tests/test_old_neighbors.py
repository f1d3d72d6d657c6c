"""Old neighbours, shared names and dark ports: what a port still lists is not where a cable is."""

from dataclasses import replace

import pytest

from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=12, rails=4, spines=2, uplinks=8, spare_ports=6)


def evaluated(simulation: Simulation) -> Evaluation:
    return evaluate(Round(simulation.plan, simulation.snapshot()))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("variant", ["one-leaf", "other-leaf"])
def test_a_moved_cable_whose_planned_place_is_still_listed_is_not_right(variant: str, seed: int) -> None:
    """The free port that it is in is no other name of the planned one: the switch has both."""
    simulation = simulate(SHAPE, [Fault(CauseKind.CABLE_MOVE, variant)], seed=seed, behaviours=["swap_two_neighbors"])
    evaluation, (moved,) = evaluated(simulation), simulation.truth.moved
    assert evaluation.cable_states[moved] is not CableState.RIGHT
    assert not [cause for cause in evaluation.causes if cause.kind is CauseKind.LINK_DOWN]


@pytest.mark.parametrize("seed", range(4))
def test_a_name_that_two_hosts_send_moves_no_cable(seed: int) -> None:
    """Where one of the two is not heard, the other seems to be it: their chassis ids, that both are there."""
    behaviours = ["networkd", "clone_name@0.9", "young_link@0.3"]
    evaluation = evaluated(simulate(SHAPE, [], seed=seed, behaviours=behaviours))
    assert not [cause for cause in evaluation.causes if cause.moves]
    assert CableState.WRONG not in evaluation.cable_states.values()


@pytest.mark.parametrize("behaviours", [["dpu"], ["swap_two_neighbors"]])
def test_a_host_with_link_whose_planned_port_is_dark_has_no_link_down(behaviours: list[str]) -> None:
    """A block shifted into free ports leaves its first places dark, and its cables have link."""
    for seed in range(4):
        simulation = simulate(SHAPE, [Fault(CauseKind.PORT_SHIFT, "spare")], seed=seed, behaviours=behaviours)
        evaluation = evaluated(simulation)
        assert not [cause for cause in evaluation.causes if cause.kind is CauseKind.LINK_DOWN]
        states = {evaluation.cable_states[port] for port in simulation.truth.moved}
        assert states <= {CableState.UNKNOWN, CableState.MISSING, CableState.WRONG} or behaviours == ["dpu"]


def test_names_that_no_answer_carries_are_no_fault() -> None:
    """Firmware sends MACs alone, and hosts asked by their addresses do not say what they call themselves."""
    fault = [Fault(CauseKind.HOST_SWAP, "labels")]
    simulation = simulate(SHAPE, fault, seed=1, folders="inventory", behaviours=["fw_lldp=only"])
    assert not simulation.truth.causes
    assert not simulation.truth.wrong
    assert evaluated(simulation).causes == ()
    assert simulate(SHAPE, fault, seed=1, folders="inventory", behaviours=["fw_lldp=tx"]).truth.causes
    leaves = [Fault(CauseKind.LEAF_SWAP, "labels")]  # switches send their names whatever the hosts' firmware does
    assert simulate(SHAPE, leaves, seed=1, folders="inventory", behaviours=["fw_lldp=only"]).truth.causes


@pytest.mark.parametrize("share", ["", "@0.5"])
def test_labels_of_switches_whose_spines_send_one_mac_move_no_uplink(share: str) -> None:
    """A spine's port describes itself by its name; by the labels alone it would be that of the other switch."""
    shape = replace(SHAPE, platforms=("sonic", "nxos"))
    fault = [Fault(CauseKind.LEAF_SWAP, "labels")]
    for seed in range(6):
        simulation = simulate(
            shape, fault, seed=seed, folders="inventory", behaviours=["networkd", f"sonic_mac_portid{share}"]
        )
        evaluation = evaluated(simulation)
        assert not [cause for cause in evaluation.causes if cause.moves]
        (cause,) = evaluation.causes
        assert (cause.kind, set(cause.subjects)) == (CauseKind.LEAF_SWAP, set(simulation.truth.causes[0].subjects))


def test_a_circle_of_which_a_cable_is_not_heard_is_open() -> None:
    """What is seen is a path: each of its cables is moved home, and the truth does not claim more."""
    found = 0
    for seed in range(12):
        simulation = simulate(
            SHAPE, [Fault(CauseKind.CABLE_ROTATION, "one-host")], seed=seed, behaviours=["young_link@0.2"]
        )
        truth, causes = simulation.truth, evaluated(simulation).causes
        if truth.wrong and not truth.decidable:
            assert CauseKind.CABLE_MOVE in {other.kind for other in truth.causes[0].alternatives}
            moved = {move.cable for cause in causes for move in cause.moves}
            assert moved == truth.wrong
            assert {cause.kind for cause in causes if cause.moves} == {CauseKind.CABLE_MOVE}
            found += 1
    assert found


@pytest.mark.parametrize("seed", [0, 1, 3, 9])
def test_a_moved_uplink_is_not_right_where_its_new_neighbour_is_heard_without_its_port(seed: int) -> None:
    """Both ends still list each other; of the new neighbour one switch, or both, know the device alone."""
    behaviours = ["swap_two_neighbors", "junos_no_portid"]
    shape = replace(SHAPE, platforms=("junos", "sonic"))
    simulation = simulate(shape, [Fault(CauseKind.CABLE_SWAP, "uplinks")], seed=seed, behaviours=behaviours)
    evaluation = evaluated(simulation)
    assert {evaluation.cable_states[port] for port in simulation.truth.moved} == {CableState.UNKNOWN}
    assert not [cause for cause in evaluation.causes if cause.moves]
    right = [port for port, state in evaluation.cable_states.items() if state is CableState.RIGHT]
    assert len(right) == len(simulation.plan.cables) - len(simulation.truth.moved)


@pytest.mark.parametrize("seed", range(2))
def test_one_neighbour_listed_with_and_without_its_port_is_one(seed: int) -> None:
    """An uplink listed twice, once by its device alone, is no moved cable."""
    shape = replace(SHAPE, platforms=("junos", "sonic"))
    simulation = simulate(shape, [], seed=seed, behaviours=["msap_change", "junos_no_portid"])
    evaluation = evaluated(simulation)
    uplinks = {evaluation.cable_states[cable.a] for cable in simulation.plan.cables if cable.rail is None}
    assert uplinks == {CableState.RIGHT}
