"""Who may use which subjects: the rights in one fabric, and the users that have them.

A publication into a stream is no right to read it, and no role but the operator may delete, purge or change a stream.
Each role receives replies under a prefix of its own, which no other role can read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from truerail.agent.allowed_commands import name_token
from truerail.errors import BusError
from truerail.link.subjects import Subjects
from truerail.model.names import is_plain_name

POLLER, JUDGE, FRONT, OPERATOR = "poller", "judge", "front", "operator"
API = "$JS.API"
"""What JetStream is asked by. Source: docs.nats.io, "NATS API Reference"."""


@dataclass(frozen=True, slots=True)
class Right:
    """What `roles` may do, and no other: publish to a subject, or else receive what is published there."""

    words: str
    subject: str
    roles: tuple[str, ...]
    publishes: bool = True


@dataclass(frozen=True, slots=True)
class User:
    """A user by the name of its file, and the subjects that it may publish to and subscribe to."""

    name: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def rights(subjects: Subjects, zone: str) -> Iterator[Right]:
    """All rights in a fabric; of its pollers, those of the pollers of one zone, or of all: `*`."""
    place = f"zone {zone}"
    for words, subject in (
        (f"report a device of {place}", subjects.obs_of(zone)),
        (f"send counters of {place}", subjects.cnt(zone)),
        (f"report a round of {place}", subjects.round(zone)),
        (f"be a live poller of {place}", subjects.live(zone)),
        (f"ask agents in {place} for answers", f"{subjects.agent_inbox(zone)}.>"),
    ):
        yield Right(words, subject, (POLLER,))
    yield Right(f"see which pollers of {place} run", subjects.live(zone), (POLLER, JUDGE), publishes=False)
    yield Right(f"receive answers of agents in {place}", subjects.raw(zone), (POLLER,), publishes=False)
    yield Right(f"receive commands to {place}", subjects.cmd(zone), (POLLER,), publishes=False)
    yield Right(f"receive replies to pollers of {place}", f"{subjects.inbox(zone)}.>", (POLLER,), publishes=False)
    yield Right("command pollers", subjects.cmd("*"), (JUDGE,))
    yield Right("take the judge's lease", subjects.judge_lease, (JUDGE,))
    yield Right("read the judge's lease", f"{API}.STREAM.MSG.GET.{subjects.live_stream}", (JUDGE,))
    for stream in streams(subjects):
        seen_by = (JUDGE, POLLER) if stream == subjects.obs_stream else (JUDGE,)
        yield Right(f"see the stream {stream}", f"{API}.STREAM.INFO.{stream}", seen_by)
        yield Right(f"make the stream {stream}", f"{API}.STREAM.CREATE.{stream}", (JUDGE,))
    for stream in (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream):
        yield Right(f"read the stream {stream}", f"{API}.CONSUMER.CREATE.{stream}", (JUDGE,))
        yield Right(f"read the stream {stream} by a name", f"{API}.CONSUMER.CREATE.{stream}.>", (JUDGE,))
        yield Right(f"end a reading of the stream {stream}", f"{API}.CONSUMER.DELETE.{stream}.>", (JUDGE,))
    yield Right("report a view", subjects.view, (JUDGE,))
    yield Right("reply to fronts", f"{subjects.front_inbox}.>", (JUDGE,))
    yield Right("receive questions of fronts", subjects.ask(), (JUDGE,), publishes=False)
    yield Right("receive replies to judges", f"{subjects.inbox()}.>", (JUDGE,), publishes=False)
    yield Right("ask the judge", subjects.ask(), (FRONT,))
    yield Right("read the view", subjects.view, (FRONT,), publishes=False)
    yield Right("receive replies to fronts", f"{subjects.front_inbox}.>", (FRONT,), publishes=False)
    yield Right("look after streams", f"{API}.>", (OPERATOR,))
    yield Right("read the fabric's messages", f"{subjects.prefix}.>", (OPERATOR,), publishes=False)
    yield Right("read who is live", f"$KV.{subjects.live_bucket}.>", (OPERATOR,), publishes=False)
    yield Right("receive replies to the operator", f"{operator_inbox()}.>", (OPERATOR,), publishes=False)


def users(subjects: Subjects, zones: Iterable[str]) -> Iterator[User]:
    """The users of a fabric: the pollers of each zone, judges, fronts, and the operator. Raises BusError for a name
    that cannot stand in a subject.
    """
    for zone in zones:
        if not is_plain_name(zone):
            raise BusError(f"zone {zone!r}: expected letters, digits, _ and -, at most 64")
        yield _user(f"poller-{zone}", POLLER, rights(subjects, zone))
    for role in (JUDGE, FRONT, OPERATOR):
        yield _user(role, role, rights(subjects, "*"))


def _user(name: str, role: str, known: Iterable[Right]) -> User:
    own = [one for one in known if role in one.roles]
    publish = tuple(one.subject for one in own if one.publishes)
    return User(name, publish, tuple(one.subject for one in own if not one.publishes))


def agent(subjects: Subjects, zone: str, host: str) -> User:
    """The agent of one host, which logs in by the certificate of that name: its own answers, and what is lacking."""
    token = name_token(host)
    return User(host, (subjects.raw(zone, token),), (f"{subjects.agent_inbox(zone, token)}.>",))


def streams(subjects: Subjects) -> tuple[str, ...]:
    """All streams of a fabric."""
    return (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream, subjects.live_stream)


def operator_inbox() -> str:
    """The prefix of the replies to an operator."""
    return "_INBOX.operator"
