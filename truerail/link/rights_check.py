"""Whether the bus refuses what it must refuse, and accepts what a role needs: by trying it.

No attempt has an effect, also where the server accepts it: publications into streams expect another stream, and orders
to JetStream have a body that it cannot read.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from nats.aio.client import Client

from truerail.link.rights import API, POLLER, Right, rights
from truerail.link.subjects import Subjects

_NAME, _OTHER = "truerail-bus-check", "truerail-bus-check-other-zone"
_HARMLESS = {"Nats-Expected-Stream": _NAME}
"""JetStream stores a message with this header in a stream of this name alone, which does not exist."""
_UNREADABLE = b"this is no request"


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt, whether the role needs it, and whether the server refused it."""

    attempt: Right
    needed: bool
    refused: bool

    @property
    def good(self) -> bool:
        """Whether the server did what it must."""
        return self.refused is not self.needed

    @property
    def verdict(self) -> str:
        """In words."""
        if self.needed:
            return "REFUSED, but needed" if self.refused else "accepted as it must be"
        return "refused as it must be" if self.refused else "NOT refused"


def attempts(subjects: Subjects, role: str, zone: str) -> Iterator[Right]:
    """Those of a role; of a poller those of `zone`. What another role alone may do is tried as well."""
    yield from rights(subjects, zone or _OTHER)
    if role == POLLER:
        for one in rights(subjects, _OTHER):
            if _OTHER in one.words:
                yield Right(one.words.replace(f"zone {_OTHER}", "another zone"), one.subject, (), one.publishes)
    yield Right("send answers as an agent", subjects.raw(zone or _OTHER), ())
    for verb, stream in (
        ("delete", subjects.obs_stream),
        ("purge", subjects.obs_stream),
        ("change", subjects.obs_stream),
        ("delete", subjects.live_stream),
    ):
        order = "UPDATE" if verb == "change" else verb.upper()
        yield Right(f"{verb} the stream {stream}", f"{API}.STREAM.{order}.{stream}", ())
    yield Right("read replies to others", "_INBOX.>", (), publishes=False)


class Refusals:
    """What the server has refused on a connection: `take` is its `error_cb`."""

    def __init__(self) -> None:
        self.last = ""

    async def take(self, error: Exception) -> None:
        """Takes an error of the connection."""
        self.last = str(error)


async def tried(client: Client, refusals: Refusals, attempt: Right, needed: bool) -> Tried:
    """Makes one attempt: to publish to one of the subjects, or to receive all of them. The server reports a refusal
    before it answers the flush. Raises nats.errors.Error.
    """
    refusals.last = ""
    if attempt.publishes:
        subject = attempt.subject.replace("*", _NAME).replace(">", _NAME)
        order = subject.startswith(f"{API}.")
        headers, body = (None, _UNREADABLE) if order else (_HARMLESS, b"")
        await client.publish(subject, body, headers=headers)
        await answered(client)
    else:
        subscription = await client.subscribe(attempt.subject)
        await answered(client)
        if not refusals.last:
            await subscription.unsubscribe()
    return Tried(attempt, needed, "permissions violation" in refusals.last.lower())


async def answered(client: Client) -> None:
    """Returns when the server has read all that was sent. nats-py's flush may overtake what still waits in memory."""
    while client.pending_data_size:
        await asyncio.sleep(0)
    await client.flush()
