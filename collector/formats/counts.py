"""From names and values of counters to `PortCounters`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Counter, PortCounters
from truerail.model.names import printable

# ----------------------------------------------------------------------------------------------------------------------
# From names and values of counters to `PortCounters`: share names, read priorities, tell numbers from words.

_PRIORITY = re.compile(r"(?:^|[_.])(?:prio|pri|priority|pripause|ppp)_?([0-7])(?![0-9])")
"""`rx_prio3_pause`, `pfc_pri3_rx_transitions`, `port.tx_priority_3_xoff`, `rx_pripause_3_1us_count` of ionic,
`rx_ppp3_frames` of cxgb4; a `cos` is a queue.
"""
ALL_ONES = str((1 << 64) - 1)
"""What a driver returns for a counter that it could not read (ionic: `IONIC_STAT_INVALID`); no counter reaches it."""
_NOT_REPORTED = frozenset(
    ("", "-", "--", "---", "?", "n/a", "na", "nan", "none", "null", "unknown", "unavailable", "not available", ALL_ONES)
)
_COUNTS = re.compile(r"[0-9]{1,19}(?: [0-9]{1,19})*")
_KEPT, _MOST_KEPT = 256, 5000
"""Cached lists of names, and the most names in one: answers must not fill the memory."""


@lru_cache(maxsize=_KEPT)
def _counters_of(names: tuple[str, ...]) -> tuple[Counter, ...]:
    """The counters of these names: ports with the same names share one tuple."""
    return tuple(Counter(name, priority_in(name)) for name in names)


def priority_in(name: str) -> int | None:
    """The priority that a counter's name carries."""
    found = _PRIORITY.search(name)
    return int(found[1]) if found else None


def not_reported(value: str) -> bool:
    """Whether a tool printed this placeholder instead of a number."""
    return value.lower() in _NOT_REPORTED


def is_count(value: str) -> bool:
    """Whether this is a counter's value: decimal digits that fit into 64 bits."""
    return value.isascii() and value.isdecimal() and len(value) <= _LONGEST and int(value) < _MOST and value != ALL_ONES


def all_counts(values: Sequence[str]) -> list[int] | None:
    """All values as counters; None if any is no counter value or may not fit into 64 bits."""
    return list(map(int, values)) if _COUNTS.fullmatch(" ".join(values)) else None


def name_count(value: str, line: int, text: str) -> int:
    """A counter's value. Raises `UnreadableError` if it is not one."""
    if not is_count(value):
        raise UnreadableError("not the value of a counter", line=line, text=text)
    return int(value)


def may_be_cut(answer: str, value: str) -> bool:
    """Whether the last value of an answer may have lost digits: nothing follows it, and no number goes on after a 0."""
    return value != "0" and not answer.endswith(("\n", "\r", " ", "\t"))


def port_counters(port: str, names: Iterable[str], values: Iterable[int]) -> PortCounters:
    """The fact. `values` are in the order of `names`."""
    named = tuple(names)
    counters = _counters_of(named) if len(named) <= _MOST_KEPT else _counters_of.__wrapped__(named)
    return PortCounters(port, counters, tuple(values))


# ----------------------------------------------------------------------------------------------------------------------
# From the cells of switches' tables to `PortCounters`: share names between ports, tell numbers from words.

_NUMBER = re.compile(r"[0-9]{1,20}|[0-9]{1,3}(?:,[0-9]{3}){1,6}")
_BYTES = re.compile(r"([0-9,]{1,26}) bytes?", re.IGNORECASE)
_MOST = 1 << 64
_LONGEST = 20
"""Digits of the longest value; shorter ones always fit."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^a-z0-9]+")


class Tally:
    """Collects port counters value by value, and returns one fact for each port that has any."""

    def __init__(self) -> None:
        self._ports: dict[str, dict[Counter, int]] = {}
        self._again: dict[str, None] = {}
        """Ports of which a counter came again with another value."""

    def note(self, port: str, counter: Counter, value: int | None) -> None:
        """Sets a value; None, a value that the device did not report, is ignored. The last one counts."""
        if value is not None:
            self._put(port, {counter: value})

    def row(self, port: str, counters: Sequence[Counter], cells: Sequence[str], *, line: int) -> None:
        """Sets the cells of a table's row, in the order of `counters`. Raises `UnreadableError` like `count`."""
        self._ports.setdefault(port, {})
        self.set(port, counters, [count(cell, line=line) for cell in cells])

    def set(self, port: str, counters: Iterable[Counter], values: Iterable[int | None]) -> None:
        """Sets values like `note`, in the order of `counters`."""
        known = {counter: value for counter, value in zip(counters, values, strict=True) if value is not None}
        if known:
            self._put(port, known)

    def _put(self, port: str, values: dict[Counter, int]) -> None:
        counted = self._ports.setdefault(port, values)
        if counted is not values:
            if any(counted.get(counter, value) != value for counter, value in values.items()):
                self._again[port] = None
            counted.update(values)

    def add(self, port: str, counter: Counter, value: int | None) -> None:
        """Adds one of several values that are summed: unicast, multicast and broadcast."""
        if value is not None:
            counted = self._ports.setdefault(port, {})
            counted[counter] = counted.get(counter, 0) + value

    def facts(self) -> list[PortCounters]:
        """One fact for each port, in the order of their first values. Raises `UnreadableError` if several ports begin
        again: they are another device's, or this one's at another time.
        """
        if len(self._again) > 1:
            raise UnreadableError(f"the answers of two devices: ports begin again ({', '.join([*self._again][:3])})")
        return [
            PortCounters(port, _shared(tuple(counted)), tuple(counted.values()))
            for port, counted in self._ports.items()
            if counted
        ]

    def some(self) -> list[PortCounters]:
        """The facts. Raises `UnreadableError` if there is none."""
        found = self.facts()
        if not found:
            raise NoAnswerError("no port's counters in it")
        return found


@lru_cache(maxsize=4096)
def _shared(counters: tuple[Counter, ...]) -> tuple[Counter, ...]:
    """One shared tuple for all equal ones."""
    return counters


def words(reported: Mapping[str, str]) -> dict[str, Counter]:
    """A device's words -> counters, from words -> names."""
    return {word: Counter(name) for word, name in reported.items()}


def both_ways(received: str, sent: str, reported: Mapping[str, str]) -> dict[str, Counter]:
    """The same for both directions, which begin a device's words: `In` and `Octets` -> `rx_bytes` from `bytes`."""
    ways = ((received, "rx"), (sent, "tx"))
    return {begin + word: Counter(f"{way}_{name}") for word, name in reported.items() for begin, way in ways}


@lru_cache(maxsize=4096)
def own(word: str, priority: int | None = None) -> Counter:
    """A counter such as `InL3Drops` or `Xmit-Err`, under the device's own name in lower_snake_case."""
    return Counter(_NO_WORD.sub("_", _HUMP.sub("_", word).lower()).strip("_"), priority)


def count(value: Any, *, line: int = 0) -> int | None:
    """A counter's value, also with thousands separators; None for placeholders, which are never 0.

    Raises `UnreadableError` for anything else, and for a number that does not fit into 64 bits.
    """
    if value is None:
        return None
    if isinstance(value, str):
        if len(value) < _LONGEST and value.isascii() and value.isdecimal():
            return int(value)
        text = value.strip()
        if not_reported(text):
            return None
        value = int(text.replace(",", "")) if _NUMBER.fullmatch(text) else value
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST:
        raise UnreadableError("not the value of a counter", line=line, text=printable(str(value), 60))
    return value if value != _MOST - 1 else None  # all ones: the device could not read it


def size(value: Any) -> int | None:
    """A counter's value that may have a unit. None if a unit rounds it (`36.0 KB`): its steps would be noise."""
    if isinstance(value, str):
        if exact := _BYTES.fullmatch(value.strip()):
            return count(exact[1])
        if not _NUMBER.fullmatch(value.strip()):
            return None
    return count(value)


def summed(values: Iterable[int | None]) -> int | None:
    """The sum; None if no value was reported."""
    reported = [value for value in values if value is not None]
    return sum(reported) if reported else None


def priority(value: Any) -> int | None:
    """A priority or traffic class from `3`, `PFC3`, `UC3`; None if it is none of the eight."""
    digits = str(value).strip().lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz :")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) == 1 and digits < "8" else None


# ----------------------------------------------------------------------------------------------------------------------
# Answers with counters that come again and again with the same names: only their values are read.
#
# An answer without its values is its layout. A layout is read once by the collector's own parser, on an answer in whose
# place of a value stands the value's number: the facts show which value belongs where. Nothing is parsed twice, and a
# layout that the parser refuses is left to it, with the real values.

Parse = Callable[[str], list[PortCounters]]
Pick = Callable[[Sequence[int]], tuple[int, ...]]
_VALUES = {before: re.compile(f"{before}([0-9]{{1,19}})$", re.MULTILINE) for before in (": ", ":")}
"""A value that fits into 64 bits, at the end of a line, by what divides it from its name."""
_FIRST = 10**18
"""The number of a layout's first value, which no other number in it is."""
_LAYOUTS, _MOST_VALUES = 128, 10_000
"""Cached layouts, and the most values in one: answers must not fill the memory."""


@lru_cache(maxsize=_LAYOUTS)
def _places(layout: tuple[str, ...], before: str, parse: Parse) -> list[tuple[str, tuple[Counter, ...], Pick]] | None:
    """Port, names and the picker of its values, for each port of a layout; None if it cannot be read."""
    end = _FIRST + len(layout) - 1
    numbers = (f"{before}{number}" for number in range(_FIRST, end))
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


def read_values(answer: str, parse: Parse, before: str = ": ") -> list[PortCounters]:
    """The same as `parse(answer)`, which raises `UnreadableError`; `before` divides names from values."""
    parts = _VALUES[before].split(answer) if answer.endswith("\n") else []
    if not 1 < len(parts) < 2 * _MOST_VALUES:
        return parse(answer)
    places = _places(tuple(parts[::2]), before, parse)
    if places is None:
        return parse(answer)
    values = list(map(int, parts[1::2]))
    return [PortCounters(port, counters, pick(values)) for port, counters, pick in places]
