"""The garbage collector set aside while many small values are made, none of them garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_paused(*, freeze: bool = False, old: bool = False) -> Iterator[None]:
    """With the collector on, making a fabric's tuples costs 2 to 4 times as much: it looks at all of them repeatedly.

    `freeze` sets what is there at the end apart for good, for what stays as long as the process and holds no cycles.
    `old` counts it as old: the next collection of the young does not walk it, which holds every thread for so long
    (a whole fabric: 100 to 400 ms). Circles that others made meanwhile then wait for a collection of everything.
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
    """From now on the collector looks at young values only, and never by itself at all of them.

    A service holds millions of values for as long as an evaluation is shown, none of them garbage: walking them takes a
    second, in which no request is answered. What circles hold in old age waits for an explicit `gc.collect`.
    """
    gc.set_threshold(10_000, 10, 1_000_000_000)
