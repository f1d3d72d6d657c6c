"""The messages of agents on hosts: a line of JSON, and behind it the answers as their commands gave them, by zlib.

An agent is believed on its own host alone, which is that of the subject: no message names a device, or a command. What
it sends is bounded here, before anything of it is held.
"""

import math
from dataclasses import dataclass
from hashlib import blake2b

import msgspec
from msgspec import Struct

from truerail.errors import BusMessageError, BusSchemaError

SCHEMA = 1
MOST_HEAD_BYTES, MOST_MESSAGE_BYTES = 256 << 10, 4 << 20
MOST_ANSWERS = 2000
"""In one message: no agent has so many commands."""
_LONGEST_COMPLAINT = 400
_SECONDS = (0.0, 1e9)


class Answered(Struct, frozen=True):
    """The head of one answer: `size` of its compressed text, `status` of its command, `why` there is none."""

    id: str
    version: int
    status: int
    why: str
    complaint: str
    took: float
    size: int


class Head(Struct, frozen=True):
    """The line of JSON. `sent` is in seconds of a clock of the agent that never goes back; `held` has the id, version
    and age of each answer that it has; `more` says that another part follows; `begins` that not every
    question was asked once; `ends` that the agent stops.
    """

    schema: int
    start: str
    number: int
    sent: float
    agent: str = ""
    event: bool = False
    more: bool = False
    begins: bool = False
    ends: bool = False
    held: list[tuple[str, int, float]] = []
    answers: list[Answered] = []


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message, and the compressed text of each of its answers."""

    head: Head
    texts: tuple[bytes, ...]


_HEAD = msgspec.json.Decoder(Head)


def command_id(command: str) -> str:
    """A command as messages name it: 16 hexadecimal digits."""
    return blake2b(command.encode(), digest_size=8).hexdigest()


def raw_message(data: bytes) -> RawMessage:
    """Reads a message. Raises BusMessageError, and BusSchemaError for one of another version."""
    if len(data) > MOST_MESSAGE_BYTES:
        raise BusMessageError(f"a message of an agent of {len(data):,} bytes, more than {MOST_MESSAGE_BYTES:,}")
    line, found, rest = data.partition(b"\n")
    if not found or len(line) > MOST_HEAD_BYTES:
        raise BusMessageError("a message of an agent without a head")
    try:
        head = _HEAD.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BusMessageError(f"not a message of an agent: {error}") from None
    if head.schema != SCHEMA:
        raise BusSchemaError(f"an agent writes schema {head.schema}, this one reads {SCHEMA}: build the agent again")
    sizes = [one.size for one in head.answers]
    if any(size < 0 for size in sizes) or sum(sizes) != len(rest):
        raise BusMessageError("a message of an agent whose answers are not as long as it says")
    if len(sizes) > MOST_ANSWERS or len(head.held) > MOST_ANSWERS:
        raise BusMessageError(f"a message of an agent with more than {MOST_ANSWERS:,} answers")
    times = [head.sent, *(one.took for one in head.answers), *(age for _, _, age in head.held)]
    if not all(math.isfinite(one) and _SECONDS[0] <= one <= _SECONDS[1] for one in times):
        raise BusMessageError("a message of an agent with a time that cannot be")
    if len(head.start) > 64 or any(len(one.complaint) + len(one.why) > 2 * _LONGEST_COMPLAINT for one in head.answers):
        raise BusMessageError("a message of an agent with a text that is too long")
    ends = [sum(sizes[: n + 1]) for n in range(len(sizes))]
    return RawMessage(head, tuple(rest[end - size : end] for end, size in zip(ends, sizes, strict=True)))
