"""Columns: names of array types, and values as numbers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Objects = npt.NDArray[np.object_]
Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
Array = npt.NDArray[Any]
NONE = -1
"""The code of a missing value."""
Key = TypeVar("Key")
Value = TypeVar("Value")
PIECE = 1 << 14
"""Rows processed in one step: a millisecond or two."""


def equals(column: Objects, value: Any) -> Mask:
    """Where a column of objects equals a value (also None). Shape of the column."""
    return np.asarray(np.equal(column, value), dtype=bool)


def either(where: Mask, yes: Any, no: Any) -> Objects:
    """A column of objects, chosen row by row."""
    return np.asarray(np.where(where, yes, no), dtype=object)


def ratio(part: Any, whole: Any) -> Array:
    """One column by another; NaN or infinite where the whole is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(part / whole)


class Numbering(dict[Any, int]):
    """Numbers values in order of appearance, after those that are given. None is -1."""

    def __init__(self, distinct: Iterable[Any] = ()) -> None:
        super().__init__({None: NONE})
        self.update((value, number) for number, value in enumerate(distinct))

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self) - 1
        return number

    @property
    def distinct(self) -> list[Any]:
        """The values in the order of their numbers."""
        return list(self)[1:]


def mapped(number: Callable[[Any], int], values: Iterable[Any]) -> Codes:
    """A number for each value. In pieces of some milliseconds: a whole fabric's names in one step would block every
    other thread of the process for a twentieth of a second.
    """
    known: Any = values if isinstance(values, list | np.ndarray) else list(values)
    found = np.empty(len(known), dtype=np.int64)
    for start in range(0, len(known), PIECE):
        part = known[start : start + PIECE]
        found[start : start + len(part)] = np.fromiter(map(number, part), dtype=np.int64, count=len(part))
    return found


def looked_up(numbers: Mapping[Any, int], values: Objects) -> Codes:
    """The number of each value, -1 for values without one."""
    found = np.empty(len(values), dtype=np.int64)
    for start in range(0, len(values), PIECE):  # in pieces, as above
        part = values[start : start + PIECE]
        found[start : start + len(part)] = np.fromiter(map(numbers.get, part, repeat(NONE)), np.int64, len(part))
    return found


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, in their order."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def tally(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, Counter[Value]]:
    """How often each key has each value; nothing counted for further keys."""
    found: defaultdict[Key, Counter[Value]] = defaultdict(Counter)
    for key, value in pairs:
        found[key][value] += 1
    return found


def spans(begin: Codes, count: Codes) -> tuple[Codes, Codes]:
    """The numbers from each `begin` on, so many of each, and the place of the beginning that each belongs to."""
    of = np.repeat(np.arange(len(count)), count)
    return np.arange(len(of)) + (begin - np.cumsum(count) + count)[of], of


class RowsBy:
    """Rows by one of their codes; those of a code in their order."""

    def __init__(self, codes: Codes) -> None:
        self._rows = np.argsort(codes, kind="stable")
        self._codes = codes[self._rows]

    def at(self, code: int) -> Codes:
        """The rows that have this code."""
        low, high = np.searchsorted(self._codes, [code, code + 1])
        return np.asarray(self._rows[low:high])

    def of(self, codes: Codes) -> Codes:
        """The rows that have any of these codes, each of which occurs once."""
        low, high = (np.searchsorted(self._codes, codes, side) for side in ("left", "right"))
        return np.asarray(self._rows[spans(low, high - low)[0]])


def found(values: Codes, wanted: Codes) -> Codes:
    """The place of each wanted value among ascending ones, -1 if it is none of them."""
    if not len(values):
        return np.full(len(wanted), NONE, dtype=np.int64)
    place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[place] == wanted, place, NONE)


def factorize(values: Iterable[Any]) -> tuple[Codes, list[Any]]:
    """Codes of values in order of first appearance, and the distinct values. None gets -1."""
    code = Numbering()
    return mapped(code.__getitem__, values), code.distinct


def renumbered(codes: Codes, distinct: Sequence[Any]) -> tuple[Codes, list[Any]]:
    """The same with the values numbered in order of their first appearance, and without values that do not appear."""
    place = np.full(len(distinct) + 1, len(codes), dtype=np.int64)
    place[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(place[:-1], kind="stable")[: np.count_nonzero(place[:-1] < len(codes))]
    number = np.full(len(distinct) + 1, NONE, dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[codes], [distinct[one] for one in order.tolist()]


def distinct(values: npt.ArrayLike) -> Array:
    """The distinct values, ascending. By sorting: numpy's `unique` looks integers up in a hash table, which takes 15
    times as long for a quarter of a million.
    """
    ordered: Array = np.sort(np.asarray(values), axis=None)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]])


def distinct_pairs(first: Codes, second: Codes) -> tuple[Codes, Codes]:
    """The distinct pairs of two columns, in order. Several times as fast as numpy's `unique` over rows."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    other = np.concatenate([[True], (first[1:] != first[:-1]) | (second[1:] != second[:-1])])[: len(order)]
    return first[other], second[other]


def components(tail: Codes, head: Codes, nodes: int) -> Codes:
    """The connected component of each node, by its smallest node. Takes as many passes as a component is wide."""
    label = np.arange(nodes)
    while True:
        before = label.copy()
        low = np.minimum(label[tail], label[head])
        np.minimum.at(label, tail, low)
        np.minimum.at(label, head, low)
        label = label[label]
        if np.array_equal(label, before):
            return np.asarray(label, dtype=np.int64)


def several(key: Codes, value: Codes) -> Mask:
    """Rows whose key has more than one value."""
    keys, count = np.unique(distinct_pairs(key, value)[0], return_counts=True)
    return np.isin(key, keys[count > 1])


def unanimous(name: Codes, value: Codes) -> dict[int, int]:
    """The only value of each name over all rows; names with several values are omitted."""
    names, values = distinct_pairs(name, value)
    same = names[1:] == names[:-1]
    only = ~(np.append(False, same) | np.append(same, False))[: len(names)]
    return dict(zip(names[only].tolist(), values[only].tolist(), strict=True))
