"""Bytes to messages and back. What cannot be understood raises `BusMessageError`, whatever the bytes are."""

import zlib
from functools import cache
from typing import Any, TypeVar

import msgspec

from truerail.errors import BusMessageError, BusSchemaError
from truerail.link.messages import SCHEMA, Envelope, Origin

T = TypeVar("T")
MOST_BYTES = 64 << 20
"""Of a poller's message, uncompressed: a listing of an entire InfiniBand fabric has some 60 MB as text, and less as
facts.
"""
MOST_VIEW_BYTES = 1 << 30
"""Of a view, uncompressed: that of 100,000 GPUs has a fifth of it."""

pack = msgspec.msgpack.Encoder().encode


def unpack(kind: type[T], data: bytes | msgspec.Raw) -> T:
    """A message of this type. Raises BusMessageError."""
    try:
        found: T = _decoder(kind).decode(data)  # type: ignore[arg-type]  # types are hashable
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BusMessageError(f"not a message of kind {getattr(kind, '__name__', kind)}: {error}") from None
    return found


def opened(data: bytes) -> Envelope:
    """A poller's message. Raises BusMessageError, and BusSchemaError for one of another version."""
    if len(data) > MOST_BYTES:
        raise BusMessageError(f"a message of {len(data):,} bytes, more than {MOST_BYTES:,}")
    origin = unpack(Origin, data)
    if origin.schema != SCHEMA:
        raise BusSchemaError(
            f"poller {origin.poller!r} of zone {origin.zone!r} writes schema {origin.schema}, this version reads "
            f"{SCHEMA}: upgrade judges and pollers to one release"
        )
    return unpack(Envelope, data)


def squeezed(value: Any) -> bytes:
    """A message, compressed."""
    return zlib.compress(pack(value), 1)


def expanded(kind: type[T], data: bytes) -> T:
    """What `squeezed` made. Raises BusMessageError."""
    return unpack(kind, inflated(data, MOST_VIEW_BYTES, kind.__name__))


def inflated(data: bytes, most_bytes: int, what: str) -> bytes:
    """The content of zlib, which must end where it says. Raises BusMessageError."""
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, most_bytes)
    except zlib.error as error:
        raise BusMessageError(f"{what}: damaged: {error}") from None
    if not stream.eof:
        raise BusMessageError(f"{what}: cut short, or more than {most_bytes:,} bytes")
    return found


@cache
def _decoder(kind: Any) -> "msgspec.msgpack.Decoder[Any]":
    return msgspec.msgpack.Decoder(kind)
