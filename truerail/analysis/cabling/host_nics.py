"""Which NICs of a host belong to rails, and in which order, as the host itself reports.

The order is that of the nearest GPU, then of the PCI address (NCCL's path order PIX, PXB, PHB, NODE, SYS; two GPUs that
share two NICs take them in PCI order). A host that does not report its GPUs gives the order of PCI addresses.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truerail.analysis.cabling.spellings import is_numbered
from truerail.model import GpuNicPath, NetLink, RdmaLink, Snapshot
from truerail.model.bonds import bond_members, interfaces_of
from truerail.model.columns import NONE, Codes, grouped, tally
from truerail.model.index import PlanIndex
from truerail.model.names import host_of_dpu, natural_key
from truerail.model.plan import Transport

if TYPE_CHECKING:
    from truerail.analysis.cabling.local import LocalNames

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


# ----------------------------------------------------------------------------------------------------------------------
# Hosts that number their RDMA devices otherwise than planned, because of an added or missing card before them.
#
# `mlx5_3`, `bnxt_re3` and `ionic_3` are numbered in the order in which the kernel finds the cards (Linux
# drivers/infiniband/core/device.c, alloc_name: the first free number), so one card more or less shifts all later
# numbers. Where the plan names NICs so, other hosts whose plan has the same names show the PCI address of each. A host
# that has its NICs at the same addresses and in the same order has the same NICs under other numbers. Where two numbers
# are swapped, the order is another: cards may have been swapped then, and no conclusion is drawn.


MIN_FELLOWS = 2
"""Minimum number of hosts that must agree on the addresses: of two hosts that differ, either may be the odd one."""

_Names = tuple[str, ...]


class _Device(NamedTuple):
    """An RDMA device of a host: its row in the RdmaLink table, its name and the PCI address of its NIC."""

    row: int
    name: str
    address: str


def renumbered_hosts(names: "LocalNames") -> dict[int, dict[int, int]]:
    """For each host that numbers its devices otherwise than planned, of those whose plan names all NICs so: the row of
    each of its devices to the planned port that it is, -1 where it is none. Ports of InfiniBand are known by their
    GUIDs instead.
    """
    index = names.index
    others = index.a_device[index.from_host & ~names.nics_named(is_numbered)]
    cables = np.flatnonzero(index.from_host & ~np.isin(index.a_device, others))
    if index.plan.transport is Transport.INFINIBAND or not len(cables):
        return {}
    nics = grouped(zip(index.a_device[cables].tolist(), index.a[cables].tolist(), strict=True))
    planned = {host: {index.spell(port).name: port for port in ports} for host, ports in nics.items()}
    hosts = {host: _distinct(devices) for host, devices in _reported(names, planned).items()}
    at = {host: {device.name: device.address for device in devices} for host, devices in hosts.items()}
    called = {host: tuple(sorted(ports, key=natural_key)) for host, ports in planned.items()}
    usual = tally(
        (called[host], tuple(of[name] for name in called[host]))
        for host, of in at.items()
        if of.keys() >= planned[host].keys()
    )
    found = {host: _of_host(planned[host], called[host], devices, usual) for host, devices in hosts.items()}
    return {host: rows for host, rows in found.items() if rows and host not in names.by_number}


def _reported(names: "LocalNames", hosts: Collection[int]) -> Mapping[int, Sequence[_Device]]:
    """The RDMA devices of these hosts whose interfaces and addresses are known."""
    rdma = names.seen.table(RdmaLink)
    rows = zip(rdma.rows, names.devices_of(rdma).tolist(), names.own_rdma.tolist(), strict=True)
    return grouped(
        (host, _Device(row, link.device, address.lower()))
        for row, (link, host, port) in enumerate(rows)
        if host in hosts and link.netdev and (address := link.pci_address or names.pci.get(port))
    )


def _distinct(devices: Sequence[_Device]) -> Sequence[_Device]:
    """The devices of a host in the order of their names; none where two have one name or one address."""
    whole = len({device.name for device in devices}) == len({device.address for device in devices}) == len(devices)
    return sorted(devices, key=lambda device: natural_key(device.name)) if whole else ()


def _of_host(
    ports: Mapping[str, int], names: _Names, devices: Sequence[_Device], usual: Mapping[_Names, Counter[_Names]]
) -> dict[int, int]:
    at = {device.address: device for device in devices}
    votes = Counter({addresses: n for addresses, n in usual[names].items() if at.keys() >= {*addresses}})
    (addresses, most), (_, others), *_ = [*votes.most_common(2), ((), 0), ((), 0)]
    meant = [at[address] for address in addresses]
    named, moved = [device.name for device in meant] == [*names], meant != [one for one in devices if one in meant]
    if most == others or most < MIN_FELLOWS or named or moved:
        return {}
    port = dict(zip(meant, (ports[name] for name in names), strict=True))
    return {device.row: port.get(device, NONE) for device in devices}


# ----------------------------------------------------------------------------------------------------------------------
# DPUs whose own systems send LLDP under names made of their host's: `dpu-gpu-001`, `gpu-001-bf3`.
#
# The number in such a name may be the DPU's place in its host (`bf0` to `bf7`), and may be its model (`bf3`), and no
# standard says in which order places are counted. So the hosts decide: a number, with the port that is sent, is the NIC
# that most hosts have where it is heard.


FEWEST_VOTES = 3
"""Hosts that must agree, and be over two thirds of all, before their vote alone decides: of two, either may be the
wrong one.
"""


def dpu_hosts(index: PlanIndex, system_names: Sequence[str]) -> Codes:
    """The planned host whose DPU has each name; -1 where no DPU has it. The DPU's cable is the host's. The last slot is
    for no name.
    """
    found = np.full(len(system_names) + 1, NONE, dtype=np.int64)
    for number, name in enumerate(system_names):
        host, _ = host_of_dpu(name)
        if host and not 0 <= index.devices.find(name) < index.devices.planned:
            code = index.devices.find(host)
            found[number] = code if 0 <= code < index.devices.planned and index.devices.is_host(code) else NONE
    return found


def numbered_ports(index: PlanIndex, u: Codes, host: Codes, names: Sequence[str], sent: Iterable[str | None]) -> Codes:
    """The NIC of each DPU by the number in its name; -1 where it has none, or the hosts do not agree on what it means.

    Shapes (claims,): `u` the port that hears it, `host` whose DPU it is, `sent` its port id, None where that is a MAC.
    """
    if not len(index.a):  # a plan without cables, as inference begins with
        return np.full(len(u), NONE, dtype=np.int64)
    tags = [(host_of_dpu(name)[1], port) for name, port in zip(names, sent, strict=True)]
    order = {tag: code for code, tag in enumerate(dict.fromkeys(tags))}
    tag = np.array([order[one] for one in tags], dtype=np.int64)
    slot = (index.rail + 1) << 32 | index.plane + 1
    cable = index.cables_at(u)
    votes = (cable >= 0) & (index.a_device[cable] == host)
    (voted, at), count = np.unique(np.stack([tag[votes], slot[cable[votes]]]), axis=1, return_counts=True)
    total = np.bincount(voted, weights=count, minlength=len(order))
    clear = (count >= FEWEST_VOTES) & (3 * count > 2 * total[voted])
    meant = dict(zip(voted[clear].tolist(), at[clear].tolist(), strict=True))
    if len({*meant.values()}) < len(meant):
        return np.full(len(u), NONE, dtype=np.int64)
    nics = dict(zip(zip(index.a_device.tolist(), slot.tolist(), strict=True), index.a.tolist(), strict=True))
    wanted = zip(host.tolist(), (meant.get(one, NONE) for one in tag.tolist()), strict=True)
    return np.fromiter((nics.get(one, NONE) for one in wanted), dtype=np.int64, count=len(u))
