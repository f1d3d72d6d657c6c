"""The messages of agents on hosts, as JSON: the answers as their commands gave them, by zlib and base64.

An agent is believed on its own host alone, which is that of the subject: no message names a device, or a command. What
it sends is bounded here, before anything of it is held.
"""

import math

import msgspec
from msgspec import Struct

from truerail.errors import BusMessageError, BusSchemaError

SCHEMA = 2
MOST_MESSAGE_BYTES = 4 << 20
MOST_ANSWERS = 2000
"""In one message: no agent has so many commands."""
_LONGEST_COMPLAINT = 400
_SECONDS = (0.0, 1e9)


class Answered(Struct, frozen=True):
    """One answer: the `status` of its command, its compressed text, `why` there is none."""

    id: str
    version: int
    status: int
    why: str
    complaint: str
    took: float
    text: bytes


class RawMessage(Struct, frozen=True):
    """A message. `sent` is in seconds of a clock of the agent that never goes back; `held` has the id, version
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


_MESSAGE = msgspec.json.Decoder(RawMessage)


def raw_message(data: bytes) -> RawMessage:
    """Reads a message. Raises BusMessageError, and BusSchemaError for one of another version."""
    if len(data) > MOST_MESSAGE_BYTES:
        raise BusMessageError(f"a message of an agent of {len(data):,} bytes, more than {MOST_MESSAGE_BYTES:,}")
    try:
        message = _MESSAGE.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BusMessageError(f"not a message of an agent: {error}") from None
    if message.schema != SCHEMA:
        raise BusSchemaError(f"an agent writes schema {message.schema}, this one reads {SCHEMA}: build the agent again")
    if len(message.answers) > MOST_ANSWERS or len(message.held) > MOST_ANSWERS:
        raise BusMessageError(f"a message of an agent with more than {MOST_ANSWERS:,} answers")
    times = [message.sent, *(one.took for one in message.answers), *(age for _, _, age in message.held)]
    if not all(math.isfinite(one) and _SECONDS[0] <= one <= _SECONDS[1] for one in times):
        raise BusMessageError("a message of an agent with a time that cannot be")
    if len(message.start) > 64 or any(
        len(one.complaint) + len(one.why) > 2 * _LONGEST_COMPLAINT for one in message.answers
    ):
        raise BusMessageError("a message of an agent with a text that is too long")
    return message
