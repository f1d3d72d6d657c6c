"""Port names as numbers, so that `swp5`, `Ethernet16` and `Ethernet1/5` are each recognized as the fifth port."""

import re
from collections.abc import Iterable
from math import gcd

_DIGITS = re.compile(r"\d+", re.ASCII)


def pattern(name: str) -> str:
    """A port's name with its numbers left out: `Ethernet#/#`."""
    return _DIGITS.sub("#", name)


class PortNumbers:
    """Numbers the ports of each naming pattern, in steps: `Ethernet0, Ethernet4, Ethernet8` are 0, 1, 2 apart."""

    def __init__(self, names: Iterable[str]) -> None:
        numbers: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
        for name in set(names):
            found = tuple(int(text[:12]) for text in _DIGITS.findall(name))
            numbers.setdefault(pattern(name), []).append((name, found))
        self.of: dict[str, int] = {}
        self.names: dict[tuple[str, int], str] = {}
        for shape, rows in numbers.items():
            self._number(shape, rows)

    def _number(self, shape: str, rows: list[tuple[str, tuple[int, ...]]]) -> None:
        """Counts as an odometer does: the last number that varies counts fastest."""
        columns = [sorted(set(column)) for column in zip(*(found for _, found in rows), strict=True)]
        steps = [gcd(*(value - column[0] for value in column)) or 1 for column in columns]
        sizes = [(column[-1] - column[0]) // step + 1 for column, step in zip(columns, steps, strict=True)]
        for name, found in rows:
            at = 0
            for value, column, step, size in zip(found, columns, steps, sizes, strict=True):
                at = at * size + (value - column[0]) // step
            self.of[name] = at
            self.names[shape, at] = name
