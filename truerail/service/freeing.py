"""Frees memory: former publications piece by piece, and at times garbage in reference cycles.

No value refers back to its owner, so a publication is freed with its last holder, and needs no garbage collector. But
Python frees a list with everything that only the list holds in one step, during which no other thread runs: half a
million facts take a tenth of a second. So large values are taken apart first, and their items dropped in portions.
"""

import gc
import sys
from typing import Any

# ----------------------------------------------------------------------------------------------------------------------
# Frees former publications piece by piece.

PORTION = 250
"""Items freed in one step. A switch's answer has some hundred values, so that takes a few milliseconds."""
_MINE = 2
"""References to a value without other holders: the local name and the argument of `sys.getrefcount`."""


def free(parts: list[Any]) -> None:
    """Drops values so that other threads run in between; values with other holders stay unchanged.

    `parts` is empty afterwards. Large values (more than `PORTION` items) are dropped in portions without looking into
    their items; small ones are taken apart, because they may contain large ones.
    """
    while parts:
        value = parts.pop()
        if sys.getrefcount(value) > _MINE:
            continue
        held = gc.get_referents(value)
        del value
        if len(held) <= PORTION:
            parts += held
        else:
            while held:
                del held[-PORTION:]
        del held  # otherwise it would hold the value that is checked next


# ----------------------------------------------------------------------------------------------------------------------
# When the service scans its whole heap for garbage in reference cycles (see `garbage_of_the_young_only`).

EVERY_SECONDS = 3600.0
EVALUATION_SECONDS = 300.0
"""The same limit in seconds of evaluation: requests leave reference cycles of some 10 kB each, and those during an
evaluation count as old at once (see `garbage_collection_paused`).
"""


class Garbage:
    """Collects every hour, and sooner after much evaluation. A collection blocks every thread for about a second."""

    def __init__(self) -> None:
        self._evaluating = 0.0

    async def evaluated(self, seconds: float) -> None:
        """Adds the seconds that an evaluation took."""
        self._evaluating += seconds
        if self._evaluating > EVALUATION_SECONDS:
            await self.collect()

    async def collect(self) -> None:
        """Scans everything now."""
        self._evaluating = 0.0
        gc.collect()
