"""Hosts whose NICs are named in another order than the plan assumes: nothing to move, whatever LLDP reports by name.

The evidence is the host's own topology. A NIC that is seen on rail 5 and is nearest to GPU 5 is right where it is: only
its name is not the one that the plan expects there. A NIC that is seen on rail 5 and is nearest to GPU 3 has a wrong
cable. Without a topology, a whole new order (four NICs or more) is more likely one BIOS setting than four cables; a
swap of two is more likely a pair of cables. The cause then names both.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.paths import GpuRails
from truerail.analysis.cabling.spellings import is_by_place, is_by_slot
from truerail.causes.observed_links import ObservedLinks
from truerail.model.columns import NONE, Codes, Mask, distinct, found, grouped

MIN_WITHOUT_TOPOLOGY = 4
MIN_HOSTS_FOR_ONE_CAUSE = 3


Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NicOrder:
    """Hosts with the same wrong order: the rows of their sightings, and the cables that these really are."""

    hosts: tuple[int, ...]
    rows: Codes
    cables: Codes
    order: Pairs
    """(rail by name, rail by position), ascending; only those that differ."""
    witnessed: bool


def witnessed_orders(s: ObservedLinks, gpus: GpuRails) -> list[NicOrder]:
    """Hosts whose topology and cabling agree against the names: NICs are seen on the rails of their nearest GPUs.

    Excludes hosts whose NICs are near other GPUs than planned, but are seen on their planned rails: there the GPUs are
    numbered differently, and no cable is mistaken for another.
    """
    rail = s.index.rail
    near, name, resident = gpus.near[s.index.a[s.cable]], rail[s.taken_for], s.resident()
    place = np.where(resident >= 0, rail[resident], NONE)
    strange = s.index.from_host[s.taken_for] & (name >= 0) & (near != 0) & ~in_rails(near, name)
    by_slot, by_name = strange & in_rails(near, place), strange & (place == name)
    owner, size = s.index.a_device[s.taken_for], len(s.index.devices.names)
    votes = np.bincount(owner[by_slot], minlength=size) - np.bincount(owner[by_name], minlength=size)
    rows = np.flatnonzero(strange & (votes[owner] > 0))
    slot = slot_cables(s, rows, near[rows], np.where(by_slot[rows], resident[rows], NONE))
    rows, slot = rows[slot >= 0], slot[slot >= 0]
    return _by_host(s, rows, slot, witnessed=True)


def completed(s: ObservedLinks, found: list[NicOrder], gpus: GpuRails) -> list[NicOrder]:
    """The same orders with those NICs of their hosts whose GPU has fallen off the bus and that have another's name:
    they are the NICs whose names are then free. Of several, their places show which is which.
    """
    if not found:
        return found
    owner, plane, resident, known = s.index.a_device, s.index.plane, s.resident(), _merged(found)
    names = s.slots.cable(owner[s.taken_for[known.rows]], s.slots.of[s.cable[known.rows]])
    unclaimed = np.setdiff1d(names[names >= 0], known.cables).tolist()
    free = grouped(((int(owner[cable]), int(plane[cable])), cable) for cable in unclaimed)
    left = np.isin(s.taken_for, known.cables) & (gpus.near[s.index.a[s.cable]] == 0)
    left[known.rows] = False
    more: dict[int, int] = {}
    for row in sorted(np.flatnonzero(left).tolist(), key=lambda row: bool(s.index.b[s.taken_for[row]] == s.place[row])):
        own = int(s.taken_for[row])
        open_ = free.get((int(owner[own]), int(plane[own])), [])
        cable = int(resident[row]) if int(resident[row]) in open_ else open_[0] if len(open_) == 1 else NONE
        if cable >= 0:
            open_.remove(cable)
            more[row] = cable
    if not more:
        return found
    rows, cables = np.array([*more]), np.array([*more.values()])
    added = {one.hosts: one for one in _by_host(s, rows, cables, witnessed=True)}
    s.retake(rows, cables)
    return [_merged([one, added.pop(one.hosts)]) if one.hosts in added else one for one in found]


def _merged(found: Sequence[NicOrder]) -> NicOrder:
    """Some orders as one."""
    hosts = tuple(sorted({host for one in found for host in one.hosts}))
    rows, cables = (np.concatenate([getattr(one, what) for one in found]) for what in ("rows", "cables"))
    return NicOrder(hosts, rows, cables, tuple(sorted({*chain(*(one.order for one in found))})), found[0].witnessed)


def likely_orders(s: ObservedLinks, gpus: GpuRails) -> list[NicOrder]:
    """Hosts without a topology that have four or more NICs in each other's places and nowhere else."""
    resident, owner = s.resident(), s.index.a_device[s.taken_for]
    inside = s.wrong & (resident >= 0) & s.index.from_host[s.taken_for] & (s.index.a_device[resident] == owner)
    inside &= gpus.near[s.index.a[s.cable]] == 0
    every = np.flatnonzero(inside)
    return [
        one
        for one in _by_host(s, every, resident[every], witnessed=False)
        if len(one.rows) >= MIN_WITHOUT_TOPOLOGY
        and (s.index.plane[s.taken_for[one.rows]] == s.index.plane[one.cables]).all()
        and {*s.taken_for[one.rows].tolist()} == {*one.cables.tolist()}
    ]


def in_rails(bits: Codes, rail: Codes) -> Mask:
    """Whether each rail is in its bit set; -1 is in none."""
    return np.asarray((rail >= 0) & (bits >> np.maximum(rail, 0) & 1 == 1), dtype=bool)


def slot_cables(s: ObservedLinks, rows: Codes, near: Codes, seen: Codes) -> Codes:
    """The cable that each NIC really is: that of its GPU's rail; if GPUs share NICs, the one it is seen as."""
    index, own = s.index, s.taken_for[rows]
    single = (near & (near - 1)) == 0
    rail = np.where(single, np.round(np.log2(np.maximum(near, 1))).astype(np.int64), NONE)
    hosts = np.flatnonzero(index.from_host)
    key = index.a_device << 40 | (index.rail + 1) << 20 | index.plane + 1
    order = hosts[np.argsort(key[hosts], kind="stable")]
    place = found(key[order], index.a_device[own] << 40 | (rail + 1) << 20 | index.plane[own] + 1)
    return np.where(single & (place >= 0), np.append(order, NONE)[place], seen)


def _by_host(s: ObservedLinks, rows: Codes, cables: Codes, *, witnessed: bool) -> list[NicOrder]:
    """The order of each host of these sightings."""
    owner = s.index.a_device[s.taken_for[rows]]
    of_hosts = ((host, rows[owner == host], cables[owner == host]) for host in distinct(owner).tolist())
    return [NicOrder((host,), own, are, order_of(s, own, are), witnessed) for host, own, are in of_hosts]


def order_of(s: ObservedLinks, rows: Codes | list[int], cables: Codes) -> Pairs:
    """(rail by name, rail by position) of these sightings, ascending."""
    rail = s.index.rail
    return tuple(sorted({*zip(rail[s.taken_for[rows]].tolist(), rail[cables].tolist(), strict=True)}))


def joined(s: ObservedLinks, single: list[NicOrder]) -> list[NicOrder]:
    """One order on three hosts or more is one cause: a model's firmware, or the order in the plan. It includes hosts
    that show a part of it and whose other NICs are not seen.
    """
    groups = grouped(((found.order, found.witnessed), found) for found in single)
    for key in sorted(groups, key=lambda key: len(key[0])):
        larger = [one for one in groups if one[1] == key[1] and set(key[0]) < set(one[0])]
        largest = [one for one in larger if not any(set(one[0]) < set(other[0]) for other in larger)]
        if len(largest) == 1:
            rest = {name for name, _ in set(largest[0][0]).difference(key[0])}
            part = [found for found in groups[key] if rest.isdisjoint(_rails_seen(s, found))]
            groups[largest[0]] += part
            groups[key] = [found for found in groups[key] if not any(found is one for one in part)]
    result: list[NicOrder] = []
    for (order, _), members in groups.items():
        one_cause = len(members) >= MIN_HOSTS_FOR_ONE_CAUSE
        result += [replace(_merged(members), order=order)] if one_cause else members
    return result


def _rails_seen(s: ObservedLinks, found: NicOrder) -> set[int]:
    """The rails, by name, of its hosts' visible NICs."""
    own = np.isin(s.index.a_device[s.taken_for], found.hosts) & s.index.from_host[s.cable]
    return set(s.index.rail[s.cable[own]].tolist())


# ----------------------------------------------------------------------------------------------------------------------
# Whether the names of a host's NICs can have been swapped, if no topology shows which NIC is which.
#
# A name that follows from the number of a slot (`ens3np0`, `eno1`: systemd.net-naming-scheme) or from the MAC stays
# with the card. `eth2`, `mlx5_3` and `nic3` follow the order in which drivers find the cards, and that can change. Then
# the addresses that hosts report may show it: a NIC with the address that another one has on hosts whose cables are
# right is that other one. An equal address does not show the opposite: the firmware of a host numbers its PCI buses
# (BIOS version or setting, further cards), so a bus number (`enp26s0f0np0`, `rocep26s0`, `0000:1a:00.0`) may belong to
# another slot than on other hosts.
#
# Bus numbers that all equal those of other hosts do not decide either. Buses are numbered depth first, so a card more
# or less shifts numbers and swaps none (systemd issues 2811 and 33347: `enp5s0` becomes `enp7s0`). But Linux keeps the
# numbers that the firmware gave (drivers/pci/probe.c, pci_scan_bridge_extend), and a firmware that takes the root
# ports, or the boards behind internal PCIe cables, in another order gives the same numbers to other slots where each of
# them holds equally many buses, as in a server of eight equal NICs. "PCI topology can change whenever it wants to, it
# does not have to be deterministic" (systemd issue 563). LLDP, addresses and names are then exactly the same as with
# two swapped cables. Swapped cables are likelier on a single host, and still no move is ordered: one command on the
# host (`nvidia-smi topo -m`, `ethtool -p`) decides in a minute, and a move of two right cables breaks two rails.


class Names(Enum):
    """Evidence on the names of some NICs of one host."""

    RIGHT = auto()
    """Each is the NIC that the plan means."""
    SWAPPED = auto()
    """Each is the NIC that the plan means by another name: that of the NIC in whose place its cable sits."""
    OPEN = auto()


def names_of(wiring: Wiring, cables: Sequence[int], residents: Sequence[int]) -> Names:
    """Evidence on the NICs of these cables, all of one host. `residents` are the cables planned where they sit."""
    index = wiring.index
    names = [index.a_port(cable).name for cable in cables]
    whole = _are_whole_cards(wiring, cables, residents)
    if all(is_by_slot(name) or (is_by_place(name) and not whole) for name in names):
        return Names.RIGHT
    own = [wiring.nic_places.get(int(index.a[cable]), "") for cable in cables]
    if not all(own):
        return Names.OPEN
    right = Names.OPEN if whole and not all(map(is_by_slot, own)) else Names.RIGHT
    others = ((at[: len(cables)], at[len(cables) :]) for at in _elsewhere(wiring, cables, residents))
    votes = Counter(
        right if by_name == own else Names.SWAPPED for by_name, by_place in others if own in (by_name, by_place)
    )
    (most, count), *less = [*votes.most_common(), (Names.OPEN, 0)]
    return most if all(count > other for _, other in less) else Names.OPEN


def _are_whole_cards(wiring: Wiring, cables: Sequence[int], residents: Sequence[int]) -> bool:
    """Whether whole cards may be swapped, as with other bus numbers: each port sits in the place of a port of its own
    plane, and no other port of these cards is right.
    """
    index = wiring.index
    own_planes = (index.plane[[*cables]] == index.plane[[*residents]]).all()
    cards = np.isin(index.rail, index.rail[[*cables]]) & (index.a_device == index.a_device[cables[0]])
    others = cards & ~np.isin(index.plane, index.plane[[*cables]])
    return bool(own_planes and not (wiring.state[others] == State.RIGHT).any())


def _elsewhere(wiring: Wiring, cables: Sequence[int], residents: Sequence[int]) -> Iterator[list[str]]:
    """The addresses of the NICs of the same names on each other host where their cables are right: those of `cables`,
    then those of `residents`.
    """
    index, addresses = wiring.index, wiring.nic_places
    names = index.ports.name_of(index.a[[*cables, *residents]])
    for host in distinct(index.a_device[index.from_host]).tolist():
        ports = index.ports.find(np.full(len(names), host), names)
        known = index.cables_at(ports)
        if (ports >= 0).all() and (known >= 0).all() and (wiring.state[known] == State.RIGHT).all():
            yield [addresses.get(port, "") for port in ports.tolist()]
