"""Bytes to messages and back. What cannot be understood raises `BusMessageError`, whatever the bytes are."""

import zlib
from typing import Any, TypeVar

import msgspec

from truerail.bus.messages import BODIES, COUNTS, SCHEMA, Envelope
from truerail.errors import BusMessageError, BusSchemaError

T = TypeVar("T")
MOST_BYTES = 64 << 20
"""Of a message, uncompressed: a listing of an entire InfiniBand fabric has some 60 MB as text, and less as facts."""

_ENCODER = msgspec.msgpack.Encoder()
_ENVELOPE = msgspec.msgpack.Decoder(Envelope)
_BODY = {kind: msgspec.msgpack.Decoder(body) for kind, body in BODIES.items()}


def pack(value: Any) -> bytes:
    """A body, or a part of one, as msgpack."""
    return _ENCODER.encode(value)


def sealed(envelope: Envelope, body: Any) -> bytes:
    """A message with this body; that of `envelope` is ignored."""
    inner = pack(body)
    if envelope.kind == COUNTS:
        inner = pack(zlib.compress(inner, 1))
    return pack(msgspec.structs.replace(envelope, body=msgspec.Raw(inner)))


def opened(data: bytes) -> Envelope:
    """The envelope of a message. Raises BusMessageError, and BusSchemaError if a version wrote it that this one cannot
    read.
    """
    if len(data) > MOST_BYTES:
        raise BusMessageError(f"a message of {len(data):,} bytes, more than {MOST_BYTES:,}")
    envelope = unpacked(data, _ENVELOPE, "envelope")
    if envelope.schema != SCHEMA:
        raise BusSchemaError(
            f"poller {envelope.poller!r} of zone {envelope.zone!r} writes schema {envelope.schema}, this version reads "
            f"{SCHEMA}: upgrade the judge first, then the pollers"
        )
    return envelope


def body_of(envelope: Envelope) -> Any:
    """The body, of the type that `BODIES` has for its kind; None if this version does not know the kind. Raises
    BusMessageError.
    """
    decoder = _BODY.get(envelope.kind)
    if decoder is None:
        return None
    inner = bytes(envelope.body)
    return unpacked(_inflated(inner) if envelope.kind == COUNTS else inner, decoder, envelope.kind)


def unpacked(data: bytes | msgspec.Raw, decoder: "msgspec.msgpack.Decoder[T]", what: str) -> T:
    """What `decoder` makes of `data`. Raises BusMessageError."""
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BusMessageError(f"not a message of kind {what}: {error}") from None


_BYTES = msgspec.msgpack.Decoder(bytes)


def _inflated(inner: bytes) -> bytes:
    """zlib's content, which must end where it says and stay below `MOST_BYTES`."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(unpacked(inner, _BYTES, COUNTS), MOST_BYTES)
    except zlib.error as error:
        raise BusMessageError(f"not a message of kind {COUNTS}: {error}") from None
    if not stream.eof:
        raise BusMessageError(f"a message of kind {COUNTS} that is cut short, or has more than {MOST_BYTES:,} bytes")
    return data
