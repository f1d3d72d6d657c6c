"""An owner of derived values: each is computed once, for the first who reads it, and freed with its owner."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

Derived = TypeVar("Derived")


@dataclass(frozen=True, eq=False)
class Owner:
    """A value that owns what is derived from it in other rooms, by functions that it cannot know. What its own room
    derives is a `cached_property`.

    What is derived holds what it needs and never the owner: without a cycle both are freed with the last reader.
    """

    _derived: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, derive: Callable[[Self], Derived]) -> Derived:
        """What a function derives from this value. Two threads may both compute it: both get the first result. One that
        raises is computed again.
        """
        if derive not in self._derived:
            self._derived.setdefault(derive, derive(self))
        found: Derived = self._derived[derive]
        return found
