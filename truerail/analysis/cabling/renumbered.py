"""Hosts that number their RDMA devices otherwise than planned, because of an added or missing card before them.

`mlx5_3`, `bnxt_re3` and `ionic_3` are numbered in the order in which the kernel finds the cards (Linux
drivers/infiniband/core/device.c, alloc_name: the first free number), so one card more or less shifts all later numbers.
Where the plan names NICs so, other hosts whose plan has the same names show the PCI address of each. A host that has
its NICs at the same addresses and in the same order has the same NICs under other numbers. Where two numbers are
swapped, the order is another: cards may have been swapped then, and no conclusion is drawn.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truerail.analysis.cabling.spellings import is_numbered
from truerail.model.columns import NONE, grouped, tally
from truerail.model.facts import RdmaLink
from truerail.model.names import natural_key
from truerail.model.plan import Transport

if TYPE_CHECKING:
    from truerail.analysis.cabling.local import LocalNames

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
