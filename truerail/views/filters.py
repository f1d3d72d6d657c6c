"""Filters of lists. An unknown value is an error that names it, never an empty list."""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.columns import Codes, Mask
from truerail.model.names import printable
from truerail.views.nearest import Nearest
from truerail.views.view import View

T = TypeVar("T")
_MOST_REPORTED = 12


class Part(NamedTuple, Generic[T]):
    """A page of a list: its items, and the total number of items."""

    items: tuple[T, ...]
    total: int


def part(rows: Codes, offset: int, limit: int, make: Callable[[int], T]) -> Part[T]:
    """At most `limit` items of the rows from `offset` on; only these are made."""
    chosen = rows[max(offset, 0) : max(offset, 0) + max(limit, 0)]
    return Part(tuple(make(row) for row in chosen.tolist()), len(rows))


def one_of(what: str, text: str, known: Iterable[str]) -> frozenset[str]:
    """The requested values (several are separated by commas). Raises `QueryError` with the known values."""
    words, known_words = [word.strip() for word in text.split(",")], dict.fromkeys(filter(None, known))
    for word in words:
        if word not in known_words:
            few = len(known_words) <= _MOST_REPORTED
            hint = nearest(word, list(known_words)) if few else Nearest(known_words).hint(word)
            raise QueryError(f"{what} {printable(word, 80)!r} is not known{hint}")
    return frozenset(words)


def on_words(what: str, text: str | None, known: Iterable[str], words: Sequence[str], code: Codes) -> Mask | None:
    """Rows whose value, `words[code[row]]`, is requested; None without a filter."""
    if text is None:
        return None
    wanted = one_of(what, text, known)
    return np.asarray(np.array([word in wanted for word in words], dtype=bool)[code], dtype=bool)


def on_nodes(view: View, nodes: str | None, *devices: Codes) -> Mask | None:
    """Rows with a device in the node set; None without a filter."""
    if nodes is None:
        return None
    chosen = np.zeros(len(view.layout.devices) + 1, dtype=bool)
    chosen[view.nodes(nodes)] = True
    return np.asarray(np.any([chosen[device] for device in devices], axis=0), dtype=bool)


def on_rail(view: View, rail: int | None, rails: Codes) -> Mask | None:
    """Rows on a rail; None without a filter. Raises `QueryError` for a rail that is not in the plan."""
    if rail is None:
        return None
    known = np.unique(view.layout.rail[view.layout.rail >= 0]).tolist()
    if rail not in known:
        raise QueryError(f"rail {rail} is not known; known are {', '.join(map(str, known)) or 'none'}")
    return np.asarray(rails == rail, dtype=bool)


def rows_of(size: int, masks: Iterable[Mask | None]) -> Codes:
    """The rows that pass every filter, ascending."""
    keep = np.ones(size, dtype=bool)
    for mask in masks:
        if mask is not None:
            keep &= mask
    return np.flatnonzero(keep)
