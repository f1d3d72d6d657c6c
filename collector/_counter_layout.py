"""Answers with counters that come again and again with the same names: only their values are read.

An answer without its values is its layout. A layout is read once by the collector's own parser, on an answer in whose
place of a value stands the value's number: the facts show which value belongs where. Nothing is parsed twice, and a
layout that the parser refuses is left to it, with the real values.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter

from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

Parse = Callable[[str], list[PortCounters]]
Pick = Callable[[Sequence[int]], tuple[int, ...]]
_VALUE = re.compile(r": ([0-9]{1,19})$", re.MULTILINE)
"""A value that fits into 64 bits, at the end of a line, and what divides it from its name."""
_FIRST = 10**18
"""The number of a layout's first value, which no other number in it is."""
_LAYOUTS, _MOST_VALUES = 128, 10_000
"""Cached layouts, and the most values in one: answers must not fill the memory."""


@lru_cache(maxsize=_LAYOUTS)
def _places(layout: tuple[str, ...], parse: Parse) -> list[tuple[str, tuple[Counter, ...], Pick]] | None:
    """Port, names and the picker of its values, for each port of a layout; None if it cannot be read."""
    end = _FIRST + len(layout) - 1
    numbers = (f": {number}" for number in range(_FIRST, end))
    try:
        facts = parse("".join(chain.from_iterable(zip(layout, numbers, strict=False))) + layout[-1])
    except UnreadableError:
        return None
    within = all(_FIRST <= value < end for fact in facts for value in fact.values)
    if not within or any(str(_FIRST)[:12] in part for part in layout):
        return None  # a value is part of the layout: it has 20 digits, or a blank behind it
    return [(fact.port, fact.counters, _pick([value - _FIRST for value in fact.values])) for fact in facts]


def _pick(places: Sequence[int]) -> Pick:
    low, high = places[0], places[-1] + 1
    if list(places) == list(range(low, high)):
        return lambda values: tuple(values[low:high])
    return itemgetter(*places)  # more than one: a single place is a range


def read_values(answer: str, parse: Parse) -> list[PortCounters]:
    """The same as `parse(answer)`, which raises `UnreadableError`."""
    parts = _VALUE.split(answer) if answer.endswith("\n") else []
    if not 1 < len(parts) < 2 * _MOST_VALUES:
        return parse(answer)
    places = _places(tuple(parts[::2]), parse)
    if places is None:
        return parse(answer)
    values = list(map(int, parts[1::2]))
    return [PortCounters(port, counters, pick(values)) for port, counters, pick in places]
