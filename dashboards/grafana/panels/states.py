"""States in colours: over time, and side by side."""

from typing import Any, Final, Unpack

from grafana_foundation_sdk.builders import common, statetimeline, statushistory
from grafana_foundation_sdk.builders import table as kit
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, VisibilityMode
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColor,
    FieldColorModeId,
    Panel,
)

from dashboards.grafana.palette import blank
from dashboards.grafana.panels.face import Face, faced, fields

CELL: Any = {"type": "color-background", "mode": "basic"}
"""A table's cell on the colour of its value."""
NAMES: Final = [DynamicConfigValue("unit", "string"), DynamicConfigValue("noValue", "")]
"""Names in a table: rail 3 is not 300 %, and a name that is not there is no missing value."""


def history(title: str, summary: str, *queries: Dataquery, **face: Unpack[Face]) -> Panel:
    """One band for each series that changes its colour with its state (`mappings`). Gaps are not known."""
    visual = statetimeline.Panel().show_value(VisibilityMode.NEVER).row_height(0.85).merge_values(True)
    visual = visual.legend(_no_legend()).fill_opacity(85).line_width(0)
    return _by_steps(faced(visual.build(), title, summary, queries, face))


def heat(title: str, summary: str, *queries: Dataquery, **face: Unpack[Face]) -> Panel:
    """One row for each series, one cell for each time, coloured by `steps`. Empty cells are not known."""
    visual = statushistory.Panel().show_value(VisibilityMode.NEVER).row_height(0.9).col_width(0.95)
    visual = visual.legend(_no_legend()).fill_opacity(90).line_width(0)
    panel = _by_steps(faced(visual.build(), title, summary, queries, face))
    panel.max_data_points = 120
    return panel


def matrix(title: str, summary: str, query: Dataquery, *, row: str, column: str, **face: Unpack[Face]) -> Panel:
    """A table of one label against another, each cell in its colour. `query` is one of `rows`."""
    asked = {"rowField": row, "columnField": column, "valueField": "Value", "emptyValue": "null"}
    visual = kit.Panel().with_transformation(DataTransformerConfig("groupingToMatrix", options=asked))
    states = [*face.pop("mappings"), *blank()]
    cells = [DynamicConfigValue("mappings", states), DynamicConfigValue("custom.cellOptions", CELL)]
    visual = visual.override_by_field_type("string", NAMES).override_by_field_type("number", cells)
    return _by_steps(faced(visual.build(), title, summary, [query], {**face, "mappings": []}))


def _no_legend() -> common.VizLegendOptions:
    legend = common.VizLegendOptions().show_legend(False).display_mode(LegendDisplayMode.LIST)
    return legend.placement(LegendPlacement.BOTTOM)


def _by_steps(panel: Panel) -> Panel:
    fields(panel).color = FieldColor(mode=FieldColorModeId.THRESHOLDS)
    return panel
