"""What is worked out once for an object and kept with it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Owner = TypeVar("Owner")
Found = TypeVar("Found")


def kept(work: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """Has a function of one object answer once for each: what it found is kept in the object, as long as that lives.

    For objects with a `__dict__`, frozen ones too, which `functools.cache` would keep alive and could not compare. Two
    threads that ask at once may both work; both get an answer that is right. What raises is asked again.
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
