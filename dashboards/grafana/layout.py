"""A board: rows of panels on the grid of 24 columns, under one question each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grafana_foundation_sdk.models.dashboard import (
    AnnotationContainer,
    Dashboard,
    DashboardCursorSync,
    DashboardDashboardTemplating,
    DashboardDashboardTime,
    GridPos,
    Panel,
    RowPanel,
)

from dashboards.grafana import links
from dashboards.grafana.causes import job_marks, marks
from dashboards.grafana.variables import Variable, common

COLUMNS: Final = 24


@dataclass(frozen=True, slots=True)
class Row:
    """Panels side by side, all `height` high, under `title`. Their widths fill 24 columns, once or several times."""

    title: str
    height: int
    panels: tuple[Panel, ...]
    collapsed: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """One dashboard. `page` is where truerail's own page answers the same question."""

    name: str
    title: str
    summary: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    page: str = "/"
    hours: int = 6
    shows_jobs: bool = False
    """Whether it marks when jobs were affected."""


def built(board: Board, truerail: str) -> Dashboard:
    """The board as Grafana takes it; `truerail` is the address of truerail's page."""
    return Dashboard(
        uid=links.uid(board.name),
        title=f"truerail / {board.title}",
        description=board.summary,
        tags=[links.TAG],
        editable=False,
        graph_tooltip=DashboardCursorSync.CROSSHAIR,
        time=DashboardDashboardTime(f"now-{board.hours}h", "now"),
        refresh="1m",
        version=1,
        annotations=AnnotationContainer(
            list_val=[marks(of_pods=_has_pods(board)), *([job_marks()] if board.shows_jobs else [])]
        ),
        templating=DashboardDashboardTemplating([one.build() for one in (*common(truerail), *board.variables)]),
        links=[link.build() for link in links.bar(board.page)],
        panels=_placed(board.rows),
    )


def _has_pods(board: Board) -> bool:
    return any(variable.build().name == "pod" for variable in board.variables)


def _placed(rows: Sequence[Row]) -> list[Panel | RowPanel]:
    panels: list[Panel | RowPanel] = []
    down = 0
    for row in rows:
        head = RowPanel(title=row.title, collapsed=row.collapsed, grid_pos=GridPos(h=1, w=COLUMNS, x=0, y=down))
        panels.append(head)
        down = _fill(row, down + 1)
        if row.collapsed:
            head.panels = list(row.panels)
            down = head.grid_pos.y + 1 if head.grid_pos else down
        else:
            panels += row.panels
    _number(panels)
    return panels


def _fill(row: Row, down: int) -> int:
    """Places a row's panels from `down` on. Returns where the next row begins."""
    across = 0
    for panel in row.panels:
        width = panel.grid_pos.w if panel.grid_pos else COLUMNS
        if across + width > COLUMNS:
            raise ValueError(f"row {row.title!r}: {panel.title!r} is {width} wide, and {COLUMNS - across} are left")
        panel.grid_pos = GridPos(h=row.height, w=width, x=across, y=down)
        across = (across + width) % COLUMNS
        down += 0 if across else row.height
    if across:
        raise ValueError(f"row {row.title!r}: {COLUMNS - across} of {COLUMNS} columns are left empty")
    return down


def _number(panels: Sequence[Panel | RowPanel]) -> None:
    number = 0
    for panel in panels:
        for one in (panel, *(panel.panels if isinstance(panel, RowPanel) else ())):
            number += 1
            one.id_val = number
