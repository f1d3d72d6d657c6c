"""Which priorities are lossless at which port, as devices report, and on which pauses are actually exchanged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import PortQos
from truerail.model.columns import NONE, Codes, Mask, factorize

PRIORITIES = 8
LOSSLESS, LOSSY = 1, 0
Q = Quantity


@dataclass(frozen=True)
class Lossless:
    """Shapes (planned ports, 8). `reported` is `LOSSLESS`, `LOSSY` or -1 where unknown; `received` and `sent` show
    where pauses of a priority were counted in the last samples.
    """

    reported: npt.NDArray[np.int8]
    received: Mask
    sent: Mask

    @property
    def moved(self) -> Mask:
        """Where pauses were sent or received."""
        return self.received | self.sent


def lossless_of(telemetry: Telemetry, last: int) -> Lossless:
    """The priorities of a fabric over its last samples."""
    received, sent = (np.zeros((telemetry.ports, PRIORITIES), dtype=bool) for _ in range(2))
    for frames, duration, moved in (
        (Q.RX_PAUSE_FRAMES, Q.RX_PAUSE_US, received),
        (Q.TX_PAUSE_FRAMES, Q.TX_PAUSE_US, sent),
    ):
        for priority in telemetry.priorities(frames, duration):
            if priority is not None and priority < PRIORITIES:
                moved[:, priority] = telemetry.reaches(frames, priority, 0.0, last)
                moved[:, priority] |= telemetry.reaches(duration, priority, 0.0, last)
    return Lossless(_settings(telemetry), received, sent)


def _settings(telemetry: Telemetry) -> npt.NDArray[np.int8]:
    """The priorities that ports report (`PortQos.pfc_priorities`)."""
    found = np.full((telemetry.ports, PRIORITIES), NONE, dtype=np.int8)
    identity = telemetry.wiring.identity
    table = telemetry.wiring.seen.table(PortQos)
    if not len(table):
        return found
    port = identity.local_ports(identity.devices_of(table), identity.index.ports.name_codes(table.column("port")))
    kind, kinds = factorize(table.column("pfc_priorities"))
    use = (port >= 0) & (port < telemetry.ports) & (kind >= 0)
    lossless = np.zeros((len(kinds), PRIORITIES), dtype=np.int8)
    for row, priorities in enumerate(kinds):
        lossless[row, [p for p in priorities if 0 <= p < PRIORITIES]] = LOSSLESS
    found[port[use]] = lossless[kind[use]]
    return found


def hosts_of(telemetry: Telemetry) -> Mask:
    """Which planned ports belong to hosts, shape (planned ports,)."""
    index = telemetry.wiring.index
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    device: Codes = index.ports.device_of(np.arange(telemetry.ports))
    return np.asarray(tier[device] == 0, dtype=bool)
