"""Pauses the garbage collector while many small values are created, none of them garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_paused(*, freeze: bool = False, old: bool = False) -> Iterator[None]:
    """With the collector on, creating a fabric's tuples costs 2 to 4 times as much: it scans all of them repeatedly.

    `freeze` permanently excludes the objects present at the end: for values that live as long as the process and have
    no cycles. `old` counts them as old: the next collection of the young does not scan them, which would block every
    thread (a whole fabric: 100 to 400 ms). Cycles created meanwhile by others then wait for a full collection.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if freeze or old:
            gc.freeze()
        if old:
            gc.unfreeze()
        if was_on:
            gc.enable()


def garbage_of_the_young_only() -> None:
    """From now on the collector scans only young values, and never all of them by itself.

    A service holds millions of values while an evaluation is shown, none of them garbage: scanning them takes a second,
    in which no request is answered. Old reference cycles wait for an explicit `gc.collect`.
    """
    gc.set_threshold(10_000, 10, 1_000_000_000)
