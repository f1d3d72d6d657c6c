"""The last place of every planned cable, and what changed since: two columns compared at once, round by round.

Only changed cables are converted to names. A snapshot in which neither device of a cable has been polled yet (a service
that has just started) has no data on it: such a cable keeps its last state.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.journal.round_changes import LinkState
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.finding import CableState
from truerail.model.history import LinkChange
from truerail.model.index import PlanIndex

# ----------------------------------------------------------------------------------------------------------------------
# Places where a cable may be seen, as numbers that are stable over all rounds of one plan.

_OTHER = 1 << 40
"""Codes from here on are unplanned places."""


class Places:
    """Planned ports have their code of the index's plan; others are numbered by name as they are seen."""

    def __init__(self, index: PlanIndex) -> None:
        self.index = index
        self._others: dict[str, int] = {}
        self._words: list[str] = []

    def of(self, wiring: Wiring) -> Codes:
        """Where each cable's nearer end is seen: a port; a device if only that is reported; -1. Shape (cables,)."""
        index = wiring.index
        place = wiring.place.copy()
        strange = np.flatnonzero(place >= index.planned_ports)
        place[strange] = self._coded(place[strange], lambda code: str(index.spell(code)))
        heard = np.where(wiring.state == State.RIGHT, index.b_device, wiring.heard[index.a])
        vague = np.flatnonzero((wiring.place < 0) & (wiring.state <= State.WRONG) & (heard >= 0))
        place[vague] = self._coded(heard[vague], lambda code: index.devices.names[code])
        return place

    def word(self, code: int) -> str | None:
        """A code as a name: `leaf-3/swp12`, `leaf-3`, or None for -1."""
        if code == NONE:
            return None
        return self._words[code - _OTHER] if code >= _OTHER else str(self.index.spell(code))

    def codes(self, words: Sequence[str | None]) -> Codes:
        """Names as codes."""
        index = self.index
        device = {name: code for code, name in enumerate(index.devices.names[: index.devices.planned])}
        parts = [("", "", "") if word is None else word.partition("/") for word in words]
        devices = np.fromiter((device.get(one[0], NONE) for one in parts), dtype=np.int64, count=len(parts))
        found = index.find(devices, [one[2] or None for one in parts])
        found[found >= index.planned_ports] = NONE
        for row in np.flatnonzero(found == NONE).tolist():
            word = words[row]
            if word is not None:
                found[row] = self._other(word)
        return found

    def _coded(self, codes: Codes, spell: Callable[[int], str]) -> Codes:
        distinct, inverse = np.unique(codes, return_inverse=True)
        numbers = [self._other(spell(code)) for code in distinct.tolist()]
        return np.array(numbers, dtype=np.int64)[inverse] if numbers else codes

    def _other(self, word: str) -> int:
        number = self._others.get(word)
        if number is None:
            number = self._others[word] = _OTHER + len(self._words)
            self._words.append(word)
        return number


# ----------------------------------------------------------------------------------------------------------------------
# The last place of every planned cable, and what changed since: two columns compared at once, round by round.

_WORDS = tuple(CableState[state.name].value for state in State)
_CODES = {word: code for code, word in enumerate(_WORDS)}
_NEVER = -2
"""The state of a cable without data in any round yet."""


@dataclass(frozen=True, slots=True)
class LinkNews:
    """A round's report on links: `changes` since the previous round, `states` to write, ports to forget."""

    changes: tuple[LinkChange, ...]
    states: tuple[LinkState, ...]
    gone: frozenset[str]


class LinkMemory:
    """The last known place and state of every planned cable's nearer end."""

    def __init__(self) -> None:
        self._places: Places | None = None
        """Those of the plan in force."""
        self._kept: dict[str, LinkState] = {}
        """By port: states while no plan is in force, from the journal or from the previous plan."""
        self._place: Codes = np.empty(0, dtype=np.int64)
        self._state: Codes = np.empty(0, dtype=np.int64)

    def restore(self, states: Iterable[LinkState]) -> None:
        """Restores the journal's states: the next round is compared with them."""
        self._remember()
        self._kept |= {one.port: one for one in states}

    def update(self, wiring: Wiring, at: datetime) -> LinkNews:
        """Processes a round. A cable that was not in the plan before has a state to write, and no change."""
        gone: frozenset[str] = frozenset()
        places = self._places
        if places is None or places.index.plan is not wiring.index.plan:
            self._remember()
            places = self._places = Places(wiring.index)
            gone = self._take_plan(places)
        place, state = places.of(wiring), wiring.state
        differs = (place != self._place) | (state != self._state)
        rows = np.flatnonzero(differs)
        rows = rows[~_nobody_asked(wiring, rows)]
        changes, states = [], []
        for row in rows.tolist():
            port = str(wiring.index.a_port(row))
            seen = places.word(int(place[row]))
            word = _WORDS[int(state[row])]
            was = int(self._state[row])
            states.append(LinkState(port, seen, word, None if was == _NEVER else at))
            if was != _NEVER:
                before = places.word(int(self._place[row]))
                changes.append(LinkChange(0, at, port, before, seen, _WORDS[was], word))
        self._place[rows], self._state[rows] = place[rows], state[rows]
        return LinkNews(tuple(changes), tuple(states), gone)

    def _remember(self) -> None:
        """Converts the states to names, so that they outlive the codes of this plan."""
        if self._places is not None:
            ports = [str(cable.a) for cable in self._places.index.plan.cables]
            seen = map(self._places.word, self._place.tolist())
            known = zip(ports, seen, self._state.tolist(), strict=True)
            self._kept |= {port: LinkState(port, at, _WORDS[state]) for port, at, state in known if state != _NEVER}
        self._places = None

    def _take_plan(self, places: Places) -> frozenset[str]:
        """Converts the states to the codes of a plan; returns the ports that it does not have."""
        ports = [str(cable.a) for cable in places.index.plan.cables]
        known = [self._kept.pop(port, None) for port in ports]
        gone = frozenset(self._kept)
        self._kept = {}
        self._place = places.codes([None if one is None else one.seen for one in known])
        states = (_NEVER if one is None else _CODES[one.state] for one in known)
        self._state = np.fromiter(states, dtype=np.int64, count=len(known))
        return gone


def _nobody_asked(wiring: Wiring, rows: Codes) -> Mask:
    """Which of these cables are unknown only because neither of their devices has been polled yet: no reading of them
    was read, or has become too old.
    """
    unknown = np.asarray(wiring.state[rows] == State.UNKNOWN, dtype=bool)
    if not unknown.any():
        return unknown
    index, identity = wiring.index, wiring.identity
    asked = np.zeros(len(index.devices.names) + 1, dtype=bool)
    polled = {reading.device for reading in wiring.seen.readings if reading.polled or reading.read_at}
    asked[[identity.filed(name) for name in polled]] = True
    asked[-1] = False
    return np.asarray(unknown & ~asked[index.a_device[rows]] & ~asked[index.b_device[rows]], dtype=bool)
