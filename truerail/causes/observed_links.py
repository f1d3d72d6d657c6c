"""The engine's view of the fabric as integers: which cable is seen in which place, and the effect of a relabelling.

A *place* is the upper end of a cable: a leaf's port for a host cable, a spine's port for an uplink. Every cable has one
planned place and is seen in one place or in none. A relabelling means "the device named X is really Y"; applying it
changes the cable of a sighting, or its place, and a wrong sighting may become right. Nothing here is ever undone: an
explanation is applied, and the next one is sought in the rest.
"""

import copy
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State, Wiring
from truerail.model import Role
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.index import PlanIndex

# ----------------------------------------------------------------------------------------------------------------------
# Which plug of each wrong cable is to move, where that is not the upper one of all.
#
# Cables between two hosts, or two switches of one tier, have no lower end. Nor do those of a chain in which a lower
# end is found at another's lower end: a host's plug and an uplink's are exchanged at their leaf. A cable in a wrong
# place is seen at both of its ends, in the places of two planned cables; each would move another plug of it. So its
# planned cable is turned where needed: along a chain of places, each cable keeps the plug that the next one does not
# take. Of the two ways to do so, that with more plugs that stay at their device is the shorter walk.


def turned(wiring: Wiring) -> tuple[PlanIndex, Codes]:
    """The plan and the places of its cables, both as they are if no lower end is found at a lower one."""
    index = wiring.index
    tier = index.devices.tiers
    peers = (tier[index.a_device] == tier[index.b_device]) & (tier[index.a_device] != NONE)
    alike = np.isin(wiring.partner[index.a], index.a) | np.isin(wiring.partner[index.b], index.b)
    wrong = np.flatnonzero((peers & (wiring.state == State.WRONG)) | (alike & (wiring.state != State.UNKNOWN)))
    if not len(wrong):
        return index, wiring.place
    a, b = index.a.tolist(), index.b.tolist()
    far = dict(zip([*a, *b], [*b, *a], strict=True))
    kept: set[int] = set()
    met: set[int] = set()
    for port in index.a[wrong].tolist():
        if port not in met:
            ways = _ways(wiring, far, port)
            met |= {*ways[0], *ways[1]}
            kept |= min(ways, key=lambda way: _walks(wiring, far, way))
    turn = ~np.isin(index.a, [*kept]) & np.isin(index.b, [*kept])
    return _with(index, turn), np.where(turn, wiring.partner[index.b], wiring.place)


def _ways(wiring: Wiring, far: Mapping[int, int], port: int) -> tuple[set[int], set[int]]:
    """The ports of a chain in turns: of each cable, planned or found, one end is in either set."""
    ways: tuple[set[int], set[int]] = ({port}, set())
    ahead = [(port, 0)]
    while ahead:
        here, way = ahead.pop()
        for there in (far.get(here, NONE), int(wiring.partner[here])):
            if there >= 0 and there not in ways[1 - way]:
                ways[1 - way].add(there)
                ahead.append((there, 1 - way))
    return ways


def _walks(wiring: Wiring, far: Mapping[int, int], kept: Collection[int]) -> tuple[int, int]:
    """How many plugs would move to another device, or are not seen, if those in these ports stay; and turned cables."""
    device = wiring.index.ports.device_of
    stay = np.array([port for port in kept if port in far], dtype=np.int64)
    found, to = wiring.partner[stay], np.array([far[port] for port in stay.tolist()], dtype=np.int64)
    return int(np.count_nonzero((found < 0) | (device(found) != device(to)))), int(np.isin(wiring.index.b, stay).sum())


def _with(index: PlanIndex, turn: Mask) -> PlanIndex:
    if not turn.any():
        return index
    cables = tuple(
        cable._replace(a=cable.b, b=cable.a) if turn[number] else cable
        for number, cable in enumerate(index.plan.cables)
    )
    new = copy.copy(index)
    new.plan = replace(index.plan, cables=cables)
    new.a, new.b = np.where(turn, index.b, index.a), np.where(turn, index.a, index.b)
    new.a_device = np.where(turn, index.b_device, index.a_device)
    new.b_device = np.where(turn, index.a_device, index.b_device)
    new.from_host = index.devices.tiers[new.a_device] == Role.HOST.tier
    return new


# ----------------------------------------------------------------------------------------------------------------------
# The engine's view of the fabric as integers: which cable is seen in which place, and the effect of a relabelling.


Labels = Counter[tuple[int, int]]

MIN_HELPED_PER_CARRIED = 12
"""Cables that a swap of whole bundles must put right for each one that it moves from one wrong place to another: where
no more than twelve are wrong, none is moved twice."""


class Slots:
    """The position of every cable on its lower device: same slot, same role. NIC of rail 3 on any host; swp49 on any
    leaf.

    `of[cable]` is a slot code; `cable(device, slot)` is the cable planned there, -1 if none.
    """

    def __init__(self, index: PlanIndex) -> None:
        rail, plane = index.rail + 1, index.plane + 1
        name = index.labels(index.a)
        # compare a host's NICs by rail and plane, because models name them differently; switch ports by name
        self._number(index, np.where(index.from_host & (rail > 0), -(1 + rail * 64 + plane), name))
        same = index.a[self._order[1:]] == index.a[self._order[:-1]]  # a row twice
        twice = np.flatnonzero((self._packed[1:] == self._packed[:-1]) & ~same)
        if len(twice):  # several NICs of one rail and plane: the name decides
            cables = distinct(self._order[np.concatenate([twice, twice + 1])])
            key = self.of.astype(np.int64)
            key[cables] = self._width + index.labels(index.a[cables])
            self._number(index, key)

    def _number(self, index: PlanIndex, key: Codes) -> None:
        _, self.of = np.unique(key, return_inverse=True)
        self._width = int(self.of.max(initial=0)) + 1
        packed = index.a_device * self._width + self.of
        self._order = np.argsort(packed, kind="stable")
        self._packed = packed[self._order]

    def cable(self, device: Codes, slot: Codes) -> Codes:
        """The cable planned in a slot of a device; -1 if there is none."""
        wanted = device * self._width + slot
        at = np.minimum(np.searchsorted(self._packed, wanted), len(self._packed) - 1)
        return np.where((device >= 0) & (self._packed[at] == wanted), self._order[at], NONE)


def renamed(index: PlanIndex, places: Codes, true_device: Codes, chosen: Mask) -> Codes:
    """The places with those chosen under the true names of their devices."""
    device = index.ports.device_of(places)
    moved = chosen & (true_device[device] != device)
    if moved.any():
        places = places.copy()
        places[moved] = index.counterparts(true_device[device[moved]], places[moved])
    return places


def _labels(wiring: Wiring) -> Labels:
    index = wiring.index
    heard = wiring.heard[index.b]
    evaluated = (wiring.state == State.RIGHT) | (wiring.state == State.WRONG)
    use = np.flatnonzero(evaluated & ~index.from_host & (wiring.place < 0) & (heard >= 0))
    return Counter(zip(heard[use].tolist(), index.a_device[use].tolist(), strict=True))


@dataclass
class ObservedLinks:
    """Cables that are seen somewhere, shape (sightings,).

    `cable` is the cable by its label; `taken_for` the cable it really is, `place` the place it really is in, after the
    explanations applied up to now. Initially these are as observed. `stands` is the place where a technician finds it
    once labels are corrected: unlike `place`, it does not assume that crossed bundles were already swapped. `labels`
    counts (switch heard, switch planned) at the upper ends of uplinks where a switch is heard without its port: this
    shows its label and no place.
    """

    index: PlanIndex
    slots: Slots
    cable: Codes
    taken_for: Codes
    place: Codes
    stands: Codes
    sure: npt.NDArray[np.float64]
    labels: Labels = field(default_factory=Counter)
    renamed: bool = False
    """Whether names of devices were corrected: places are then not those by which devices announce them."""

    @classmethod
    def of(cls, wiring: Wiring) -> "ObservedLinks":
        """All cables of a wiring that are seen at a port."""
        index, place = turned(wiring)
        known = np.isin(wiring.state, [State.RIGHT, State.WRONG]) | (place != wiring.place)
        seen = np.flatnonzero((place >= 0) & known)
        places = place[seen]
        sure = np.maximum(wiring.sure[index.a[seen]], wiring.sure[places])
        return cls(index, Slots(index), seen, seen.copy(), places.copy(), places.copy(), sure, _labels(wiring))

    def add(self, cables: Codes, places: Codes, sure: float) -> None:
        """Adds cables that are likely in these places, after the explanations applied up to now."""
        for name, more in (("cable", cables), ("taken_for", cables), ("place", places), ("stands", places)):
            setattr(self, name, np.concatenate([getattr(self, name), more]))
        self.sure = np.concatenate([self.sure, np.full(len(cables), sure)])

    @property
    def wrong(self) -> Mask:
        """Which sightings are not in their planned place."""
        return np.asarray(self.index.b[self.taken_for] != self.place, dtype=bool)

    def resident(self) -> Codes:
        """The cable planned in the place of each sighting; -1 if the place is not planned."""
        cable = self.index.cables_at(self.place)
        return np.where((cable >= 0) & (self.index.b[cable] == self.place), cable, NONE)

    def relabel_devices(self, true_name: dict[int, int], *, places_of_hosts_only: bool = False) -> Mask:
        """Applies "the device named X is Y" to both ends, or to host cables' places only. Returns those corrected."""
        before = self.wrong
        table = np.arange(len(self.index.devices.names) + 1)
        table[[*true_name]] = [*true_name.values()]
        chosen = self.index.from_host[self.taken_for] if places_of_hosts_only else np.ones(len(self.cable), dtype=bool)
        if places_of_hosts_only and self._any_right_among(chosen, table):
            there = renamed(self.index, self.place, table, chosen)  # not as a whole: right cables stay in place
            chosen &= there == self.index.b[self.taken_for]
            while (taken := chosen & np.isin(there, self.place[~chosen])).any():
                chosen &= ~taken  # another plug is in its place: the two are one chain
        self.place = renamed(self.index, self.place, table, chosen)
        if not places_of_hosts_only:
            self.renamed = True
            self.stands = renamed(self.index, self.stands, table, chosen)
            self.labels = Counter({(int(table[heard]), planned): n for (heard, planned), n in self.labels.items()})
            owner = self.index.a_device[self.taken_for]
            moved = table[owner] != owner
            other = self.slots.cable(table[owner[moved]], self.slots.of[self.taken_for[moved]])
            self.taken_for[moved] = np.where(other >= 0, other, self.taken_for[moved])
        return before & ~self.wrong

    def put_back(self, crossed: Collection[int]) -> Codes | None:
        """Undoes swapped bundles of these switches if many of their cables are still wrong after it, since each of
        those would move twice: only cables that come to their own place move with it, if they are half of them or
        more. Returns the rows that do not; None if none does.
        """
        carried = np.isin(self.index.ports.device_of(self.stands), list(crossed)) & (self.stands != self.place)
        chosen = self._without_taken(carried)
        right = chosen & ~self.wrong
        if np.count_nonzero(right) < MIN_HELPED_PER_CARRIED * np.count_nonzero(chosen & ~right):
            chosen = self._without_taken(right)
            chosen &= 2 * np.count_nonzero(chosen) >= np.count_nonzero(carried)
        back = np.flatnonzero(carried & ~chosen)
        self.place[back] = self.stands[back]
        return back if chosen.any() else None

    def _without_taken(self, chosen: Mask) -> Mask:
        """These without those in whose place a plug is that stays: the two are one chain."""
        while (taken := chosen & np.isin(self.place, self.stands[~chosen])).any():
            chosen = chosen & ~taken
        return chosen

    def _any_right_among(self, chosen: Mask, true_device: Codes) -> bool:
        """Whether any of these is right where it is, on a device that would be renamed."""
        device = self.index.ports.device_of(self.place)
        return bool((chosen & (true_device[device] != device) & ~self.wrong).any())

    def settle(self, cables: Codes) -> None:
        """Marks these cables as right: something other than their place explains them."""
        rows = np.isin(self.cable, cables)
        self.place[rows] = self.stands[rows] = self.index.b[self.taken_for[rows]]

    def retake(self, rows: Codes, cables: Codes) -> Mask:
        """Identifies these sightings as other cables. Returns which became right. Where the plan contradicts itself
        about one, its place is unknown: nothing more is said of it.
        """
        before = self.wrong
        self.taken_for[rows] = cables
        self.settle(self.cable[rows[self.index.contradicted[cables]]])
        return before & ~self.wrong


# ----------------------------------------------------------------------------------------------------------------------
# Cables that are still wrong after all relabellings, in places of other cables. Finds cycles and paths in one pass.
#
# Draw an edge from cable c to the cable whose place c sits in. Every cable has at most one edge out and one in. A
# cycle of two is a swap, a longer one a rotation; a path ends in a place that is not planned, or that is planned for a
# cable that is not seen.


@dataclass(frozen=True)
class Chain:
    """Rows of sightings, each sitting in the planned place of the next one: the order of their moves. `closed` for a
    cycle, of which the first one hangs loose until the last one has moved.

    `displaced` is the cable whose place the last one took: it is not seen anywhere, or another cause moves it. -1 if
    that place is not planned.
    """

    rows: tuple[int, ...]
    closed: bool
    displaced: int


def chains(s: ObservedLinks) -> list[Chain]:
    """All cycles and paths of the wrong sightings, each sighting in exactly one, in the order of their first cable."""
    wrong = np.flatnonzero(s.wrong)
    row_of = dict(zip(s.taken_for[wrong].tolist(), wrong.tolist(), strict=True))
    resident = s.resident()
    following = {row: row_of.get(int(resident[row])) for row in wrong.tolist()}
    entered = {after for after in following.values() if after is not None}
    found: list[Chain] = []
    done: set[int] = set()
    starts = [row for row in wrong.tolist() if row not in entered] + wrong.tolist()
    for start in starts:
        if start in done:
            continue
        rows: list[int] = []
        here: int | None = start
        while here is not None and here not in done:
            done.add(here)
            rows.append(here)
            here = following[here]
        closed = here == start
        found.append(Chain(tuple(rows), closed, NONE if closed else int(resident[rows[-1]])))
    return sorted(found, key=lambda chain: min(int(s.cable[row]) for row in chain.rows))
