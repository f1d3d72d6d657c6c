"""From names and values of counters to `PortCounters`: share names, read priorities, tell numbers from words."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

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
KEPT, MOST_KEPT = 256, 5000
"""Cached lists of names, and the most names in one: answers must not fill the memory."""
_MOST = 1 << 64
_LONGEST = 20
"""Digits of 2^64."""


def named(names: tuple[str, ...]) -> tuple[Counter, ...]:
    """The counters of these names: ports with the same names share one tuple."""
    return _kept(names) if len(names) <= MOST_KEPT else _made(names)


def _made(names: tuple[str, ...]) -> tuple[Counter, ...]:
    return tuple(Counter(name, priority_in(name)) for name in names)


_kept = lru_cache(maxsize=KEPT)(_made)


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


def count(value: str, line: int, text: str) -> int:
    """A counter's value. Raises `UnreadableError` if it is not one."""
    if not is_count(value):
        raise UnreadableError("not the value of a counter", line=line, text=text)
    return int(value)


def may_be_cut(answer: str, value: str) -> bool:
    """Whether the last value of an answer may have lost digits: nothing follows it, and no number goes on after a 0."""
    return value != "0" and not answer.endswith(("\n", "\r", " ", "\t"))


def port_counters(port: str, names: Iterable[str], values: Iterable[int]) -> PortCounters:
    """The fact. `values` are in the order of `names`."""
    return PortCounters(port, named(tuple(names)), tuple(values))
