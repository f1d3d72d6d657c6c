"""Rows of lists: filters, orders and pages. Each column that can be sorted by is an array of numbers over all rows: a
page costs one sort. An unknown value of a filter is an error that names it, never an empty list.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.names import printable
from truerail.views.findings import highest_at
from truerail.views.layout import Nearest
from truerail.views.view import View, view_of

Keys = Mapping[str, Callable[[View], npt.ArrayLike]]
"""By column: the sort key of each row of the whole list; -1 where there is no value. Shape (rows,)."""
STATE_ORDER = {State.WRONG: 0, State.MISSING: 1, State.UNKNOWN: 2, State.RIGHT: 3}
T = TypeVar("T")
_MOST_REPORTED = 12


class Part(NamedTuple, Generic[T]):
    """A page of a list: its items, and the total number of items."""

    items: tuple[T, ...]
    total: int


@dataclass(frozen=True)
class RowList(Generic[T]):
    """A list: all its rows in their order, filters on columns by name, columns to sort by, the lower-case text in which
    words are searched, and how a row is made.
    """

    order: Callable[[View], Codes]
    filters: Mapping[str, Callable[[View, Any], Mask]]
    line: Callable[[View, int], T]
    keys: Keys = field(default_factory=dict)
    words: Callable[[View], Sequence[str]] | None = None

    def __call__(
        self,
        publication: Published,
        *,
        text: str | None = None,
        sort: str | None = None,
        offset: int = 0,
        limit: int = 100,
        **given: Any,
    ) -> Part[T]:
        """The rows that pass every filter and have every word of the text: `limit` of them from `offset` on. Filters
        that are None are not set. Raises `QueryError` for an unknown value of a filter.
        """
        view = view_of(publication)
        rows = self.order(view)
        for name, value in given.items():
            if value is not None:
                rows = rows[self.filters[name](view, value)[rows]]
        if self.words and text and (wanted := text.lower().split()):
            words = self.words(view)
            rows = rows[[all(word in words[row] for word in wanted) for row in rows.tolist()]]
        rows = arranged(view, rows, self.keys, sort)
        chosen = rows[max(offset, 0) : max(offset, 0) + max(limit, 0)]
        return Part(tuple(self.line(view, row) for row in chosen.tolist()), len(rows))


def arranged(view: View, rows: Codes, keys: Keys, sort: str | None) -> Codes:
    """These rows, sorted by a column (`-` in front: from the highest). Equal ones keep their order; those without a
    value come last. Raises `QueryError` for a column that cannot be sorted by.
    """
    if sort is None:
        return rows
    column = sort.removeprefix("-")
    if column not in keys:
        raise QueryError(f"cannot sort by {printable(column, 80)!r}{nearest(column, list(keys))}")
    key = np.asarray(keys[column](view), dtype=np.float64)[rows]
    ranked = np.where(key == NONE, np.inf, -key if sort.startswith("-") else key)
    return np.asarray(rows[np.argsort(ranked, kind="stable")], dtype=np.int64)


def of_device(values: Codes, device: Codes) -> Codes:
    """A value of each row's device; -1 for devices that the plan does not have."""
    return np.asarray(np.append(values, NONE)[np.where(device < len(values), device, NONE)], dtype=np.int64)


def findings_on_cables(view: View) -> Codes:
    """The number of findings of each cable, shape (cables,)."""
    cable = view.findings.cable
    return np.bincount(cable[cable >= 0], minlength=len(view.layout.rail))


def findings_on_ports(view: View) -> Codes:
    """The number of findings of each port of `switch_ports`: on itself, and on the nearer end of its cable."""
    port = view.findings.port
    number = np.bincount(port[port >= 0], minlength=len(view.index.ports))
    ports, near = _ports_and_near(view)
    return np.asarray(number[ports] + np.where(near == ports, 0, number[near]), dtype=np.int64)


def severity_on_ports(view: View) -> Codes:
    """The highest `Severity.rank` of these findings, -1 without any."""
    worst = highest_at(view.findings.port, view.findings.rank, len(view.index.ports))
    ports, near = _ports_and_near(view)
    return np.maximum(worst[ports], worst[near])


def _ports_and_near(view: View) -> tuple[Codes, Codes]:
    """The ports of `switch_ports`, and the nearer end of the cable planned at each, itself without one."""
    ports, _ = view.sight.switch_ports
    cable = view.index.cables_at(ports)
    return ports, np.where(cable >= 0, view.index.a[cable], ports)


def states(view: View) -> Codes:
    """Each cable's state: wrong, missing, unknown, right. Shape (cables,)."""
    order = np.array([STATE_ORDER[state] for state in State], dtype=np.int64)
    return order[view.wiring.state]


def one_of(what: str, text: str, known: Iterable[str]) -> frozenset[str]:
    """The requested values (several are separated by commas). Raises `QueryError` with the known values."""
    words, known_words = [word.strip() for word in text.split(",")], dict.fromkeys(filter(None, known))
    for word in words:
        if word not in known_words:
            few = len(known_words) <= _MOST_REPORTED
            hint = nearest(word, list(known_words)) if few else Nearest(known_words).hint(word)
            raise QueryError(f"{what} {printable(word, 80)!r} is not known{hint}")
    return frozenset(words)


def on_words(what: str, text: str, known: Iterable[str], words: Sequence[str], code: Codes) -> Mask:
    """Rows whose value, `words[code[row]]`, is requested."""
    wanted = one_of(what, text, known)
    return np.asarray(np.array([word in wanted for word in words], dtype=bool)[code], dtype=bool)


def on_nodes(view: View, nodes: str, *devices: Codes) -> Mask:
    """Rows with a device in the node set."""
    chosen = np.zeros(len(view.layout.devices) + 1, dtype=bool)
    chosen[view.nodes(nodes)] = True
    return np.asarray(np.any([chosen[device] for device in devices], axis=0), dtype=bool)


def on_rail(view: View, rail: int, rails: Codes) -> Mask:
    """Rows on a rail. Raises `QueryError` for a rail that is not in the plan."""
    known = distinct(view.layout.rail[view.layout.rail >= 0]).tolist()
    if rail not in known:
        raise QueryError(f"rail {rail} is not known; known are {', '.join(map(str, known)) or 'none'}")
    return np.asarray(rails == rail, dtype=bool)
