"""A judge's side of the bus: follows a stream from where it was left, also over a restart of the server."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nats.errors import Error
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from truerail.errors import BusMessageError
from truerail.link.codec import MOST_BYTES, inflated
from truerail.link.nats_link import Bus
from truerail.link.sending import PACKED
from truerail.link.streams import StoreWatch, missing_copies

_PENDING_MESSAGES, _PENDING_BYTES = 1 << 20, 1 << 30
_INACTIVE_SECONDS = 60.0
Take = Callable[[str, bytes], None]
"""Takes the subject of a message and its data."""


class Follower:
    """Each message of one stream once, in order. `seen` is the place of the last one taken."""

    def __init__(self, bus: Bus, stream: str, subject: str, take: Take, *, only_new: bool = False) -> None:
        self._bus, self._stream, self._subject, self._take, self._only_new = bus, stream, subject, take, only_new
        self._subscription: Any = None
        self._run, self._again = 0, True
        self._before = self.seen = 0
        self._target: int | None = None
        self._store = StoreWatch()
        self.copies_missing = 0
        """Servers of a cluster without a current copy of the stream, at the last `check`."""

    @property
    def caught_up(self) -> bool:
        """Whether all is taken that was there at the beginning."""
        return self._target is not None and self.seen >= self._target

    async def check(self) -> bool:
        """Subscribes where that is needed: at first, after a gap, and when messages stay away. Returns whether the
        store has been lost since the last call. Raises BusError.
        """
        seen = self.seen  # messages come while the question is on its way
        found = await self._bus.asked(self._bus.streams.stream_info(self._stream))
        state = found.state
        self.copies_missing = len(missing_copies(found))
        first, lost = self._target is None, self._store.lost(found, seen)
        if state.last_seq < seen and not lost:
            return False
        if first:
            self._target = state.last_seq
        if lost or (first and self._only_new):
            self.seen = 0 if lost else state.last_seq
        stuck = state.last_seq > self.seen == self._before
        self._before = self.seen
        if first or lost or stuck or self._again:
            await self._subscribe()
        return lost

    def interrupted(self) -> None:
        """The connection was lost, or messages were: `check` continues behind the last one taken."""
        self._run += 1
        self._again = True

    async def stop(self) -> None:
        """Takes no more."""
        self._run += 1
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(Error, OSError):
                await subscription.unsubscribe()

    async def _subscribe(self) -> None:
        await self.stop()
        run = self._run
        expected = 0

        async def taken(message: Any) -> None:
            nonlocal expected
            if run != self._run:
                return
            sequence = message.metadata.sequence
            expected += 1
            if sequence.consumer != expected:  # this process was too slow: what is missing is read again
                self.interrupted()
                return
            self.seen = sequence.stream
            self._take(message.subject, _data(message))

        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self.seen + 1,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=_INACTIVE_SECONDS,
        )
        self._subscription = await self._bus.asked(
            self._bus.streams.subscribe(
                self._subject,
                stream=self._stream,
                cb=taken,
                config=config,
                pending_msgs_limit=_PENDING_MESSAGES,
                pending_bytes_limit=_PENDING_BYTES,
            )
        )
        self._again = run != self._run


def _data(message: Any) -> bytes:
    """The message, unpacked. What cannot be unpacked stays as it is: it is refused and counted."""
    data: bytes = message.data
    if PACKED in (message.headers or {}):
        with suppress(BusMessageError):
            return inflated(data, MOST_BYTES, "a message")
    return data
