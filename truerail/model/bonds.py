"""Bonds of network interfaces: which members one RDMA device represents (RoCE LAG).

Where two ports of a NIC are bonded, Linux shows one RDMA device for both, `mlx5_bond_0`, above the bond
(`ibdev2netdev`: `mlx5_bond_0 port 1 ==> bond0 (Up)`) or above the currently active member; the members' own devices
vanish (linux drivers/infiniband/hw/mlx5/main.c). It is ACTIVE while any member has carrier, so it does not show the
state of a single one: each member's own interface does, and its permanent MAC identifies the member.
"""

import re
from collections.abc import Iterable, Mapping

from truerail.model.columns import grouped
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.names import natural_key

_OF_A_BOND = re.compile(r".+_bond_?\d+")
_BOND = re.compile(r"bond", re.IGNORECASE)
"""The usual names of bonds: only used if a host's interfaces were not read."""


def bond_members(links: Iterable[NetLink]) -> dict[str, tuple[str, ...]]:
    """The members of each bond among the interfaces of one host, in the order of PCI addresses, else of names."""
    found = grouped((link.master, link) for link in links if link.master and "SLAVE" in link.flags)
    return {bond: tuple(link.netdev for link in sorted(members, key=_place)) for bond, members in found.items()}


def _place(link: NetLink) -> tuple[object, ...]:
    return natural_key(link.pci_address or ""), natural_key(link.netdev)


def interfaces_of(rdma: RdmaLink, bonds: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The interfaces that an RDMA device represents: all members of its bond, else its own; none if it has none."""
    netdev = rdma.netdev
    if netdev is None:
        return ()
    if netdev in bonds:
        return bonds[netdev]
    if _OF_A_BOND.fullmatch(rdma.device):
        return next((members for members in bonds.values() if netdev in members), (netdev,))
    return (netdev,)


def of_a_bond(name: str) -> bool:
    """Whether an RDMA device or an interface has a bond's name."""
    return bool(_OF_A_BOND.fullmatch(name) or _BOND.match(name))
