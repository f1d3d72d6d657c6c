"""Waiting in tests that no machine is too slow for: until something is true, and without counting what others take."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
ENOUGH = 60.0
"""Seconds that no machine needs for what a test waits for. A test that passes does not wait so long."""
_POLL_SECONDS, _TICK_SECONDS = 0.02, 0.01


def soon(true: Callable[[], object], what: str = "what the test waits for") -> None:
    """Waits until something is true; fails where it does not come true in `ENOUGH` seconds."""
    deadline = time.monotonic() + ENOUGH
    while not true():
        assert time.monotonic() < deadline, f"it did not come true within {ENOUGH:.0f} s: {what}"
        time.sleep(_POLL_SECONDS)


async def waited(work: Coroutine[Any, Any, T]) -> tuple[T | BaseException, float]:
    """What `work` gives or raises, and for how many seconds it waited at most.

    These seconds are counted in pauses of the event loop, each of which counts for what it was meant to last: time that
    a busy machine takes away is not among them, nor is the time of a computation.
    """
    pauses = 0

    async def count() -> None:
        nonlocal pauses
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            pauses += 1

    counting = asyncio.create_task(count())
    results = await asyncio.gather(work, return_exceptions=True)
    counting.cancel()
    return results[0], pauses * _TICK_SECONDS


@contextmanager
def computing(at_most_seconds: float) -> Iterator[None]:
    """Fails where the block takes this thread more time of the processor; what others take of it is not counted."""
    begun = time.thread_time()
    try:
        yield
    finally:
        took = time.thread_time() - begun
        assert took < at_most_seconds, f"{took:.1f} s of the processor"
