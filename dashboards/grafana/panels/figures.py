"""Panels of single figures: one value, or one bar for each series."""

from typing import Unpack

from grafana_foundation_sdk.builders import bargauge, common
from grafana_foundation_sdk.builders import stat as kit
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.common import (
    BarGaugeDisplayMode,
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    VizOrientation,
)
from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana.panels.face import Face, faced


def stat(title: str, summary: str, *queries: Dataquery, named: bool = False, **face: Unpack[Face]) -> Panel:
    """Figures on the colour of their step; with their names where `named`. Without data it is purple, and says so."""
    text = BigValueTextMode.VALUE_AND_NAME if named else BigValueTextMode.VALUE
    visual = kit.Panel().color_mode(BigValueColorMode.BACKGROUND_SOLID).graph_mode(BigValueGraphMode.NONE)
    visual = visual.text_mode(text).reduce_options(_last()).wide_layout(False)
    return faced(visual.build(), title, summary, queries, face)


def bars(title: str, summary: str, *queries: Dataquery, **face: Unpack[Face]) -> Panel:
    """One bar for each series, coloured by its step."""
    visual = bargauge.Panel().orientation(VizOrientation.HORIZONTAL).display_mode(BarGaugeDisplayMode.BASIC)
    visual = visual.show_unfilled(True).reduce_options(_last())
    return faced(visual.build(), title, summary, queries, face)


def _last() -> common.ReduceDataOptions:
    """The newest value, also where that is none: an older one would show what is not known any more."""
    return common.ReduceDataOptions().calcs(["last"]).values(False)
