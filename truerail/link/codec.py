"""Bytes to messages and back. What cannot be understood raises `BusMessageError`, whatever the bytes are."""

import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from sys import intern
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import Raw

from truerail.errors import BusMessageError, BusSchemaError, OutOfBoundsError
from truerail.link.messages import SCHEMA, Envelope, KindRows, Origin
from truerail.model import KINDS, Fact
from truerail.model.bounds import bounded

# ----------------------------------------------------------------------------------------------------------------------
# Bytes to messages and back. What cannot be understood raises `BusMessageError`, whatever the bytes are.

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


# ----------------------------------------------------------------------------------------------------------------------
# Rows: the facts of one answer.

_KINDS: dict[str, Any] = {kind.__name__: list[kind] for kind in KINDS}  # type: ignore[valid-type]  # of the catalogue


def rows_of(facts: Iterable[Fact]) -> list[KindRows]:
    """The facts of one answer, by runs of the same kind."""
    return [KindRows(kind.__name__, Raw(pack(list(group)))) for kind, group in groupby(facts, type)]


def facts_of(rows: Sequence[KindRows]) -> tuple[Fact, ...]:
    """The facts. Raises BusMessageError."""
    facts: list[Fact] = []
    for one in rows:
        if one.kind not in _KINDS:
            raise BusMessageError(f"facts of an unknown kind {one.kind[:40]!r}")
        try:
            facts += bounded([row._make(map(_shared, row)) for row in unpack(_KINDS[one.kind], one.rows)])
        except (OutOfBoundsError, TypeError) as error:
            raise BusMessageError(f"facts of kind {one.kind}: {error}") from None
    return tuple(facts)


def _shared(value: Any) -> Any:
    """The same object for equal texts: hosts of one kind have the same names of GPUs, NICs and ports."""
    return intern(value) if type(value) is str else value


# ----------------------------------------------------------------------------------------------------------------------
# Many facts alike in few bytes: each kind column by column, each column as its distinct values and their places.
#
# A job's connections differ in few fields, so half a million of them fit into one request.

_MOST_PACKED_BYTES = 32 << 20
"""Uncompressed."""
MOST_FACTS = 1_000_000
_MOST_LISTED = 10_000_000
"""Values in all lists of all facts, such as the ranks of a ring."""


class Room:
    """The facts, and values in their lists, that one message may still have."""

    def __init__(self) -> None:
        self._facts, self._listed = MOST_FACTS, _MOST_LISTED

    def take(self, facts: int, listed: int) -> None:
        """Takes room. Raises BusMessageError if there is not enough."""
        self._facts, self._listed = self._facts - facts, self._listed - listed
        if self._facts < 0:
            raise BusMessageError(f"more than {MOST_FACTS:,} facts")
        if self._listed < 0:
            raise BusMessageError(f"lists of more than {_MOST_LISTED:,} values")


class _Column(msgspec.Struct, array_like=True, frozen=True):
    values: list[Any]
    places: list[int]


class _Kind(msgspec.Struct, array_like=True, frozen=True):
    kind: str
    columns: list[_Column]


_BY_NAME: dict[str, type[Any]] = {kind.__name__: kind for kind in KINDS}


def packed(facts: Iterable[Fact]) -> bytes:
    """The facts, sorted by kind."""
    found = []
    for kind, alike in groupby(sorted(facts, key=_kind_name), _kind_name):
        columns = []
        for column in zip(*alike, strict=True):
            values = {value: place for place, value in enumerate(dict.fromkeys(column))}
            columns.append((list(values), [values[value] for value in column]))
        found.append((kind, columns))
    return zlib.compress(pack(found), 6)


def unpacked(data: bytes, kinds: Sequence[type[Fact]], room: Room | None = None) -> tuple[Fact, ...]:
    """The facts, those of other kinds left out; `room` is shared by all of one message. Raises BusMessageError."""
    room = room or Room()
    allowed = {kind.__name__ for kind in kinds}
    try:
        found = unpack(list[_Kind], inflated(data, _MOST_PACKED_BYTES, "packed facts"))
        facts: list[Fact] = []
        for one in found:
            if one.kind in allowed:
                facts += bounded(_rows(_BY_NAME[one.kind], one.columns, room))
    except (msgspec.MsgspecError, OutOfBoundsError, TypeError, ValueError) as error:
        raise BusMessageError(f"not packed facts: {error}") from None
    return tuple(facts)


def _kind_name(fact: Fact) -> str:
    return type(fact).__name__


def _rows(kind: type[Any], columns: Sequence[_Column], room: Room) -> list[Any]:
    fields = kind._fields
    if len(columns) < len(fields):
        raise BusMessageError(f"facts of kind {kind.__name__} without {fields[len(columns)]}")
    room.take(max(len(one.places) for one in columns), 0)
    hints = get_type_hints(kind)
    ready = []
    for name, column in zip(fields, columns, strict=False):
        values = msgspec.convert(column.values, list[hints[name]])  # type: ignore[valid-type]
        if column.places and not 0 <= min(column.places) <= max(column.places) < len(values):
            raise BusMessageError(f"a {name} of {kind.__name__} that the facts do not have")
        lengths = [len(value) if isinstance(value, tuple) else 0 for value in values]
        room.take(0, sum(lengths[place] for place in column.places) if any(lengths) else 0)
        ready.append([values[place] for place in column.places])
    return list(map(kind._make, zip(*ready, strict=True)))
