"""Which device answered a probe: the addresses of hops, by what the devices themselves report of their interfaces."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truerail.analysis.probes.upper_links import planned_cables
from truerail.analysis.sweep.hop_addresses import canonical
from truerail.model.columns import NONE
from truerail.model.facts import NetAddress
from truerail.model.probe_facts import ProbeHop, ProbeReach

if TYPE_CHECKING:
    from truerail.analysis.round import Round


class Owner(NamedTuple):
    """The device that has an address, by its code, and the interface that has it."""

    device: int
    interface: str


def owners(round: "Round") -> dict[str, Owner]:
    """The device of each reported address, in its usual spelling: that of hosts' answers. An address that two devices
    have names none: it is left out.
    """
    return round.once(_owners)


def _owners(round: "Round") -> dict[str, Owner]:
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
    of_address, index = owners(round), round.cabling.index
    first = ((n, row) for n, row in enumerate(hops.rows) if row.ttl == 1 and row.kind == "time exceeded")
    rows = [n for n, row in first if row.address in of_address]
    rows = [n for n in rows if (hops.devices[int(hops.device[n])], hops.rows[n].run, hops.rows[n].flow) in wired]
    at = np.array(rows, dtype=np.int64)
    names = index.ports.name_codes(hops.column("port")[at])
    cables = planned_cables(round.cabling, round.cabling.identity.devices_of(hops)[at], names)
    known = ((cable, number) for cable, number in zip(cables.tolist(), rows, strict=True) if cable != NONE)
    return {cable: (of_address[str(hops.rows[number].address)].device, number) for cable, number in known}
