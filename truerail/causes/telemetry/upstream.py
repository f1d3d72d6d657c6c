"""Switches that a switch pauses over other switches: back-pressure through a hop where it is too weak for a finding.

An incast behind one leaf pauses spines, these pause the spines of another pod, and those the leaf of the senders. In
between, where the load comes over many links, each is paused for a few hundredths of the time: less than joins two
ports to one pause tree. At the far end, where the links are few again, the pause is a finding whose switch shows no
full port.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.causes.telemetry.found import FabricContext
from truerail.model.columns import Mask

HELD_UP = 0.01
"""Share of the time for which a port must be paused to propagate it, a fifth of the share for an edge of a pause tree
(`truerail.analysis.pfc.edges.LEAST_SHARE`). Measured in the simulator: 0.026 to 0.1 between spines behind an incast,
0.006 at most if the same fabric carries other jobs. Chosen by judgement.
"""
FRAMES = 100.0
"""Equivalent pause frames per second where the time is not reported (`rules.incast.PAUSE_FRAMES`)."""


def upstream(ground: FabricContext, switch: int) -> Mapping[int, int]:
    """The switches that a switch pauses, directly or over others, with their distance in links; without itself."""
    peer, owner = ground.peer, ground.owner
    pausing: dict[int, list[int]] = {}
    for port in np.flatnonzero(_pausing(ground)).tolist():
        if 0 <= peer[port] < len(owner):
            pausing.setdefault(owner[port], []).append(owner[int(peer[port])])
    found, edge = {switch: 0}, [switch]
    while edge:
        reached = dict.fromkeys(other for device in edge for other in pausing.get(device, ()))
        far = found[edge[0]] + 1
        edge = [other for other in reached if other not in found and not ground.is_host(other)]
        found.update(dict.fromkeys(edge, far))
    del found[switch]
    return found


def _pausing(ground: FabricContext) -> Mask:
    """Planned ports that pause the other end long enough to propagate, counted at either end."""
    by_time = _rate(ground, Quantity.TX_PAUSE_US, Quantity.RX_PAUSE_US)
    by_frames = _rate(ground, Quantity.TX_PAUSE_FRAMES, Quantity.RX_PAUSE_FRAMES)
    with np.errstate(invalid="ignore"):
        return np.asarray((by_time >= HELD_UP * 1e6) | (np.isnan(by_time) & (by_frames >= FRAMES)), dtype=bool)


def _rate(ground: FabricContext, sent: Quantity, received: Quantity) -> npt.NDArray[np.float64]:
    """Rate per second of each planned port on its highest priority, counted at the port or at the other end; NaN if
    neither reports it.
    """
    reported, peer = ground.reported, ground.peer
    there = (peer >= 0) & (peer < reported.ports)
    most = np.full(reported.ports, np.nan)
    for priority in reported.priorities(sent, received):
        own, other = (reported.summed(quantity, priority).rate for quantity in (sent, received))
        most = np.fmax(most, np.fmax(own, np.where(there, other[np.where(there, peer, 0)], np.nan)))
    return most
