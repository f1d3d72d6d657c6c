"""What counts are shares of: the bits that links carry, for error rates, and packets, for congestion marks. Which links
are NRZ, and the rates that devices compute.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import Transport
from truerail.model.columns import Codes, Mask, Numbers, ratio
from truerail.model.facts import BitErrorRate

FASTEST_NRZ_GBPS = 100.0
"""InfiniBand EDR, four lanes of 25 Gb/s."""
LINE_CODING = 1.0625
"""Bits on the wire for each bit of data: 106.25 Gb/s a lane for 100 Gb/s (SONiC, port FEC BER)."""


def bits_of(telemetry: Telemetry, counted: Iterable[Quantity]) -> Numbers:
    """Bits that each port could have received in the window: as reported, else its speed times the shortest reported
    time.
    """
    received = telemetry.summed(Quantity.RX_BITS).gained
    seconds = np.full(telemetry.ports, np.nan)
    for quantity in counted:
        seconds = np.fmin(seconds, telemetry.summed(quantity).seconds)
    return np.where(np.isnan(received), telemetry.speed() * 8 * LINE_CODING * seconds, received)


def infiniband(telemetry: Telemetry) -> Mask:
    """For each port, whether it is in an InfiniBand fabric."""
    return np.full(telemetry.ports, telemetry.wiring.index.plan.transport is Transport.INFINIBAND)


def nrz_links(telemetry: Telemetry) -> Mask:
    """For each port, whether its link is InfiniBand without PAM4."""
    return np.asarray(telemetry.speed() * 8 / 1e9 <= FASTEST_NRZ_GBPS, dtype=bool) & infiniband(telemetry)


def rate_ports(wiring: Wiring) -> tuple[Codes, Codes]:
    """The planned ports with a bit error rate that their device computes itself, and the row of each among the
    snapshot's rates.
    """
    identity, index = wiring.identity, wiring.index
    table = wiring.seen.table(BitErrorRate)
    if not len(table):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    device, names = identity.devices_of(table), index.ports.name_codes([rate.port for rate in table.rows])
    of_rdma = identity.names.rdma_called(device, names)
    ports = np.where(of_rdma >= 0, of_rdma, identity.local_ports(device, names))
    rows = np.flatnonzero((ports >= 0) & (ports < index.planned_ports))
    return ports[rows], rows


# ----------------------------------------------------------------------------------------------------------------------
# Congestion marks (ECN): the packets to compare them with, and the marked share.


Q = Quantity
Values = npt.NDArray[np.floating[Any]]


def rdma_priorities(telemetry: Telemetry, packets: Quantity = Q.RX_PACKETS) -> list[int | None]:
    """The priorities whose packets carry RDMA: those with pauses where packets are counted by priority, else all."""
    counted = [priority for priority in telemetry.priorities(packets) if priority is not None]
    lossless = telemetry.priorities(Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_FRAMES, Q.RX_PAUSE_US, Q.TX_PAUSE_US)
    return [*([priority for priority in counted if priority in lossless] or counted)]


def share_of_marked(marked: Values, by_priority: Values, whole: Values) -> Values:
    """Marked share of RDMA packets, in the shape of all three arguments. A lower bound where only the packets of the
    whole port are counted, not those of RDMA's priorities. NaN with no data, or with no packets counted.
    """
    packets = np.where(by_priority > 0, by_priority, whole)
    return np.where(packets > 0, ratio(marked, packets), np.nan)
