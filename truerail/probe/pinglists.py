"""The NICs that can be probed, and the pairs of them that are: as few as show what has to be shown.

| list | pairs | shows |
|---|---|---|
| A | under a leaf, offsets 1, 2 and 4 on the ring of its NICs of one rail | each NIC, both ways, by six peers |
| B | each ordered pair of leaves of a rail, by two pairs of NICs | routes between leaves |
| C | each NIC to one NIC under each other leaf of its rail | host routes on every leaf |
| D | each ordered pair of NICs of a rail | every pair |
| E | each ordered pair of leaves of different rails in one pod, by one pair of NICs | ways, or none, between rails |

A needs four NICs under a leaf to distinguish a bad NIC from a bad peer: with two it is one of the two.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from truerail.analysis.probes.upper_links import carrying_cables, is_vrf, planned_cables
from truerail.analysis.round import Round
from truerail.model import Plan
from truerail.model.columns import NONE, grouped
from truerail.model.facts import NetAddress, NetLink
from truerail.model.names import natural_key

# ----------------------------------------------------------------------------------------------------------------------
# The planned NICs that can be probed: each with its netdev, its address, its rail and its leaf.


class Nic(NamedTuple):
    """One planned NIC with an address. `group` is its rail and plane: NICs of one group belong to one network."""

    host: str
    netdev: str
    address: str
    leaf: str
    group: tuple[int, int]
    cable: int


@dataclass(frozen=True)
class Nics:
    """What can be probed of a fabric, and what cannot, with the reason."""

    nics: tuple[Nic, ...]
    without_address: tuple[str, ...]
    """Planned NICs that have no address of this IP version, or whose host did not report any."""
    in_vrf: tuple[str, ...] = ()
    """Planned NICs whose address is in a VRF, which no probe enters: a socket has to be bound to it."""


def nics_of(round: Round, version: int) -> Nics:
    """The planned NICs on rails with a global address of an IP version, 4 or 6: one in a subnet of the rail if there
    is one, else the first that is reported; of a NIC without one that of its bond or VLAN, by that interface. NICs in a
    VRF are left out.
    """
    wiring, index = round.cabling, round.cabling.index
    table = round.snapshot.table(NetAddress)
    device = wiring.identity.devices_of(table)
    name = index.ports.known_codes(table.column("netdev"))
    cable = carrying_cables(wiring, device, name)
    upper = planned_cables(wiring, device, name) == NONE
    best: dict[int, tuple[bool, bool, int]] = {}
    subnets = {
        rail.index: [ip_network(text, strict=False) for text in rail.subnets] for rail in round.plan.rails.values()
    }
    for row in np.flatnonzero(cable >= 0).tolist():
        at, found = int(cable[row]), _address(table.rows[row].address)
        if found is None or found.version != version or index.rail[at] < 0:
            continue
        elsewhere = not any(found in net for net in subnets.get(int(index.rail[at]), ()) if net.version == version)
        best[at] = min(best.get(at, (True, True, row)), (bool(upper[row]), elsewhere, row))
    nics, in_vrf, enslaved = [], [], _in_vrfs(round)
    for at, (_, _, row) in sorted(best.items()):
        fact, planned = table.rows[row], round.plan.cables[at]
        if (int(device[row]), fact.netdev) in enslaved:
            in_vrf.append(str(index.a_port(at)))
            continue
        group = (int(index.rail[at]), int(index.plane[at]))
        nics.append(Nic(planned.a.device, fact.netdev, fact.address, planned.b.device, group, at))
    nics.sort(key=lambda nic: (nic.group, natural_key(nic.leaf), natural_key(nic.host), nic.netdev))
    wanted = np.flatnonzero(index.from_host & (index.rail >= 0)).tolist()
    missing = tuple(str(index.a_port(at)) for at in wanted if at not in best)
    return Nics(tuple(nics), missing, tuple(in_vrf))


def _in_vrfs(round: Round) -> set[tuple[int, str]]:
    """The interfaces that a VRF is the master of, by the code of their device and their name."""
    table = round.snapshot.table(NetLink)
    links = list(zip(round.cabling.identity.devices_of(table).tolist(), table.rows, strict=True))
    vrfs = {(device, link.netdev) for device, link in links if is_vrf(link)}
    return {(device, link.netdev) for device, link in links if (device, link.master) in vrfs}


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """What a probe may be sent to. Python takes any text behind a % for a zone."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return None if "%" in text or found.is_multicast or found.is_unspecified else found


def usual_mtu(round: Round) -> int | None:
    """The MTU that most planned NICs have, as their hosts report it: the larger one of two; None if none is known."""
    wiring, table = round.cabling, round.snapshot.table(NetLink)
    device, index = wiring.identity.devices_of(table), wiring.index
    cable = planned_cables(wiring, device, index.ports.known_codes(table.column("netdev")))
    own = np.append(index.a_device, NONE)[cable] == device  # and not the port of its switch
    rows = np.flatnonzero((cable != NONE) & own).tolist()
    count = Counter(mtu for row in rows if (mtu := table.rows[row].mtu) is not None)
    return max(count, key=lambda mtu: (count[mtu], mtu), default=None)


# ----------------------------------------------------------------------------------------------------------------------
# The pairs.

LISTS = ("A", "B", "C", "D", "E")
USUAL = ("A", "B", "C", "E")
"""What is shown before a hand-over. D is for up to a thousand hosts: its pairs grow with their square."""
SWEPT = "P"
"""The mark of a path sweep's pairs between leaves of one rail."""
_OFFSETS = (1, 2, 4)


class Pair(NamedTuple):
    """One sender and one receiver; `pinglist` is the first list that has the pair."""

    source: Nic
    to: Nic
    pinglist: str


class Share(NamedTuple):
    """One of `of` equal shares of each list: its pairs, or its pairs of leaves, by their numbers."""

    number: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        """Whether a pair with this number belongs to it."""
        return number % self.of == self.number


ALL = Share()


def pairs_of(plan: Plan, nics: Sequence[Nic], lists: Sequence[str], share: Share = ALL) -> list[Pair]:
    """The pairs of some lists, or a share of each, each pair once, in the lists' order. NICs of one host are never
    paired.
    """
    under = grouped(((nic.group, nic.leaf), nic) for nic in nics)
    groups = grouped((group, members) for (group, _), members in under.items())
    makers = {"A": _ring, "B": _between_leaves, "C": _to_each_leaf, "D": _mesh}
    found: dict[tuple[int, int], Pair] = {}
    for name in lists:
        pairs = (
            _between_rails(plan, groups, share)
            if name == "E"
            else (pair for leaves in groups.values() for pair in makers[name](leaves, share))
        )
        for source, to in pairs:
            if source.host != to.host:
                found.setdefault((source.cable, to.cable), Pair(source, to, name))
    return list(found.values())


def _ring(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    for members in leaves:
        for offset in _OFFSETS:
            if offset < len(members):
                yield from (
                    (one, members[(at + offset) % len(members)]) for at, one in enumerate(members) if share.has(at)
                )


def _between_leaves(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    """The NICs of a leaf take turns, so that no NIC carries the probes of all other leaves."""
    for number, ((x, ours), (y, theirs)) in enumerate(permutations(enumerate(leaves), 2)):
        for turn in (0, 1) if share.has(number) else ():
            yield ours[(y + turn) % len(ours)], theirs[(x + 2 * turn) % len(theirs)]


def _to_each_leaf(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    for number, (ours, theirs) in enumerate(permutations(leaves, 2)):
        if share.has(number):
            yield from ((one, theirs[at % len(theirs)]) for at, one in enumerate(ours))


def _mesh(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    pairs = permutations([nic for members in leaves for nic in members], 2)
    yield from (pair for number, pair in enumerate(pairs) if share.has(number))


def _between_rails(
    plan: Plan, groups: dict[tuple[int, int], list[list[Nic]]], share: Share
) -> Iterator[tuple[Nic, Nic]]:
    """Of one plane and pod. Two rails under one leaf are left out: the plan does not say whether it joins them."""
    for number, ((x, ours), (y, theirs)) in enumerate(permutations(sorted(groups.items()), 2)):
        if x[0] == y[0] or x[1] != y[1] or not share.has(number):
            continue
        for a, b in product(ours, theirs):
            if a[0].leaf != b[0].leaf and plan.devices[a[0].leaf].pod == plan.devices[b[0].leaf].pod:
                turn = (x[0] + y[0]) % len(a)
                other = b[(turn + 1) % len(b)]
                yield a[turn], other if other.host != a[turn].host else b[turn % len(b)]
