"""Where a host's NICs are plugged into the host: by PCI address, or by a name that follows from the place."""

from typing import TYPE_CHECKING

import numpy as np

from truerail.analysis.cabling.spellings import is_by_place
from truerail.model.facts import NetLink, RdmaLink

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring


def nic_places(wiring: "Wiring") -> dict[int, str]:
    """The location of each planned NIC, by its port: its PCI address, or a name that follows from its location."""
    names, seen = wiring.identity.names, wiring.seen
    found: dict[int, str] = {}
    planned = wiring.index.a[wiring.index.from_host]
    rdma, links = (names.rdma_ports, seen.table(RdmaLink).rows), (names.link_ports, seen.table(NetLink).rows)
    for ports, rows in (rdma, links):
        for row in np.flatnonzero(np.isin(ports, planned)).tolist():
            one = rows[row]
            said = (one.pci_address, one.netdev, one.device if isinstance(one, RdmaLink) else None)
            place = next((word for word in said if word and is_by_place(word)), None)
            if place:
                found[int(ports[row])] = place.lower()
    return found
