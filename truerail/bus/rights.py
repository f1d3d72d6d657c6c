"""Who may use which subjects: the users of one fabric, and their rights on the bus.

A publication into a stream is no right to read it, and no role but the operator may delete, purge or change a stream.
Each role receives replies under a prefix of its own, which no other role can read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from truerail.bus.subjects import JUDGE_KEY, Subjects, name_token
from truerail.errors import BusError
from truerail.model.names import is_plain_name

JUDGE, FRONT, OPERATOR = "judge", "front", "operator"
API = "$JS.API"
"""What JetStream is asked by. Source: docs.nats.io, "NATS API Reference"."""


@dataclass(frozen=True, slots=True)
class User:
    """A user by the name of its file, and the subjects that it may publish to and subscribe to."""

    name: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def users(subjects: Subjects, zones: Iterable[str]) -> Iterator[User]:
    """The users of a fabric: the pollers of each zone, judges, fronts, and the operator. Raises BusError for a name
    that cannot stand in a subject.
    """
    for zone in zones:
        if not is_plain_name(zone):
            raise BusError(f"zone {zone!r}: expected letters, digits, _ and -, at most 64")
        yield poller(subjects, zone)
    yield judge(subjects)
    yield front(subjects)
    yield operator(subjects)


def poller(subjects: Subjects, zone: str) -> User:
    """All pollers of one zone: what they measured and that they run, and the commands to them."""
    return User(
        f"poller-{zone}",
        (
            subjects.obs_of(zone),
            subjects.cnt(zone),
            subjects.round(zone),
            subjects.live(zone),
            f"{subjects.agent_inbox(zone)}.>",
            f"{API}.STREAM.INFO.{subjects.obs_stream}",
        ),
        (subjects.live(zone), subjects.cmd(zone), subjects.raw(zone), f"{subjects.inbox(zone)}.>"),
    )


def agent(subjects: Subjects, zone: str, host: str) -> User:
    """The agent of one host, which logs in by the certificate of that name: its own answers, and what is lacking."""
    token = name_token(host)
    return User(host, (subjects.raw(zone, token),), (f"{subjects.agent_inbox(zone, token)}.>",))


def judge(subjects: Subjects) -> User:
    """All judges: they read the streams, make a missing one, hold the lease, command pollers, and serve fronts."""
    stored = (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream)
    making = [f"{API}.STREAM.{verb}.{stream}" for stream in streams(subjects) for verb in ("INFO", "CREATE")]
    reading = [
        f"{API}.CONSUMER.{order}" for of in stored for order in (f"CREATE.{of}", f"CREATE.{of}.>", f"DELETE.{of}.>")
    ]
    lease = (judge_lease(subjects), f"{API}.STREAM.MSG.GET.{subjects.live_stream}")
    return User(
        JUDGE,
        (subjects.cmd("*"), *lease, *making, *reading, subjects.view, f"{subjects.front_inbox}.>"),
        (subjects.live("*"), subjects.ask(), f"{subjects.inbox()}.>"),
    )


def front(subjects: Subjects) -> User:
    """All fronts: they read the view, and ask the judge that leads, which has their commands as questions too."""
    return User(FRONT, (subjects.ask(),), (subjects.view, f"{subjects.front_inbox}.>"))


def operator(subjects: Subjects) -> User:
    """People who look after the bus: everything of JetStream, and no message of a poller or a judge."""
    return User(
        OPERATOR, (f"{API}.>",), (f"{subjects.prefix}.>", f"$KV.{subjects.live_bucket}.>", f"{operator_inbox()}.>")
    )


def streams(subjects: Subjects) -> tuple[str, ...]:
    """All streams of a fabric."""
    return (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream, subjects.live_stream)


def judge_lease(subjects: Subjects) -> str:
    """The key of the judge's lease, as a subject."""
    return f"$KV.{subjects.live_bucket}.{JUDGE_KEY}"


def operator_inbox() -> str:
    """The prefix of the replies to an operator."""
    return "_INBOX.operator"
