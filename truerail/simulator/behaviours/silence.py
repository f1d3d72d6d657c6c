"""Ports on which no neighbour is listed although a cable is plugged: who cannot hear, and what was lost."""

from typing import TYPE_CHECKING

from truerail.model import Port

if TYPE_CHECKING:
    from truerail.simulator.world import World


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
    return _is_young(world, jack)


def _is_lost(world: "World", jack: Port) -> bool:
    """The last ports of a switch that has more neighbours than its daemon keeps (sonic-buildimage#24685)."""
    choice = world.behaviours.choices.get("lldp_lost_rows")
    if choice is None:
        return False
    ports = world.fabric.ports[jack.device]
    return ports.index(jack.name) >= len(ports) * (1.0 - choice.share)


def _is_young(world: "World", jack: Port) -> bool:
    far = world.far.get(jack)
    return far is not None and world.behaviours.hits("young_link", *sorted((jack, far)))
