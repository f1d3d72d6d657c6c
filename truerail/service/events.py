"""Events as a numbered stream with many readers: each reader gets all events after its number, or a gap."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from truerail.link.messages import Event

KEPT = 512
"""Most events that a reader may lag behind."""


class EventLog:
    """Events of this process. Numbers begin at the time of its start in milliseconds, so that a reader's number from
    before a restart is recognised as too old, never taken for a new one.
    """

    def __init__(self, first: int) -> None:
        self._next = first
        self._kept: deque[Event] = deque(maxlen=KEPT)
        self._news = asyncio.Event()
        self.readers = 0

    @property
    def last(self) -> int:
        """Number of the newest event."""
        return self._next - 1

    def add(self, kind: str, data: bytes) -> Event:
        """Appends one and wakes the readers. Call from the event loop's thread only."""
        event = Event(self._next, kind, data)
        self._next += 1
        self._kept.append(event)
        self._news.set()
        self._news = asyncio.Event()
        return event

    @property
    def oldest(self) -> int:
        """Number of the oldest event that is kept, or of the next one."""
        return self._kept[0].id if self._kept else self._next

    def take(self, event: Event) -> None:
        """Appends an event of another log under its number, and wakes the readers. After a gap the older ones are
        dropped: a reader behind it needs the whole state.
        """
        if event.id != self._next:
            self._kept.clear()
        self._next = event.id
        self.add(event.kind, event.data)

    def after(self, known: int) -> list[Event] | None:
        """The events after number `known`; None if some of them are gone, or `known` is from another process."""
        if known == self.last:
            return []
        if known > self.last or not self._kept or known < self._kept[0].id - 1:
            return None
        return [event for event in self._kept if event.id > known]

    async def follow(self, known: int | None) -> AsyncGenerator[Event | None, None]:
        """Events after `known` as they come. None means a gap, and is the first item if `known` is None: the reader
        then needs the whole state, and continues after the current `last`.
        """
        self.readers += 1
        try:
            while True:
                news = self._news
                found = None if known is None else self.after(known)
                if found is None:
                    known = self.last
                    yield None
                    continue
                for event in found:
                    known = event.id
                    yield event
                if not found:
                    await news.wait()
        finally:
            self.readers -= 1
