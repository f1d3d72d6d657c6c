"""Frees former publications piece by piece.

What follows from a round never refers back to it, so a round is freed with its last holder. Evaluations and
publications cache their indexes (`sight_of`, `view_of`), which refer back: reference cycles that only the garbage
collector would free. It does not scan long-lived objects (a scan of a whole fabric blocks every reader for a second),
so these cycles are cut here as soon as the publication is no longer shown. A reader that still holds it indexes it
again.

Python frees a list with everything that only the list holds in one step, during which no other thread runs: half a
million facts take a tenth of a second. So large values are taken apart first, and their items dropped in portions.
"""

import gc
import sys
from dataclasses import fields
from typing import Any

from truerail.analysis.published import Published

PORTION = 250
"""Items freed in one step. A switch's answer has some hundred values, so that takes a few milliseconds."""
_MINE = 2
"""References to a value without other holders: the local name and the argument of `sys.getrefcount`."""


def retire(publication: Published) -> list[Any]:
    """Drops the indexes of a publication.

    Returns the parts that were cut off, for `free`. Call it only while no thread derives anything.
    """
    return [*_bare(publication.evaluation), *_bare(publication)]


def _bare(value: Any) -> list[Any]:
    """Reduces a value to its fields; returns the rest."""
    own = {field.name for field in fields(value)}
    return [value.__dict__.pop(name, None) for name in [name for name in vars(value) if name not in own]]


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
