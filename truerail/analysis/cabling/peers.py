"""The port at the other end of a port's cable: as seen, else as planned."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truerail.model.columns import NONE, Codes, Mask

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring


@dataclass(frozen=True)
class Peers:
    """`port[p]` is the code of the port at the other end of planned port p, -1 where unknown; it need not be planned
    itself. `seen[p]` is False where only the plan gives it. Shapes (planned ports,).
    """

    port: Codes
    seen: Mask

    @property
    def planned(self) -> Codes:
        """The other ends that are planned ports themselves, -1 for all others."""
        return np.where(self.port < len(self.port), self.port, NONE)


def peers_of(wiring: "Wiring") -> Peers:
    """The other end of every planned port. The planned one is used where neither end is seen anywhere else."""
    index, ports = wiring.index, wiring.index.planned_ports
    planned = index.far_ends(np.arange(ports))
    heard, device = wiring.heard[:ports], index.ports.device_of(planned)
    free = (planned >= 0) & (wiring.partner[planned] < 0) & ((heard < 0) | (heard == device))
    free &= ~wiring.ambiguous[:ports] & ~wiring.ambiguous[planned]
    partner = wiring.partner[:ports]
    return Peers(np.where(partner >= 0, partner, np.where(free, planned, NONE)), partner >= 0)
