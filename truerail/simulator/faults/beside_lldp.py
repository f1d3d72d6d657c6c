"""What other witnesses than LLDP report, with their noise: MAC tables of switches, serial numbers in cables' ends.

The shares are those of the project's study of recorded fabrics, where it has them, and else guesses on the pessimistic
side: a table has an entry on 97 % of the ports with a powered host, 0.5 % of these are old ones; numbers are read at
both ends of 90 % of the cables, and 3 % of the cables bear the number of another one.
"""

from random import Random

from truerail.model import Port
from truerail.simulator.fabric.world import World, mac

_SPEAKS, _STALE, _READ, _CLONES = 0.97, 0.005, 0.90, 0.03
_VIRTUAL = 0.1
"""The share of ports that also show a virtual machine's MAC, which no host lists among its interfaces."""


def equip(world: World, lldp: float, rng: Random, *, stations: bool, serials: bool) -> None:
    """Takes LLDP from a share of the cables, and gives the fabric MAC tables and serial numbers."""
    cables = list(world.cables())
    if lldp < 1.0:
        for cable in cables:
            if rng.random() >= lldp:
                world.without_lldp.update(cable)
    if stations:
        _tables(world, rng)
    if serials:
        _numbers(world, cables, rng)


def _tables(world: World, rng: Random) -> None:
    """The MACs that each switch port with a host behind it shows."""
    hosts = [(a, b) for a, b in world.cables() if world.is_host(a.device) and world.carrier(b)]
    old = [_of(world, a) for a, _ in hosts]
    for a, b in hosts:
        if rng.random() >= _SPEAKS:
            continue
        shown = [_of(world, a)]
        if rng.random() < _STALE:
            shown = [*shown, rng.choice(old)] if rng.random() < 0.5 else [rng.choice(old)]
        if rng.random() < _VIRTUAL:
            shown.append(mac(0x525400000000 + rng.randrange(1 << 24)))
        world.stations[b] = tuple(dict.fromkeys(shown))


def _of(world: World, jack: Port) -> str:
    return world.host_mac(jack.device, world.slot(jack))


def _numbers(world: World, cables: list[tuple[Port, Port]], rng: Random) -> None:
    """The serial number in both ends of most cables: with suffixes on some."""
    given: list[str] = []
    for a, b in cables:
        number = f"MT{rng.randrange(10**10):010}VS"
        if given and rng.random() < _CLONES:
            number = rng.choice(given)
        given.append(number)
        if rng.random() < _READ:
            ends = ("-A", "-B") if rng.random() < 0.3 else ("", "")
            world.serials[a], world.serials[b] = number + ends[0], number + ends[1]
