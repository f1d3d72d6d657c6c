"""Interfaces whose addresses belong to planned NICs: the bond that a NIC is a member of, the VLAN on a NIC or bond.

A bond has the cable of its first planned member by name: its packets leave by any. The kernel marks bonds MASTER
(`IFF_MASTER`). A VLAN, macvlan or ipvlan has the cable of the interface that its host reports below it (IFLA_LINK);
where that is not reported, a VLAN's usual name, `eth0.100`, says it (8021q's DEV_PLUS_VID_NO_PAD). One with another
name is not joined to its NIC then.
"""

from typing import TYPE_CHECKING

import numpy as np

from truerail.model.columns import NONE, Codes
from truerail.model.facts import NetLink
from truerail.model.names import natural_key

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring


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
