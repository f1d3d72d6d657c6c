"""From names and values of counters to `PortCounters`: names shared, priorities read, numbers that are none left out."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from truerail.model import Counter, PortCounters, Unreadable

_PRIORITY = re.compile(r"(?:^|[_.])(?:prio|pri|priority)_?([0-7])(?![0-9])")
"""`rx_prio3_pause`, `pfc_pri3_rx_transitions`, `port.tx_priority_3_xoff`, `rx_pause_prio_3`; a `cos` is a queue."""
_NOT_TOLD = frozenset(("", "-", "--", "?", "n/a", "na", "nan", "none", "unknown", "unavailable", "not available"))
_MOST = 1 << 64
_LONGEST = 20
"""Digits of 2^64."""


@lru_cache(maxsize=1024)
def named(names: tuple[str, ...]) -> tuple[Counter, ...]:
    """The counters of these names: one tuple for all ports that print the same."""
    return tuple(Counter(name, priority_in(name)) for name in names)


def priority_in(name: str) -> int | None:
    """The priority that a counter's name carries."""
    found = _PRIORITY.search(name)
    return int(found[1]) if found else None


def not_told(value: str) -> bool:
    """Whether a tool printed this in place of a number."""
    return value.lower() in _NOT_TOLD


def number(value: str, line: int, text: str) -> int:
    """A counter's value. Raises `Unreadable` where it is none that fits into 64 bits."""
    if value.isascii() and value.isdecimal() and len(value) <= _LONGEST and int(value) < _MOST:
        return int(value)
    raise Unreadable("not the value of a counter", line=line, text=text)


def port_counters(port: str, names: Iterable[str], values: Sequence[int]) -> PortCounters:
    """The fact. `values` are in the order of `names`."""
    return PortCounters(port, named(tuple(names)), tuple(values))


def may_be_cut(answer: str, value: str) -> bool:
    """Whether the answer's last value may have lost digits: no line feed follows it. No number goes on after a 0."""
    return value != "0" and not answer.endswith(("\n", "\r", " ", "\t"))
