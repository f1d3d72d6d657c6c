"""The streams and the bucket of one fabric: what the bus stores, where, and for how long."""

import asyncio
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, DiscardPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import NotFoundError
from structlog import get_logger

from truerail.errors import BusError, BusMessageError
from truerail.link.codec import MOST_BYTES, inflated, opened, pack
from truerail.link.messages import BEAT, COUNTS, OBSERVATION, SCHEMA, Observation
from truerail.link.nats_link import ANSWER_SECONDS, Bus
from truerail.link.poller_outbox import Outgoing
from truerail.link.subjects import Subjects

# ----------------------------------------------------------------------------------------------------------------------
# The streams and the bucket of one fabric: what the bus stores, where, and for how long.


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds between signs of life, after which silence is an end, between looks at the streams; how long a judge
    that begins waits for pollers; for how long and in how many bytes counters are stored.
    """

    beat_seconds: float = 3.0
    ttl_seconds: float = 9.0
    check_seconds: float = 5.0
    gather_seconds: float = 90.0
    counters_seconds: float = 600.0
    counters_bytes: int = 4 << 30

    @property
    def listen_seconds(self) -> float:
        """In this time each poller that runs is heard."""
        return self.beat_seconds * 1.25


REPEATS_SECONDS = 120.0
"""The server drops a message with the id of one that it took less than this time ago."""
ROUND_SECONDS = 3600.0
REPLICAS = 3
"""Servers of a cluster that have each message: any one of them may end."""
SILENT_SECONDS = 5.0
"""A server that copies a stream is heard several times in this time."""


def configurations(subjects: Subjects, timing: Timing) -> Iterator[StreamConfig]:
    """The streams of a fabric, and the one behind its bucket of live roles."""
    last, file, memory = {"max_msgs_per_subject": 1}, StorageType.FILE, StorageType.MEMORY
    yield _stream(subjects.obs_stream, subjects.obs_of(), file, **last, allow_direct=True)
    counters = {"max_age": timing.counters_seconds, "max_bytes": timing.counters_bytes}
    yield _stream(subjects.cnt_stream, subjects.cnt("*"), file, **counters, discard=DiscardPolicy.OLD)
    yield _stream(subjects.round_stream, subjects.round("*"), memory, **last, max_age=ROUND_SECONDS)
    yield _stream(
        subjects.live_stream,
        f"$KV.{subjects.live_bucket}.>",
        memory,
        **last,
        max_age=timing.ttl_seconds,
        discard=DiscardPolicy.NEW,
        duplicate_window=timing.ttl_seconds,
        allow_rollup_hdrs=True,
        deny_delete=True,
        allow_direct=True,
    )


def _stream(
    name: str, subject: str, storage: StorageType, *, duplicate_window: float = REPEATS_SECONDS, **more: Any
) -> StreamConfig:
    return StreamConfig(name=name, subjects=[subject], storage=storage, duplicate_window=duplicate_window, **more)


async def ensure(
    stream: JetStreamContext, subjects: Subjects, timing: Timing, *, in_cluster: bool = False
) -> list[str]:
    """Makes the streams that are missing; in a cluster of servers, replicated. Returns their names. Raises
    nats.errors.Error, and BusError for a stream that stands still.
    """
    made = []
    for configuration in configurations(subjects, timing):
        name = str(configuration.name)
        try:
            found = await stream.stream_info(name)
        except NotFoundError:
            await stream.add_stream(configuration.evolve(num_replicas=REPLICAS if in_cluster else 1))
            made.append(name)
        else:
            require_leader(found)
    return made


def require_leader(found: StreamInfo) -> None:
    """A server answers what it knows of a stream also when it is alone: nothing is stored then. Raises BusError."""
    if found.cluster is not None and not found.cluster.leader:
        raise BusError(f"the stream {found.config.name} stands still: fewer than half of the cluster's servers run")


def missing_copies(found: StreamInfo) -> list[str]:
    """Servers of a cluster that have no current copy of a stream: for a moment each is behind."""
    copies = (found.cluster.replicas or ()) if found.cluster else ()
    silent = SILENT_SECONDS * 1e9
    return [str(one.name) for one in copies if one.offline or (not one.current and (one.active or 0) > silent)]


class StoreWatch:
    """Whether one stream has lost what it had stored, from one look to the next.

    Its last place alone does not say so: in a cluster, a server that has just begun to lead a stream may for a moment
    be behind the one that ended.
    """

    def __init__(self) -> None:
        self._created: datetime | None = None
        self._behind = False

    def lost(self, found: StreamInfo, seen: int) -> bool:
        """Whether it was made again since the last look, or ends for two looks before `seen`, which was there."""
        made_again = self._created is not None and found.created != self._created
        behind = found.state.last_seq < seen
        lost = made_again or (behind and self._behind)
        self._created, self._behind = found.created, behind and not lost
        return lost


# ----------------------------------------------------------------------------------------------------------------------
# A poller's side of the bus: messages go into streams, and count as sent when the bus has stored them.

PACKED, SCHEMA_HEADER, POLLER_HEADER, ID_HEADER = "tr-z", "tr-s", "tr-p", "Nats-Msg-Id"
IN_FLIGHT = 256
"""Messages that are sent and not stored yet: measured to be 14,000 a second."""
_PACKED_FROM_BYTES = 64 << 10


class BusSender:
    """Sends the messages of one poller. The stored place of the last observation shows a bus that has lost its store:
    `lost` is then called.
    """

    def __init__(self, bus: Bus, subjects: Subjects, zone: str, poller: str, lost: Callable[[], None]) -> None:
        self._bus, self._subjects, self._zone, self._poller, self._lost = bus, subjects, zone, poller, lost
        self._last, self._problem = 0, ""
        self._store = StoreWatch()

    async def deliver(self, messages: Iterable[Outgoing]) -> None:
        """Sends messages in order, and waits until all are stored. None is taken while there is no connection. Raises
        BusError, which is logged once.
        """
        try:
            await self._deliver(messages)
        except BusError as error:
            if str(error) != self._problem:
                get_logger().warning("not sent, it is tried again", error=str(error))
            self._problem = str(error)
            raise

    async def _deliver(self, messages: Iterable[Outgoing]) -> None:
        self._require()
        flying: deque[asyncio.Future[Any]] = deque()
        try:
            for message in messages:
                await self._send(message, flying)
                if len(flying) >= IN_FLIGHT:
                    await self._stored(flying)
            while flying:
                await self._stored(flying)
                self._problem = ""
        finally:
            for one in flying:
                one.cancel()

    async def check(self) -> None:
        """Asks the bus whether it still has what was sent."""
        last = self._last
        if not self._bus.connected or not last:
            return
        try:
            found = await self._bus.asked(self._bus.streams.stream_info(self._subjects.obs_stream))
        except BusError:  # the bus is away, or the stream is: it is asked again
            return
        if self._store.lost(found, last):
            self._last = found.state.last_seq
            self._lost()

    def _require(self) -> None:
        if not self._bus.connected:
            raise BusError(f"bus {self._bus.address.url}: {self._bus.problem or 'not connected'}")

    async def _send(self, message: Outgoing, flying: "deque[asyncio.Future[Any]]") -> None:
        if message.kind == BEAT:
            await self._bus.send(self._subjects.live(self._zone, self._poller), message.data)
            return
        most = self._bus.client.max_payload
        data, is_packed = packed(message.data)
        if len(data) > most:
            why = f"{len(data):,} bytes, more than the bus takes: raise max_payload of the server above {most:,}"
            get_logger().error("an answer was not sent", kind=message.kind, device=message.key, why=why)
            if message.kind != OBSERVATION:
                return
            data, is_packed = packed(_without_facts(message.data, why))
        headers = {SCHEMA_HEADER: str(SCHEMA), POLLER_HEADER: self._poller, ID_HEADER: message.id}
        if is_packed:
            headers[PACKED] = "1"
        subject = self._subject(message)
        flying.append(await self._bus.asked(self._bus.streams.publish_async(subject, data, headers=headers)))

    def _subject(self, message: Outgoing) -> str:
        if message.kind == OBSERVATION:
            return self._subjects.obs(self._zone, message.key)
        of = self._subjects.cnt if message.kind == COUNTS else self._subjects.round
        return of(self._zone, self._poller)

    async def _stored(self, flying: "deque[asyncio.Future[Any]]") -> None:
        """Waits for the oldest one."""
        self._require()
        ack = await self._bus.asked(_in_time(flying[0]))
        flying.popleft()
        if ack.stream == self._subjects.obs_stream and not ack.duplicate:
            self._found(ack.seq)

    def _found(self, last: int) -> None:
        """The place of the newest observation in the store: it only rises, except in another store."""
        lost, self._last = last < self._last, last
        if lost:
            self._lost()


def packed(data: bytes) -> tuple[bytes, bool]:
    """Large messages are compressed; whether this one is."""
    return (zlib.compress(data, 1), True) if len(data) > _PACKED_FROM_BYTES else (data, False)


def _without_facts(data: bytes, why: str) -> bytes:
    """The observation with the reason why it has no facts, in their place: what is not sent is unknown."""
    envelope = opened(data)
    assert isinstance(envelope.body, Observation)  # noqa: S101 - it is called for no other
    entries = [replace(entry, facts=[], error=entry.error or why) for entry in envelope.body.entries]
    return pack(replace(envelope, body=replace(envelope.body, entries=entries)))


async def _in_time(ack: "asyncio.Future[Any]") -> Any:
    """Raises TimeoutError. (`asyncio.wait_for` of Python 3.11 can miss a cancellation.)"""
    async with asyncio.timeout(ANSWER_SECONDS):
        return await ack


# ----------------------------------------------------------------------------------------------------------------------
# A judge's side of the bus: follows a stream from where it was left, also over a restart of the server.

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
