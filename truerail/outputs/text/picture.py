"""The compact host-by-rail picture: one cell for each rail, equal hosts on one line, healthy hosts as a number."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model import CableState, Evaluation
from truerail.outputs.options import Options
from truerail.outputs.rail_grid import Cell, HostRow, Picture, UplinkGroup
from truerail.outputs.report_words import count, name, order, place_of
from truerail.outputs.text.blocks import GLYPHS, PORT, QUIET, STATE_STYLES, hanging, heading, left_out, located

MOST_ROWS = 40
MOST_UPLINKS = 20
WIDEST_NAMES = 40
MOST_NAMED = 4
"""Causes that are named one by one at the end of a row; more are folded to `C[4-15]`."""


def picture(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """The picture of all hosts, and the cables between switches that are not right."""
    view = Picture(evaluation)
    if not view.rails:
        return
    yield heading("Rails", _legend())
    rows = view.groups()
    shown = rows if options.details else rows[:MOST_ROWS]
    yield from _table(view, shown, options)
    if hidden := len(rows) - len(shown):
        yield left_out(hidden, "rows of hosts that are not right", options.next_step)
    yield from _uplinks(view, options)


def _legend() -> str:
    words = [f"{GLYPHS[state]} {state.value}" for state in CableState]
    return ", ".join(words) + f"; {GLYPHS[CableState.WRONG]}3 is on rail 3"


def _table(view: Picture, rows: list[tuple[list[str], HostRow]], options: Options) -> Iterator[RenderableType]:
    whole = f"{count(len(view.whole_hosts), 'host')} right"
    names = [_names(hosts) for hosts, _ in rows]
    cell_width = max([_cell_width(row) for _, row in rows] + [len(_rail(rail)) for rail in view.rails] + [1])
    room = min(max(options.width - len(view.rails) * (cell_width + 1) - 4, 12), WIDEST_NAMES)
    first = max([len(label) for label in names if len(label) <= room] + [len(whole)])
    room_for_causes = options.width - first - len(view.rails) * (cell_width + 1) - 4
    yield Text("  " + " " * first + "".join(f" {_rail(rail):<{cell_width}}" for rail in view.rails), style=QUIET)
    for label, (hosts, row) in zip(names, rows, strict=True):
        yield from _row(label, row, first, cell_width, _causes(view, hosts, room_for_causes))
    if view.whole_hosts:
        cell = Text(GLYPHS[CableState.RIGHT].ljust(cell_width), style=STATE_STYLES[CableState.RIGHT])
        line = Text(f"  {whole:<{first}}", style=STATE_STYLES[CableState.RIGHT])
        for _ in view.rails:
            line.append(" ").append_text(cell)
        yield line


def _row(label: str, row: HostRow, first: int, cell_width: int, causes: str) -> Iterator[RenderableType]:
    """One row; a label that is too long for its column is on the line above."""
    if len(label) > first:
        yield Padding(Text(label.replace(",", ", "), style=PORT), (0, 0, 0, 2))
        label = ""
    line = Text().append("  ").append(f"{label:<{first}}", style=PORT)
    for cells in row.cells:
        line.append(" ")
        drawn = Text().join(_cell(cell) for cell in cells)
        drawn.append(" " * (cell_width - drawn.cell_len))
        line.append_text(drawn)
    yield line.append(f"  {causes}", style=QUIET)


def _causes(view: Picture, hosts: list[str], room: int) -> str:
    """The causes at the end of a row, as many as fit."""
    causes = view.causes_at(*hosts)
    reported = " ".join(causes) if len(causes) <= MOST_NAMED else name(fold(causes).replace(",", " "))
    return reported if len(reported) <= room else f"{len(causes)} causes" if room >= len("99 causes") else ""


def _names(hosts: list[str]) -> str:
    folded = name(fold(hosts))
    return f"{folded} ({len(hosts):,})" if len(hosts) > 1 else folded


def _rail(rail: int | None) -> str:
    return "-" if rail is None else str(rail)


def _cell_width(row: HostRow) -> int:
    return max(sum(1 + (cell.lands_on is not None) * len(str(cell.lands_on)) for cell in cells) for cells in row.cells)


def _cell(cell: Cell) -> Text:
    rail = "" if cell.lands_on is None else str(cell.lands_on)
    return Text(GLYPHS[cell.state] + rail, style=STATE_STYLES[cell.state])


def _uplinks(view: Picture, options: Options) -> Iterator[RenderableType]:
    groups = view.uplink_groups()
    if not groups:
        return
    yield heading("Cables between switches that are not right", f"{sum(len(group.cells) for group in groups):,}")
    shown = groups if options.details else groups[:MOST_UPLINKS]
    for group in shown:
        yield hanging(Text(GLYPHS[group.state], STATE_STYLES[group.state]), _uplink(group, view))
    if hidden := len(groups) - len(shown):
        yield left_out(hidden, "lines", options.next_step)


def _uplink(group: UplinkGroup, view: Picture) -> Text:
    """One cable with both ends; of many, the ports."""
    line = located(name(group.device), place_of(group.device, view.plan))
    cell = group.cells[0]
    if len(group.cells) == 1:
        line.append(f" {name(cell.cable.a.name)} {group.state.value}, planned {name(str(cell.cable.b))}")
        line.append(f", actual {name(cell.observed)}" if cell.observed else "")
    else:
        ports = sorted((cell.cable.a.name for cell in group.cells), key=order)
        line.append(f" {count(len(ports), 'uplink')} {group.state.value}: {name(fold(ports))}")
    return line.append(f"  {' '.join(group.causes)}", style=QUIET)
