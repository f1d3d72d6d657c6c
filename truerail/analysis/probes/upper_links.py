"""Interfaces whose addresses belong to planned NICs: the bond that a NIC is a member of, the VLAN on a NIC or bond.

A bond has the cable of its first planned member by name: its packets leave by any. The kernel marks bonds MASTER
(`IFF_MASTER`). A VLAN, macvlan or ipvlan has the cable of the interface that its host reports below it (IFLA_LINK);
where that is not reported, a VLAN's usual name, `eth0.100`, says it (8021q's DEV_PLUS_VID_NO_PAD). One with another
name is not joined to its NIC then.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truerail.analysis.sweep.hop_addresses import canonical
from truerail.model.columns import NONE, Codes
from truerail.model.facts import NetAddress, NetLink
from truerail.model.names import natural_key
from truerail.model.probe_facts import ProbeHop, ProbeReach
from truerail.model.snapshot import Table

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring
    from truerail.analysis.round import Round


def planned_cables(wiring: "Wiring", device: Codes, name: Codes) -> Codes:
    """The cable that is planned at each NIC, by device code and name code; -1 if there is none. Shapes (n,)."""
    index = wiring.index
    port = index.ports.find(device, name)
    known = np.flatnonzero(port >= 0)  # a netdev that nothing else has reported is neither planned nor an alias
    found = np.full(len(port), NONE, dtype=np.int64)
    found[known] = index.cables_at(wiring.identity.local_ports(device[known], name[known]))
    return np.where((found >= 0) & index.from_host[found], found, NONE) if len(index.from_host) else found


def carrying_cables(wiring: "Wiring", device: Codes, name: Codes) -> Codes:
    """The planned cable of each interface, by device code and name code: its own, else that of the NIC below it; -1 if
    there is none. Shapes (n,).
    """
    found = planned_cables(wiring, device, name)
    rest = np.flatnonzero((found == NONE) & (device >= 0) & (name >= 0))
    above = wiring.once(_above) if len(rest) else {}
    for row in rest.tolist() if above else ():
        found[row] = above.get((int(device[row]), int(name[row])), NONE)
    return found


def probed_ends(wiring: "Wiring", table: Table[Any], row: Codes) -> tuple[Codes, Codes, Codes, Codes]:
    """Of rows of probes or tests the host that reports, its peer, and the planned cables of the two NICs."""
    index = wiring.index
    device = wiring.identity.devices_of(table)[row]
    names = table.column("peer")[row].tolist()
    of_name = {name: wiring.identity.filed(name) for name in dict.fromkeys(names)}
    peer = np.array([of_name[name] for name in names], dtype=np.int64)
    own, far = (index.ports.name_codes(table.column(name)[row]) for name in ("port", "peer_port"))
    return device, peer, carrying_cables(wiring, device, own), carrying_cables(wiring, peer, far)


def _above(wiring: "Wiring") -> dict[tuple[int, int], int]:
    """The cable of each bond and VLAN, by the codes of its device and name."""
    table = wiring.seen.table(NetLink)
    devices = wiring.identity.devices_of(table)
    names = wiring.index.ports.known_codes(table.column("netdev"))
    cables = planned_cables(wiring, devices, names)
    rows: dict[int, dict[str, int]] = {}
    for row, device in enumerate(devices.tolist()):
        rows.setdefault(device, {})[table.rows[row].netdev] = row
    found: dict[tuple[int, int], int] = {}
    for device, of_device in rows.items():
        carried = {name: int(cables[row]) for name, row in of_device.items() if cables[row] != NONE}
        for name in sorted(of_device, key=natural_key):
            master = table.rows[of_device[name]].master
            if name in carried and master in of_device and _is_bond(table.rows[of_device[master]]):
                carried.setdefault(master, carried[name])
        below = {name: _below(table.rows[row]) for name, row in of_device.items()}
        for name in of_device:
            way = [name]
            while (under := below.get(way[-1], "")) and way[-1] not in carried and under not in way:
                way.append(under)
            if way[-1] in carried:
                carried.update((one, carried[way[-1]]) for one in way)
        found |= {(device, int(names[of_device[name]])): cable for name, cable in carried.items()}
    return found


def _below(link: NetLink) -> str:
    """The interface that carries what another one sends; empty if there is none, or it is not known."""
    if link.below is not None:
        return link.below
    parent, _, number = link.netdev.rpartition(".")
    return parent if number.isdecimal() and link.kind in (None, "vlan") else ""


def _is_bond(link: NetLink) -> bool:
    return link.kind == "bond" or (link.kind is None and "MASTER" in link.flags and "NOARP" not in link.flags)


def is_vrf(link: NetLink) -> bool:
    """Whether an interface is a VRF: where its kind is not reported, a master without ARP is (drivers/net/vrf.c)."""
    return link.kind == "vrf" or (link.kind is None and {"MASTER", "NOARP"} <= set(link.flags))


# ----------------------------------------------------------------------------------------------------------------------
# Which device answered a probe: the addresses of hops, by what the devices themselves report of their interfaces.


class Owner(NamedTuple):
    """The device that has an address, by its code, and the interface that has it."""

    device: int
    interface: str


def owners(round: "Round") -> dict[str, Owner]:
    """The device of each reported address, in its usual spelling: that of hosts' answers. An address that two devices
    have names none: it is left out.
    """
    table = round.snapshot.table(NetAddress)
    found: dict[str, Owner] = {}
    shared: set[str] = set()
    for fact, device in zip(table.rows, round.cabling.identity.devices_of(table).tolist(), strict=True):
        address = canonical(fact.address)
        known = found.setdefault(address, Owner(device, fact.netdev))
        if known.device != device:
            shared.add(address)
    return {address: owner for address, owner in found.items() if address not in shared}


def first_hops(round: "Round") -> dict[int, tuple[int, int]]:
    """The device that answered one hop behind each planned NIC, for probes that were bound to the NIC: its code and a
    row of the table of hops, by cable. Hops whose address is unknown or shared are left out.
    """
    hops, reach = round.snapshot.table(ProbeHop), round.snapshot.table(ProbeReach)
    sent = ((row, device) for row, device in zip(reach.rows, reach.device.tolist(), strict=True) if row.heard is None)
    wired = {(reach.devices[device], row.run, row.flow) for row, device in sent if row.mode == "wired"}
    of_address, index = round.once(owners), round.cabling.index
    first = ((n, row) for n, row in enumerate(hops.rows) if row.ttl == 1 and row.kind == "time exceeded")
    rows = [n for n, row in first if row.address in of_address]
    rows = [n for n in rows if (hops.devices[int(hops.device[n])], hops.rows[n].run, hops.rows[n].flow) in wired]
    at = np.array(rows, dtype=np.int64)
    names = index.ports.name_codes(hops.column("port")[at])
    cables = planned_cables(round.cabling, round.cabling.identity.devices_of(hops)[at], names)
    known = ((cable, number) for cable, number in zip(cables.tolist(), rows, strict=True) if cable != NONE)
    return {cable: (of_address[str(hops.rows[number].address)].device, number) for cable, number in known}
