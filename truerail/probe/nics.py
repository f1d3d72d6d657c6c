"""The planned NICs that can be probed: each with its netdev, its address, its rail and its leaf."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

import numpy as np

from truerail.analysis.probes.upper_links import carrying_cables, planned_cables
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


def nics_of(round: Round, version: int) -> Nics:
    """The planned NICs on rails with a global address of an IP version, 4 or 6: one in a subnet of the rail if there
    is one, else the first that is reported; of a NIC without one that of its bond or VLAN, by that interface.
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
    nics = []
    for at, (_, _, row) in best.items():
        fact, planned = table.rows[row], round.plan.cables[at]
        group = (int(index.rail[at]), int(index.plane[at]))
        nics.append(Nic(planned.a.device, fact.netdev, fact.address, planned.b.device, group, at))
    nics.sort(key=lambda nic: (nic.group, natural_key(nic.leaf), natural_key(nic.host), nic.netdev))
    wanted = np.flatnonzero(index.from_host & (index.rail >= 0)).tolist()
    missing = tuple(str(index.a_port(at)) for at in wanted if at not in best)
    return Nics(tuple(nics), missing)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def link_mtu(round: Round) -> dict[int, int]:
    """The MTU that hosts report of their planned NICs, by cable."""
    wiring = round.cabling
    table = round.snapshot.table(NetLink)
    cable = planned_cables(
        wiring, wiring.identity.devices_of(table), wiring.index.ports.name_codes(table.column("netdev"))
    )
    rows = np.flatnonzero(cable != NONE).tolist()
    return {int(cable[row]): mtu for row in rows if (mtu := table.rows[row].mtu) is not None}
