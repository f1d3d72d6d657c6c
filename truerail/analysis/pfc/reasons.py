"""Reasons why a NIC pauses its switch, and other origins of congestion, derived from counters."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.pfc.edges import NOTHING_SHARE

Q = Quantity


class Reason(StrEnum):
    """The sub-cause of a pause tree's root; exactly these words appear in every output."""

    NIC_WATCHDOG = "nic watchdog"
    """The NIC's own stall prevention fired: its receive pipeline stood still while it sent pauses."""
    PCIE_STALLED = "pcie stalled"
    NO_BUFFERS = "no receive buffers"
    SLOW_HOST = "slow host"
    SLOW_RECEIVER = "slow receiver"
    """It accepts traffic without drops, but too slowly: translation misses, memory, a busy host."""
    NIC_OR_DRIVER = "nic or driver"
    """It accepts no traffic, and no other counter increases."""
    NIC_UNREPORTED = "nic not read"
    INCAST = "incast"
    DEGRADED_LINK = "degraded link"
    EGRESS_UNREPORTED = "congestion within the switch"
    CIRCLE = "switches wait in a circle"
    """A storm at a switch in a circle of switches that is not shown to pass traffic: it may be a deadlock."""
    NOT_MONITORED = "device behind it not monitored"


SIGNS: Sequence[tuple[Reason, tuple[Quantity, ...]]] = (
    (Reason.NIC_WATCHDOG, (Q.NIC_STORM_ERRORS, Q.NIC_STORM_WARNINGS)),
    (Reason.PCIE_STALLED, (Q.PCI_STALLED_EVENTS,)),
    (Reason.NO_BUFFERS, (Q.OUT_OF_BUFFER, Q.RNR_NAKS)),
    (Reason.SLOW_HOST, (Q.RX_DISCARDS,)),
)
"""Counters for each reason, the most specific first (mlx5 counters.rst; SIGCOMM'16 section 4 for slow receivers)."""


def nic_reason(telemetry: Telemetry, port: int, priority: int | None, last: int) -> Reason:
    """Why a host's NIC sends pauses, by its counters in the last samples. `port` is the NIC's port code."""
    ports = np.array([port])
    known = False
    for reason, quantities in SIGNS:
        for quantity in quantities:
            for of in dict.fromkeys((priority, None)):
                gained = telemetry.part(quantity, of, ports, last)[0]
                known |= bool((~np.isnan(gained)).any())
                if (gained > 0).any():
                    return reason
    takes = _takes(telemetry, port, priority, last)
    if takes is None:
        return Reason.SLOW_RECEIVER if known else Reason.NIC_UNREPORTED
    return Reason.SLOW_RECEIVER if takes else Reason.NIC_OR_DRIVER


def _takes(telemetry: Telemetry, port: int, priority: int | None, last: int) -> bool | None:
    """Whether the NIC received traffic, by the newest sample; None if unknown. Bytes over all priorities count above
    what protocols and pause frames can be.
    """
    for of in dict.fromkeys((priority, None)):
        for quantity in (Q.RX_BYTES, Q.RX_PACKETS) if of is not None else (Q.RX_BYTES,):
            gained, span = (values[0] for values in telemetry.part(quantity, of, np.array([port]), last))
            known = np.flatnonzero(~np.isnan(gained))
            if len(known):
                nothing = 0.0 if of is not None else np.nan_to_num(NOTHING_SHARE * telemetry.speed()[port])
                return bool(gained[known[-1]] > nothing * span[known[-1]])
    return None
