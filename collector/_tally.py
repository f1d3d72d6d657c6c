"""From the cells of switches' tables to `PortCounters`: share names between ports, tell numbers from words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from collector._counted import not_reported
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Counter, PortCounters
from truerail.model.names import printable

Words = Mapping[str, Counter]
"""Label that a device prints above a column or before a value -> the counter."""

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
        exact = _BYTES.fullmatch(value.strip())
        if exact:
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
