"""The rules of grafana/dashboard-linter, as far as they fit, applied to every panel instead of some kinds of it.

Source of the rules: https://github.com/grafana/dashboard-linter/tree/main/docs. They stand here alone: house.py has
what truerail promises beyond them. The linter itself is a Go program, which no package of Python or npm brings.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from grafana_foundation_sdk.models import units

from dashboards.check.boards import BUILT_IN, Board, Panel, Query
from dashboards.check.complaint import Complaint, of_board, of_panel
from dashboards.check.promql import parsed, reads

EXCEPTIONS: Final = {
    "template-instance-rule": "`instance` is the truerail that reports, not the host that is reported on: hosts and "
    "switches "
    "have variables of their own",
    "target-instance-rule": "as template-instance-rule",
    "template-job-rule": "a service is distinguished from another by its fabric, which every query must ask for "
    "(truerail-fabric-rule); who scrapes it under which job name is a matter of the site",
    "target-job-rule": "as template-job-rule",
    "target-logql-rule": "no panel asks Loki: panel-datasource-rule lets Prometheus alone pass",
    "target-logql-auto-rule": "as target-logql-rule",
}
"""Rules of dashboard-linter that are not applied, and why."""
NO_QUERIES: Final = frozenset({"text", "dashlist"})
"""Panels that have nothing to ask."""
UNITS: Final = frozenset(value for name, value in vars(units).items() if isinstance(value, str) and name[0] != "_")
SOURCES: Final = ("$datasource", "${datasource}")
_RATES: Final = frozenset({"rate", "irate", "increase"})


def lint(board: Board) -> list[Complaint]:
    """Everything that breaks a rule."""
    return [complaint for rule in RULES.values() for complaint in rule(board)]


def template_datasource(board: Board) -> Iterator[Complaint]:
    """One data source variable, under the name and label that everybody knows."""
    found = [(one.name, one.json.get("label"), one.query) for one in board.variables if one.type == "datasource"]
    if found != [("datasource", "Data source", "prometheus")]:
        summary = f"wants one variable datasource, labelled Data source, of prometheus; has {found}"
        yield of_board("template-datasource-rule", board, summary)


def template_label_promql(board: Board) -> Iterator[Complaint]:
    """Variables ask for the values of a label of series that can be read."""
    for one in board.variables:
        if one.type != "query":
            continue
        asked = one.values_of
        problem = _problem(board, asked[0]) if asked else f"{one.query!r} does not ask for the values of a label"
        if problem:
            yield of_board("template-label-promql-rule", board, f"variable {one.name}: {problem}")


def template_reload(board: Board) -> Iterator[Complaint]:
    """Variables list what there was in the time range that is looked at."""
    for one in board.variables:
        if one.type == "query" and one.json.get("refresh") != 2:
            summary = f"variable {one.name} is not asked for again with another time range (refresh 2)"
            yield of_board("template-on-time-change-reload-rule", board, summary)


def panel_datasource(board: Board) -> Iterator[Complaint]:
    """Every panel, query and variable asks the Prometheus that the reader chose."""
    for one in board.variables:
        if one.type == "query" and not _chosen(one.json):
            yield of_board("panel-datasource-rule", board, f"variable {one.name} does not ask $datasource")
    for panel in board.annotations:
        if not all(_chosen(query.json) for query in panel.queries):
            yield of_panel("panel-datasource-rule", board, panel, "does not ask $datasource")
    for panel in board.panels:
        if panel.type not in NO_QUERIES and not all(map(_chosen, (panel.json, *(q.json for q in panel.queries)))):
            yield of_panel("panel-datasource-rule", board, panel, "does not ask $datasource")


def panel_title_description(board: Board) -> Iterator[Complaint]:
    """Every panel says what it is, and what to think of what it shows."""
    for panel in board.panels:
        for name in ("title", "description") if panel.type not in NO_QUERIES else ("title",):
            if not panel.json.get(name):
                yield of_panel("panel-title-description-rule", board, panel, f"has no {name}")


def panel_units(board: Board) -> Iterator[Complaint]:
    """Every value has a unit that Grafana knows."""
    for panel in board.panels:
        if panel.type in NO_QUERIES:
            continue
        config = panel.json.get("fieldConfig", {})
        overridden = [
            p.get("value") for one in config.get("overrides", ()) for p in one["properties"] if p["id"] == "unit"
        ]
        for unit in (config.get("defaults", {}).get("unit"), *overridden):
            if unit not in UNITS:
                yield of_panel("panel-units-rule", board, panel, f"unit {unit!r} is none that Grafana knows")


def panel_no_targets(board: Board) -> Iterator[Complaint]:
    """Every panel asks something."""
    for panel in board.panels:
        if panel.type not in NO_QUERIES and not panel.queries:
            yield of_panel("panel-no-targets-rule", board, panel, "asks nothing")


def target_promql(board: Board) -> Iterator[Complaint]:
    """Every expression can be read, and every variable in it is one of the dashboard's."""
    for panel, query in queries(board):
        if problem := _problem(board, query.expr):
            yield of_panel("target-promql-rule", board, panel, f"{query.ref}: {problem}")


def target_rate_interval(board: Board) -> Iterator[Complaint]:
    """Rates are taken over $__rate_interval, which fits both the scrapes and the width of the panel."""
    for panel, query in queries(board):
        if _problem(board, query.expr):
            continue  # reported by target-promql-rule
        for read in reads(parsed(board, query.expr)):
            if read.within in ("rate", "irate") and read.range_seconds != RATE_SECONDS:
                summary = f"{query.ref}: {read.within} of {read.metric} is not over $__rate_interval"
                yield of_panel("target-rate-interval-rule", board, panel, summary)


def target_counter_agg(board: Board) -> Iterator[Complaint]:
    """A counter alone says how long ago something was restarted: it is read by rate, irate or increase."""
    for panel, query in queries(board):
        if _problem(board, query.expr):
            continue  # reported by target-promql-rule
        for read in reads(parsed(board, query.expr)):
            if read.metric.endswith("_total") and not (read.within in _RATES and read.range_seconds):
                summary = f"{query.ref}: the counter {read.metric} is not read by rate, irate or increase"
                yield of_panel("target-counter-agg-rule", board, panel, summary)


def uneditable(board: Board) -> Iterator[Complaint]:
    """What is generated is not edited by hand."""
    if board.json.get("editable") is not False:
        yield of_board("uneditable-dashboard-rule", board, "can be edited")


RULES: Final[Mapping[str, Callable[[Board], Iterable[Complaint]]]] = {
    "template-datasource-rule": template_datasource,
    "template-label-promql-rule": template_label_promql,
    "template-on-time-change-reload-rule": template_reload,
    "panel-datasource-rule": panel_datasource,
    "panel-title-description-rule": panel_title_description,
    "panel-units-rule": panel_units,
    "panel-no-targets-rule": panel_no_targets,
    "target-promql-rule": target_promql,
    "target-rate-interval-rule": target_rate_interval,
    "target-counter-agg-rule": target_counter_agg,
    "uneditable-dashboard-rule": uneditable,
}
"""Every rule that is applied, by dashboard-linter's name of it."""
RATE_SECONDS: Final = 60.0 * int(BUILT_IN["__rate_interval"].removesuffix("m"))


def queries(board: Board) -> Iterator[tuple[Panel, Query]]:
    """Every query of every panel and annotation."""
    return ((panel, query) for panel in (*board.panels, *board.annotations) for query in panel.queries)


def _chosen(json: Mapping[str, Any]) -> bool:
    source = json.get("datasource") or {}
    return source.get("type") == "prometheus" and source.get("uid") in SOURCES


def _problem(board: Board, expr: str) -> str:
    """Why an expression cannot be read; empty where it can."""
    try:
        parsed(board, expr)
    except LookupError as error:
        return f"there is no variable {error}"
    except ValueError as error:
        return f"{expr!r} is no PromQL: {error}"
    return ""
