"""Messages between judge and front: a head in JSON and a body in bytes, each preceded by its length.

front to judge   hello {after}                what follows: events after this number, then everything else
                 ask {id, method, path, query, headers, caller} + body
                 audit {id, who, action, detail}
judge to front   answer {id, status, headers} + body
                 failed {id, error}           the error of an audit, in words
                 event {number, event} + data
                 away {id, error}             on a front's own machine: why the judge gave no answer, in words
                 alive {written, figures, problem}     each second; `written` is False while the view lacks an
                                              evaluation, `problem` says what keeps another machine from the judge
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any

import orjson

from truerail.errors import JudgeUnavailableError

MOST_BYTES = 256 << 20
"""Of a body: the topology of 100,000 GPUs has a tenth of it."""
ALIVE_SECONDS = 1.0
_SIZES = Struct(">II")


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its kind, its fields and its body."""

    kind: str
    fields: Mapping[str, Any]
    body: bytes = b""

    def framed(self) -> bytes:
        """As it is sent."""
        head = orjson.dumps({"kind": self.kind, **self.fields})
        return _SIZES.pack(len(head), len(self.body)) + head + self.body


async def received(reader: asyncio.StreamReader) -> Message:
    """The next message. Raises JudgeUnavailableError at the end of the connection, and for what is no message."""
    try:
        head_size, body_size = _SIZES.unpack(await reader.readexactly(_SIZES.size))
        if head_size + body_size > MOST_BYTES:
            raise JudgeUnavailableError(f"a message of {head_size + body_size:,} bytes")
        fields = orjson.loads(await reader.readexactly(head_size))
        body = await reader.readexactly(body_size)
        return Message(fields.pop("kind"), fields, body)
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        raise JudgeUnavailableError("the connection has ended") from error
    except (ValueError, KeyError, AttributeError) as error:
        raise JudgeUnavailableError("not a message") from error
