"""Congestion marks (ECN): the packets to compare them with, and the marked share."""

from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry

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
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(packets > 0, marked / packets, np.nan)
