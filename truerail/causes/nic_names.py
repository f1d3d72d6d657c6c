"""Whether the names of a host's NICs can have been swapped, if no topology shows which NIC is which.

A name that follows from the number of a slot (`ens3np0`, `eno1`: systemd.net-naming-scheme) or from the MAC stays
with the card. `eth2`, `mlx5_3` and `nic3` follow the order in which drivers find the cards, and that can change. Then
the addresses that hosts report may show it: a NIC with the address that another one has on hosts whose cables are right
is that other one. An equal address does not show the opposite: the firmware of a host numbers its PCI buses
(BIOS version or setting, further cards), so a bus number (`enp26s0f0np0`, `rocep26s0`, `0000:1a:00.0`) may belong to
another slot than on other hosts.

Bus numbers that all equal those of other hosts do not decide either. Buses are numbered depth first, so a card more or
less shifts numbers and swaps none (systemd issues 2811 and 33347: `enp5s0` becomes `enp7s0`). But Linux keeps the
numbers that the firmware gave (drivers/pci/probe.c, pci_scan_bridge_extend), and a firmware that takes the root ports,
or the boards behind internal PCIe cables, in another order gives the same numbers to other slots where each of them
holds equally many buses, as in a server of eight equal NICs. "PCI topology can change whenever it wants to, it does not
have to be deterministic" (systemd issue 563). LLDP, addresses and names are then exactly the same as with two swapped
cables. Swapped cables are likelier on a single host, and still no move is ordered: one command on the host (`nvidia-smi
topo -m`, `ethtool -p`) decides in a minute, and a move of two right cables breaks two rails.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum, auto

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.spellings import is_by_place, is_by_slot
from truerail.model.columns import distinct


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
