"""Which planned cables carry their rail now, and where the others end: the basis of the reasoning questions.

Computed in numpy, once for each evaluation. A cable is `ON` its rail if it is seen on the planned
leaf (a wrong port of the right leaf has no impact), `OFF` if it is seen elsewhere or has no link, and `UNKNOWN`
otherwise. If a cause says that names are swapped and no cable has to move (labels of two switches, of two hosts, NICs
under other names), the cables it explains are taken as planned: traffic does not read labels. A cable on the other
plane of its rail is off: NCCL does not mix planes (see rule CAB008).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np

from rules._places import Misplaced, Places, places
from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.explained import connected_parts, hidden_by_names, rails_apart
from truerail.analysis.published import EvaluatedRound
from truerail.model import Evaluation
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.index import PlanIndex
from truerail.model.plan import Role

MOST_TIERS = 3
"""Leaf, spine, superspine: a path goes up at most twice."""


class Stand(IntEnum):
    """Whether a cable carries its planned rail."""

    ON = 0
    OFF = 1
    UNKNOWN = 2


class Groups:
    """Numbers of cables by a code, as one sorted array: all cables of a device in one slice."""

    def __init__(self, codes: Codes, size: int) -> None:
        self._order = np.argsort(codes, kind="stable")
        self._starts = np.searchsorted(codes[self._order], np.arange(size + 1))

    def of(self, code: int) -> Codes:
        """The cables under one code, in the plan's order; empty for a code without cables."""
        if not 0 <= code < len(self._starts) - 1:
            return np.empty(0, dtype=np.int64)
        return self._order[self._starts[code] : self._starts[code + 1]]

    def of_all(self, codes: Iterable[int]) -> Codes:
        """The cables under any of some codes."""
        found = [self.of(code) for code in codes]
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class RailStatus:
    """Columns over cables. `end[cable]` is the switch on which its lower end is now: the planned one if it is there or
    unknown, the one it is seen on otherwise, -1 if it ends nowhere. `renamed` marks cables that are as planned under
    other names.

    `certain[device]` and `possible[device]` number the connected parts of the switches: two leaves with one number
    reach each other, over uplinks that are seen, or over those and the uplinks in unknown state.
    """

    wiring: Wiring
    places: Places
    stand: Codes
    end: Codes
    renamed: Mask
    below: Groups
    """By the device at the lower end."""
    above: Groups
    """By the device planned at the upper end."""
    ends: Groups
    """By `end`."""
    certain: Codes
    possible: Codes

    @property
    def index(self) -> PlanIndex:
        """The plan's names as numbers."""
        return self.wiring.index

    @property
    def rail_only(self) -> bool:
        """Whether the plan has no way from one rail to another."""
        return self.index.plan.once(rails_apart)

    def is_host(self, device: int) -> bool:
        """Whether this device is a host in the plan."""
        return device >= 0 and self.index.devices.is_host(device)


def rail_status_of(evaluated: EvaluatedRound) -> RailStatus:
    """The status of every cable of an evaluated round, which owns it."""
    return evaluated.once(_stand)


def _stand(evaluated: EvaluatedRound) -> RailStatus:
    evaluation, round = evaluated.evaluation, evaluated.round
    wiring, placed = round.cabling, places(round)
    index = wiring.index
    size = len(index.devices.names)
    renamed = _renamed(evaluation, wiring, open_too=False)
    stand = _stands(wiring, placed, renamed, _renamed(evaluation, wiring, open_too=True))
    on_switch = np.array([*index.devices.tier, NONE], dtype=np.int64)[placed.at] > Role.HOST.tier
    elsewhere = np.where(on_switch & (wiring.state == State.WRONG) & ~_inactive(wiring), placed.at, NONE)
    moved = (wiring.state == State.WRONG) & ~index.from_host & ~renamed  # uplinks on another switch: they work there
    end = np.where((stand == Stand.OFF) | moved, elsewhere, index.b_device)
    return RailStatus(
        wiring, placed, stand, end, renamed,
        below=Groups(index.a_device, size), above=Groups(index.b_device, size), ends=Groups(end, size),
        certain=connected_parts(index, end, stand == Stand.ON, size),
        possible=connected_parts(index, end, stand != Stand.OFF, size),
    )  # fmt: skip


def _stands(wiring: Wiring, placed: Places, renamed: Mask, perhaps_renamed: Mask) -> Codes:
    index, state = wiring.index, wiring.state
    on = (state == State.RIGHT) | (placed.kind == Misplaced.PORT) | renamed
    upper = np.array([*index.devices.tier, NONE], dtype=np.int64)
    on |= (placed.kind == Misplaced.UPLINK) & (upper[placed.at] > upper[index.a_device])
    unknown = (state == State.UNKNOWN) | perhaps_renamed
    return np.select([on & ~_inactive(wiring), unknown], [Stand.ON, Stand.UNKNOWN], Stand.OFF).astype(np.int64)


def _inactive(wiring: Wiring) -> Mask:
    """Host cables whose NIC reports that RDMA is not active: they carry nothing, wherever they end."""
    return np.asarray(wiring.index.from_host & (wiring.states.rdma_active[wiring.index.a] == 0), dtype=bool)


def carrying(standing: RailStatus) -> Mask:
    """Which cables carry traffic, or may, on their rail or off it: all but those that are known to have no link, or no
    active RDMA port. Shape (cables,).
    """
    wiring = standing.wiring
    dead = (wiring.state == State.MISSING) | (wiring.why == Why.PENDING)
    return np.asarray(~(dead | _inactive(wiring)), dtype=bool)


def _renamed(evaluation: Evaluation, wiring: Wiring, *, open_too: bool) -> Mask:
    """Wrong cables that wrong names explain; `open_too`: also if they or swapped cables may do so. Includes cables in
    another port of their own leaf, behind its wrong name.
    """
    kinds = ((c, (c.kind, *(other.kind for other in c.alternatives))) for c in evaluation.causes if not c.moves)
    causes = [c for c, possible in kinds if any(CAUSE_KINDS[kind].names for kind in possible)]
    reported = {finding for c in causes if open_too or not c.undecided for finding in c.explains}
    subjects = {finding.subject for finding in evaluation.findings if finding.id in reported}
    subjects -= {str(move.cable) for cause in evaluation.causes for move in cause.moves}  # they were moved too
    subjects |= {str(port) for port in hidden_by_names(evaluation.plan, evaluation.causes)}
    renamed = np.zeros(len(wiring.state), dtype=bool)
    if subjects:
        wrong = wiring.cables(State.WRONG).tolist()
        renamed[[cable for cable in wrong if str(wiring.index.a_port(cable)) in subjects]] = True
    return renamed


@dataclass(frozen=True, slots=True)
class Step:
    """The switches of one tier of the path, any of which may be used, and the links that lead into them."""

    switches: tuple[int, ...]
    links: int


def between(standing: RailStatus, source: int, target: int, *, maybe: bool = False) -> tuple[Step, ...] | None:
    """The tiers between two leaves, from the source up and down to the target, which is the last step.

    Empty for one leaf, None if no link leads there. `maybe` also uses links in unknown state.
    """
    if source == target:
        return ()
    up, down = [{source: 1}], [{target: 1}]
    for _ in range(MOST_TIERS - 1):
        up.append(_above(standing, up[-1], maybe))
        down.append(_above(standing, down[-1], maybe))
        common = up[-1].keys() & down[-1].keys()
        if common:
            return _steps(standing, up, down, common, maybe)
    return None


def links_up(standing: RailStatus, device: int, *, maybe: bool = False) -> Mapping[int, int]:
    """The switches above a switch by actual links, and the number of links to each."""
    cables = standing.below.of(device)
    stand, end = standing.stand[cables], standing.end[cables]
    use = ((stand == Stand.ON) | ((stand == Stand.UNKNOWN) & maybe)) & (end >= 0)
    return Counter(end[use].tolist())


def _above(standing: RailStatus, switches: Iterable[int], maybe: bool) -> dict[int, int]:
    found: Counter[int] = Counter()
    for switch in switches:
        if not standing.is_host(switch):
            found.update(links_up(standing, switch, maybe=maybe))
    return dict(found)


def _steps(
    standing: RailStatus, up: list[dict[int, int]], down: list[dict[int, int]], top: Iterable[int], maybe: bool
) -> tuple[Step, ...]:
    """For each tier only the switches that lead to the top ones, in both directions."""
    tiers = [*_leading(standing, up, set(top), maybe), set(top), *reversed(_leading(standing, down, set(top), maybe))]
    steps = []
    for lower, upper in pairwise(tiers):
        below, above = ({one: links_up(standing, one, maybe=maybe) for one in tier} for tier in (lower, upper))
        links = sum(below[one].get(other, 0) or above[other].get(one, 0) for one in lower for other in upper)
        steps.append(Step(tuple(sorted(upper)), links))
    return tuple(steps)


def _leading(standing: RailStatus, tiers: list[dict[int, int]], top: set[int], maybe: bool) -> list[set[int]]:
    chosen, found = top, []
    for tier in reversed(tiers[:-1]):
        chosen = {one for one in tier if links_up(standing, one, maybe=maybe).keys() & chosen}
        found.append(chosen)
    return found[::-1]
