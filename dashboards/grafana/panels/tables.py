"""Tables of what is found, of what is bad, of the worst."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Unpack

from grafana_foundation_sdk.builders import common
from grafana_foundation_sdk.builders import table as kit
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig, DynamicConfigValue, Panel, ValueMapping

from dashboards.grafana.links import Link
from dashboards.grafana.palette import Steps, thresholds
from dashboards.grafana.panels.face import UNKNOWN, Face, faced
from dashboards.grafana.panels.states import CELL, NAMES


@dataclass(frozen=True, slots=True)
class Column:
    """A column by the label or value that it shows: `Value`, or `Value #A` where a table has several queries.

    `title` heads it where the label's own name would not do. With `steps` or `mappings` its cells are coloured, with
    `wrap` long texts have several lines.
    """

    field: str
    title: str = ""
    unit: str = ""
    links: Sequence[Link] = ()
    steps: Steps = ()
    mappings: Sequence[ValueMapping] = ()
    width: int = 0
    wrap: bool = False


def table(
    title: str, summary: str, *queries: Dataquery, columns: Sequence[Column], worst: str = "", **face: Unpack[Face]
) -> Panel:
    """Rows of `queries` (made by `rows`), with these columns in this order; the highest of the column `worst` first.

    Several queries are joined by the labels that they share. `face["unit"]` is that of values without their own;
    `face["empty"]` stands where there are no rows, while a single value that is not there is unknown.
    """
    visual = kit.Panel().override_by_field_type("string", NAMES)
    visual = visual.override_by_field_type("number", [DynamicConfigValue("noValue", UNKNOWN)])
    for transformation in _arranged(columns, len(queries)):
        visual = visual.with_transformation(transformation)
    for column in columns:
        if properties := list(_properties(column)):
            visual = visual.override_by_name(column.title or column.field, properties)
    if worst:
        visual = visual.sort_by([common.TableSortByFieldState().display_name(worst).desc(True)])
    return faced(visual.build(), title, summary, queries, {**face, "mappings": face.get("mappings", [])})


def _arranged(columns: Sequence[Column], queries: int) -> Iterator[DataTransformerConfig]:
    names = [column.field for column in columns]
    yield DataTransformerConfig("filterFieldsByName", options={"include": {"names": names}})
    if queries > 1:  # joined by what is left: a metric's name, which is a column too, would keep them apart
        yield DataTransformerConfig("merge", options={})
    order = {name: at for at, name in enumerate(names)}
    titles = {column.field: column.title for column in columns if column.title}
    options = {"excludeByName": {}, "includeByName": {}, "indexByName": order, "renameByName": titles}
    yield DataTransformerConfig("organize", options=options)


def _properties(column: Column) -> Iterator[DynamicConfigValue]:
    if column.unit:
        yield DynamicConfigValue("unit", column.unit)
    if column.links:
        yield DynamicConfigValue("links", list(column.links))
    if column.steps:
        yield DynamicConfigValue("thresholds", thresholds(column.steps).build())
        yield DynamicConfigValue("color", {"mode": "thresholds"})
    if column.mappings:
        yield DynamicConfigValue("mappings", list(column.mappings))
    if column.steps or column.mappings:
        yield DynamicConfigValue("custom.cellOptions", CELL)
    if column.wrap:
        yield DynamicConfigValue("custom.cellOptions", {"type": "auto", "wrapText": True})
    if column.width:
        yield DynamicConfigValue("custom.width", column.width)
