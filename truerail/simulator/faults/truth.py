"""The true faults of a simulated fabric, the reference for an evaluation, and which places they leave to others."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, TypeVar

from truerail.errors import NoRoomError
from truerail.model import Cable, CauseKind, Port
from truerail.simulator.fabric.world import World


@dataclass(frozen=True, slots=True)
class Explanation:
    """Another explanation that fits the same answers, and its moves. `cables` are those of the cause that it covers, if
    not all; `subjects` are empty if they are those of the cause, or its cables.
    """

    kind: CauseKind
    moves: int
    cables: tuple[Port, ...] = ()
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrueCause:
    """One fault. `cables` are the planned host ends (leaf ends of uplinks) that look wrong because of it.

    `moves` is the smallest number of cables to move. `alternatives` are explanations that no device's answer rules out;
    with any, the evidence cannot decide, and the cheapest explanation is as good a verdict as the true one.
    """

    kind: CauseKind
    subjects: tuple[str, ...]
    cables: tuple[Port, ...]
    moves: int = 0
    alternatives: tuple[Explanation, ...] = ()

    @property
    def decidable(self) -> bool:
        """Whether the answers rule out every other explanation."""
        return not self.alternatives


@dataclass(frozen=True, slots=True)
class Truth:
    """The faults (`causes`), hosts unread because of noise (`noise`), and the planned cables that are not right.

    Cables are named by their planned end nearer to the GPUs. `wrong` is by the names that devices announce; `moved` are
    those that must be moved: fewer if only a name is wrong. `astray` are unknown ones that are on another device than
    planned, by the names that devices and NICs announce: their port alone is in no answer.
    """

    causes: tuple[TrueCause, ...]
    noise: tuple[TrueCause, ...] = ()
    wrong: frozenset[Port] = frozenset()
    missing: frozenset[Port] = frozenset()
    unknown: frozenset[Port] = frozenset()
    moved: frozenset[Port] = frozenset()
    astray: frozenset[Port] = frozenset()
    wiring: dict[Port, Port] = field(default_factory=dict)
    hostnames: dict[str, str] = field(default_factory=dict)

    @property
    def decidable(self) -> bool:
        """Whether the evidence decides every cause."""
        return all(cause.decidable for cause in self.causes)

    def as_dict(self) -> dict[str, Any]:
        """For `truth.json`: `cables` as actually plugged, by the planned names of the machines at both ends."""
        return {
            "cables": [[f"{a.device}:{a.name}", f"{b.device}:{b.name}"] for a, b in self.wiring.items()],
            "unplugged": sorted(f"{port.device}:{port.name}" for port in self.missing),
            "hostnames": dict(self.hostnames),
            "wrong": sorted(map(str, self.wrong)),
            "unknown": sorted(map(str, self.unknown)),
            "causes": [_cause(cause) for cause in self.causes],
            "noise": [_cause(cause) for cause in self.noise],
        }


def _cause(cause: TrueCause) -> dict[str, Any]:
    others = [{**asdict(other), "cables": [str(port) for port in other.cables]} for other in cause.alternatives]
    return {**asdict(cause), "cables": [str(port) for port in cause.cables], "alternatives": others}


# ----------------------------------------------------------------------------------------------------------------------
# Which hosts and leaves a fault may still touch, so that no fault makes another's truth ambiguous.

T = TypeVar("T")


@dataclass(slots=True)
class Site:
    """A world, and the parts of it that faults have claimed.

    A host belongs to one fault. A leaf may serve several faults of single cables (`touched`), but only one that
    renames, crosses or shifts it, or that swaps cables within it (`taken`).
    """

    world: World
    rng: Random
    hosts: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    spare_used: set[Port] = field(default_factory=set)
    cables_of: dict[str, list[Cable]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for cable in self.world.fabric.plan.cables:
            self.cables_of[cable.a.device].append(cable)
            self.cables_of[cable.b.device].append(cable)

    def free_hosts(self) -> list[str]:
        """Hosts that no fault has claimed, in the plan's order."""
        return [host for host in self.world.fabric.models if host not in self.hosts]

    def draw_hosts(self, count: int, among: list[str] | None = None) -> list[str]:
        """This many unclaimed hosts, at random; claims nothing."""
        free = self.free_hosts() if among is None else [host for host in among if host not in self.hosts]
        if len(free) < count:
            raise NoRoomError(f"{count} untouched hosts wanted, {len(free)} left")
        return self.rng.sample(free, count)

    def open_cables(self, host: str) -> list[Cable]:
        """The cables of a host that end on leaves without an exclusive fault."""
        return [cable for cable in self.cables_of[host] if cable.b.device not in self.taken]

    def draw_cables(self, hosts: list[str]) -> list[Cable]:
        """One open cable of each host, at random."""
        return [self.choose(self.open_cables(host), f"every leaf of {host} is taken") for host in hosts]

    def choose(self, places: Sequence[T], none: str) -> T:
        """One of the places, at random. Raises `NoRoomError` with the words `none` if there is none."""
        if not places:
            raise NoRoomError(none)
        return self.rng.choice(places)

    def sample(self, cables: list[Cable], count: int) -> list[Cable]:
        """This many of some cables, at random. Raises `NoRoomError`."""
        if len(cables) < count:
            raise NoRoomError(f"{count} open cables wanted, {len(cables)} left")
        return self.rng.sample(cables, count)

    def host_cables(self, leaf: str) -> list[Cable]:
        """The cables from hosts to this leaf, in the order of its ports."""
        numbers = self.world.fabric.ports[leaf]
        return sorted((c for c in self.cables_of[leaf] if c.b.device == leaf), key=lambda c: numbers[c.b.name])

    def uplinks(self, leaf: str) -> list[Cable]:
        """The cables from this leaf to the tier above."""
        return [cable for cable in self.cables_of[leaf] if cable.a.device == leaf]

    def untouched_leaves(self) -> list[str]:
        """Leaves that no fault has touched, in the plan's order."""
        return [leaf for leaf in self.world.leaves() if leaf not in self.taken and leaf not in self.touched]

    def claim_cables(self, cables: list[Cable]) -> None:
        """Claims the hosts and touches the leaves of these cables."""
        for cable in cables:
            if self.world.is_host(cable.a.device):
                self.hosts.add(cable.a.device)
            else:
                self.touched.add(cable.a.device)
            self.touched.add(cable.b.device)

    def use(self, cables: list[Cable]) -> None:
        """Claims these cables, and both of their ports."""
        self.claim_cables(cables)
        self.spare_used.update(port for cable in cables for port in (cable.a, cable.b))

    def replug(self, kind: CauseKind, cables: list[Cable], places: Sequence[Port]) -> TrueCause:
        """Plugs the upper end of each cable into a place, which may be its own."""
        for cable, place in zip(cables, places, strict=True):
            self.world.plug(cable.a, place)
        self.use(cables)
        ports = tuple(cable.a for cable, place in zip(cables, places, strict=True) if cable.b != place)
        return TrueCause(kind, tuple(map(str, ports)), ports, moves=len(ports))
