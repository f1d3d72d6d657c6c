"""How far a poller's clock is off: its times are moved by that before they count."""

from dataclasses import dataclass, field
from math import isfinite

ALIKE_SECONDS = 0.2
"""Clocks that differ by less count as one: rates over a change of poller are then right to 2 % at 10 s."""
WARNED_SECONDS = 2.0


@dataclass(slots=True)
class Clock:
    """One run of a poller. The least time between sending and arrival is the offset: the rest is waiting."""

    _least: float = field(default=float("inf"))

    def heard(self, sent_at: float, arrived_at: float) -> None:
        """A message that arrived without a store between."""
        if isfinite(sent_at):
            self._least = min(self._least, arrived_at - sent_at)

    @property
    def offset_seconds(self) -> float:
        """What to add to a time of that clock; 0 for a clock like this one."""
        known = self._least != float("inf")
        return self._least if known and abs(self._least) > ALIKE_SECONDS else 0.0

    @property
    def warns(self) -> bool:
        """Whether it is so far off that somebody should set it."""
        return abs(self.offset_seconds) > WARNED_SECONDS
