"""An InfiniBand fabric as `ibnetdiscover` prints it, with names as sites give them: pods of any size, several kinds of
hosts, adapters whose description was never set, management servers on the leaves, and cables swapped on purpose.

The listing is also a topology file that `ibsim` simulates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

End = tuple[str, str]
"""A host and its RDMA device."""
Place = tuple[str, int]
"""A switch and its port."""

DGX = ("mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11")
HCA = tuple(f"HCA-{int(name[5:]) + 1}" for name in DGX)
"""The same adapters as another release of the image names them."""


@dataclass
class Site:
    """`pods` holds the hosts of each pod; `cabled` where every adapter is now, `planned` where it belongs."""

    pods: Sequence[int]
    rails: int = 8
    kinds: Sequence[Sequence[str]] = (DGX,)
    spines: int = 4
    named: bool = True
    """Whether switches have names of their own, or all say `Quantum-2 Mellanox Technologies`."""
    blocks: bool = False
    """Whether the hosts of a pod have all their NICs on one leaf, in a block of ports each."""
    planned: dict[End, Place] = field(default_factory=dict)
    cabled: dict[End, Place] = field(default_factory=dict)
    extra: dict[End, Place] = field(default_factory=dict)
    """Servers that are no part of the rails."""
    unset: set[End] = field(default_factory=set)
    """Adapters that show the description of the factory."""
    slow: set[Place] = field(default_factory=set)
    """Ports of leaves whose uplinks run at a lower rate."""

    def __post_init__(self) -> None:
        number = 0
        for pod, hosts in enumerate(self.pods, 1):
            for place in range(1, hosts + 1):
                kind = self.kinds[number % len(self.kinds)]
                number += 1
                for rail, device in enumerate(kind[: self.rails]):
                    port = (place - 1) * self.rails + rail + 1 if self.blocks else place
                    self.planned[self.host(pod, place), device] = self.leaf(pod, rail), port
        self.cabled = dict(self.planned)

    def host(self, pod: int, place: int) -> str:
        return f"{'ab'[pod % 2]}{pod // 2 + 6:02d}-p1-dgx-{pod:02d}-c{place:02d}"

    def leaf(self, pod: int, rail: int) -> str:
        return f"{'AB'[pod % 2]}09-P1-IBLEAF-{1 if self.blocks else rail + 1:02d}-{pod:02d}"

    @property
    def leaves(self) -> list[str]:
        return list(dict.fromkeys(leaf for leaf, _ in self.planned.values()))

    def swap(self, one: End, other: End) -> None:
        self.cabled[one], self.cabled[other] = self.cabled[other], self.cabled[one]

    def swap_rails(self, host: str, first: int, second: int) -> None:
        """Two cables of one host."""
        devices = [device for name, device in self.planned if name == host]
        self.swap((host, devices[first]), (host, devices[second]))

    def serve(self, name: str, devices: Sequence[str], places: Iterable[Place]) -> None:
        """A management or storage server on ports of leaves."""
        self.extra |= {(name, device): place for device, place in zip(devices, places, strict=True)}

    @property
    def wrong(self) -> set[End]:
        return {end for end, place in self.cabled.items() if place != self.planned[end]}

    def links(self) -> dict[Place, Place | End]:
        """Every link, from both of its ends but for adapters."""
        found: dict[Place, Place | End] = {place: end for end, place in (self.cabled | self.extra).items()}
        for number, leaf in enumerate(self.leaves):
            for spine in range(self.spines):
                found[leaf, 33 + spine] = f"A10-P1-IBSPINE-{spine + 1:02d}", number + 1
                found[f"A10-P1-IBSPINE-{spine + 1:02d}", number + 1] = leaf, 33 + spine
        return found

    def listing(self, seed: int = 1) -> str:
        """The answer of `ibnetdiscover`, its nodes in an order of no meaning."""
        links = self.links()
        switches = sorted({switch for switch, _ in links})
        ends = sorted({*self.cabled, *self.extra})
        Random(seed).shuffle(switches)
        guid = {name: f"2c5eab03{number:08x}" for number, name in enumerate(switches, 0xB87000)}
        of_end = {end: f"e09d7303{number:08x}" for number, end in enumerate(ends, 0x857000)}
        blocks = [self._switch(name, links, guid, of_end) for name in switches]
        blocks += [self._adapter(end, guid, of_end) for end in ends]
        return "#\n# Topology file: generated on Wed Aug  6 16:11:23 2025\n#\n" + "".join(blocks)

    def _says(self, name: str) -> str:
        return f"MF0;{name}:MQM9700/U1" if self.named else "Quantum-2 Mellanox Technologies"

    def _node(self, end: End) -> str:
        return "MT4129 ConnectX7   Mellanox Technologies" if end in self.unset else " ".join(end)

    def _switch(
        self, name: str, links: Mapping[Place, Place | End], guid: Mapping[str, str], of_end: Mapping[End, str]
    ) -> str:
        own = guid[name]
        head = f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{own}\nswitchguid=0x{own}({own})\n"
        rows = [f'{head}Switch\t65 "S-{own}"\t\t# "{self._says(name)}" enhanced port 0 lid 73 lmc 0\n']
        for (switch, port), far in sorted(links.items(), key=lambda row: row[0]):
            if switch == name and isinstance(far[1], int):
                rate = "4xDDR" if {(switch, port), far} & self.slow else "4xNDR"
                rows.append(f'[{port}]\t"S-{guid[far[0]]}"[{far[1]}]\t\t# "{self._says(far[0])}" lid 74 {rate}\n')
            elif switch == name:
                end = (far[0], str(far[1]))
                rows.append(f'[{port}]\t"H-{of_end[end]}"[1]({of_end[end]}) \t\t# "{self._node(end)}" lid 75 4xNDR\n')
        return "".join(rows)

    def _adapter(self, end: End, guid: Mapping[str, str], of_end: Mapping[End, str]) -> str:
        own, (leaf, port) = of_end[end], (self.cabled | self.extra)[end]
        head = f"\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{own}\ncaguid=0x{own}\n"
        body = f'[1]({own}) \t"S-{guid[leaf]}"[{port}]\t\t# lid 75 lmc 0 "{self._says(leaf)}" lid 73 4xNDR\n'
        return f'{head}Ca\t1 "H-{own}"\t\t# "{self._node(end)}"\n{body}'
