"""The fabrics that accuracy is measured on: one for each seed, of mixed shapes, sizes, faults and noise."""

from dataclasses import dataclass, replace
from random import Random

from benchmarks.behaviours.drawn_behaviours import SWITCHES, drawn, drawn_later
from truerail.simulator import Noise, Shape, Simulation, simulate

SHAPES = {
    "one rail a leaf": Shape(hosts=32, rails=8, spines=4, uplinks=16),
    "one rail a leaf, 64 hosts": Shape(hosts=64, rails=8, spines=4, uplinks=32, storage=True),
    "four rails": Shape(hosts=24, rails=4, spines=2, uplinks=8, style="eth"),
    "two rails a leaf, blocks": Shape(hosts=16, rails=8, rails_per_leaf=2, spines=4, uplinks=16),
    "two rails a leaf, strides": Shape(hosts=16, rails=8, rails_per_leaf=2, stride=True, spines=4, uplinks=16),
    "two planes": Shape(hosts=16, rails=8, planes=2, spines=4, uplinks=8),
    "rail-only": Shape(hosts=32, rails=8, spines=0),
    "four pods": Shape(hosts=48, rails=8, pods=4, spines=4, uplinks=8),
    "pods under superspines": Shape(hosts=32, rails=8, pods=2, spines=4, uplinks=8, superspines=4),
    "shared NICs": Shape(hosts=32, rails=4, gpus=8, spines=2, uplinks=8),
    "two server models": Shape(hosts=32, rails=8, models=("xe9680", "dgx-h100"), storage=True, spines=4),
    "planned by RDMA device": Shape(hosts=24, rails=8, host_ports="rdma", spines=4),
}
PLATFORMS = (
    ("cumulus",),
    ("sonic",),
    ("eos",),
    ("nxos",),
    ("junos",),
    ("snmp",),
    ("cumulus", "sonic"),
    ("sonic", "eos", "nxos"),
    ("junos", "cumulus"),
)
NOISES = {
    "none": Noise(),
    "usual": Noise(
        unreachable=0.05, deaf=0.10, stale=0.01, forms=True, mixed=True, management=True, strange_files=True
    ),
    "hard": Noise(unreachable=0.10, deaf=0.15, mute=0.05, silent=0.05, stale=0.03, forms=True, mixed=True),
    "labels": Noise(unreachable=0.05, deaf=0.10, labels=True),
}
INFINIBAND = {
    name: replace(shape, platforms=("infiniband",), host_ports="rdma")
    for name, shape in SHAPES.items()
    if shape.planes == 1 and shape.host_ports == "netdev"
}
"""The shapes that are built of InfiniBand too. A plane would be a fabric of its own, with a discovery of its own."""
UNREAD = {"none": Noise(), "unread": Noise(unreachable=0.10, forms=True, strange_files=True)}
"""What spoils a discovery: hosts that could not be read, and names written many ways. No node of it is silent."""
MOST_FAULTS = 6
_MEDIUM = 24
"""Hosts of the largest fabric whose devices behave as real ones do: thousands of them are evaluated in minutes."""


@dataclass(frozen=True, slots=True)
class Strain:
    """A batch that goes beyond what the figures are promised for: so many faults at once, or this much noise."""

    faults: int
    noise: Noise


STRAINS = {
    "12 faults at once, no noise": Strain(12, Noise()),
    "6 faults, 30 % of hosts unread, 30 % deaf, 10 % mute, 10 % silent, 10 % of cables stale": Strain(
        6, Noise(unreachable=0.30, deaf=0.30, mute=0.10, silent=0.10, stale=0.10, forms=True, mixed=True)
    ),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fabric and how it was drawn."""

    seed: int
    shape: str
    platforms: tuple[str, ...]
    noise: str
    folders: str
    simulation: Simulation
    behaviours: tuple[str, ...] = ()

    def __str__(self) -> str:
        flags = f", {' '.join(self.behaviours)}" if self.behaviours else ""
        return (
            f"seed {self.seed}: {self.shape}, {'+'.join(self.platforms)}, noise {self.noise}, "
            f"folders by {self.folders}{flags}"
        )


def draw(seed: int, strain: Strain | None = None, platforms: tuple[str, ...] = ()) -> Drawn:
    """The fabric of this seed: up to 6 faults, one of them perhaps inside another, and everything else drawn.

    `strain` sets the number of faults and the noise instead, `platforms` the switches.
    """
    rng = Random(f"fabric {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    shape = rng.choice(list(SHAPES))
    drawn_platforms = rng.choice(PLATFORMS)
    platforms = platforms or drawn_platforms
    noise = rng.choice(list(NOISES))
    if "sonic" in platforms and noise == "labels":
        noise = "usual"  # SONiC sends its alias and a label: no answer says which port the alias is
    folders = rng.choice(("hostname", "inventory"))
    faults, compound = seed % (MOST_FAULTS + 1), rng.random() < 0.5
    simulation = simulate(
        replace(SHAPES[shape], platforms=platforms),
        strain.faults if strain else max(0, faults - compound),
        strain.noise if strain else NOISES[noise],
        seed,
        folders=folders,
        compound=compound,
    )
    return Drawn(seed, shape, platforms, noise, folders, simulation)


def draw_behaving(seed: int, platforms: tuple[str, ...] = ()) -> Drawn:
    """The fabric of this seed whose devices behave as real ones do: every behaviour is drawn, with up to 3 faults.

    One fabric in eight is of InfiniBand, unless `platforms` names its switches.
    """
    rng = Random(f"behaving {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    known = INFINIBAND if seed % 8 == 7 and not platforms else SHAPES
    shape = rng.choice([name for name, one in known.items() if one.hosts <= _MEDIUM])
    drawn_platforms = tuple(
        dict.fromkeys(rng.choices(list(SWITCHES), list(SWITCHES.values()), k=rng.choice((1, 1, 2))))
    )
    platforms = platforms or drawn_platforms
    if known is INFINIBAND:
        platforms = ("infiniband",)
    of_shape = replace(known[shape], platforms=platforms)
    flags = drawn(rng, platforms, of_shape.planes)
    flags += drawn_later(Random(f"behaving {seed} more"), platforms, of_shape.planes)  # noqa: S311 - as above
    folders = rng.choice(("hostname", "inventory"))
    simulation = simulate(of_shape, seed % 4, seed=seed, folders=folders, behaviours=flags)
    return Drawn(seed, shape, platforms, "none", folders, simulation, flags)


def draw_infiniband(seed: int) -> Drawn:
    """The InfiniBand fabric of this seed, with as many faults as `draw` plants: one host tells what it discovered."""
    rng = Random(f"infiniband {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    shape, noise = rng.choice(list(INFINIBAND)), rng.choice(list(UNREAD))
    folders = rng.choice(("hostname", "inventory"))
    faults, compound = seed % (MOST_FAULTS + 1), rng.random() < 0.5
    simulation = simulate(
        INFINIBAND[shape], max(0, faults - compound), UNREAD[noise], seed, folders=folders, compound=compound
    )
    return Drawn(seed, shape, ("infiniband",), noise, folders, simulation)
