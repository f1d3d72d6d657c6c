"""What every system knows of a machine's links: whether each is up, and how fast it runs or is configured to run."""

from collections.abc import Iterator
from dataclasses import dataclass

from truerail.model import Port
from truerail.simulator.render.beacon import Ether


@dataclass(frozen=True, slots=True)
class Link:
    """One port. `gbps` is the speed of the link in Gb/s; of a port without link, the configured one."""

    name: str
    up: bool
    gbps: float
    label: str = ""
    """The description that somebody configured."""
    off: bool = False
    """Whether the operator switched it off."""
    module: bool = True
    """Whether a module is in it: a cable that is plugged in brings one."""


def links(ether: Ether, switch: str) -> Iterator[Link]:
    """The ports of a switch in the order of their numbers, its management port left out."""
    world = ether.world
    for name in world.fabric.ports[switch]:
        jack = Port(switch, name)
        yield Link(
            name,
            world.carrier(jack),
            world.speed_gbps(jack),
            ether.label(jack),
            jack in world.switched_off,
            world.has_module(jack),
        )


def speed_word(gbps: float) -> str:
    """`400G`, `2.5G`, as switches print a speed from 1 Gb/s on."""
    return f"{gbps:g}G"
