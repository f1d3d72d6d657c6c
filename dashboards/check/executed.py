"""Every query of a dashboard, asked of a Prometheus for every choice that a reader has, until one of them answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from dashboards.check.boards import Board, Panel, Query, Variable, filled
from dashboards.check.complaint import Complaint, of_board, of_panel

SPAN_SECONDS: Final = 1800
"""What a query over time is asked for, up to now."""
STEP_SECONDS: Final = 30


class Refused(Exception):  # noqa: N818 - what happened to a query
    """A query that was not answered with success; the text says why."""


class Source(Protocol):
    """What answers PromQL: a Prometheus itself, or a Grafana in front of it."""

    @property
    def times(self) -> Mapping[str, str]:
        """What stands in place of Grafana's own variables."""
        ...

    def series(self, expr: str, *, at_once: bool) -> list[Mapping[str, str]]:
        """The labels of each series of the answer. Raises Refused."""
        ...


@dataclass(frozen=True)
class Asked:
    """A query that was asked. `series` is what the first choice gave that gave anything; 0 where none did."""

    panel: Panel
    query: Query
    series: int


def executed(board: Board, source: Source) -> Iterator[Asked | Complaint]:
    """Asks every query of a board, under the choices of its variables. A complaint is what was refused."""
    try:
        choices = list(chosen(board.variables, source, dict(source.times)))
    except Refused as error:
        yield of_board("variables", board, str(error))
        return
    if not choices:
        yield of_board("variables", board, "a variable has no value to choose")
    for panel in (*board.panels, *board.annotations):
        for query in panel.queries:
            try:
                yield Asked(panel, query, _most(query, choices, source))
            except (Refused, LookupError) as error:
                yield of_panel("execution", board, panel, f"{query.ref}: {error}")


def silent(board: Board, source: Source) -> list[Complaint]:
    """What was refused, every query that no choice gave a series for, every figure that is not one figure, and every
    variable that lists nothing.
    """
    reported = list(executed(board, source))
    several = [
        of_panel("execution", board, one.panel, f"{one.query.ref} gives {one.series} figures without their names")
        for one in reported
        if isinstance(one, Asked) and one.series > 1 and one.panel.json.get("options", {}).get("textMode") == "value"
    ]
    empty = [
        of_panel(
            "execution", board, one.panel, f"{one.query.ref} gives no series, whatever is chosen: {one.query.expr}"
        )
        for one in reported
        if isinstance(one, Asked) and not one.series
    ]
    refused = [one for one in reported if isinstance(one, Complaint)]
    return [*refused, *empty, *several, *(() if refused else _listless(board, source))]


def chosen(variables: list[Variable], source: Source, values: dict[str, str]) -> Iterator[dict[str, str]]:
    """Every choice: one value of each variable that takes one, all values of those that take several."""
    if not variables:
        yield values
        return
    first, *others = variables
    for value in _values(first, source, values):
        yield from chosen(others, source, {**values, first.name: value})


def _values(variable: Variable, source: Source, values: Mapping[str, str]) -> list[str]:
    """What there is to choose. All is a choice even where nothing is listed: a fabric may have no pods."""
    if variable.values_of is None:
        return [str(variable.json.get("query", ""))]
    if variable.json.get("multi") and variable.json.get("includeAll"):
        return [str(variable.json["allValue"])]
    return _listed(variable, source, values)


def _listed(variable: Variable, source: Source, values: Mapping[str, str]) -> list[str]:
    expr, label = variable.values_of or ("", "")
    reported = source.series(filled(expr, values), at_once=True)
    return sorted({labels[label] for labels in reported if labels.get(label)})


def _listless(board: Board, source: Source) -> Iterator[Complaint]:
    """Variables that list nothing under the first choice."""
    for values in islice(chosen(board.variables, source, dict(source.times)), 1):
        for one in board.variables:
            if one.values_of and not _listed(one, source, values):
                yield of_board("variables", board, f"the variable {one.name} lists nothing")


def _most(query: Query, choices: list[dict[str, str]], source: Source) -> int:
    """How many series the first choice gives that gives any."""
    for expr in dict.fromkeys(filled(query.expr, values) for values in choices):
        if found := source.series(expr, at_once=query.at_once):
            return len(found)
    return 0
