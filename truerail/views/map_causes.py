"""Which cause explains each cell of the overview's map."""

from base64 import b64encode
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.published import Published
from truerail.model.columns import NONE, Codes
from truerail.views.fabric_map import Grid, grid_of, spread
from truerail.views.lines import cause_lines
from truerail.views.view import View, view_of

MOST_NUMBERED = 254
_OTHERS = MOST_NUMBERED + 1


@dataclass(frozen=True, slots=True)
class MapCause:
    """A cause on the map. `cells` is the number of cells that it has there."""

    key: str
    kind: str
    cells: int


@dataclass(frozen=True, slots=True)
class MapCauses:
    """`cells` is the base64 of one byte for each cell of the map of the same `number`: 0 no cause, n the n-th of
    `causes`, which are in order of impact, 255 a cause after the first 254.
    """

    number: int
    plan_digest: str
    causes: tuple[MapCause, ...]
    cells: str


def map_causes(publication: Published) -> MapCauses:
    """The causes of the map's cells.

    A cell belongs to the cause of its most severe findings; of several causes the one with the fewest cells. It belongs
    to none if one of these findings has none. Without findings it belongs to the cause that affects its cable.
    """
    view = view_of(publication)
    lines = cause_lines(view)
    number = {line.key: place for place, line in enumerate(lines)}
    owner = _owners(view, grid_of(publication.plan), number)
    cells = np.bincount(owner[owner >= 0], minlength=len(lines)).tolist()
    shown = tuple(MapCause(one.key, one.kind, cells[place]) for place, one in enumerate(lines[:MOST_NUMBERED]))
    code = np.minimum(owner + 1, _OTHERS).astype(np.uint8)
    return MapCauses(publication.number, publication.plan_digest, shown, b64encode(code.tobytes()).decode("ascii"))


def _owners(view: View, grid: Grid, number: dict[str, int]) -> Codes:
    """The cause of each cell as its place in the list, -1 without one. Shape (cells,)."""
    owner, found = _of_findings(view, grid, number)
    for key, place in reversed(number.items()):
        cells = grid.cell[view.sight.affected[key]]
        cells = cells[cells >= 0]
        owner[cells[~found[cells]]] = place
    return owner


def _of_findings(view: View, grid: Grid, number: dict[str, int]) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """The cause of each cell by its findings, and which cells have findings. Shapes (cells,)."""
    cell, rows = spread(view, grid)
    cause_of, rank = view.sight.cause_of, view.findings.rank[rows]
    of_finding = np.array([number.get(cause_of.get(one, ""), NONE) for one in view.findings.ids], dtype=np.int64)
    top = np.full(grid.size, NONE)
    np.maximum.at(top, cell, rank)
    first = rank == top[cell]
    cell, cause = cell[first], of_finding[rows[first]]
    owner, known = np.full(grid.size, NONE), cause >= 0
    pairs = np.unique(np.stack([cause[known], cell[known]]), axis=1)
    size = np.bincount(pairs[0], minlength=len(number))
    order = np.argsort(-size[pairs[0]], kind="stable")
    owner[pairs[1][order]] = pairs[0][order]
    owner[cell[~known]] = NONE
    return owner, top >= 0
