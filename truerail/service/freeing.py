"""Frees former publications piece by piece.

No value refers back to its owner, so a publication is freed with its last holder, and needs no garbage collector. But
Python frees a list with everything that only the list holds in one step, during which no other thread runs: half a
million facts take a tenth of a second. So large values are taken apart first, and their items dropped in portions.
"""

import gc
import sys
from typing import Any

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
