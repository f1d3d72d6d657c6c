"""Messages between the judge that leads and fronts on other machines, as msgpack. Fields are only ever added.

judge, on `view`        Notice: what its view is now, each second and at each change
front, on `ask.RUN`     Question; the reply is an Answer. What is larger than a message comes in parts: the first one
                        with the Answer, the others by questions of the kind `rest`
"""

import zlib
from typing import Any, TypeVar

import msgspec

from truerail.bus.codec import pack, unpacked
from truerail.errors import BusMessageError

T = TypeVar("T")
MOST_BYTES = 1 << 30
"""Of a view or an answer, uncompressed: the view of 100,000 GPUs has a fifth of it."""
VIEW, ASK, AUDIT, REST = "view", "ask", "audit", "rest"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """The judge, its run and epoch, its release and its view's format, the last write of its view and its last event;
    whether the view has the newest evaluation, and the judge's own metrics.
    """

    judge: str
    run: str
    epoch: int
    release: str
    format: str
    written: int
    event: int
    current: bool
    figures: dict[str, float] = {}


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """VIEW has the fields `since` and `after`: the last write and the last event that the front has. ASK is a request
    that the front has let in, AUDIT a record; REST has the fields `answer` and `offset`. `id` names it in logs.
    """

    id: str
    kind: str
    fields: dict[str, Any]
    body: bytes = b""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """`refused` says why the judge did nothing, `failed` what went wrong. `body` is the part at the offset that was
    asked, of `size` bytes; `answer` names what the rest is asked by.
    """

    fields: dict[str, Any] = {}
    body: bytes = b""
    size: int = 0
    answer: str = ""
    refused: str = ""
    failed: str = ""


class Event(msgspec.Struct, frozen=True):
    """An event of the judge."""

    number: int
    kind: str
    data: bytes


class View(msgspec.Struct, frozen=True):
    """The body of the answer to VIEW: `changes` is packed and compressed; the events are those after `after`."""

    changes: bytes
    events: list[Event]


_DECODERS: dict[type, Any] = {}


def unpack(kind: type[T], data: bytes) -> T:
    """A message or a body of this type. Raises BusMessageError."""
    decoder: msgspec.msgpack.Decoder[T] = _DECODERS.get(kind) or msgspec.msgpack.Decoder(kind)
    _DECODERS[kind] = decoder
    return unpacked(data, decoder, kind.__name__)


def squeezed(value: Any) -> bytes:
    """A body as msgpack, compressed."""
    return zlib.compress(pack(value), 1)


def expanded(kind: type[T], data: bytes) -> T:
    """What `squeezed` made. Raises BusMessageError."""
    stream = zlib.decompressobj()
    try:
        inner = stream.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise BusMessageError(f"not a {kind.__name__}: {error}") from None
    if not stream.eof:
        raise BusMessageError(f"a {kind.__name__} that is cut short, or has more than {MOST_BYTES:,} bytes")
    return unpack(kind, inner)
