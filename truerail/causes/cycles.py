"""Cables that are still wrong after all relabellings, in places of other cables. Finds cycles and paths in one pass.

Draw an edge from cable c to the cable whose place c sits in. Every cable has at most one edge out and one in. A
cycle of two is a swap, a longer one a rotation; a path ends in a place that is not planned, or that is planned for a
cable that is not seen.
"""

from dataclasses import dataclass

import numpy as np

from truerail.causes.observed_links import ObservedLinks
from truerail.model.columns import NONE


@dataclass(frozen=True)
class Chain:
    """Rows of sightings, each sitting in the planned place of the next one: the order of their moves. `closed` for a
    cycle, of which the first one hangs loose until the last one has moved.

    `displaced` is the cable whose place the last one took: it is not seen anywhere, or another cause moves it. -1 if
    that place is not planned.
    """

    rows: tuple[int, ...]
    closed: bool
    displaced: int


def chains(s: ObservedLinks) -> list[Chain]:
    """All cycles and paths of the wrong sightings, each sighting in exactly one, in the order of their first cable."""
    wrong = np.flatnonzero(s.wrong)
    row_of = dict(zip(s.taken_for[wrong].tolist(), wrong.tolist(), strict=True))
    resident = s.resident()
    following = {row: row_of.get(int(resident[row])) for row in wrong.tolist()}
    entered = {after for after in following.values() if after is not None}
    found: list[Chain] = []
    done: set[int] = set()
    starts = [row for row in wrong.tolist() if row not in entered] + wrong.tolist()
    for start in starts:
        if start in done:
            continue
        rows: list[int] = []
        here: int | None = start
        while here is not None and here not in done:
            done.add(here)
            rows.append(here)
            here = following[here]
        closed = here == start
        found.append(Chain(tuple(rows), closed, NONE if closed else int(resident[rows[-1]])))
    return sorted(found, key=lambda chain: min(int(s.cable[row]) for row in chain.rows))
