"""Queries of panels: PromQL, its legend, and whether it asks for now or for the whole time shown."""

from typing import Final

from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.dashboard import DataSourceRef
from grafana_foundation_sdk.models.prometheus import PromQueryFormat, QueryEditorMode

SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
FABRIC: Final = 'fabric="$fabric"'
POD: Final = f'{FABRIC}, pod=~"$pod"'
RAIL: Final = f'{POD}, rail=~"$rail"'
HOST: Final = f'{RAIL}, host=~"$host"'
SWITCH: Final = f'{POD}, switch="$switch"'
OLD: Final = 900
"""Seconds after which an evaluation says nothing of now: the limit of the alert TruerailEvaluationOld."""


def instant(expr: str, legend: str = "") -> Dataquery:
    """The value now. `legend` names the series, with labels as `{{host}}`."""
    return _query(expr, legend).instant()


def over_time(expr: str, legend: str = "") -> Dataquery:
    """The values over the time shown."""
    return _query(expr, legend).range()


def rows(expr: str) -> Dataquery:
    """The series now, as the rows of a table: one column for each label, and `Value`."""
    return _query(expr, "").instant().format(PromQueryFormat.TABLE)


def fresh(expr: str) -> str:
    """`expr` (with the label `fabric`) only while the evaluation is not old: else it has no series, so is unknown."""
    return f"({expr})\nand on(fabric) (truerail_evaluation_age_seconds{{{FABRIC}}} < {OLD})"


def _query(expr: str, legend: str) -> Dataquery:
    query = Dataquery().datasource(SOURCE).editor_mode(QueryEditorMode.CODE).expr(expr)
    return query.legend_format(legend) if legend else query
