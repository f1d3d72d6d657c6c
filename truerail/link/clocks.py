"""How far a poller's clock is off: its times are moved by that before they count."""

from dataclasses import dataclass
from math import inf, isfinite

ALIKE_SECONDS = 0.2
"""Clocks that differ by less count as one: rates over a change of poller are then right to 2 % at 10 s."""
WARNED_SECONDS = 2.0
"""A clock that is off by more should be set."""
WINDOW_SECONDS = 60.0
"""A clock that is set right while its poller runs is believed after at most two of these."""


@dataclass(slots=True)
class Clock:
    """One run of a poller. The least time between sending and arrival is the offset: the rest is waiting."""

    _least: float = inf
    _before: float = inf
    """Of the window before."""
    _until: float = -inf

    def heard(self, sent_at: float, arrived_at: float) -> None:
        """A message that arrived without a store between."""
        if isfinite(sent_at) and isfinite(arrived_at):
            if arrived_at > self._until:
                self._before, self._least, self._until = self._least, inf, arrived_at + WINDOW_SECONDS
            self._least = min(self._least, arrived_at - sent_at)

    @property
    def offset_seconds(self) -> float:
        """What to add to a time of that clock; 0 for a clock like this one."""
        least = min(self._least, self._before)
        return least if ALIKE_SECONDS < abs(least) < inf else 0.0
