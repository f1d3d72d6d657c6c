"""The fabric of `truerail demo`: a pod in which the usual things went wrong on installation day."""

from collections.abc import Sequence

from truerail.model import CauseKind
from truerail.simulator.faults import Fault
from truerail.simulator.shape import Shape
from truerail.simulator.simulation import Simulation, simulate

STORY = (
    Fault(CauseKind.LEAF_SWAP, "labels"),
    Fault(CauseKind.PORT_SHIFT, "spare"),
    Fault(CauseKind.HOST_SWAP, "labels"),
    Fault(CauseKind.CABLE_SWAP, "one-host"),
    Fault(CauseKind.LINK_DOWN, "host"),
    Fault(CauseKind.LINK_DOWN, "host"),
)
"""A swap, an exchanged leaf label, an exchanged host label, a shifted block and two dead links."""


def demo_simulation(hosts: int = 64, rails: int = 8, faults: Sequence[Fault] = STORY, seed: int = 1) -> Simulation:
    """One pod with a leaf for each rail, and four spines. Raises `NoRoom` where it is too small for the faults."""
    shape = Shape(hosts=hosts, rails=rails, spines=4, uplinks=32, storage=True)
    return simulate(shape, faults, seed=seed)
