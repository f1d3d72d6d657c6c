"""Whether the bus refuses what it must refuse, and accepts what a role needs: by trying it.

No attempt has an effect, also where the server accepts it: publications into streams expect another stream, and orders
to JetStream have a body that it cannot read.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from nats.aio.client import Client

from truerail.bus.rights import API, FRONT, judge_lease
from truerail.bus.subjects import Subjects

_NAME, _OTHER = "truerail-bus-check", "truerail-bus-check-other-zone"
_HARMLESS = {"Nats-Expected-Stream": _NAME}
"""JetStream stores a message with this header in a stream of this name alone, which does not exist."""
_UNREADABLE = b"this is no request"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is tried: to publish, or else to subscribe. `needed`: whether the role must have this right."""

    words: str
    subject: str
    needed: bool
    publishes: bool = True


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt, and whether the server refused it."""

    attempt: Attempt
    refused: bool

    @property
    def good(self) -> bool:
        """Whether the server did what it must."""
        return self.refused is not self.attempt.needed

    @property
    def verdict(self) -> str:
        """In words."""
        if self.attempt.needed:
            return "REFUSED, but needed" if self.refused else "accepted as it must be"
        return "refused as it must be" if self.refused else "NOT refused"


def attempts(subjects: Subjects, role: str, zone: str) -> Iterator[Attempt]:
    """Those of a role; of a poller those of `zone`."""
    if role == FRONT:
        yield from _of_front(subjects)
    else:
        yield from _of_poller(subjects, zone) if zone else _of_judge(subjects)
    for verb, stream in (
        ("DELETE", subjects.obs_stream),
        ("PURGE", subjects.obs_stream),
        ("DELETE", subjects.live_stream),
    ):
        yield Attempt(f"{verb.lower()} the stream {stream}", f"{API}.STREAM.{verb}.{stream}", needed=False)
    yield Attempt(
        f"change the stream {subjects.obs_stream}", f"{API}.STREAM.UPDATE.{subjects.obs_stream}", needed=False
    )
    yield Attempt("read replies to others", "_INBOX.>", needed=False, publishes=False)


def _of_poller(subjects: Subjects, zone: str) -> Iterator[Attempt]:
    for of, needed in ((zone, True), (_OTHER, False)):
        place = f"zone {of}" if needed else "another zone"
        yield Attempt(f"report a device of {place}", subjects.obs(of, _NAME), needed)
        yield Attempt(f"send counters of {place}", subjects.cnt(of, _NAME), needed)
        yield Attempt(f"report a round of {place}", subjects.round(of, _NAME), needed)
        yield Attempt(f"be a live poller of {place}", subjects.live(of, _NAME), needed)
        yield Attempt(f"receive answers of agents in {place}", subjects.raw(of), needed, publishes=False)
        yield Attempt(f"ask agents in {place} for answers", f"{subjects.agent_inbox(of, _NAME)}.ask", needed)
        yield Attempt(f"receive commands to {place}", subjects.cmd(of, _NAME), needed, publishes=False)
    yield Attempt("send answers as an agent", subjects.raw(zone, _NAME), needed=False)
    yield Attempt("command pollers", subjects.cmd(zone, _NAME), needed=False)
    yield Attempt("report a view", subjects.view, needed=False)
    yield Attempt("read the view", subjects.view, needed=False, publishes=False)
    yield Attempt("ask the judge", subjects.ask(_NAME), needed=False)
    yield Attempt("take the judge's lease", judge_lease(subjects), needed=False)
    yield Attempt("read the fabric's messages", f"{subjects.prefix}.>", needed=False, publishes=False)
    yield Attempt(
        f"read the stream {subjects.obs_stream}", f"{API}.CONSUMER.CREATE.{subjects.obs_stream}", needed=False
    )


def _of_judge(subjects: Subjects) -> Iterator[Attempt]:
    yield Attempt("hold the judge's lease", judge_lease(subjects), needed=True)
    yield Attempt("command pollers", subjects.cmd(_OTHER, _NAME), needed=True)
    for stream in (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream):
        yield Attempt(f"read the stream {stream}", f"{API}.CONSUMER.CREATE.{stream}", needed=True)
    yield Attempt("see which pollers run", subjects.live("*"), needed=True, publishes=False)
    yield Attempt("report a view", subjects.view, needed=True)
    yield Attempt("receive questions of fronts", subjects.ask(), needed=True, publishes=False)
    yield Attempt("reply to fronts", f"{subjects.front_inbox}.{_NAME}", needed=True)
    yield Attempt("report a device", subjects.obs(_OTHER, _NAME), needed=False)
    yield Attempt("send counters", subjects.cnt(_OTHER, _NAME), needed=False)


def _of_front(subjects: Subjects) -> Iterator[Attempt]:
    yield Attempt("read the view", subjects.view, needed=True, publishes=False)
    yield Attempt("ask the judge", subjects.ask(_NAME), needed=True)
    yield Attempt("report a view", subjects.view, needed=False)
    yield Attempt("receive questions of fronts", subjects.ask(), needed=False, publishes=False)
    yield Attempt("report a device", subjects.obs(_OTHER, _NAME), needed=False)
    yield Attempt("send counters", subjects.cnt(_OTHER, _NAME), needed=False)
    yield Attempt("be a live poller", subjects.live(_OTHER, _NAME), needed=False)
    yield Attempt("command pollers", subjects.cmd(_OTHER, _NAME), needed=False)
    yield Attempt("take the judge's lease", judge_lease(subjects), needed=False)
    yield Attempt("read the fabric's messages", f"{subjects.prefix}.>", needed=False, publishes=False)
    yield Attempt("see which pollers run", subjects.live("*"), needed=False, publishes=False)
    yield Attempt(
        f"read the stream {subjects.obs_stream}", f"{API}.CONSUMER.CREATE.{subjects.obs_stream}", needed=False
    )


class Refusals:
    """What the server has refused on a connection: `take` is its `error_cb`."""

    def __init__(self) -> None:
        self.last = ""

    async def take(self, error: Exception) -> None:
        """Takes an error of the connection."""
        self.last = str(error)


async def tried(client: Client, refusals: Refusals, attempt: Attempt) -> Tried:
    """Makes one attempt. The server reports a refusal before it answers the flush. Raises nats.errors.Error."""
    refusals.last = ""
    if attempt.publishes:
        order = attempt.subject.startswith(f"{API}.")
        headers, body = (None, _UNREADABLE) if order else (_HARMLESS, b"")
        await client.publish(attempt.subject, body, headers=headers)
        await answered(client)
    else:
        subscription = await client.subscribe(attempt.subject)
        await answered(client)
        if not refusals.last:
            await subscription.unsubscribe()
    return Tried(attempt, "permissions violation" in refusals.last.lower())


async def answered(client: Client) -> None:
    """Returns when the server has read all that was sent. nats-py's flush may overtake what still waits in memory."""
    while client.pending_data_size:
        await asyncio.sleep(0)
    await client.flush()
