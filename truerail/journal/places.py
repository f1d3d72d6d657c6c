"""Places where a cable may be seen, as numbers that are stable over all rounds of one plan."""

from collections.abc import Callable, Sequence

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.model.columns import NONE, Codes
from truerail.model.index import PlanIndex

_OTHER = 1 << 40
"""Codes from here on are unplanned places. Their numbers are valid for the life of the process."""


class Places:
    """Planned ports have their code of the plan; others are numbered by name as they are seen."""

    def __init__(self) -> None:
        self._index: PlanIndex | None = None
        self._others: dict[str, int] = {}
        self._words: list[str] = []

    def use(self, index: PlanIndex) -> None:
        """Switches to the codes of this index's plan."""
        self._index = index

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
        if code == NONE or self._index is None:
            return None
        return self._words[code - _OTHER] if code >= _OTHER else str(self._index.spell(code))

    def words(self, codes: Codes) -> list[str | None]:
        """Many codes as names."""
        return [self.word(code) for code in codes.tolist()]

    def codes(self, words: Sequence[str | None]) -> Codes:
        """Names as codes of the plan in use."""
        index = self._index
        if index is None:
            raise RuntimeError("no plan is in use")
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
