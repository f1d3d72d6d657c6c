"""The planned NICs that can be probed: each with its netdev, its address, its rail and its leaf."""

from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

import numpy as np

from truerail.analysis.probes.upper_links import carrying_cables, is_vrf, planned_cables
from truerail.analysis.round import Round
from truerail.model.columns import NONE
from truerail.model.facts import NetAddress, NetLink
from truerail.model.names import natural_key


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
