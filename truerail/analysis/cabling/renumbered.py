"""Hosts that number their RDMA devices otherwise than planned, because of an added or missing card before them.

`mlx5_3`, `bnxt_re3` and `ionic_3` are numbered in the order in which the kernel finds the cards (Linux
drivers/infiniband/core/device.c, alloc_name: the first free number), so one card more or less shifts all later numbers.
Where the plan names NICs so, other hosts whose plan has the same names show the PCI address of each. A host that has
its NICs at the same addresses and in the same order has the same NICs under other numbers. Where two numbers are
swapped, the order is another: cards may have been swapped then, and no conclusion is drawn.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truerail.analysis.cabling.spellings import is_numbered
from truerail.model.columns import NONE
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.names import natural_key
from truerail.model.plan import Transport

if TYPE_CHECKING:
    from truerail.analysis.cabling.local import LocalNames

MIN_FELLOWS = 2
"""Minimum number of hosts that must agree on the addresses: of two hosts that differ, either may be the odd one."""

_Addresses = tuple[str, ...]
_Ports = Mapping[str, int]
_Rows = dict[int, int]


@dataclass(frozen=True, slots=True)
class Device:
    """An RDMA device of a host: its row in the RdmaLink table, its name and the PCI address of its NIC."""

    row: int
    name: str
    address: str


def renumbered(planned: Mapping[int, _Ports], reported: Mapping[int, Iterable[Device]]) -> dict[int, dict[int, int]]:
    """For each host that numbers its devices otherwise: the row of each of its devices to the planned port that it is,
    -1 where it is none. `planned` are the NICs of each host, name to port; `reported` its devices.
    """
    hosts = {host: _distinct(devices) for host, devices in reported.items()}
    usual: dict[_Addresses, Counter[_Addresses]] = {}
    for host, ports in planned.items():
        by_name = {device.name: device for device in hosts.get(host, ())}
        if hosts.get(host) and by_name.keys() >= ports.keys():
            key = _in_order(ports)
            usual.setdefault(key, Counter())[tuple(by_name[name].address for name in key)] += 1
    found = {host: _of_host(ports, hosts[host], usual) for host, ports in planned.items() if hosts.get(host)}
    return {host: rows for host, rows in found.items() if rows}


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=natural_key))


def _distinct(devices: Iterable[Device]) -> tuple[Device, ...]:
    """The devices of a host in the order of their names; none where two have one name or one address."""
    found = tuple(sorted(devices, key=lambda device: natural_key(device.name)))
    whole = len({device.name for device in found}) == len({device.address for device in found}) == len(found)
    return found if whole else ()


def _of_host(ports: _Ports, devices: tuple[Device, ...], usual: Mapping[_Addresses, Counter[_Addresses]]) -> _Rows:
    names, at = _in_order(ports), {device.address: device for device in devices}
    votes = {addresses: n for addresses, n in usual.get(names, {}).items() if at.keys() >= set(addresses)}
    count = max(votes.values(), default=0)
    most = [addresses for addresses, n in votes.items() if n == count]
    if len(most) != 1 or count < MIN_FELLOWS:
        return {}
    meant = [at[address] for address in most[0]]
    if [device.name for device in meant] == list(names) or meant != [one for one in devices if one in meant]:
        return {}
    port = dict(zip(meant, (ports[name] for name in names), strict=True))
    return {device.row: port.get(device, NONE) for device in devices}


def renumbered_hosts(names: "LocalNames") -> dict[int, dict[int, int]]:
    """The hosts that number their RDMA devices otherwise than planned, of those whose plan names all NICs so. Ports of
    InfiniBand are known by their GUIDs instead.
    """
    index = names.index
    if index.plan.transport is Transport.INFINIBAND:
        return {}
    cables = np.flatnonzero(index.from_host)
    spelled, code = np.unique(index.ports.name_of(index.a[cables]), return_inverse=True)
    by_number = np.array([is_numbered(index.ports.spelled(int(name))) for name in spelled], dtype=bool)
    cables = cables[~np.isin(index.a_device[cables], index.a_device[cables[~by_number[code]]])]
    if not len(cables):
        return {}
    planned: dict[int, dict[str, int]] = {}
    for host, port in zip(index.a_device[cables].tolist(), index.a[cables].tolist(), strict=True):
        planned.setdefault(host, {})[index.spell(port).name] = port
    addresses = names.seen.table(NetLink).column("pci_address").tolist()
    pci = dict(zip(names.own_links.tolist(), addresses, strict=True))
    rdma, reported = names.seen.table(RdmaLink), dict[int, list[Device]]()
    own, hosts = names.own_rdma.tolist(), names.devices_of(rdma).tolist()
    for row, (link, port, host) in enumerate(zip(rdma.rows, own, hosts, strict=True)):
        address = link.pci_address or pci.get(port)
        if host in planned and link.netdev and address:
            reported.setdefault(host, []).append(Device(row, link.device, address.lower()))
    return {host: rows for host, rows in renumbered(planned, reported).items() if host not in names.by_number}
