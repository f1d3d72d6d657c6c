"""The tiers that polarization is measured on: two tiers that hash, their flows and one fault for each seed.

After detection.md 2.7, on loads instead of packets: the counters' arrays are filled as polls with jitter, losses and a
reset would fill them, which takes a hundredth of the time that texts take. Hashes are ideal: each flow has a number
drawn at random, and a switch takes the remainder, or the part of the range, that the number falls into.
"""

from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
import numpy.typing as npt

from truerail.model import Cable, Device, Plan, Port, Role

FANS = ((4, 4), (4, 16), (6, 8), (6, 16), (8, 24), (12, 18), (16, 16), (7, 8), (5, 16))
"""Uplinks of a leaf and of a spine. The last two have no common divisor."""
LEAVES, LEAST_HOSTS = 12, 8
"""Below each spine, and below each leaf: a leaf has as many hosts as uplinks, but no fewer than these."""
SHARED, OWN = "shared seed", "own seeds"
PAIRS, PAIRS_ABOVE, TARGETS_ABOVE = "pairs only", "pairs only above", "targets only above"
SPRAY, WEIGHTS, DRAINED = "spray", "weights", "half drained"
HASHES = (SHARED, OWN, SHARED, PAIRS, SHARED, PAIRS_ABOVE, SHARED, TARGETS_ABOVE, SPRAY, WEIGHTS, DRAINED, OWN)
"""How spines spread flows, in turn. Hashes of pairs or targets leave the ports out: all their flows are one. Weighted
spines prefer some superspines, drained ones leave half of them out, which other pods use.
"""
NO_FAULT, DOWN, HALF, DEAD = "none", "member down", "half-speed member", "dead member"
FAULTS = (NO_FAULT, NO_FAULT, NO_FAULT, DOWN, HALF, DEAD)
FLOWS = (1, 2, 4, 8, 16, 32)
SIBLINGS = (8, 4, 2)
Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trial:
    """What was drawn for a seed. `flows` are those of each NIC; `idle_pairs` are queue pairs without traffic, for each
    that has some; with `ranges` a hash takes parts of its range instead of remainders, as the Linux kernel does;
    with `shuffled` spines number their uplinks in an order that the plan does not have.
    """

    seed: int
    fan: tuple[int, int]
    siblings: int
    hash: str
    fault: str
    on_leaf: bool
    local: float
    flows: int
    hosts_read: bool
    idle_pairs: float
    ranges: bool
    shuffled: bool
    job_changes: bool
    busy: float
    lost: float
    reset: bool


def draw(seed: int) -> Trial:
    """The trial of a seed: the same seed gives the same trial."""
    rng = Random(f"polarization {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    return Trial(
        seed,
        rng.choice(FANS),
        rng.choice(SIBLINGS),
        HASHES[seed % len(HASHES)],
        rng.choice(FAULTS),
        on_leaf=rng.random() < 0.3,
        local=rng.choice((0.0, 0.5)),
        flows=rng.choice(FLOWS),
        hosts_read=rng.random() < 0.5,
        idle_pairs=rng.uniform(0.0, 2.0),
        ranges=rng.random() < 0.25,
        shuffled=rng.random() < 0.25,
        job_changes=rng.random() < 0.3,
        busy=rng.uniform(0.4, 0.9),
        lost=rng.uniform(0.02, 0.1),
        reset=rng.random() < 0.5,
    )


class Clos:
    """Leaves with `below` uplinks, one to each spine, and spines with `above`, in as many blocks as the siblings take.

    The siblings are of one pod. Other spines are of pods of their own, so that no one compares them.
    """

    def __init__(self, below: int, above: int, siblings: int) -> None:
        self.below, self.above, self.siblings = below, above, siblings
        self.blocks = -(-siblings // below)
        self.leaves, self.spines = self.blocks * LEAVES, self.blocks * below
        self.hosts = max(below, LEAST_HOSTS)
        self.devices: dict[str, Device] = {}
        self.cables: list[Cable] = []
        for spine in range(self.spines):
            pod = "A" if spine < siblings else f"other-{spine}"
            self.devices[f"spine-{spine}"] = Device(f"spine-{spine}", Role.SPINE, pod=pod)
        for leaf in range(self.leaves):
            for host in range(self.hosts):
                self._add(f"h{leaf}-{host}", "nic0", f"leaf-{leaf}", (Role.HOST, Role.LEAF), rail=0)
        self.middle = len(self.cables)
        for leaf in range(self.leaves):
            for up in range(below):
                self._add(f"leaf-{leaf}", f"up{up}", f"spine-{leaf // LEAVES * below + up}", (Role.LEAF, Role.SPINE))
        self.top = len(self.cables)
        for spine in range(self.spines):
            for up in range(above):
                self._add(f"spine-{spine}", f"up{up}", f"superspine-{up}", (Role.SPINE, Role.SUPERSPINE))
        self.plan = Plan(self.devices, tuple(self.cables))

    def _add(self, a: str, port: str, b: str, roles: tuple[Role, Role], rail: int | None = None) -> None:
        for name, role in zip((a, b), roles, strict=True):
            self.devices.setdefault(name, Device(name, role))
        self.cables.append(Cable(Port(a, port), Port(b, f"{a}.{port}"), rail=rail, speed_gbps=400.0))


@cache
def clos(below: int, above: int, siblings: int) -> Clos:
    """Each tier is built once."""
    return Clos(below, above, siblings)


@dataclass(frozen=True, slots=True)
class Members:
    """The next hops of some switches, in the order in which their hash counts them: place[switch, number]."""

    place: Codes
    size: Codes

    def chosen(self, switch: Codes, value: Codes, *, ranges: bool) -> Codes:
        """The place of the uplink that each flow takes."""
        size = self.size[switch]
        number = value * size >> VALUE_BITS if ranges else value % size
        return np.asarray(self.place[switch, number])


VALUE_BITS = 40


def members(switches: int, places: Codes, without: tuple[int, int] | None = None) -> Members:
    """The same places for every switch, but for one switch without one of them."""
    place = np.tile(places, (switches, 1))
    size = np.full(switches, len(places))
    if without is not None:
        switch, gone = without
        left = places[places != gone]
        place[switch, : len(left)] = left
        size[switch] = len(left)
    return Members(place, size)


def mixed(key: Codes, seed: Codes | int) -> Codes:
    """Another hash of the same flows, its own for each seed (the finaliser of MurmurHash3)."""
    value = np.asarray(key ^ (seed + 1) * 0x9E3779B9).astype(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ (value >> np.uint64(33))) * np.uint64(factor)
    return np.asarray(value >> np.uint64(64 - VALUE_BITS), dtype=np.int64)
