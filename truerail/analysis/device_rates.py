"""The bit error rates that devices compute themselves, by planned port."""

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.model.columns import Codes
from truerail.model.facts import BitErrorRate


def rate_ports(wiring: Wiring) -> tuple[Codes, Codes]:
    """The planned ports with a rate, and the row of each among the snapshot's rates."""
    identity, index = wiring.identity, wiring.index
    table = wiring.seen.table(BitErrorRate)
    if not len(table):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    device, names = identity.devices_of(table), index.ports.name_codes([rate.port for rate in table.rows])
    of_rdma = identity.names.rdma_called(device, names)
    ports = np.where(of_rdma >= 0, of_rdma, identity.local_ports(device, names))
    rows = np.flatnonzero((ports >= 0) & (ports < index.planned_ports))
    return ports[rows], rows
