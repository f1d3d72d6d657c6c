"""What truerail's dashboards promise beyond dashboard-linter's rules."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from dashboards.check.boards import Board, variables_in
from dashboards.check.complaint import Complaint, of_board, of_panel
from dashboards.check.lint import queries
from dashboards.check.promql import parsed, reads

SCHEMA: Final = 42
"""The last number of the classic format: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/"""
COLUMNS: Final = 24
"""Columns of Grafana's grid."""
OF_ALL_SITES: Final = frozenset({"truerail_build_info"})
"""Metrics of truerail that belong to no fabric."""
_OURS: Final = re.compile(r"(?:\w+:)?truerail_\w+(?::\w+)?")
_BOARD: Final = re.compile(r"/d/([\w-]+)")
_USES: Final = re.compile(r"\$\{?(\w+)")


def house(boards: Sequence[Board], known: Iterable[str]) -> list[Complaint]:
    """Everything that breaks a promise. `known` are the metrics and recorded series that there are."""
    found = [complaint for board in boards for rule in RULES for complaint in rule(board)]
    names = set(known)
    return [*found, *twice(boards), *(c for board in boards for c in (*metrics(board, names), *links(board, boards)))]


def identity(board: Board) -> Iterator[Complaint]:
    """The same address everywhere, no number that one Grafana gave, the schema that Grafana 10 to 13 read."""
    wanted = {"id": None, "schemaVersion": SCHEMA, "uid": board.file.removesuffix(".json")}
    for key, value in wanted.items():
        if board.json.get(key) != value:
            yield of_board("truerail-identity-rule", board, f"{key} is {board.json.get(key)!r}, not {value!r}")
    if "truerail" not in board.json.get("tags", ()):
        yield of_board("truerail-identity-rule", board, "does not carry the tag truerail")


def fabric(board: Board) -> Iterator[Complaint]:
    """Every query is about the fabric that the reader chose: two of them in one Prometheus are not added up."""
    for panel, query in queries(board):
        for read in reads(parsed(board, query.expr)):
            ours = _OURS.fullmatch(read.metric)
            if (
                ours
                and read.metric not in OF_ALL_SITES
                and "fabric" not in read.matchers
                and not _of_service(read.metric)
            ):
                summary = f"{query.ref}: {read.metric} is asked of every fabric"
                yield of_panel("truerail-fabric-rule", board, panel, summary)


def grid(board: Board) -> Iterator[Complaint]:
    """No panel stands on another or beyond the edge, and each has a number of its own."""
    places = [(panel, panel.json["gridPos"]) for panel in board.panels]
    for panel, place in places:
        if place["x"] + place["w"] > COLUMNS or min(place["w"], place["h"]) < 1:
            yield of_panel("truerail-grid-rule", board, panel, f"does not fit: {place}")
    for (one, a), (other, b) in combinations(places, 2):
        if _overlap(a, b):
            yield of_panel("truerail-grid-rule", board, one, f"stands on {other.title!r}")
    for number, count in Counter(panel.json.get("id") for panel in board.panels).items():
        if number is None or count > 1:
            yield of_board("truerail-grid-rule", board, f"{count} panels have the number {number}")


def names(board: Board) -> Iterator[Complaint]:
    """Titles tell panels apart, and letters the queries of a panel."""
    for title, count in Counter(panel.title for panel in board.panels).items():
        if count > 1:
            yield of_board("truerail-names-rule", board, f"{count} panels are called {title!r}")
    for panel in board.panels:
        if len({query.ref for query in panel.queries}) < len(panel.queries):
            yield of_panel("truerail-names-rule", board, panel, "two queries have one letter")


def variables(board: Board) -> Iterator[Complaint]:
    """A variable that nothing reads is a choice without effect; a link carries on only what is there."""
    everything = {**board.json, "templating": [_asked(one.json) for one in board.variables]}
    used = set(_USES.findall(str(everything)))
    for one in board.variables:
        if one.name not in used:
            yield of_board("truerail-variables-rule", board, f"nothing reads the variable {one.name}")


def unknown(board: Board) -> Iterator[Complaint]:
    """What is not known never looks like zero: no `or vector(0)`, and no value is drawn where there is none."""
    for panel, query in queries(board):
        if variables_in(query.expr) & {"__interval"}:
            summary = f"{query.ref}: reads $__interval, which may be shorter than two scrapes"
            yield of_panel("truerail-unknown-rule", board, panel, summary)
        if "vector(0)" in query.expr.replace(" ", ""):
            yield of_panel("truerail-unknown-rule", board, panel, f"{query.ref}: shows 0 where nothing is known")
        custom = panel.json.get("fieldConfig", {}).get("defaults", {}).get("custom", {})
        if custom.get("spanNulls") is True:
            yield of_panel("truerail-unknown-rule", board, panel, "draws a line where nothing is known")


RULES: Final[tuple[Callable[[Board], Iterable[Complaint]], ...]] = (identity, fabric, grid, names, variables, unknown)


def metrics(board: Board, known: set[str]) -> Iterator[Complaint]:
    """Every series of truerail's that a query reads is in the reference, or recorded by its rules."""
    for panel, query in queries(board):
        for read in reads(parsed(board, query.expr)):
            if _OURS.fullmatch(read.metric) and read.metric not in known:
                yield of_panel("truerail-metrics-rule", board, panel, f"{query.ref}: there is no {read.metric}")


def links(board: Board, boards: Sequence[Board]) -> Iterator[Complaint]:
    """Links lead to boards that there are."""
    for uid in sorted(set(_BOARD.findall(str(board.json))) - {other.uid for other in boards}):
        yield of_board("truerail-links-rule", board, f"links to /d/{uid}, which is none of the dashboards")


def twice(boards: Sequence[Board]) -> Iterator[Complaint]:
    """Each dashboard has an address and a title of its own."""
    for key in ("uid", "title"):
        for value, count in Counter(board.json.get(key) for board in boards).items():
            if count > 1:
                yield Complaint("truerail-identity-rule", "all", str(value), f"{count} dashboards have this {key}")


def _of_service(metric: str) -> bool:
    return metric.startswith("truerail_service_")


def _asked(json: Mapping[str, Any]) -> Any:
    return json.get("query")


def _overlap(a: Mapping[str, int], b: Mapping[str, int]) -> bool:
    return all(a[at] < b[at] + b[size] and b[at] < a[at] + a[size] for at, size in (("x", "w"), ("y", "h")))
