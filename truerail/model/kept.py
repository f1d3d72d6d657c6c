"""Values computed once for an object and cached in it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Owner = TypeVar("Owner")
Found = TypeVar("Found")


def kept(work: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """Caches the result of a function of one object in the object itself, for its lifetime.

    For objects with a `__dict__`, also frozen ones, which `functools.cache` would keep alive and could not compare. Two
    simultaneous threads may both compute; both get a right result. A call that raises is not cached.
    """
    name = f"{work.__module__}.{work.__qualname__}"

    @wraps(work)
    def found(owner: Owner) -> Found:
        held = owner.__dict__
        if name not in held:
            held[name] = work(owner)
        answer: Found = held[name]
        return answer

    return found
