"""The streams and the bucket of one fabric: what the bus stores, where, and for how long."""

from collections.abc import Iterator
from dataclasses import dataclass

from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.errors import NotFoundError

from truerail.bus.subjects import Subjects


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


def configurations(subjects: Subjects, timing: Timing) -> Iterator[StreamConfig]:
    """The streams of a fabric, and the one behind its bucket of live roles."""
    yield StreamConfig(
        name=subjects.obs_stream,
        subjects=[subjects.obs_of()],
        max_msgs_per_subject=1,
        storage=StorageType.FILE,
        duplicate_window=REPEATS_SECONDS,
        allow_direct=True,
    )
    yield StreamConfig(
        name=subjects.cnt_stream,
        subjects=[subjects.cnt("*")],
        max_age=timing.counters_seconds,
        max_bytes=timing.counters_bytes,
        discard=DiscardPolicy.OLD,
        storage=StorageType.FILE,
        duplicate_window=REPEATS_SECONDS,
    )
    yield StreamConfig(
        name=subjects.round_stream,
        subjects=[subjects.round("*")],
        max_msgs_per_subject=1,
        max_age=ROUND_SECONDS,
        storage=StorageType.MEMORY,
        duplicate_window=REPEATS_SECONDS,
    )
    yield StreamConfig(
        name=subjects.live_stream,
        subjects=[f"$KV.{subjects.live_bucket}.>"],
        max_msgs_per_subject=1,
        max_age=timing.ttl_seconds,
        discard=DiscardPolicy.NEW,
        storage=StorageType.MEMORY,
        duplicate_window=timing.ttl_seconds,
        allow_rollup_hdrs=True,
        deny_delete=True,
        allow_direct=True,
    )


async def ensure(stream: JetStreamContext, subjects: Subjects, timing: Timing) -> list[str]:
    """Makes the streams that are missing. Returns their names. Raises nats.errors.Error."""
    made = []
    for configuration in configurations(subjects, timing):
        name = str(configuration.name)
        try:
            await stream.stream_info(name)
        except NotFoundError:
            await stream.add_stream(configuration)
            made.append(name)
    return made
