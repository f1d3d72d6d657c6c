"""PromQL taken apart: which series an expression reads, and in what they stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from promql_parser import Call, MatchOp, MatrixSelector, VectorSelector, parse, walk

from dashboards.check.boards import BUILT_IN, Board, filled

STAND_IN: Final = "x"
"""What a variable of the dashboard becomes where an expression is only parsed."""


@dataclass(frozen=True)
class Read:
    """Series that an expression reads. `range_seconds` is 0 where no range is read; `within` is the function that
    takes the series or the range, empty where none does.
    """

    metric: str
    matchers: Mapping[str, str] = field(default_factory=dict)
    range_seconds: float = 0
    within: str = ""


def parsed(board: Board, expr: str) -> Any:
    """The expression of a panel as a tree. Raises ValueError for what is no PromQL, LookupError for a variable that
    the dashboard does not have.
    """
    values = {**BUILT_IN, **{one.name: STAND_IN for one in board.variables}}
    return parse(filled(expr, values))


def reads(tree: Any) -> list[Read]:
    """All that an expression reads."""
    found: list[Read] = []
    above: list[Any] = []

    def enter(node: Any) -> None:
        if isinstance(node, VectorSelector):
            found.append(_read(node, above))
        above.append(node)

    def leave(_: Any) -> None:
        above.pop()

    walk(tree, enter, leave)
    return found


def _read(node: Any, above: list[Any]) -> Read:
    """`above` are the nodes around, the nearest last."""
    ranged = above[-1] if above and isinstance(above[-1], MatrixSelector) else None
    around = above[:-1] if ranged is not None else above
    within = around[-1].func.name if around and isinstance(around[-1], Call) else ""
    seconds = ranged.range.total_seconds() if ranged is not None else 0
    return Read(_metric(node), dict(_matchers(node)), seconds, within)


def _metric(node: Any) -> str:
    named = {one.name: one.value for one in node.matchers.matchers if one.op == MatchOp.Equal}
    return str(node.name or named.get("__name__", ""))


def _matchers(node: Any) -> Iterator[tuple[str, str]]:
    return ((one.name, one.value) for one in node.matchers.matchers)
