"""NCCL's topology file (`NCCL_TOPO_FILE`) of a kind of host, from the PCI tree that its hosts report.

The tree is the one that NCCL builds itself (NVIDIA/nccl `src/graph/xml.cc`, `ncclTopoGetXmlFromSys`): from a device it
goes up two levels at a time, so that the two ports of a PCIe switch are one node; a device without a switch above it is
below its CPU, which is a NUMA node. `link_speed` and `link_width` are the lesser of the device and the port above it.
Functions of one card are one node with several `net` (`ncclIbGetPciPath`). What the file leaves out, NCCL reads on the
host: CPU, affinity, GPU numbers, NVLinks, the speed of NICs. So nothing of that is written here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import truerail
from truerail.analysis.cabling import Wiring
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.files.nodesets import node_set
from truerail.model.columns import NONE
from truerail.model.facts import PciDevice
from truerail.questions.answers.fabric_tree import FabricTree
from truerail.questions.answers.subjects import rail_words
from truerail.views.view import View

Trees = Mapping[int, tuple[PciDevice, ...]]
_GPU, _UNKNOWN_NUMA = "0x03", -1
_MOST_KINDS = 5


@dataclass(frozen=True, slots=True)
class _Kind:
    """Hosts whose planned RDMA devices and PCI tree are alike. `missing` are rails whose device is not in the tree."""

    body: tuple[str, ...]
    missing: tuple[int, ...]


def pci_trees_of(wiring: Wiring) -> Trees:
    """A host's PCI tree, by the host's code. The wiring owns it."""
    reported = (one for one in wiring.seen.readings if one.facts and type(one.facts[0]) is PciDevice)
    filed = wiring.identity.filed
    return {filed(reading.device): cast("tuple[PciDevice, ...]", reading.facts) for reading in reported}


def nccl_xml(publication: Published, view: View, tree: FabricTree, hosts: str | None = None) -> str:
    """The file for these hosts, or for all. Raises QueryError where they do not report it, or are of several kinds: a
    file is right for one.
    """
    trees = view.wiring.once(pci_trees_of)
    planned = [host for unit in tree.units for host in unit.hosts]
    asked = planned if hosts is None else _asked(view, set(planned), hosts)
    unknown = [host for host in asked if host not in trees]
    kinds: dict[_Kind, list[int]] = {}
    bodies: dict[tuple[PciDevice, ...], tuple[str, ...]] = {}
    for host in asked:
        if host in trees:
            devices = trees[host]
            body = bodies.get(devices) or bodies.setdefault(devices, tuple(_system(devices)))
            kinds.setdefault(_Kind(body, _missing(view, host, devices)), []).append(host)
    if not kinds:
        raise QueryError(f"not known: {host_names(view, unknown)} report no PCI tree (collector pci_tree)")
    if len(kinds) > 1:
        listed = "; ".join(host_names(view, of) for of in list(kinds.values())[:_MOST_KINDS])
        more = f"; and {len(kinds) - _MOST_KINDS:,} more" if len(kinds) > _MOST_KINDS else ""
        raise QueryError(f"these hosts are of {len(kinds)} kinds, and a file is right for one: {listed}{more}")
    (kind,) = kinds
    lines = [f"made by truerail {truerail.__version__} from the PCI tree seen at {publication.at:%Y-%m-%dT%H:%M:%SZ}"]
    lines.append(f"for {host_names(view, kinds[kind])}")
    if kind.missing:
        lines.append(f"not in it: the RDMA devices of {rail_words(kind.missing)}")
    if unknown:
        lines.append(f"not known, no PCI tree: {host_names(view, unknown)}")
    return "\n".join([*(f"<!-- {line} -->" for line in lines), *kind.body, ""])


def _asked(view: View, planned: set[int], hosts: str) -> list[int]:
    found = [view.named(name) for name in dict.fromkeys(view.expand(hosts))]
    if strange := [view.index.devices.names[host] for host in found if host not in planned]:
        raise QueryError(f"not a host in the plan: {strange[0]}")
    return found


def host_names(view: View, hosts: Sequence[int]) -> str:
    """Hosts as a node set."""
    return node_set([view.index.devices.names[host] for host in hosts])


def _missing(view: View, host: int, devices: Sequence[PciDevice]) -> tuple[int, ...]:
    """The rails of a host whose RDMA device is not known, or not in its tree."""
    index, there = view.index, {one.rdma_device for one in devices}
    found = set()
    for cable in view.layout.host_cables_of(host).tolist():
        rdma = view.nics.rdma(int(index.a[cable]))
        if index.rail[cable] != NONE and (rdma is None or rdma.device not in there):
            found.add(int(index.rail[cable]))
    return tuple(sorted(found))


class _Tree:
    """The devices of one host, and the nodes that NCCL makes of them: each below another one, or below a CPU."""

    def __init__(self, devices: Sequence[PciDevice]) -> None:
        self.at = {one.address: one for one in devices}
        self.nets: dict[str, list[str]] = {}
        self.gpus = {one.address for one in devices if one.pci_class.startswith(_GPU)}
        self.below: dict[str, set[str]] = {}
        self.cpus: dict[int, set[str]] = {}
        for one in devices:
            if one.rdma_device is not None:
                self.nets.setdefault(self._card(one.address), []).append(one.rdma_device)
        for address in (*self.nets, *self.gpus):
            self._add(address)

    def _card(self, address: str) -> str:
        """The first function of a card, whose node has all of them, where it is there."""
        first = f"{address[:-1]}0"
        return first if first in self.at else address

    def _add(self, address: str) -> None:
        port = self.at[address].above
        switch = self.at[port].above if port else None
        if switch is None:
            numa = self.at[address].numa_node
            self.cpus.setdefault(_UNKNOWN_NUMA if numa is None else numa, set()).add(address)
        else:
            self.below.setdefault(switch, set()).add(address)
            self._add(switch)

    def node(self, address: str, indent: str) -> Iterator[str]:
        """The lines of one node and of those below it."""
        one = self.at[address]
        port = self.at[one.above] if one.above else one
        speed = min((gts for gts in (one.speed_gts, port.speed_gts) if gts), default=None)
        width = min((lanes for lanes in (one.width, port.width) if lanes), default=None)
        words = f'link_speed="{f"{speed:.1f} GT/s PCIe" if speed else ""}" link_width="{width or ""}"'
        yield f'{indent}<pci busid="{address}" class="{one.pci_class}" {words}>'
        if address in self.gpus:
            yield f"{indent}  <gpu/>"
        if address in self.nets:
            yield f"{indent}  <nic>"
            yield from (f'{indent}    <net name="{name}"/>' for name in self.nets[address])
            yield f"{indent}  </nic>"
        for child in sorted(self.below.get(address, ())):
            yield from self.node(child, indent + "  ")
        yield f"{indent}</pci>"


def _system(devices: Sequence[PciDevice]) -> Iterator[str]:
    tree = _Tree(devices)
    yield '<system version="1">'
    for numa, addresses in sorted(tree.cpus.items()):
        yield f'  <cpu numaid="{numa}">'
        for address in sorted(addresses):
            yield from tree.node(address, "    ")
        yield "  </cpu>"
    yield "</system>"
