"""Traffic of switches that count packets but no bytes: SONiC's `show interfaces counters` shows packets alone.

Bytes or packets both show how a load is shared over links. So for a switch that counts packets at its ports and no
bytes, all its ports are measured in packets, each as large as a packet is on the ports of the fabric that count both:
links of one switch are compared in one unit, never some in bytes and others in packets.
"""

import numpy as np

from truerail.analysis.counters.carried import Carried, carried_in, overall
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import Codes

USUAL_BYTES = 1024.0
"""Bytes per packet where no port counts both: the payload of RoCE on an Ethernet of 1,500 bytes, the smallest in use.
"""


def carried_or_packets(telemetry: Telemetry, by_bytes: Carried) -> Carried:
    """Traffic of every planned port, from packets on switches that count no bytes."""
    between = _between_switches(telemetry)
    between = between[np.isnan(overall(by_bytes.tx[between]))]
    if not len(between) or not (telemetry.counts(Quantity.TX_PACKETS) or telemetry.counts(Quantity.RX_PACKETS)):
        return by_bytes
    packets = carried_in(telemetry, Quantity.TX_PACKETS, Quantity.RX_PACKETS)
    device = telemetry.wiring.index.ports.device_of
    lacking = device(between[~np.isnan(overall(packets.tx[between]))])
    rows = np.flatnonzero(np.isin(device(np.arange(telemetry.ports)), lacking))
    size = _bytes_of_a_packet(by_bytes, packets)
    tx, rx = by_bytes.tx.copy(), by_bytes.rx.copy()
    tx[rows], rx[rows] = packets.tx[rows] * size, packets.rx[rows] * size
    return Carried(tx, rx, by_bytes.peer)


def _between_switches(telemetry: Telemetry) -> Codes:
    """Ports of planned cables between switches."""
    index = telemetry.wiring.index
    ports = np.unique(np.concatenate([index.a[~index.from_host], index.b[~index.from_host]]))
    return np.asarray(ports[ports >= 0])


def _bytes_of_a_packet(by_bytes: Carried, packets: Carried) -> float:
    """Mean over all ports that count both."""
    bytes_, count = overall(by_bytes.tx), overall(packets.tx)
    both = (bytes_ > 0) & (count > 0)
    return float(bytes_[both].sum() / count[both].sum()) if both.any() else USUAL_BYTES
