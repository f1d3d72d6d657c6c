"""Rails by the names of leaves, over the whole fabric.

Sites number leaves by rail, by pod, or both: `leaf-0` to `leaf-7`, then `leaf-8` for rail 0 of the next pod;
`IBLEAF-04-02` for rail 4 of pod 2. Each number in a name is taken as the sum of what the pod and the rail add. Where
that holds for most leaves, it gives the leaf of each rail of a pod, also where few hosts vote.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.analysis.cabling.spellings import numbers_alone
from truerail.model.columns import grouped

Row = tuple[str, int]
"""Pod and plane."""
Cell = tuple[Row, int]
"""Row and rail."""

_REGULAR = 0.75
"""Share of the leaves that must follow a rule of numbers."""
_MOST_RAILS = 64
_FEWEST = 4
"""Leaves that must follow it, at least."""


_T = TypeVar("_T", bound=Hashable)


def mode(values: Sequence[_T] | Counter[_T]) -> _T | None:
    """The most frequent value; None if two are equally frequent."""
    top = Counter(values).most_common(2)
    return top[0][0] if top and (len(top) < 2 or top[0][1] > top[1][1]) else None


@dataclass
class _Field:
    """One number of the names: what each row and each rail add. `varies` from rail to rail or not."""

    rows: dict[Row, int]
    rails: dict[int, int]

    def at(self, cell: Cell) -> int | None:
        row, rail = self.rows.get(cell[0]), self.rails.get(cell[1])
        return None if row is None or rail is None else row + rail


class LeafNames:
    """The leaf of each cell by the names. `likely` has the leaf that most hosts of a cell are on."""

    def __init__(self, likely: Mapping[Cell, str], leaves: Sequence[str]) -> None:
        numbers = {leaf: numbers_alone(leaf) for leaf in leaves if not canonical_guid(leaf)}
        usual = mode([len(found) for found in numbers.values()]) or 0
        self._numbers = {leaf: found for leaf, found in numbers.items() if len(found) == usual}
        values = {cell: self._numbers[leaf] for cell, leaf in likely.items() if leaf in self._numbers}
        self._fields: dict[int, _Field] = {}
        for place in range(usual):
            found = _fitted({cell: value[place] for cell, value in values.items()})
            if found is not None:
                self._fields[place] = found
        if all(len(set(found.rails.values())) == 1 for found in self._fields.values()):
            self._fields = {}  # they name pods at most
        self._by_number: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for leaf, found_numbers in self._numbers.items():
            self._by_number[tuple(found_numbers[place] for place in self._fields)].append(leaf)

    def at(self, cell: Cell) -> str | None:
        """The leaf of this cell by its name; None if names do not decide."""
        wanted = tuple(found.at(cell) for found in self._fields.values())
        leaves = self._by_number.get(wanted, []) if self._fields and None not in wanted else []  # type: ignore[arg-type] # without None
        return leaves[0] if len(leaves) == 1 else None


def _fitted(values: Mapping[Cell, int]) -> _Field | None:
    """The better of two rules: in equal steps from rail to rail, or the same from rail to rail in every pod."""
    rules = [rule for rails in (_in_steps(values), _by_pods(values)) if (rule := _with_rows(values, rails)) is not None]
    if not rules:
        return None
    best = max(rules, key=lambda rule: _follow(values, rule))
    follow = _follow(values, best)
    return best if follow >= _FEWEST and follow >= _REGULAR * len(values) else None


def _follow(values: Mapping[Cell, int], rule: _Field) -> int:
    return sum(rule.at(cell) == value for cell, value in values.items())


def _in_steps(values: Mapping[Cell, int]) -> dict[int, int]:
    rails = sorted({rail for _, rail in values})
    steps = [
        values[row, high] - values[row, low]
        for row in {row for row, _ in values}
        for low, high in pairwise(rails)
        if high == low + 1 and (row, low) in values and (row, high) in values
    ]
    step = mode(steps)
    return {} if step is None else {rail: step * rail for rail in range(_MOST_RAILS)}


def _by_pods(values: Mapping[Cell, int]) -> dict[int, int]:
    """What each rail adds to the number of the rail that most pods have, in two pods at least."""
    if not values:
        return {}
    base = Counter(rail for _, rail in values).most_common(1)[0][0]
    gaps = grouped((rail, value - values[row, base]) for (row, rail), value in values.items() if (row, base) in values)
    found = {rail: mode(gap) for rail, gap in gaps.items()}
    return {rail: gap for rail, gap in found.items() if gap is not None and gaps[rail].count(gap) > 1}


def _with_rows(values: Mapping[Cell, int], rails: Mapping[int, int]) -> _Field | None:
    starts = grouped((row, value - rails[rail]) for (row, rail), value in values.items() if rail in rails)
    rows = {row: found for row, values_of in starts.items() if (found := mode(values_of)) is not None}
    return _Field(rows, dict(rails)) if rows else None
