"""The fabric of `truerail demo`: pods with the usual faults of an installation day."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from truerail.model import CauseKind
from truerail.simulator.fabric.builder import Shape
from truerail.simulator.faults.planting import Fault
from truerail.simulator.simulation import Simulation, simulate
from truerail.simulator.traffic import FlowFaultKind

STORY = (
    Fault(CauseKind.LEAF_SWAP, "labels"),
    Fault(CauseKind.PORT_SHIFT, "spare"),
    Fault(CauseKind.HOST_SWAP, "labels"),
    Fault(CauseKind.CABLE_SWAP, "one-host"),
    Fault(CauseKind.LINK_DOWN, "host"),
    Fault(CauseKind.LINK_DOWN, "host"),
)
"""A cable swap, a swap of leaf labels, one of host labels, a shifted block and two dead links."""
HOSTS_PER_POD = 128
"""The number of a leaf's host ports."""


def demo_shape(hosts: int, rails: int, faults: Iterable[Fault] = ()) -> Shape:
    """Pods with a leaf for each rail, and four spines above them; with patch panels where a fault needs them."""
    pods, trunk = -(-hosts // HOSTS_PER_POD), 8 * any(fault.at_panels for fault in faults)
    return Shape(hosts=hosts, rails=rails, pods=pods, spines=4, uplinks=32, storage=True, trunk=trunk)


def living_shape(
    hosts: int, rails: int, troubles: Collection[FlowFaultKind] = (), faults: Iterable[Fault] = ()
) -> Shape:
    """The fabric of a live demo. It has superspines and several pods to show a repeated hash: the same hash that sends
    flows of a leaf to one spine makes that spine use only half of its links for them.
    """
    shape = demo_shape(hosts, rails, faults)
    if FlowFaultKind.POLARIZATION not in troubles:
        return shape
    return replace(shape, pods=max(2, shape.pods), uplinks=16, superspines=8)


def demo_simulation(hosts: int = 64, rails: int = 8, faults: Sequence[Fault] = STORY, seed: int = 1) -> Simulation:
    """The fabric of that size with these faults. Raises `NoRoomError` if it is too small for them."""
    return simulate(demo_shape(hosts, rails, faults), faults, seed=seed)
