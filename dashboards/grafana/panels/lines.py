"""Time series."""

from collections.abc import Mapping
from typing import Unpack

from grafana_foundation_sdk.builders import common, timeseries
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.common import (
    GraphThresholdsStyleMode,
    LegendDisplayMode,
    LegendPlacement,
    SortOrder,
    StackingMode,
    TooltipDisplayMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue, Panel

from dashboards.grafana.panels.face import Face, faced


def lines(
    title: str,
    summary: str,
    *queries: Dataquery,
    stacked: bool = False,
    colours: Mapping[str, str] | None = None,
    **face: Unpack[Face],
) -> Panel:
    """One line for each series. `colours` are by the name of the series; steps are drawn as dashed lines.

    Gaps stay gaps: what is not known is not joined up.
    """
    visual = timeseries.Panel().line_width(1).fill_opacity(60 if stacked else 8).show_points(VisibilityMode.AUTO)
    visual = visual.legend(_legend()).tooltip(_tooltip()).span_nulls(False)
    if stacked:
        visual = visual.stacking(common.StackingConfig().mode(StackingMode.NORMAL).group("A"))
    if "steps" in face:
        style = common.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED)
        visual = visual.thresholds_style(style)
    for name, colour in (colours or {}).items():
        fixed = DynamicConfigValue("color", {"mode": "fixed", "fixedColor": colour})
        visual = visual.override_by_name(name, [fixed])
    return faced(visual.build(), title, summary, queries, face)


def _legend() -> common.VizLegendOptions:
    shown = common.VizLegendOptions().show_legend(True).display_mode(LegendDisplayMode.LIST)
    return shown.placement(LegendPlacement.BOTTOM).calcs([])


def _tooltip() -> common.VizTooltipOptions:
    return common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING)
