"""What every panel has, whatever it draws."""

from collections.abc import Sequence
from typing import Final, Required, TypedDict, cast

from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.dashboard import (
    DashboardLink,
    FieldConfig,
    FieldConfigSource,
    GridPos,
    Panel,
    ValueMapping,
)

from dashboards.grafana.links import Link
from dashboards.grafana.palette import PLAIN, Steps, thresholds, unknown_values
from dashboards.grafana.queries import SOURCE

WIDTH: Final = 6
UNKNOWN: Final = "unknown"


class Face(TypedDict, total=False):
    """What a panel may say of itself. `unit` is one of Grafana's unit ids, `width` of the grid's 24 columns."""

    unit: Required[str]
    width: int
    steps: Steps
    mappings: list[ValueMapping]
    links: Sequence[Link]
    empty: str
    """What stands in the panel where there is no data: "unknown", or what the reader is to think then."""
    decimals: int
    low: float
    high: float


def faced(panel: Panel, title: str, summary: str, queries: Sequence[Dataquery], face: Face) -> Panel:
    """`panel` with everything that is not peculiar to its kind."""
    panel.title, panel.description, panel.datasource = title, summary, SOURCE
    panel.targets = [query.ref_id(chr(ord("A") + at)).build() for at, query in enumerate(queries)]
    panel.grid_pos = GridPos(w=face.get("width", WIDTH))
    _fill(fields(panel), face)
    return panel


def fields(panel: Panel) -> FieldConfig:
    """What holds for all fields of a panel, to be written to."""
    panel.field_config = panel.field_config or FieldConfigSource()
    panel.field_config.defaults = panel.field_config.defaults or FieldConfig()
    return panel.field_config.defaults


def _fill(config: FieldConfig, face: Face) -> None:
    config.unit = face["unit"]
    config.thresholds = thresholds(face.get("steps", PLAIN)).build()
    config.mappings = face.get("mappings", unknown_values())
    config.no_value = face.get("empty", UNKNOWN)
    config.decimals, config.min_val, config.max_val = face.get("decimals"), face.get("low"), face.get("high")
    if links := face.get("links"):
        config.links = cast("list[DashboardLink]", list(links))  # the kit's type is that of links above a board
