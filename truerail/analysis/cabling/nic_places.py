"""Where a host's NICs are plugged into the host: by PCI address, or by a name that follows from the place."""

import re
from typing import TYPE_CHECKING

import numpy as np

from truerail.model.facts import NetLink, RdmaLink

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring

_BY_PLACE = re.compile(
    r"(?:en|ib|roce|rdma|iw|opa|hns)(?:(?:p\d+)?p\d+s\d+|s\d+|o\d+|x[0-9a-f]{12})[a-z0-9]*"
    r"|(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]",
    re.IGNORECASE,
)
_BY_SLOT = re.compile(r"(?:en|ib|roce|rdma|iw|opa|hns)(?:s\d+|o\d+|x[0-9a-f]{12})[a-z0-9]*", re.IGNORECASE)


def is_by_place(name: str) -> bool:
    """Whether a NIC's name follows from the card's location in the host, or from its MAC."""
    return _BY_PLACE.fullmatch(name) is not None


def is_by_slot(name: str) -> bool:
    """Whether a NIC's name follows from the number of its slot or from its MAC, whatever bus the firmware gives it."""
    return _BY_SLOT.fullmatch(name) is not None


def nic_places(wiring: "Wiring") -> dict[int, str]:
    """The location of each planned NIC, by its port: its PCI address, or a name that follows from its location."""
    names, seen = wiring.identity.names, wiring.seen
    found: dict[int, str] = {}
    planned = wiring.index.a[wiring.index.from_host]
    rdma, links = (names.rdma_ports(), seen.table(RdmaLink).rows), (names.link_ports(), seen.table(NetLink).rows)
    for ports, rows in (rdma, links):
        for row in np.flatnonzero(np.isin(ports, planned)).tolist():
            one = rows[row]
            said = (one.pci_address, one.netdev, one.device if isinstance(one, RdmaLink) else None)
            place = next((word for word in said if word and is_by_place(word)), None)
            if place:
                found[int(ports[row])] = place.lower()
    return found
