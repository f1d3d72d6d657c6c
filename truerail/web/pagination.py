"""Long lists in pages: `{"items": [...], "total": N, "next": cursor or null}`.

A cursor stays valid while new evaluations arrive. Within one publication it is a position in the list. In a later one
the list continues after the last returned row, or the one before it if that is gone, at its present position within
some hundred rows: no row that kept its order is repeated or omitted. If none of the last rows is found, the position is
lost: the answer is 410, and the list has to be read from its start.
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
"""Number of rows before a cursor by which it can be found again."""
_NEAR = 500
"""Rows before and after its old position that are searched for a row."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list. `total` is the number of rows of the whole list; None if unknown."""

    items: Sequence[T]
    total: int | None
    next: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested page of a list. `question` identifies the list: the path and its filters. `offset` is the first row
    without a cursor.
    """

    limit: int
    cursor: str | None
    question: str
    offset: int = 0


Fetch = Callable[[int, int], tuple[Sequence[T], int]]
"""The rows of a list from an offset on, up to a limit, and the number of rows of the whole list."""


def whole(rows: Sequence[T]) -> Page[T]:
    """A list that is short enough for one page."""
    return Page(rows, len(rows), None)


def fetch_from(rows: Sequence[T]) -> Fetch[T]:
    """A fetch function over a complete list."""
    return lambda offset, limit: (rows[offset : offset + limit], len(rows))


def page(fetch: Fetch[T], key: Callable[[T], str], serial: str, part: PageRequest) -> Page[T]:
    """The rows after a cursor. `key` names a row over publications; `serial` names the publication of the list.

    Raises CursorError, ListChangedError.
    """
    start = _start(fetch, key, serial, part) if part.cursor else part.offset
    items, total = fetch(start, part.limit)
    end = start + len(items)
    if not items or end >= total:
        return Page(items, total, None)
    return Page(items, total, pack([part.question, serial, end, *map(key, items[-_REMEMBERED:])]))


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
    raise ListChangedError("the rows at this cursor are gone: read the list from its start")


def pack(values: Sequence[Any]) -> str:
    """An opaque cursor."""
    return urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def unpack(part: PageRequest, *kinds: type) -> list[Any]:
    """The packed values of this request's cursor: values of these kinds, then text. Raises CursorError."""
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
