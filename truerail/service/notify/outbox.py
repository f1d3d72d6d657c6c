"""The queue of messages and what every receiver has of it: in memory, and in the journal for the next start.

Messages have increasing numbers, microseconds since 1970: the place of a receiver in the queue is the number of the
last message that it has taken. The journal has all of it under one name. It is written in the background, after each
change: what was sent and not yet written when the service is killed is sent again.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from truerail.errors import JournalUnavailableError
from truerail.journal import Journal
from truerail.journal.store import NOTIFICATIONS
from truerail.model.finding import Severity
from truerail.service.logs import logger
from truerail.service.notify.fault_news import Announced
from truerail.service.notify.notification import Notification
from truerail.service.notify.pod_use import PodUse, merged

MOST_QUEUED = 1000
"""Messages that wait for a receiver: the oldest are dropped, and counted."""
_AGAIN_SECONDS = 15.0


@dataclass(frozen=True)
class _Stored:
    """What the journal has."""

    announced: dict[str, Announced]
    queue: list[Notification]
    taken: dict[str, int]
    use: dict[str, dict[str, float]]


_SHAPE = TypeAdapter(_Stored)


class Outbox:
    """The queue. `receivers` are their names and the least severity that each takes. Thread-safe."""

    def __init__(
        self, receivers: Mapping[str, Severity], journal: Journal | None, clock: Callable[[], datetime]
    ) -> None:
        self._receivers, self._journal, self._clock = dict(receivers), journal, clock
        self._news = threading.Condition()
        self._queue: deque[Notification] = deque()
        self._taken = dict.fromkeys(receivers, 0)
        self.announced: dict[str, Announced] = {}
        """The faults about which a message was sent."""
        self.use: PodUse = {}
        """How much of each pod was right in the last days."""
        self._last = 0
        self._loaded, self._dirty = journal is None, False
        self._closed = self._last_write = False
        self.dropped = 0
        """Messages that a receiver did not get because too many waited."""
        self._writer = threading.Thread(target=self._write, args=(journal,), name="notifications", daemon=True)
        if journal:
            self._writer.start()

    @property
    def waiting(self) -> int:
        """Messages that the slowest receiver does not have yet."""
        with self._news:
            return max((len(self._for(name)) for name in self._receivers), default=0)

    def _numbered(self, message: Notification) -> Notification:
        """A message with the next number."""
        self._last = max(self._last + 1, int(self._clock().timestamp() * 1_000_000))
        return message.model_copy(update={"id": str(self._last)})

    def load(self) -> None:
        """Adds what the journal has, once. Raises JournalUnavailableError."""
        if self._loaded or self._journal is None:
            return
        body = self._journal.blob(NOTIFICATIONS)
        self._loaded = True
        if body is None:
            return
        try:
            stored = _SHAPE.validate_json(body)
        except ValidationError:
            logger().warning("the queue of notifications begins again: the journal's is not readable")
            return
        with self._news:
            self.announced = {**stored.announced, **self.announced}
            self.use = merged(stored.use, self.use)
            if any(self._taken.values()):  # messages were sent before the journal could be read: these come after them
                self._queue.extend(map(self._numbered, stored.queue))
            else:
                self._queue.extendleft(reversed(stored.queue))
                self._taken = {name: stored.taken.get(name, 0) for name in self._receivers}
                self._last = max([self._last, *self._taken.values(), *map(_number, self._queue)])
            self._changed()

    def put(self, messages: Sequence[Notification], announced: dict[str, Announced], use: PodUse) -> None:
        """Queues messages, and remembers what is announced by them and which pods are in use."""
        with self._news:
            if not messages and announced == self.announced and use == self.use:
                return
            self.announced, self.use = announced, use
            self._queue.extend(map(self._numbered, messages))
            while len(self._queue) > MOST_QUEUED:
                lost = self._queue.popleft()
                self.dropped += sum(self._wants(name, lost) for name in self._receivers)
            self._changed()

    def next(self, receiver: str) -> Notification | None:
        """The next message for a receiver, as soon as there is one; None when the queue is closed."""
        with self._news:
            while not self._closed:
                if found := self._for(receiver):
                    return found[0]
                self._news.wait()
            return None

    def took(self, receiver: str, message: Notification) -> None:
        """The receiver has this message, or will never take it."""
        with self._news:
            self._taken[receiver] = max(self._taken[receiver], _number(message))
            least = min(self._taken.values())
            while self._queue and (_number(self._queue[0]) <= least or not self._wanted(self._queue[0])):
                self._queue.popleft()
            self._changed()

    def pause(self, seconds: float) -> None:
        """Waits, or returns as soon as the queue is closed."""
        with self._news:
            self._news.wait_for(lambda: self._closed, seconds)

    def close(self) -> None:
        """Hands out no further message. What receivers take from now on is still noted."""
        with self._news:
            self._closed = True
            self._news.notify_all()

    def write(self, seconds: float) -> None:
        """Writes what the journal does not have, after `close` and once the receivers have ended."""
        with self._news:
            self._last_write = True
            self._news.notify_all()
        if self._journal:
            self._writer.join(seconds)

    def _changed(self) -> None:
        self._dirty = True
        self._news.notify_all()

    def _for(self, receiver: str) -> list[Notification]:
        return [one for one in self._queue if self._wants(receiver, one)]

    def _wanted(self, message: Notification) -> bool:
        return any(self._wants(name, message) for name in self._receivers)

    def _wants(self, receiver: str, message: Notification) -> bool:
        """Whether a receiver still has to get a message."""
        return _number(message) > self._taken[receiver] and message.severity.rank >= self._receivers[receiver].rank

    # --- the journal --------------------------------------------------------------------------------------------------

    def _write(self, journal: Journal) -> None:
        while (body := self._to_write()) is not None:
            try:
                journal.keep_blob(NOTIFICATIONS, body, self._clock())
            except JournalUnavailableError:  # reported by the rounds that are not stored either
                with self._news:
                    self._dirty = True
                    if self._last_write:
                        return
                    self._news.wait_for(lambda: self._last_write, _AGAIN_SECONDS)

    def _to_write(self) -> bytes | None:
        """The state to write, as soon as it has changed; None at the end."""
        with self._news:
            while not (self._dirty and self._loaded):
                if self._last_write:
                    return None
                self._news.wait()
            self._dirty = False
            use = {day: dict(pods) for day, pods in self.use.items()}
            stored = _Stored(dict(self.announced), list(self._queue), dict(self._taken), use)
            return _SHAPE.dump_json(stored, by_alias=True)


def _number(message: Notification) -> int:
    return int(message.id)
