"""Faults of cables whose hosts are heard by their names alone: named by the hosts, and nothing is moved."""

import pytest

from truerail.model import Cause, CauseKind
from truerail.rounds import judge
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=16, rails=4, spines=2, uplinks=8, spare_ports=6)
TWO_RAILS = Shape(hosts=16, rails=8, rails_per_leaf=2, spines=2, uplinks=8, spare_ports=6)
FAULTS = [
    (CauseKind.PORT_SHIFT, "spare"),
    (CauseKind.PORT_SHIFT, "cyclic"),
    (CauseKind.CABLE_ROTATION, "hosts"),
    (CauseKind.CABLE_SWAP, "across"),
    (CauseKind.HOST_SWAP, "bundles"),
    (CauseKind.HOST_SWAP, "labels"),
    (CauseKind.CABLE_MOVE, "one-leaf"),
    (CauseKind.CABLE_MOVE, "other-leaf"),
]


def causes(made: Simulation) -> tuple[Cause, ...]:
    return judge(made.plan, made.snapshot()).causes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [SHAPE, TWO_RAILS], ids=["one-rail", "two-rails"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: "-".join(fault))
def test_the_fault_is_named_by_the_hosts_that_are_heard(fault: tuple[CauseKind, str], shape: Shape, seed: int) -> None:
    made = simulate(shape, [Fault(*fault)], seed=seed, folders="inventory", behaviours=["dpu"])
    (cause,) = causes(made)
    assert (cause.kind, set(cause.subjects)) == (fault[0], set(made.truth.causes[0].subjects))
    assert cause.moves == ()
    assert cause.alternatives
    assert not any(other.moves for other in cause.alternatives)
    assert "confirm" in cause.do + cause.decides
    assert cause.confidence < 0.9


@pytest.mark.parametrize("seed", range(3))
def test_all_explain_every_finding_of_two_faults_that_touch(seed: int) -> None:
    """Two leaves bear each other's names, and on one of them two cables are exchanged."""
    faults = [Fault(CauseKind.LEAF_SWAP, "labels")]
    made = simulate(SHAPE, faults, seed=seed, folders="inventory", behaviours=["dpu"], compound=True)
    found = {(cause.kind, frozenset(cause.subjects)) for cause in causes(made)}
    assert found == {(cause.kind, frozenset(cause.subjects)) for cause in made.truth.causes}
