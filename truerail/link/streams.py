"""The streams and the bucket of one fabric: what the bus stores, where, and for how long."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import NotFoundError

from truerail.errors import BusError
from truerail.link.subjects import Subjects


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
