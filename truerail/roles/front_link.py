"""The front's side of the link, whatever carries it: what the judge reports, and whether the view is the newest."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from truerail.link.messages import Alive, Answer, Ask, Audit, Event
from truerail.model.steady import STEADY

ALIVE_SECONDS = 1.0
"""Between two signs of life."""
DEADLINE_SECONDS = 60.0
"""A question that the judge has not answered by then is given up."""
AWAY_SECONDS = 1.5
"""A question waits so long for a judge that is started again, and is answered by 503 then."""
SILENT_SECONDS = 5.0
"""A judge that has not reported for so long is away: it reports each second."""


@dataclass(frozen=True, slots=True)
class Takes:
    """What a front does with what is reported: with each event, and when the view begins or ceases to be stale;
    `refresh` reads the view before a stale one counts as the newest again.
    """

    event: Callable[[Event], Awaitable[None]]
    stale: Callable[[datetime | None], None]
    refresh: Callable[[], Awaitable[None]]


class FrontLink(ABC):
    """One for the front."""

    def __init__(self, takes: Takes, seconds: Callable[[], float] = STEADY.seconds) -> None:
        self._takes = takes
        self._seconds, self._confirmed = seconds, seconds()
        self.heard = asyncio.Event()
        """Set once the judge has reported, after the events of before."""
        self._stale: datetime | None = None
        self.figures: Mapping[str, float] = {}
        self.problem = ""
        """Why the view is not the newest, though the other end reports; empty if it is."""

    @abstractmethod
    async def ask(self, message: Ask | Audit) -> Answer:
        """The judge's answer. Raises JudgeUnavailableError."""

    @abstractmethod
    async def _follow(self) -> None:
        """Takes what the judge reports until it is cancelled."""

    @property
    def age_seconds(self) -> float:
        """The time since the judge last confirmed that the view is the newest."""
        return self._seconds() - self._confirmed

    @property
    def stale_since(self) -> datetime | None:
        """When the judge last confirmed a view that may not be the newest any more; None while it is. This is no state
        of `_watch`: a process that was stopped answers before that has looked.
        """
        silent = self.age_seconds > SILENT_SECONDS
        return self._stale or (datetime.now(UTC) - timedelta(seconds=self.age_seconds) if silent else None)

    async def run(self) -> None:
        """Follows the judge until it is cancelled."""
        watching = asyncio.create_task(self._watch())
        try:
            await self._follow()
        finally:
            watching.cancel()

    async def take(self, message: Alive | Event) -> None:
        """Takes what the judge reports."""
        if isinstance(message, Event):
            await self._takes.event(message)
            return
        self.figures, self.problem = message.figures, message.problem
        self.heard.set()
        if message.written:
            if self.stale_since is not None:
                await self._takes.refresh()
            self._confirmed = self._seconds()
            self._become(None)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            self._become(self.stale_since)

    def _become(self, since: datetime | None) -> None:
        if since != self._stale:
            self._stale = since
            self._takes.stale(since)
