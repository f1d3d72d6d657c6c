"""What a repair gives back: GPUs on their rail, and bisection bandwidth.

Bisection: a switch passes on what both its lower and its upper cables carry, so its capacity is the smaller of the two
sums (that of the lower ones at the top). The bisection bandwidth of a folded Clos is proportional to the sum over a
tier's switches, and what a repair adds to that sum, divided by the planned sum, is the share that it gives back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State, Why
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm, Work
from truerail.model.columns import Codes, Mask
from truerail.questions.answers.rail_status import RailStatus, Stand
from truerail.questions.answers.repairs import Candidate, gain_is_known
from truerail.views.view import View

LEAST_WEIGHT = 0.01
"""GPUs that a repair counts as at the least, so that one with an unknown effect, or none, is not put off for ever."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gain:
    """What a repair gives back, None where it is unknown. `weight` is in GPUs: what the order of work counts."""

    gpus: int | None
    is_lower_bound: bool
    bisection_share: float | None
    weight: float


def gains(view: View, standing: RailStatus, repairs: tuple[Candidate, ...]) -> Iterator[Gain]:
    """What each repair gives back on its own."""
    capacity = _Capacity(standing)
    fabric = view.layout.gpus_on(np.flatnonzero(view.index.from_host))
    for one in repairs:
        yield _gain(view, standing, capacity, one, fabric)


def _gain(view: View, standing: RailStatus, capacity: "_Capacity", one: Candidate, fabric: int) -> Gain:
    if one.work is Work.NAMES:
        return Gain(0, False, 0.0, LEAST_WEIGHT)
    affected = view.sight.affected[one.key]
    known = _is_known(view, one, affected)
    back, unsure = affected[known], bool((~known).any())
    if not gain_is_known(one) or not (len(back) or (CAUSE_KINDS[one.cause.kind].harm is Harm.CABLES and not unsure)):
        return Gain(None, False, None, LEAST_WEIGHT)
    if one.cause.kind is CauseKind.GPU_NIC_ORDER:  # every cable carries its traffic, GPUs use another's
        return Gain(view.sight.impact[one.key], unsure, 0.0, max(LEAST_WEIGHT, view.sight.impact[one.key]))
    gpus = view.layout.gpus_on(back)
    share = capacity.added(back[standing.stand[back] != Stand.ON])
    uplinks_only = not view.index.from_host[back].any()
    weight = max(LEAST_WEIGHT, gpus + (share * fabric if uplinks_only else 0.0))
    return Gain(gpus, unsure, share, weight)


def _is_known(view: View, one: Candidate, cables: Codes) -> Mask:
    """Which of the affected cables are known to be affected."""
    state, why = view.wiring.state[cables], view.wiring.why[cables]
    known = (state != State.UNKNOWN) | (why == Why.PENDING)
    return np.asarray(known | (CAUSE_KINDS[one.cause.kind].harm is Harm.STARVES), dtype=bool)


class _Capacity:
    """The capacity of each switch: what its lower and its upper cables carry. Columns have shape (devices,)."""

    def __init__(self, standing: RailStatus) -> None:
        index = standing.index
        self._index, self._weight = index, _weights(standing)
        self._tier = np.array(index.devices.tier, dtype=np.int64)
        every = np.arange(len(standing.stand))
        down, up = self._sums(every)
        self._has_uplinks = up > 0
        self._down, self._up = self._sums(every[standing.stand == Stand.ON])
        planned = self._passed(down, up)
        self._total = np.bincount(np.maximum(self._tier, 0), weights=planned)

    def added(self, cables: Codes) -> float:
        """The share of the planned bisection bandwidth that these cables add, on the tier where that is most."""
        if not len(cables):
            return 0.0
        down, up = self._sums(cables)
        more = self._passed(self._down + down, self._up + up) - self._passed(self._down, self._up)
        tiers = np.bincount(np.maximum(self._tier, 0), weights=more, minlength=len(self._total))
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(self._total > 0, tiers / self._total, 0.0)
        return float(min(1.0, share.max()))

    def _sums(self, cables: Codes) -> tuple[Floats, Floats]:
        index, size = self._index, len(self._tier)
        uplinks = cables[~index.from_host[cables]]
        down = np.bincount(index.b_device[cables], weights=self._weight[cables], minlength=size)
        up = np.bincount(index.a_device[uplinks], weights=self._weight[uplinks], minlength=size)
        return down.astype(np.float64), up.astype(np.float64)

    def _passed(self, down: Floats, up: Floats) -> Floats:
        return np.where(self._has_uplinks, np.minimum(down, up), down)


def _weights(standing: RailStatus) -> Floats:
    """The planned bandwidth of each cable; all equal unless the plan gives every speed."""
    speed = standing.index.speed_gbps
    return np.ones(len(speed)) if np.isnan(speed).any() else speed
