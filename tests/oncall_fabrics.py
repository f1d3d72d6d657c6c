"""Publications of simulated fabrics for the tests of on-call's questions."""

from collections.abc import Sequence
from functools import cache

from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape, Simulation, simulate

RAIL_ONLY = Shape(hosts=8, rails=4, spines=0)
SPINES = Shape(hosts=8, rails=4, spines=2, uplinks=4)
PODS = Shape(hosts=12, pods=3, rails=4, spines=2, uplinks=4, superspines=2)
PLANES = Shape(hosts=8, rails=4, planes=2, spines=0)
SHARED = Shape(hosts=8, rails=4, rails_per_leaf=2, spines=2, uplinks=4)
STRIDED = Shape(hosts=6, rails=4, rails_per_leaf=4, stride=True, spines=0)


def simulated(shape: Shape, *faults: Fault, seed: int = 4) -> Simulation:
    """A fabric whose captures are filed under planned names."""
    return simulate(shape, list(faults), seed=seed, folders="inventory")


def shown(simulation: Simulation) -> Published:
    """What is shown of a simulated fabric as it stands now."""
    return publication_of(Round(simulation.plan, simulation.snapshot()))


@cache
def published(shape: Shape, *faults: Fault, seed: int = 4) -> Published:
    """What is shown of a fabric with these faults."""
    return shown(simulated(shape, *faults, seed=seed))


def all_hosts(publication: Published) -> str:
    """Every host of the plan, as a node set."""
    return ",".join(host for host, device in publication.plan.devices.items() if device.role.tier == 0)


def names(hosts: Sequence[object]) -> list[str]:
    """The names in rows that have a `host`."""
    return [getattr(row, "host", "") for row in hosts]
