"""The bits that links carry, and which links are NRZ: denominators of error rates. The rates that devices compute."""

from collections.abc import Iterable

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import Transport
from truerail.model.columns import Codes, Mask, Numbers
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
