"""The bits that links carry, and which links are NRZ: the denominators of error rates."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import Transport
from truerail.model.columns import Mask

Numbers = npt.NDArray[np.float64]

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
