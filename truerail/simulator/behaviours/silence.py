"""Ports on which no neighbour is listed although a cable is plugged: ports that cannot hear, and lost entries."""

from typing import TYPE_CHECKING

from truerail.model import Port
from truerail.simulator.behaviours import identities

if TYPE_CHECKING:
    from truerail.simulator.fabric.world import World


def hears_nothing(world: "World", jack: Port) -> bool:
    """Whether a behaviour keeps this port from listing its neighbours."""
    behaviours = world.behaviours
    if not behaviours.choices:
        return False
    if world.is_host(jack.device):
        host = jack.device
        if behaviours.value_for("fw_lldp", host) in ("all", "only"):
            return True
        if any(behaviours.hits(name, host) for name in ("dpu", "efa", "networkd", "boot_phase")):
            return True
    elif _is_lost(world, jack):
        return True
    return _is_young(world, jack) or _is_forgotten(world, jack)


def _is_lost(world: "World", jack: Port) -> bool:
    """The last ports of a switch that has more neighbours than its daemon keeps (sonic-buildimage#24685)."""
    choice = world.behaviours.choices.get("lldp_lost_rows")
    if choice is None:
        return False
    ports = world.fabric.ports[jack.device]
    return ports.index(jack.name) >= len(ports) * (1.0 - choice.share)


def _is_forgotten(world: "World", jack: Port) -> bool:
    """Before 0.9.7, lldpd forgot all ports of a chassis as one of them was shut (lldpd#221, NEWS 0.9.7)."""
    far = world.far.get(jack)
    if "ttl0_chassis" not in world.behaviours or far is None or not identities.runs_lldpd(world, jack.device):
        return False
    if not world.behaviours.hits("ttl0_chassis", jack.device, far.device):
        return False
    between = [one for one, other in world.far.items() if (one.device, other.device) == (jack.device, far.device)]
    return len(between) > 1


def _is_young(world: "World", jack: Port) -> bool:
    far = world.far.get(jack)
    return far is not None and world.behaviours.hits("young_link", *sorted((jack, far)))
