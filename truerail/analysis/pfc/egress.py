"""The egress at which a switch's congestion begins: a port at its full capacity, or one below its planned speed."""

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.pfc.reasons import Reason
from truerail.model.columns import NONE, Codes, Mask

SATURATED = 0.9
"""Share of its speed at which an egress is full (incast, oversubscription). Engineering evaluation."""
DEGRADED = 0.9
"""Share of the expected speed below which a link is degraded: at half speed it has 0.5, without a lane of four 0.75."""
BUSY = 0.5
"""Minimum load of a degraded egress that causes the congestion, as a share of its remaining speed."""
MOST_MARKS = 0.5
"""Share of a switch's congestion marks from which the one port that sets them holds the queue.
Engineering evaluation.
"""


def egress_of(telemetry: Telemetry, device: int, pausing: Codes, last: int) -> tuple[int, Reason]:
    """Port code of a switch's congested egress and the reason; (-1, `EGRESS_UNREPORTED`) if no port of it shows one.

    `pausing` are the ports by which it pauses others: traffic enters there, so they are checked last.
    """
    ports = telemetry.ports_of(device)
    gained, span = telemetry.part(Quantity.TX_BYTES, None, ports, last)
    known = ~np.isnan(gained) & ~np.isnan(span)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(known, gained, 0).sum(axis=1) / np.where(known, span, 0).sum(axis=1)
        used = rate / telemetry.speed()[ports]
    slow = _degraded(telemetry, ports) & ~(used < BUSY)
    out = ~np.isin(ports, pausing)
    for of in (out, ~out):
        for which, reason in ((slow & of, Reason.DEGRADED_LINK), ((used >= SATURATED) & of, Reason.INCAST)):
            if which.any():
                found = np.flatnonzero(which)
                return int(ports[found[np.argmax(np.nan_to_num(used[found]))]]), reason
    return _marking(telemetry, ports, used, last)


def _marking(telemetry: Telemetry, ports: Codes, used: npt.NDArray[np.floating], last: int) -> tuple[int, Reason]:
    """The busy port that sets most of the switch's marks: a switch marks packets that leave by a port with a long
    queue. Jobs send in bursts, so that port need not be full on average.
    """
    marks = np.zeros(len(ports))
    for priority in telemetry.priorities(Quantity.ECN_MARKED_PACKETS):
        marks = np.fmax(marks, np.nansum(telemetry.part(Quantity.ECN_MARKED_PACKETS, priority, ports, last)[0], axis=1))
    most = int(np.argmax(marks)) if len(ports) else NONE
    if most >= 0 and marks[most] > 0 and marks[most] >= MOST_MARKS * marks.sum() and used[most] >= BUSY:
        return int(ports[most]), Reason.INCAST
    return NONE, Reason.EGRESS_UNREPORTED


def _degraded(telemetry: Telemetry, ports: Codes) -> Mask:
    """Ports whose link reports a lower speed than planned, or, without a planned speed, than most similar ports."""
    index = telemetry.wiring.index
    speed = telemetry.wiring.states.speed_gbps[ports]
    cable = index.cables_at(ports)
    planned = np.append(index.speed_gbps, np.nan)[cable]
    up = index.a[cable] == ports
    for kind in (up, ~up):
        reported_speeds = speed[kind & ~np.isnan(speed)]
        if len(reported_speeds):
            planned[kind & np.isnan(planned)] = np.median(reported_speeds)
    return np.asarray(speed < DEGRADED * planned, dtype=bool)
