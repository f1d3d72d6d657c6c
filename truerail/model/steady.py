"""A process' own clock: it shows what the system's clock showed when it was made, and is never set.

Intervals are differences of its times. A suspended machine is time that passes: its answers have grown old meanwhile.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

STEP_SECONDS = 1.0
"""The system's clock was set if it differs by more than this: what NTP slews, it slews for both."""
_ELAPSED = partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SteadyClock:
    """`wall` is the system's clock, in Unix seconds; `elapsed` never goes back."""

    def __init__(self, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = _ELAPSED) -> None:
        self._wall, self._elapsed = wall, elapsed
        self._began = wall() - elapsed()
        self._set_by = 0.0

    def seconds(self) -> float:
        """Unix seconds as if the system's clock had not been set since."""
        return self._began + self._elapsed()

    def now(self) -> datetime:
        """The same in UTC."""
        return datetime.fromtimestamp(self.seconds(), UTC)

    def set_by(self) -> float:
        """By how many whole seconds the system's clock was set since: what to add to times of this clock."""
        ahead = self._wall() - self.seconds()
        if abs(ahead - self._set_by) > STEP_SECONDS:
            self._set_by = float(round(ahead))
        return self._set_by


STEADY = SteadyClock()
"""That of this process and its children."""
