"""The last place of every planned cable, and what changed since: two columns compared at once, round by round.

Only changed cables are converted to names. A snapshot in which neither device of a cable has been polled yet (a service
that has just started) has no data on it: such a cable keeps its last state.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.journal.changes import LinkState
from truerail.journal.places import Places
from truerail.model.columns import Codes, Mask
from truerail.model.finding import CableState
from truerail.model.history import LinkChange
from truerail.model.plan import Plan

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
        self._places = Places()
        self._plan: Plan | None = None
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
        if self._plan is not wiring.index.plan:
            self._remember()
            gone = self._take_plan(wiring)
        place, state = self._places.of(wiring), wiring.state
        differs = (place != self._place) | (state != self._state)
        rows = np.flatnonzero(differs)
        rows = rows[~_nobody_asked(wiring, rows)]
        changes, states = [], []
        for row in rows.tolist():
            port, seen, word = (
                str(wiring.index.a_port(row)),
                self._places.word(int(place[row])),
                _WORDS[int(state[row])],
            )
            was = int(self._state[row])
            states.append(LinkState(port, seen, word, None if was == _NEVER else at))
            if was != _NEVER:
                before = self._places.word(int(self._place[row]))
                changes.append(LinkChange(0, at, port, before, seen, _WORDS[was], word))
        self._place[rows], self._state[rows] = place[rows], state[rows]
        return LinkNews(tuple(changes), tuple(states), gone)

    def _remember(self) -> None:
        """Converts the states to names, so that they outlive the codes of this plan."""
        if self._plan is not None:
            ports = [str(cable.a) for cable in self._plan.cables]
            seen = self._places.words(self._place)
            known = zip(ports, seen, self._state.tolist(), strict=True)
            self._kept |= {port: LinkState(port, at, _WORDS[state]) for port, at, state in known if state != _NEVER}
        self._plan = None

    def _take_plan(self, wiring: Wiring) -> frozenset[str]:
        """Converts the states to the codes of a plan; returns the ports that it does not have."""
        plan = wiring.index.plan
        ports = [str(cable.a) for cable in plan.cables]
        known = [self._kept.pop(port, None) for port in ports]
        gone = frozenset(self._kept)
        self._kept = {}
        self._plan = plan
        self._places.use(wiring.index)
        self._place = self._places.codes([None if one is None else one.seen for one in known])
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
