"""Which NICs of a host belong to rails, and in which order, as the host itself reports.

The order is that of the nearest GPU, then of the PCI address (NCCL's path order PIX, PXB, PHB, NODE, SYS; two GPUs that
share two NICs take them in PCI order). A host that does not report its GPUs gives the order of PCI addresses.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from truerail.model import GpuNicPath, NetLink, RdmaLink, Snapshot
from truerail.model.bonds import bond_members, interfaces_of
from truerail.model.names import natural_key

NicOrder = tuple[tuple[str, ...], ...]
"""Ports of each rail NIC, rail by rail; the ports of one NIC in the order of the planes."""

_NEARNESS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4}
_COMPUTE = 1
"""PIX and PXB: behind one PCI switch with a GPU. NICs farther away serve storage or management, if any is near."""
_FUNCTION = re.compile(r"^(?P<nic>.*\d)f(?P<function>\d+)(?:np\d+)?$", re.ASCII)


@dataclass
class HostSays:
    """What one host reports of GPUs and NICs."""

    near: dict[str, tuple[int, int]] = field(default_factory=dict)
    """RDMA device to (nearness to its nearest GPU, lowest such GPU)."""
    gpus: int | None = None
    links: tuple[RdmaLink, ...] = ()
    pci: dict[str, str] = field(default_factory=dict)
    """Netdev to PCI address."""


def hosts_say(snapshot: Snapshot) -> dict[str, HostSays]:
    """What every host reports. Equal answers are read once: their facts are one tuple."""
    hosts: dict[str, HostSays] = defaultdict(HostSays)
    memo: dict[int, tuple[dict[str, tuple[int, int]], int]] = {}
    bonds: dict[str, dict[str, tuple[str, ...]]] = {}
    for reading in snapshot.readings:
        if reading.error or not reading.facts:
            continue
        first = type(reading.facts[0])
        if first is GpuNicPath:
            host, key = hosts[reading.device], id(reading.facts)
            if key not in memo:
                memo[key] = _nearest([fact for fact in reading.facts if isinstance(fact, GpuNicPath)])
            host.near, host.gpus = memo[key]
        elif first is RdmaLink:
            hosts[reading.device].links += tuple(fact for fact in reading.facts if isinstance(fact, RdmaLink))
        elif first is NetLink:
            interfaces = [fact for fact in reading.facts if isinstance(fact, NetLink)]
            if reading.device in hosts:
                hosts[reading.device].pci |= {one.netdev: one.pci_address for one in interfaces if one.pci_address}
            if members := bond_members(interfaces):
                bonds[reading.device] = members
    for device in bonds.keys() & hosts.keys():
        hosts[device].links = tuple(_members(hosts[device].links, bonds[device]))
    return dict(hosts)


def _members(links: Iterable[RdmaLink], bonds: Mapping[str, tuple[str, ...]]) -> Iterator[RdmaLink]:
    """The RDMA devices of a host, that of a bond once for each member."""
    for link in links:
        members = interfaces_of(link, bonds)
        if len(members) > 1:
            yield from (link._replace(netdev=member, pci_address=None) for member in members)
        else:
            yield link


def _nearest(paths: list[GpuNicPath]) -> tuple[dict[str, tuple[int, int]], int]:
    near: dict[str, tuple[int, int]] = {}
    for path in paths:
        level = _NEARNESS.get(path.level)
        if level is not None:
            name = path.device or path.nic
            near[name] = min(near.get(name, (level, path.gpu)), (level, path.gpu))
    return near, len({path.gpu for path in paths})


def nic_order(says: HostSays) -> NicOrder:
    """The host's rail NICs in rail order."""
    near = {link: says.near.get(link.device, (len(_NEARNESS), 0)) for link in says.links}
    closest = min((level for level, _ in near.values()), default=0)
    limit = max(closest, _COMPUTE) if says.near else len(_NEARNESS)
    nics: dict[str, list[tuple[object, str]]] = defaultdict(list)
    order: dict[str, tuple[int, object]] = {}
    for link, (level, gpu) in near.items():
        if level > limit:
            continue
        name = link.netdev or link.device
        pci = link.pci_address or says.pci.get(name, "")
        nic, function = _nic(name, pci)
        place = natural_key(pci or name)
        nics[nic].append(((function, natural_key(name)), name))
        order[nic] = min(order.get(nic, (gpu, place)), (gpu, place))
    ranked = sorted(nics, key=lambda nic: order[nic])
    return tuple(tuple(name for _, name in sorted(nics[nic])) for nic in ranked)


def _nic(name: str, pci: str) -> tuple[str, int]:
    """The card that a port belongs to, and which of its functions the port is."""
    if pci.count(".") == 1:
        card, _, function = pci.partition(".")
        return card, int(function) if function.isdigit() else 0
    shape = _FUNCTION.match(name)
    return (shape["nic"], int(shape["function"])) if shape else (name, 0)
