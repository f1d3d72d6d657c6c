"""Column types, the same in SQLite and PostgreSQL.

Times are microseconds since 1970 in 8 bytes: exact, in order, and without time zone. Ids of findings and causes are
48-bit numbers. Words of a closed set are their index in it. Text is restricted to what both databases can store.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, SmallInteger, String
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_HEX = re.compile(r"[0-9a-f]{12}")
KEY_CHARACTERS = 512
"""Indexed text is cut here: PostgreSQL refuses index rows above 2,700 bytes."""


def microseconds(at: datetime) -> int:
    """Microseconds since 1970. Raises OverflowError for a time outside UTC's years: it could not be read back."""
    return (at.astimezone(UTC) - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The time this many microseconds after 1970, in UTC."""
    return _EPOCH + timedelta(0, 0, value)


def storable(text: str) -> str:
    """Text that both databases can store: PostgreSQL allows no NUL in text, UTF-8 no lone surrogates. Each becomes
    U+FFFD.
    """
    return _UNSTORABLE.sub("\ufffd", text)


def key_text(text: str) -> str:
    """Storable text for an index. Long text is cut, and its digest distinguishes it from others with the same start."""
    clean = storable(text)
    if len(clean) <= KEY_CHARACTERS:
        return clean
    return clean[: KEY_CHARACTERS - 16] + blake2s(clean.encode(), digest_size=8).hexdigest()


def digest(text: str) -> int:
    """A text's 64-bit hash as a signed number: the primary key of texts and places."""
    return int.from_bytes(blake2s(storable(text).encode(), digest_size=8).digest(), "big", signed=True)


def packed_ids(ids: Iterable[str]) -> bytes:
    """Ids of findings in 6 bytes each."""
    return b"".join(map(bytes.fromhex, ids))


def unpacked_ids(packed: bytes) -> tuple[str, ...]:
    """The inverse of `packed_ids`."""
    digits = packed.hex()
    return tuple(digits[start : start + 12] for start in range(0, len(digits), 12))


def is_id(text: str) -> bool:
    """Whether this is an id of a finding or the key of a cause."""
    return _HEX.fullmatch(text) is not None


class Utc(TypeDecorator[datetime]):
    """An aware time."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """To microseconds."""
        return None if value is None else microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """From microseconds."""
        return None if value is None else moment(value)


class HexId(TypeDecorator[str]):
    """Twelve hexadecimal digits."""

    impl = BigInteger().with_variant(Integer, "sqlite")
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> int | None:
        """To 48 bits."""
        return None if value is None else int(value, 16)

    def process_result_value(self, value: int | None, dialect: Dialect) -> str | None:
        """From 48 bits."""
        return None if value is None else f"{value:012x}"


class Word(TypeDecorator[str]):
    """One of a closed set of words. New words are only added at the end: databases contain their indexes."""

    impl = SmallInteger
    cache_ok = True

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__()
        self.words = tuple(str(word) for word in words)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> int | None:
        """To its index."""
        return None if value is None else self.words.index(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> str | None:
        """From its index."""
        return None if value is None else self.words[value]


class Words(TypeDecorator[str]):
    """Text of people and devices."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """To storable text."""
        return None if value is None else storable(value)


class Key(TypeDecorator[str]):
    """Text used for look-ups."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """To text that an index can store."""
        return None if value is None else key_text(value)
