"""Open causes as repairs: the work, its time, the cables and hosts that it interrupts, and what it gives back.

The times are judgement, not measured: `MINUTES`. A repair interrupts the cables that it unplugs or restarts, as far as
they carry traffic: a link that is down is repaired without harm. A cable in unknown state counts as one that carries
traffic.

Bisection: a switch passes on what both its lower and its upper cables carry, so its capacity is the smaller of the two
sums (that of the lower ones at the top). The bisection bandwidth of a folded Clos is proportional to the sum over a
tier's switches, and what a repair adds to that sum, divided by the planned sum, is the share that it gives back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State, Why
from truerail.analysis.explained import cables_at
from truerail.model import Role
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm, Work
from truerail.model.columns import Codes, Mask, distinct, grouped
from truerail.model.finding import Cause, is_down, waits
from truerail.outputs.punch import Step, punch_list
from truerail.outputs.report_words import order as natural
from truerail.questions.blast import Target, hosts_below
from truerail.questions.rail_status import RailStatus, Stand, carrying
from truerail.views.view import View

PLUGS_EACH = 8
"""Plugs for which one more technician is planned."""
LEAST_WEIGHT = 0.01
"""GPUs that a repair counts as at the least, so that one with an unknown effect, or none, is not put off for ever."""
Floats = npt.NDArray[np.float64]


MINUTES = {
    Work.MOVE: 10,
    Work.LINK: 20,
    Work.HOST: 60,
    Work.SETTINGS: 30,
    Work.NAMES: 15,
    Work.CONFIRM: 15,
    Work.LOOK: 15,
    Work.WAIT: 0,
}
"""Minutes for a plug, a cable, or a device: walking, the work, and the look at the next evaluation."""


@dataclass(frozen=True)
class Candidate:
    """A cause as a repair. `cables` are those interrupted that carry traffic, `hosts` those whose connections end with
    them, `ending` the cables among `cables` with which they end. `switches` lose uplinks or are worked on as a whole.
    """

    key: str
    cause: Cause
    work: Work
    cables: Codes
    ending: Codes
    hosts: Codes
    switches: Codes
    uplinks_of: Codes
    """The switches among `switches` that lose uplinks."""
    minutes: int
    technicians: int


def candidates(view: View, standing: RailStatus, technicians: int) -> tuple[Candidate, ...]:
    """The repair of each open cause that needs one now."""
    carries, causes = carrying(standing), view.sight.causes.values()
    return tuple(_candidate(view, standing, cause, carries, technicians) for cause in causes if not waits(cause.action))


def _candidate(view: View, standing: RailStatus, cause: Cause, carries: Mask, technicians: int) -> Candidate:
    key, work = view.sight.key_of(cause), work_of(view, cause)
    touched = _touched(view, cause, work)
    cables = touched[carries[touched]]
    ending, hosts = _ended(standing, cables)
    uplinks = distinct(standing.index.a_device[cables[~standing.index.from_host[cables]]])
    pieces = _pieces(cause, work)
    people = min(technicians, -(-pieces // PLUGS_EACH)) if work is Work.MOVE else 1
    minutes = -(-pieces * MINUTES[work] // people)
    return Candidate(
        key, cause, work, cables, ending, hosts,
        switches=np.union1d(uplinks, _whole_switches(view, cause, work, cables)),
        uplinks_of=uplinks, minutes=minutes, technicians=people,
    )  # fmt: skip


def work_of(view: View, cause: Cause) -> Work:
    """What is to be done. A cause that is undecided, or with a move of a cable that is right, is confirmed first."""
    # a move that waits for nothing of a cable that is right: then something is not as the cause says
    if cause.undecided or (view.wiring.state[_moved(view, cause, only_ready=True)] == State.RIGHT).any():
        return Work.CONFIRM
    if cause.moves:
        return Work.MOVE
    return Work.NAMES if cause.names_only else CAUSE_KINDS[cause.kind].work


def _moved(view: View, cause: Cause, *, only_ready: bool = False) -> Codes:
    moves = [move for move in cause.moves if not (only_ready and (move.after or move.after_causes))]
    found = [cable for move in moves for cable in cables_at(view.wiring, str(move.cable))]
    return _known(found)


def _known(cables: list[int]) -> Codes:
    found = distinct(np.array(cables, dtype=np.int64))
    return found[found >= 0]


def _touched(view: View, cause: Cause, work: Work) -> Codes:
    """The cables that are unplugged, restarted or reconfigured."""
    if work is Work.MOVE:
        return _moved(view, cause)
    if work not in (Work.LINK, Work.HOST, Work.SETTINGS):
        return _known([])
    subjects = [_host_of(view, one) if work is Work.HOST else one for one in cause.subjects]
    return _known([cable for one in subjects for cable in cables_at(view.wiring, one)])


def _host_of(view: View, subject: str) -> str:
    """The host of a port: it is worked on as a whole. A port of a switch stays as it is."""
    device = subject.partition("/")[0]
    code = view.layout.code.get(device, -1)
    return device if code >= 0 and view.index.devices.is_host(code) else subject


def _ended(standing: RailStatus, cables: Codes) -> tuple[Codes, Codes]:
    """The cables with which connections end, and the hosts that have them: host cables, and uplinks of switches that
    would keep none.
    """
    index = standing.index
    own = cables[index.from_host[cables]]
    uplinks = cables[~index.from_host[cables]]
    lower = distinct(index.a_device[uplinks])
    left = ((one, np.setdiff1d(standing.below.of(one), uplinks)) for one in lower.tolist())
    cut = [one for one, kept in left if not (standing.stand[kept] == Stand.ON).any()]
    last = uplinks[np.isin(index.a_device[uplinks], cut)]
    hosts = np.concatenate([index.a_device[own], index.b_device[own]])  # of a ring's cable both ends are hosts
    hosts = distinct(hosts[index.devices.tiers[hosts] == Role.HOST.tier])
    if len(last):
        hosts = np.union1d(hosts, hosts_below(standing, Target("", "", -1, own[:0], last)))
    return np.union1d(own, last), hosts


def _whole_switches(view: View, cause: Cause, work: Work, cables: Codes) -> Codes:
    """The switches that are reconfigured as a whole, or whose cables are moved in a block."""
    if work is Work.MOVE and CAUSE_KINDS[cause.kind].block:
        ends = distinct(view.index.b_device[cables])
        return ends[ends >= 0]
    if work is not Work.SETTINGS:
        return _known([])
    codes = [view.layout.code.get(subject, -1) for subject in cause.subjects]
    return _known([code for code in codes if code >= 0 and not view.index.devices.is_host(code)])


def _pieces(cause: Cause, work: Work) -> int:
    """How many plugs, cables or devices: `MINUTES` counts each."""
    if work is Work.MOVE:
        return len(cause.moves)
    if work in (Work.CONFIRM, Work.LOOK):
        return 1
    return max(1, len({subject.partition("/")[0] if work is Work.HOST else subject for subject in cause.subjects}))


def gain_is_known(one: Candidate) -> bool:
    """Whether it is known at all what the work gives back: a look, or a confirmation, may give back anything."""
    if one.work is Work.LOOK:
        return is_down(one.cause.kind, one.cause.subjects, one.cause.summary)
    return one.work not in (Work.CONFIRM, Work.WAIT)


def dependencies(repairs: tuple[Candidate, ...]) -> Mapping[str, tuple[str, ...]]:
    """By the key of each cause, the keys of the open causes that must be repaired first."""
    after = {one.key: [key for move in one.cause.moves for key in move.after_causes] for one in repairs}
    return {own: tuple(dict.fromkeys(key for key in of if key in after and key != own)) for own, of in after.items()}


def steps_of(view: View) -> dict[str, tuple[Step, ...]]:
    """The steps of the punch list by the id of their cause."""
    found = grouped((step.cause, step) for step in punch_list(view.sight.evaluation))
    return {cause: tuple(steps) for cause, steps in found.items()}


def walked(view: View, repairs: tuple[Candidate, ...], steps: dict[str, tuple[Step, ...]]) -> tuple[Candidate, ...]:
    """In walking order of their first steps: the order among repairs that give back as much."""

    def place(one: Candidate) -> tuple[object, ...]:
        first = steps.get(one.cause.id, ())
        device = view.plan.placed(first[0].device) if first else None
        if device is None:
            return (True, (), 0, (), one.key)
        return (not device.rack, natural(device.rack), -(device.unit or 0), natural(device.name), one.key)

    return tuple(sorted(repairs, key=place))


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
