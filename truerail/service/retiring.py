"""Lets go of what was shown before, piece by piece.

What an evaluation is made of keeps what was derived from it (`wiring_of`, `view_of`), and the derived refers back:
circles that only the garbage collector would undo. It is kept from walking what lives long (a walk over a whole fabric
holds every reader for a second), so the circles are cut by hand, as soon as nobody shows the publication any more. A
reader who still holds it derives again what it needs.

Python frees a list with all that only the list holds in one go, during which no other thread runs: half a million facts
take a tenth of a second. So whatever is large is taken apart first, and its items are dropped in portions.
"""

import gc
import sys
from dataclasses import fields
from typing import Any

from truerail.analysis.published import Published

PORTION = 250
"""Items that are freed in one go. The answer of a switch holds some hundred values, so that is a few milliseconds."""
_MINE = 2
"""References to a value that nobody else holds: the local name and the argument of `sys.getrefcount`."""


def retire(publication: Published) -> list[Any]:
    """Forgets everything that was derived from a publication. The plan is left alone: the next one shares it.

    Gives the parts that were cut off, for `free`. Call it where nobody derives anything at the same time.
    """
    cut: list[Any] = []
    wirings = publication.snapshot.__dict__.get("_wirings", {})
    for _, wiring in list(wirings.values()):
        telemetry = wiring.__dict__.get("_telemetry")
        if telemetry is not None:
            cut += _bare(telemetry)
        cut += _bare(wiring)
    for value in (publication.snapshot, publication.evaluation, publication):
        cut += _bare(value)
    return cut


def _bare(value: Any) -> list[Any]:
    """Leaves of a value only what it was made of; gives the rest."""
    own = {field.name for field in fields(value)}
    return [value.__dict__.pop(name, None) for name in [name for name in vars(value) if name not in own]]


def free(parts: list[Any]) -> None:
    """Drops values so that other threads run in between; those that others hold too are left as they are.

    `parts` is empty afterwards. What is large (more than `PORTION` items) is dropped in portions without a look into
    its items; what is small is taken apart, because it may hold what is large.
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
        del held  # else it would hold what is looked at next
