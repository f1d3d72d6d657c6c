"""How a kind of fact is declared: its name for operators, and the bounds of its numbers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

Bounds: TypeAlias = tuple[float, float]
"""The lowest and the highest value of a number, far outside of anything that exists, well inside of 64 bits:
`bounds.py` handles values beyond.
"""
ANY_NUMBER: Bounds = (0, 2**20)
SECONDS: Bounds = (0, 2**40)
GBPS: Bounds = (0.0, 1e6)
DBM: Bounds = (-200.0, 200.0)
SHARE: Bounds = (0.0, 1.0)
BYTES: Bounds = (0, 2**40)
OCTET: Bounds = (0, 255)
K = TypeVar("K")


class Kind(NamedTuple):
    """The description of a kind of fact, besides its fields."""

    words: str
    """The name of its facts for an operator: `no answer has PCIe links`."""
    bounds: Mapping[str, Bounds]


KINDS: dict[type[Any], Kind] = {}
"""Every kind of fact: those of `job_facts.py` and `witness_facts.py`, then those of `facts.py`."""


def fact(words: str, **bounds: Bounds) -> Callable[[type[K]], type[K]]:
    """Declares a kind of fact; `bounds` are those of its fields that are numbers."""

    def declare(kind: type[K]) -> type[K]:
        KINDS[kind] = Kind(words, bounds)
        return kind

    return declare
