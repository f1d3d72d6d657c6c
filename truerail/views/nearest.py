"""Finds the known name nearest to a mistyped one, fast among tens of thousands."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from difflib import get_close_matches

from truerail.model.columns import grouped

_NUMBER = re.compile(r"\d+")
_NEIGHBOURS = 24
_SAME_NUMBER = 48
"""difflib compares a name in about 20 microseconds: so few candidates take two milliseconds."""


class Nearest:
    """Names, sorted. Candidates are the neighbours of the word in sort order, and names with the same numbers."""

    def __init__(self, names: Iterable[str]) -> None:
        self._spelled = {name.lower(): name for name in names}
        self._names = sorted(self._spelled)
        self._by_numbers = grouped((_numbers(name), name) for name in self._names)

    def find(self, word: str) -> str | None:
        """The nearest name, or None."""
        low = word[:255].lower()
        at = bisect_left(self._names, low)
        beside = self._names[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
        alike = self._by_numbers.get(_numbers(low), [])[:_SAME_NUMBER]
        close = get_close_matches(low, dict.fromkeys([*alike, *beside]), n=1)
        return self._spelled[close[0]] if close else None

    def hint(self, word: str) -> str:
        """`, did you mean 'gpu-012'?`, or nothing."""
        found = self.find(word)
        return f", did you mean {found!r}?" if found else ""


def _numbers(name: str) -> tuple[str, ...]:
    """The numbers in a name, without leading zeros: `gpu-012` and `gpu12` may be the same."""
    return tuple(number.lstrip("0") for number in _NUMBER.findall(name))
