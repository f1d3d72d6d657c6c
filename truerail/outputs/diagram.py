"""Small drawings for the HTML report, as numbers: the template writes the SVG and escapes the text."""

from dataclasses import dataclass

from truerail.model import CableState, Cause, Port
from truerail.outputs.rail_grid import RailCount

MOST_LINES = 8
LINE_HEIGHT = 26


@dataclass(frozen=True, slots=True)
class Line:
    """One cable from its end that stays (row `y`) to a switch port (row `to_y`)."""

    y: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """Actual and planned ports of cables: labels on both sides with their heights, in pixels."""

    cables: tuple[tuple[str, int], ...]
    ports: tuple[tuple[str, int], ...]
    now: tuple[Line, ...]
    planned: tuple[Line, ...]
    height: int


def crossing(cause: Cause) -> Crossing | None:
    """The drawing of a cause's moves; None without moves, or with too many to follow."""
    if not 1 <= len(cause.moves) <= MOST_LINES:
        return None
    heights: dict[Port, int] = {}
    for move in cause.moves:  # planned ports first, each beside its cable, so that what is right is a level line
        heights.setdefault(move.target, _y(len(heights)))
    for move in cause.moves:
        heights.setdefault(move.source, _y(len(heights)))
    cables = tuple((str(move.cable), _y(row)) for row, move in enumerate(cause.moves))
    return Crossing(
        cables,
        tuple((str(port), y) for port, y in heights.items()),
        tuple(Line(y, heights[move.source]) for (_, y), move in zip(cables, cause.moves, strict=True)),
        tuple(Line(y, heights[move.target]) for (_, y), move in zip(cables, cause.moves, strict=True)),
        LINE_HEIGHT * len(heights) + 4,
    )


def _y(row: int) -> int:
    return LINE_HEIGHT * row + LINE_HEIGHT // 2 + 2


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a bar: its start and its width, in percent of the bar."""

    state: str
    number: int
    start: float
    width: float


def bar(counts: RailCount | dict[CableState, int]) -> list[Part]:
    """A bar of states in their order. A count above zero stays visible: at least half a percent wide."""
    numbers = counts.counts if isinstance(counts, RailCount) else counts
    total = sum(numbers.values()) or 1
    raw = {state: max(100 * number / total, 0.5) for state, number in numbers.items() if number}
    scale, start, parts = 100 / (sum(raw.values()) or 1), 0.0, []
    for state, width in raw.items():
        parts.append(Part(state.value, numbers[state], round(start, 2), round(width * scale, 2)))
        start += width * scale
    return parts
