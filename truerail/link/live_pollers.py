"""Which pollers run: each sends a sign of life, and one that sends none for the time to live counts as ended.

Times stand still while no sign can come: a bus that is away ends no poller.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from truerail.link.inbox import Place

MISSING_SECONDS = 3600.0
"""A poller that fell silent is missing for so long; then it is one that was removed, such as a container's."""


@dataclass(slots=True)
class _Life:
    start: str
    heard: float
    heard_at: datetime


class LivePollers:
    """`ttl_seconds` on the monotonic `clock`; times that people read are in UTC."""

    def __init__(self, ttl_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl, self._clock = ttl_seconds, clock
        self._lives: dict[Place, _Life] = {}
        self._paused_since: float | None = None
        self._silent_at: dict[Place, float] = {}
        self.since: dict[Place, datetime] = {}
        """When a poller that has ended was heard last."""
        self.epoch = 0
        """The highest one that any of them has."""

    @property
    def running(self) -> list[Place]:
        """Zone and name of each poller that runs."""
        return list(self._lives)

    @property
    def missing(self) -> list[Place]:
        """Those that fell silent within `MISSING_SECONDS`; one that reported its end is not missing."""
        oldest = self._clock() - MISSING_SECONDS
        return [place for place, at in self._silent_at.items() if at >= oldest]

    def of_zone(self, zone: str) -> list[str]:
        """The names of those that run in a zone."""
        return [name for of, name in self._lives if of == zone]

    def heard(self, place: Place, start: str, epoch: int) -> bool:
        """A sign of life. Returns whether others run now than before."""
        self.epoch = max(self.epoch, epoch)
        known = self._lives.get(place)
        self._lives[place] = _Life(start, self._clock(), datetime.now(UTC))
        self.since.pop(place, None)
        self._silent_at.pop(place, None)
        return known is None or known.start != start

    def ended(self, place: Place) -> bool:
        """It reports that it ends. Returns whether it ran."""
        life = self._lives.pop(place, None)
        if life is None:
            return False
        self.since[place] = life.heard_at
        return True

    def expire(self) -> bool:
        """Ends those that are silent for too long. Returns whether there are such."""
        if self._paused_since is not None:
            return False
        oldest = self._clock() - self._ttl
        silent = [place for place, life in self._lives.items() if life.heard < oldest]
        for place in silent:
            self.ended(place)
            self._silent_at[place] = self._clock()
        return bool(silent)

    def pause(self) -> None:
        """The bus is away."""
        if self._paused_since is None:
            self._paused_since = self._clock()

    def resume(self) -> None:
        """It is back: each poller has the time to live again to be heard."""
        self._paused_since = None
        for life in self._lives.values():
            life.heard = self._clock()
