"""The fabrics that are swept: their plans, the addresses of their switches, and their routes.

Written apart from the analysis: routes are found here, from the cables, by a search of its own.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from truerail.model import Cable, Device, Plan, Port, Role

NUMBERED, UNNUMBERED, EGRESS = "numbered", "unnumbered", "egress"
"""What switches answer from: the port where the probe came in, a loopback, or the port where the answer leaves."""


@dataclass(frozen=True)
class Shape:
    """A kind of fabric. `cores` are those above each spine, 0 for two tiers; `parallel` the cables of a leaf to each
    spine.
    """

    name: str
    pods: int
    rails: int
    spines: int
    cores: int
    hosts: int
    parallel: int = 1
    answers: str = NUMBERED
    version: int = 4
    """Of IP."""


SHAPES = (
    Shape("three tiers, 2 uplinks", 2, 2, 2, 2, 4),
    Shape("three tiers, 4 uplinks", 2, 2, 4, 4, 4),
    Shape("three tiers, 8 uplinks", 2, 2, 8, 8, 6),
    Shape("three tiers, 3 pods, unnumbered", 3, 2, 4, 4, 4, answers=UNNUMBERED),
    Shape("three tiers, 4 and 8 uplinks, answers from the egress", 2, 2, 4, 8, 4, answers=EGRESS),
    Shape("two tiers, 8 spines", 4, 2, 8, 0, 4),
    Shape("two tiers, 16 spines, unnumbered", 3, 1, 16, 0, 8, answers=UNNUMBERED),
    Shape("two tiers, 4 spines, 2 parallel cables", 4, 2, 4, 0, 4, parallel=2),
    Shape("two tiers, 4 spines, 2 parallel cables, unnumbered", 3, 2, 4, 0, 4, parallel=2, answers=UNNUMBERED),
    Shape("three tiers, 4 uplinks, IPv6", 3, 2, 4, 4, 4, version=6),
    Shape("two tiers, 4 spines, 2 parallel cables, IPv6", 4, 2, 4, 0, 4, parallel=2, version=6),
)

Hop = tuple[int, str, str]
"""A directed link: the number of the cable, the device that sends and the one that receives."""


@dataclass
class Fabric:
    """A plan with what its packets need."""

    shape: Shape
    plan: Plan
    out: dict[str, list[Hop]] = field(default_factory=dict)
    """The links that leave each switch for other switches, in the order of its next hops."""
    nic: dict[Port, tuple[int, str]] = field(default_factory=dict)
    """The cable and the leaf of each NIC."""
    address: dict[tuple[int, str], str] = field(default_factory=dict)
    """The address of a switch's end of a cable."""
    loopback: dict[str, str] = field(default_factory=dict)
    _routes: dict[str, dict[str, list[Hop]]] = field(default_factory=dict)

    def links(self) -> list[Hop]:
        """All directed links between switches."""
        return [hop for name in sorted(self.out) for hop in self.out[name]]

    def routes(self, leaf: str) -> dict[str, list[Hop]]:
        """The next hops of every switch towards a leaf, by fewest links."""
        if leaf not in self._routes:
            far = {leaf: 0}
            queue = deque([leaf])
            while queue:
                here = queue.popleft()
                for _, _, there in self.out[here]:
                    if there not in far:
                        far[there] = far[here] + 1
                        queue.append(there)
            self._routes[leaf] = {
                name: [hop for hop in hops if far.get(hop[2], 99) == far.get(name, 99) - 1]
                for name, hops in self.out.items()
            }
        return self._routes[leaf]

    def receiver(self, hop: Hop) -> Port:
        """The port that receives on a directed link."""
        cable = self.plan.cables[hop[0]]
        return cable.b if cable.b.device == hop[2] else cable.a


@cache
def fabric(shape: Shape) -> Fabric:
    """The fabric of a shape: leaf PR is that of rail R in pod P; in two tiers all leaves share the spines."""
    devices: dict[str, Device] = {}
    cables: list[Cable] = []
    for a, b, rail in _cables(shape):
        for port in (a, b):
            devices.setdefault(port.device, Device(port.device, _role(port.device), pod=_pod(port.device)))
        cables.append(Cable(a, b, rail=rail, speed_gbps=400.0))
    made = Fabric(shape, Plan(devices, tuple(cables), shape.name))
    for number, name in enumerate(devices):
        if not name.startswith("h"):
            made.out[name] = []
            made.loopback[name] = _address(shape.version, 255, number // 250, number % 250 + 1)
    for number, cable in enumerate(cables):
        if cable.rail is not None:
            made.nic[cable.a] = number, cable.b.device
            made.address[number, cable.b.device] = _address(shape.version, 8, number // 120, number % 120 * 2)
            continue
        made.out[cable.a.device].append((number, cable.a.device, cable.b.device))
        made.out[cable.b.device].append((number, cable.b.device, cable.a.device))
        for place, port in enumerate(cable[:2]):
            made.address[number, port.device] = _address(shape.version, 9, number // 120, number % 120 * 2 + place)
    return made


def _address(version: int, *parts: int) -> str:
    return "10." + ".".join(map(str, parts)) if version == 4 else "fd00:{:x}:{:x}::{:x}".format(*parts)


def _cables(shape: Shape) -> Iterator[tuple[Port, Port, int | None]]:
    for pod in range(shape.pods):
        for rail in range(shape.rails):
            for host in range(shape.hosts):
                yield Port(f"h{pod}-{host}", f"nic{rail}"), Port(f"leaf-{pod}-{rail}", f"p{host}"), rail
    above = "spine-{pod}-{spine}" if shape.cores else "spine-all-{spine}"
    for pod in range(shape.pods):
        for rail in range(shape.rails):
            for spine in range(shape.spines):
                for link in range(shape.parallel):
                    leaf, up = f"leaf-{pod}-{rail}", above.format(pod=pod, spine=spine)
                    down = f"d{rail}-{link}" if shape.cores else f"d{pod}-{rail}-{link}"
                    yield Port(leaf, f"up{spine}-{link}"), Port(up, down), None
        for spine in range(shape.spines if shape.cores else 0):
            for core in range(shape.cores):
                yield Port(f"spine-{pod}-{spine}", f"up{core}"), Port(f"core-{spine}-{core}", f"d{pod}"), None


def _role(name: str) -> Role:
    return {"h": Role.HOST, "l": Role.LEAF, "s": Role.SPINE, "c": Role.SUPERSPINE}[name[0]]


def _pod(name: str) -> str:
    return "" if name[0] == "c" or "all" in name else name.removeprefix("h").split("-")[name[0] != "h"]
