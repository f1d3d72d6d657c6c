"""Link falls that are not flapping: a plug was moved by hand, or the link has not come back."""

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.round import Round
from truerail.model.columns import Codes, Mask

Samples = npt.NDArray[np.float32]

TOO_OFTEN = 3
"""Moves of one plug within the window from which no hand made them: a link that stays away for a poll or two at each of
its falls looks as if it were unplugged, and three falls are LNK003's critical ones.
"""


def flapping_only(round: Round, ports: Codes, gained: Samples, seconds: Samples) -> Samples:
    """The falls of some ports, of shape (ports, samples), that may be flapping. Each sample covers `seconds`."""
    left = np.where(_by_hand(round, ports, seconds), np.float32(0), gained)
    for row in np.flatnonzero(_missing(round.cabling, ports)).tolist():
        fell = np.flatnonzero(left[row] > 0)[-1:]  # the link has not come back: it is down (CAB003)
        left[row, fell] -= 1
    return left


def _by_hand(round: Round, ports: Codes, seconds: Samples) -> Mask:
    """Samples in a period in which the plug was moved, and those newer than the last reading of the port's neighbour:
    such a fall is evaluated after the next reading.
    """
    counters, index, moved = round.counters, round.cabling.index, round.replugged
    assert counters is not None  # noqa: S101 - the ports counted falls
    found, at = np.zeros(seconds.shape, dtype=bool), counters.begun[counters.order]
    slack = counters.step_seconds / 2  # the readings of one round differ by this much
    for row, port in enumerate(ports.tolist()):
        begin = at - slack - np.nan_to_num(seconds[row])
        spans = moved.spans.get(str(index.spell(port)), ())
        for since, until in spans if len(spans) < TOO_OFTEN else ():
            found[row] |= (at + slack > since) & (begin < until)
        found[row] |= at > moved.until(port, index.plan)
    return found


def _missing(wiring: Wiring, ports: Codes) -> Mask:
    """Ports whose planned cable is missing now."""
    cable = wiring.index.cables_at(ports)
    return np.asarray((cable >= 0) & (wiring.state[np.maximum(cable, 0)] == State.MISSING), dtype=bool)
