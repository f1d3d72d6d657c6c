"""Broken frames that a cut-through switch passed on: counted again at each port that receives them.

It begins to send a frame before it has received the checksum at the frame's end, so what another link broke counts as
a CRC error here, and as nothing else (Cisco: stomped CRC).
"""

from collections.abc import Mapping

import numpy as np

from rules._error_levels import AFTER_FEC, BadPort
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import Codes

Q = Quantity

PASSED_ON = "the switch that sends receives as many errors and passes them on"
_FRAMES = {Q.CRC_ERRORS, Q.RX_ERRORS}
_SLACK = 1.1
"""Counters of two devices are read seconds apart."""


def passed_on(telemetry: Telemetry, bad: Mapping[int, BadPort], other: Codes) -> frozenset[int]:
    """The ports that receive nothing but broken frames, and no more of them than the switch that sends them receives at
    its other ports; all such ports of a switch together, too.
    """
    index = telemetry.wiring.index
    ports = np.array([port for port, of in bad.items() if not of.rate and _FRAMES.issuperset(of.reported)], dtype=int)
    ports = ports[(other[ports] >= 0) & (other[ports] < telemetry.ports)]
    gained = np.stack([np.nan_to_num(telemetry.summed(quantity).gained) for quantity in AFTER_FEC]).max(axis=0)
    device = index.ports.device_of(np.arange(telemetry.ports))
    sender = device[other[ports]]
    received = _SLACK * (np.bincount(device, gained)[sender] - gained[other[ports]])
    sent = np.bincount(sender, gained[ports], len(index.devices.names))[sender]
    switch = np.array(index.devices.tier)[sender] > 0
    return frozenset(ports[switch & (sent <= received)].tolist())
