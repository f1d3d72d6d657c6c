"""The order of repairs, and which may not be done together: each begins at a unit of time, so that most GPU-hours are
given back.

Objective: the sum over repairs of `weight` x (units from the end of the repair to the end of the plan). Constraints: a
repair goes on without a break, in units that allow it; repairs that may not be done together do not overlap; a repair
begins after those that must come first; at no time more technicians work than there are. What fits nowhere is left out.

The search: a permutation is scheduled one repair after the other, each at its earliest possible unit. Some permutation
gives an optimal schedule, as the objective only falls with later ends (Kolisch, Serial and parallel
resource-constrained project scheduling methods revisited, 1996). Good ones are taken from rules of priority, and each
is improved by moving single repairs, for a number of steps that depends on the size alone: the same input has the
same result on any machine. `benchmarks/accuracy/repairs.py` measures it against the exact optimum.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from truerail.model.cause_kinds import Work
from truerail.model.columns import NONE, Codes, Mask, distinct, grouped
from truerail.model.names import some
from truerail.model.plan import Role
from truerail.questions.repairs import Candidate
from truerail.views.view import View

UNIT_MINUTES = 15
PLACEMENTS = 20_000
"""How many repairs are placed in all: some tenths of a second."""
Floats = npt.NDArray[np.float64]
MOST_NAMED = 3
_TIER_WORDS = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.SUPERSPINE: "superspines", Role.HOST: "hosts"}
Thing: TypeAlias = tuple[str, Hashable]
"""What repairs share, after its name in words."""


@dataclass(frozen=True)
class Schedule:
    """Repairs in columns of shape (repairs,). `weight` is in GPUs, `units` the time a repair takes, `people` the
    technicians it needs meanwhile. `allowed` has shape (repairs, units of the plan), `apart` (repairs, repairs),
    symmetrical. `after` are the repairs before each.
    """

    weight: Floats
    units: Codes
    people: Codes
    allowed: Mask
    apart: Mask
    after: Sequence[Sequence[int]]
    technicians: int

    @property
    def horizon(self) -> int:
        """The units of the plan."""
        return int(self.allowed.shape[1])


def value(work: Schedule, start: Codes) -> float:
    """The objective in GPU-units of a schedule; `start` is -1 for what is left out."""
    left = work.horizon - start - work.units
    return float((work.weight * left)[start >= 0].sum())


def in_order(work: Schedule) -> Codes:
    """The unit at which each repair begins, -1 for those that fit nowhere. Shape (repairs,)."""
    number = len(work.weight)
    if not number:
        return np.empty(0, dtype=np.int64)
    scheduler = _Scheduler(work)
    starts = [_sorted(work, one) for one in _priorities(work, scheduler)]
    steps = PLACEMENTS // (len(starts) * number)
    return scheduler.schedule(max((_improved(work, scheduler, one, steps) for one in starts), key=scheduler.value))


def at_once(work: Schedule, order: Codes) -> Codes:
    """The beginnings that a permutation gives, without a search. Shape (repairs,)."""
    return _Scheduler(work).schedule(_sorted(work, order))


class _Scheduler:
    """Places repairs one after the other."""

    def __init__(self, work: Schedule) -> None:
        self._work = work
        blocked = np.cumsum(~work.allowed, axis=1, dtype=np.int32)
        self._blocked = np.concatenate([np.zeros((len(work.weight), 1), dtype=np.int32), blocked], axis=1)

    def first(self) -> Codes:
        """The first unit at which each repair could begin if there were no other; the horizon if there is none."""
        return np.array([self._runs(row, self._blocked[row], 0) for row in range(len(self._work.weight))])

    def value(self, order: Sequence[int]) -> float:
        """The objective of a permutation."""
        return value(self._work, self.schedule(order))

    def schedule(self, order: Sequence[int]) -> Codes:
        """The beginnings that a permutation gives. One whose predecessors are left out is left out."""
        work = self._work
        start = np.full(len(work.weight), NONE, dtype=np.int64)
        used = np.zeros(work.horizon, dtype=np.int64)
        for row in order:
            before = work.after[row]
            if before and (start[list(before)] < 0).any():
                continue
            earliest = max((int(start[one] + work.units[one]) for one in before), default=0)
            at = self._earliest(row, start, used, earliest)
            if at < work.horizon:
                start[row] = at
                used[at : at + int(work.units[row])] += work.people[row]
        return start

    def _earliest(self, row: int, start: Codes, used: Codes, earliest: int) -> int:
        """The first unit from `earliest` on at which a repair fits between those that are placed."""
        work = self._work
        taken = used > work.technicians - work.people[row]
        apart = np.flatnonzero(work.apart[row] & (start >= 0))
        for other in apart.tolist():
            taken[start[other] : start[other] + work.units[other]] = True
        if not taken.any():
            return self._runs(row, self._blocked[row], earliest)
        closed = np.zeros(work.horizon + 1, dtype=np.int32)
        np.cumsum(taken | ~work.allowed[row], out=closed[1:])
        return self._runs(row, closed, earliest)

    def _runs(self, row: int, closed: npt.NDArray[np.int32], earliest: int) -> int:
        """The first unit from which on as many are open as a repair needs; `closed` counts closed units before each."""
        length = int(self._work.units[row])
        if length > self._work.horizon or earliest + length > self._work.horizon:
            return self._work.horizon
        fits = closed[earliest + length :] == closed[earliest : len(closed) - length]
        at = int(fits.argmax())
        return earliest + at if fits[at] else self._work.horizon


def _priorities(work: Schedule, scheduler: _Scheduler) -> Iterator[Codes]:
    """Rules of priority: most GPUs for the work first, most GPUs first, what is possible earliest first."""
    density = _density(work)
    first = scheduler.first()
    given = np.arange(len(work.weight))
    yield np.lexsort((given, -density))
    yield np.lexsort((given, -work.weight))
    yield np.lexsort((given, -density, first))
    yield np.lexsort((given, -density, work.units))


def _density(work: Schedule) -> Floats:
    """GPUs for each unit of a technician, for a repair with those that wait for it: a chain counts as its best part."""
    effort = (work.units * work.people).astype(np.float64)
    density = work.weight / effort
    for row, before in enumerate(work.after):
        for one in before:
            chain = (work.weight[row] + work.weight[one]) / (effort[row] + effort[one])
            density[one] = max(density[one], chain)
    return density


def _sorted(work: Schedule, order: Codes) -> list[int]:
    """A permutation with what must come first before what waits for it."""
    rows: list[int] = order.tolist()
    if not any(work.after):
        return rows
    found, begun = list[int](), set[int]()

    def place(row: int) -> None:
        if row not in begun:
            begun.add(row)
            for before in work.after[row]:
                place(before)
            found.append(row)

    for row in rows:
        place(row)
    return found


def _improved(work: Schedule, scheduler: _Scheduler, order: list[int], steps: int) -> list[int]:
    """A permutation that is as good or better: single repairs move to other places, as long as that helps."""
    random = np.random.default_rng(0)
    number, idle, best = len(order), 0, scheduler.value(order)
    moves = random.integers(0, number, size=(steps, 2)).tolist()
    enough = 2 * number * number + 100
    for at, to in moves:
        if at == to or idle > enough:
            continue
        tried = order.copy()
        tried.insert(to, tried.pop(at))
        tried = _sorted(work, np.array(tried))
        found = scheduler.value(tried)
        idle = 0 if found > best + 1e-9 else idle + 1
        if found >= best:
            order, best = tried, found
    return order


@dataclass(frozen=True, slots=True)
class Group:
    """Repairs, by their index, of which no two are done at the same time."""

    why: str
    rows: tuple[int, ...]


def groups(view: View, repairs: tuple[Candidate, ...]) -> tuple[Group, ...]:
    """All reasons, each with two repairs or more.

    - cables of one host on one rail: its planes, or the members of its bond
    - uplinks of one switch: its redundant paths
    - two switches of one tier and pod: the paths that replace each other
    - a port that both use
    """
    return (
        *_shared(view, repairs, _host_rails, "{}: all cables there (planes, bond members) would be down together"),
        *_shared(view, repairs, _uplinks, "uplinks of {}: its redundant paths"),
        *_shared(view, repairs, _switches, "{}: one at a time"),
        *_shared(view, repairs, _ports, "the port {} is part of both"),
    )


def apart(found: Iterable[Group], number: int) -> Mask:
    """Which pairs may not be done at the same time. Shape (number, number), symmetrical."""
    pairs = np.zeros((number, number), dtype=bool)
    for group in found:
        pairs[np.ix_(group.rows, group.rows)] = True
    np.fill_diagonal(pairs, val=False)
    return pairs


def _shared(
    view: View, repairs: tuple[Candidate, ...], things: Callable[[View, Candidate], Iterable[Thing]], why: str
) -> Iterator[Group]:
    rows = grouped((thing, row) for row, one in enumerate(repairs) for thing in things(view, one))
    names = grouped((tuple(of), name) for (name, _), of in rows.items() if len(of) > 1)
    yield from (Group(why.format(some(found, MOST_NAMED)), of) for of, found in names.items())


def _host_rails(view: View, one: Candidate) -> Iterable[Thing]:
    """The rails of hosts with a cable that is interrupted."""
    index = view.index
    cables = one.cables[index.from_host[one.cables]]
    keys = distinct(index.a_device[cables] << 16 | (index.rail[cables] + 1)).tolist()
    return [(f"{index.devices.names[key >> 16]} on rail {(key & 0xFFFF) - 1}", key) for key in keys if key & 0xFFFF]


def _uplinks(view: View, one: Candidate) -> Iterable[Thing]:
    return [(view.index.devices.names[code], code) for code in one.uplinks_of.tolist()]


def _switches(view: View, one: Candidate) -> Iterable[Thing]:
    """Tier and pod of the switches that lose uplinks or are worked on as a whole."""
    devices = [view.layout.devices[code] for code in one.switches.tolist()]
    found = {(device.role, device.pod) for device in devices}
    return [(f"{_TIER_WORDS[role]}{f' of pod {pod}' if pod else ''}", (role, pod)) for role, pod in sorted(found)]


def _ports(view: View, one: Candidate) -> Iterable[Thing]:
    """The ports that plugs are taken from and put into."""
    ports = {str(port) for move in one.cause.moves for port in (move.source, move.target)}
    return [(port, port) for port in sorted(ports)] if one.work is Work.MOVE else []
