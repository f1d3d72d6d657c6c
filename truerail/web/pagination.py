"""Long lists in parts: `{"items": [...], "total": N, "next": cursor or null}`.

A cursor stays good while new evaluations arrive. Within one publication it is a place in the list. In a later one the
list goes on behind the last row that was given, or the one before it where that is gone, wherever it stands now within
some hundred rows: no row that kept its place in the order is given twice or left out. Where none of the last rows is
found, nobody can tell where to go on: the answer is 410, and the list has to be read from its begin.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as BadBase64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson

from truerail.errors import CursorError, ListChangedError

T = TypeVar("T")
MOST_ROWS = 1000
"""Rows in one answer."""
_REMEMBERED = 4
"""Rows before a cursor that it can be found again by."""
_NEAR = 500
"""Rows before and behind its old place among which a row is looked for."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list. `total` counts the rows of the whole list; None where that is not known."""

    items: Sequence[T]
    total: int | None
    next: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a list is wanted. `question` tells lists apart: the path and its filters."""

    limit: int
    cursor: str | None
    question: str


Fetch = Callable[[int, int], tuple[Sequence[T], int]]
"""The rows of a list from an offset on, at most so many; and how many the whole list has."""


def fetch_from(rows: Sequence[T]) -> Fetch[T]:
    """A list that is there as a whole."""
    return lambda offset, limit: (rows[offset : offset + limit], len(rows))


def page(fetch: Fetch[T], key: Callable[[T], str], serial: str, part: PageRequest) -> Page[T]:
    """The rows behind a cursor. `key` names a row over publications; `serial` names the publication of the list.

    Raises CursorError, ListChangedError.
    """
    start = _start(fetch, key, serial, part) if part.cursor else 0
    items, total = fetch(start, part.limit)
    end = start + len(items)
    if not items or end >= total:
        return Page(items, total, None)
    known = [key(row) for row in items[-_REMEMBERED:]]
    return Page(items, total, pack([part.question, serial, end, *known]))


def _start(fetch: Fetch[T], key: Callable[[T], str], serial: str, part: PageRequest) -> int:
    _, of, place, *known = unpack(part, str, int)
    if of == serial:
        return max(int(place), 0)
    first = max(int(place) - _NEAR, 0)
    rows, _ = fetch(first, 2 * _NEAR)
    number = {key(row): number for number, row in enumerate(rows, first)}
    for word in reversed(known):
        if word in number:
            return number[word] + 1
    raise ListChangedError(
        "the rows that this cursor stands at are gone from their place: read the list from its begin"
    )


def pack(values: Sequence[Any]) -> str:
    """A cursor: opaque to whoever gets it."""
    return urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def unpack(part: PageRequest, *kinds: type) -> list[Any]:
    """What was packed for this question: its name, values of these kinds, then text. Raises CursorError."""
    cursor = part.cursor or ""
    try:
        values = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (BadBase64, ValueError):
        values = None
    found = values if isinstance(values, list) else []
    shape = (str, *kinds, *(str,) * (len(found) - len(kinds) - 1))
    if list(map(type, found)) != list(shape) or found[0] != part.question:
        raise CursorError(f"{cursor!r} is no cursor of this list: take `next` of an answer, or none for the begin")
    return found
