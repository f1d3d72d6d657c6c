"""The whole fabric as one byte for each host, rail and plane: the overview's map, its changes, and each cell's cause.

A code's bits 0-2 are the state (0 no cable planned, 1 right, 2 wrong, 3 missing, 4 unknown), bits 3-4 the highest
severity (0 none, 1 info, 2 warning, 3 critical). Bit 5 is set where all findings there are muted.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.plan import Plan
from truerail.views.fabric import overview_headline
from truerail.views.findings import highest_at
from truerail.views.layout import Layout
from truerail.views.lines import cause_lines
from truerail.views.view import View, view_of

_CODE = np.zeros(len(State) + 1, dtype=np.uint8)
_CODE[[State.RIGHT, State.WRONG, State.MISSING, State.UNKNOWN]] = 1, 2, 3, 4
_BADNESS = np.array([0, 1, 4, 3, 2], dtype=np.uint8)
"""By code. If several cables of a host share a rail and plane, wrong shows before missing, missing before unknown,
unknown before right.
"""
_SEVERITY_BIT, _MUTED = 3, 1 << 5
MOST_NUMBERED = 254
_OTHERS = MOST_NUMBERED + 1


@dataclass(frozen=True, slots=True)
class PodSpan:
    """A pod's hosts: `hosts` of them, starting at index `first`."""

    name: str
    first: int
    hosts: int


@dataclass(frozen=True, slots=True)
class CellMap:
    """One byte for each host, rail and plane: `cells` is the base64 of all. The cell of a host, rail and plane is at
    `(host * len(rails) + rail position) * planes + plane`. The last rail is None if host cables have no rail. A host's
    plane is the index of its plane's number among those of the fabric, 0 where cables have none.
    """

    number: int
    at: datetime
    plan_digest: str
    rails: tuple[int | None, ...]
    planes: int
    pods: tuple[PodSpan, ...]
    hosts: tuple[str, ...]
    racks: tuple[str, ...]
    cells: str


@dataclass(frozen=True, slots=True)
class FabricMap(CellMap):
    """The map: `cells` has the codes."""

    tone: str
    headline: str
    repair: str
    worst: str | None
    """Key of the cause that the headline names."""


@dataclass(frozen=True)
class Grid:
    """The part of the map that depends on the plan alone. `cell[cable]` is the cable's cell, -1 for uplinks;
    `first[device]` is a host's first cell, -1 for switches.
    """

    rails: tuple[int | None, ...]
    planes: int
    pods: tuple[PodSpan, ...]
    hosts: tuple[str, ...]
    racks: tuple[str, ...]
    cell: Codes
    first: Codes

    def of(self, publication: Published, cells: npt.NDArray[np.uint8]) -> dict[str, Any]:
        """The fields of `CellMap` for these cells of a publication."""
        here = (publication.number, publication.at, publication.plan_digest)
        packed = b64encode(cells.tobytes()).decode("ascii")
        whole = (*here, self.rails, self.planes, self.pods, self.hosts, self.racks, packed)
        return dict(zip((one.name for one in fields(CellMap)), whole, strict=True))

    @property
    def width(self) -> int:
        """Cells of one host."""
        return len(self.rails) * self.planes

    @property
    def size(self) -> int:
        """Cells of all hosts."""
        return len(self.hosts) * self.width


def fabric_map(publication: Published) -> FabricMap:
    """The map of a publication, which owns it."""
    return publication.once(_draw)


def changed_cells(before: FabricMap, after: FabricMap) -> list[list[int]]:
    """`[cell, code]` of each changed cell. Raises ValueError for maps of different fabrics."""
    if (before.hosts, before.rails, before.planes) != (after.hosts, after.rails, after.planes):
        raise ValueError("maps of different plans have no cells in common")
    old, new = cells_of(before), cells_of(after)
    changed = np.flatnonzero(old != new)
    return [list(pair) for pair in zip(changed.tolist(), new[changed].tolist(), strict=True)]


def cells_of(drawn: FabricMap) -> npt.NDArray[np.uint8]:
    """The codes of a map, shape (cells,)."""
    return np.frombuffer(b64decode(drawn.cells), dtype=np.uint8)


def _draw(publication: Published) -> FabricMap:
    view, grid = view_of(publication), grid_of(publication.plan)
    words = overview_headline(view)
    return FabricMap(
        **grid.of(publication, _cells(view, grid)),
        tone=words.tone,
        headline=words.headline,
        repair=words.repair,
        worst=words.worst,
    )


def _cells(view: View, grid: Grid) -> npt.NDArray[np.uint8]:
    """The code of each cell, shape (cells,)."""
    use = grid.cell >= 0
    code = _CODE[view.wiring.state[use]]
    worst = np.zeros(grid.size, dtype=np.uint8)
    np.maximum.at(worst, grid.cell[use], _BADNESS[code])
    state = np.argsort(_BADNESS)[worst].astype(np.uint8)
    loud, muted = _loudest(view, grid)
    return np.asarray(state | (loud + 1).astype(np.uint8) << _SEVERITY_BIT | muted * np.uint8(_MUTED), dtype=np.uint8)


def _loudest(view: View, grid: Grid) -> tuple[Codes, npt.NDArray[np.uint8]]:
    """Per cell the rank of the highest unmuted finding (-1: none), or of the muted ones if all are muted; and whether
    all are muted. A finding on a host applies to all its cells.
    """
    cell, rows = spread(view, grid)
    rank, muted = view.findings.rank[rows], view.muted[rows]
    heard, hushed = (highest_at(cell[which], rank[which], grid.size) for which in (~muted, muted))
    silent = (heard < 0) & (hushed >= 0)
    return np.where(silent, hushed, heard), silent.astype(np.uint8)


def spread(view: View, grid: Grid) -> tuple[Codes, Codes]:
    """Cell and number of each finding on a host or a host's cable, one row for each cell it applies to."""
    findings = view.findings
    on_cable = np.append(grid.cell, NONE)[findings.cable]
    of_host = np.where(findings.cable < 0, np.append(grid.first, NONE)[findings.device], NONE)
    one, many = np.flatnonzero(on_cable >= 0), np.flatnonzero(of_host >= 0)
    rows = np.concatenate([one, np.repeat(many, grid.width)])
    all_of_host = (of_host[many][:, None] + np.arange(grid.width)).ravel()
    return np.concatenate([on_cable[one], all_of_host]), rows


def grid_of(plan: Plan) -> Grid:
    """Rows and columns of the map, which the plan owns."""
    return plan.once(_grid)


def _grid(plan: Plan) -> Grid:
    layout = plan.once(Layout)
    hosts, on_host = layout.hosts, layout.from_host
    rails, planes = distinct(layout.rail[on_host]), distinct(layout.plane[on_host & (layout.plane >= 0)])
    rails = np.concatenate([rails[rails >= 0], rails[rails < 0]])  # those without a rail come last
    plane_count = max(len(planes), 1)
    row = np.full(len(layout.devices) + 1, NONE, dtype=np.int64)
    row[hosts] = np.arange(len(hosts))
    column = np.argsort(rails)[np.searchsorted(np.sort(rails), layout.rail)] if len(rails) else layout.rail
    plane = np.searchsorted(planes, layout.plane)
    cell = np.where(on_host, (row[layout.a_device] * len(rails) + column) * plane_count + plane, NONE)
    devices = [layout.devices[code] for code in hosts.tolist()]
    pods = [device.pod for device in devices]
    return Grid(
        rails=tuple(None if rail < 0 else rail for rail in rails.tolist()),
        planes=plane_count,
        pods=tuple(PodSpan(pod, pods.index(pod), pods.count(pod)) for pod in dict.fromkeys(pods)),
        hosts=tuple(device.name for device in devices),
        racks=tuple(device.rack for device in devices),
        cell=cell,
        first=np.where(row[:-1] >= 0, row[:-1] * len(rails) * plane_count, NONE),
    )


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
    top = highest_at(cell, rank, grid.size)
    first = rank == top[cell]
    cell, cause = cell[first], of_finding[rows[first]]
    owner, known = np.full(grid.size, NONE), cause >= 0
    pairs = np.unique(np.stack([cause[known], cell[known]]), axis=1)
    size = np.bincount(pairs[0], minlength=len(number))
    order = np.argsort(-size[pairs[0]], kind="stable")
    owner[pairs[1][order]] = pairs[0][order]
    owner[cell[~known]] = NONE
    return owner, top >= 0
