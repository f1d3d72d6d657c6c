"""What boards are built with: the grid, scales, queries, tables and links, each as Grafana will read it."""

import json
from itertools import pairwise
from typing import Any

import pytest

from dashboards.grafana import links, palette, queries, variables
from dashboards.grafana.layout import Board, Row, built
from dashboards.grafana.panels import Column, lines, matrix, stat, table
from dashboards.grafana.queries import instant, over_time, rows
from dashboards.grafana.written import text
from tests.grafana_made import PAGE, one, overrides


def test_several_queries_are_joined_after_their_names_are_gone() -> None:
    panel = one(
        table(
            "Two",
            "Says.",
            rows("a"),
            rows("b"),
            columns=(Column("host"), Column("Value #A", "a")),
            unit="none",
            width=24,
        )
    )
    assert [change["id"] for change in panel["transformations"]] == ["filterFieldsByName", "merge", "organize"]
    assert panel["transformations"][2]["options"]["renameByName"] == {"Value #A": "a"}


def test_a_matrix_colours_figures_and_leaves_names_alone() -> None:
    panel = one(
        matrix(
            "M", "S.", rows("x"), row="pod", column="rail", unit="none", mappings=palette.said(palette.STATES), width=24
        )
    )
    assert panel["fieldConfig"]["defaults"]["mappings"] == []
    assert overrides(panel)["string"]["unit"] == "string"
    assert {"0", "3"} <= overrides(panel)["number"]["mappings"][0]["options"].keys()
    assert panel["transformations"][0]["options"] == {
        "rowField": "pod", "columnField": "rail", "valueField": "Value", "emptyValue": "null",
    }  # fmt: skip


def test_words_for_no_data_are_not_covered_by_a_mapping() -> None:
    for mapping in (*palette.said(palette.STATES), *palette.unknown_values()):
        made = json.loads(json.dumps(mapping.to_json(), default=lambda value: value.to_json()))
        assert made["options"].get("match") in (None, "nan")


def test_a_query_asks_for_now_or_for_all_the_time_shown() -> None:
    panel = one(lines("L", "S.", over_time("a", "{{host}}"), instant("b"), unit="Bps", width=24))
    now = [(t["refId"], t["expr"], t.get("instant", False), t.get("range", False)) for t in panel["targets"]]
    assert now == [("A", "a", False, True), ("B", "b", True, False)]
    assert panel["targets"][0]["legendFormat"] == "{{host}}"


def test_scales() -> None:
    assert palette.rising(1, 2) == ((0, "green"), (1, "orange"), (2, "red"))
    assert palette.rising(1) == ((0, "green"), (1, "orange"))
    assert palette.falling(0.9, 0.5) == ((0, "red"), (0.5, "orange"), (0.9, "green"))
    assert palette.none_is_right(palette.UNKNOWN) == ((0, "green"), (1, "purple"))
    for steps in (palette.rising(1, 2), palette.falling(0.9, 0.5)):
        assert all(low < high for (low, _), (high, _) in pairwise(steps))


def test_an_old_evaluation_says_nothing() -> None:
    assert queries.fresh("sum by (fabric) (x)").endswith(
        'and on(fabric) (truerail_evaluation_age_seconds{fabric="$fabric"} < 900)'
    )


def _wide(*widths: int) -> Board:
    many = tuple(stat(f"{at}", "Says.", instant("x"), unit="none", width=width) for at, width in enumerate(widths))
    return Board("wide", "Wide", "Says.", (), (Row("Question?", 4, many), Row("Next?", 3, (_full(),), collapsed=True)))


def _full() -> Any:
    return stat("full", "Says.", instant("x"), unit="none", width=24)


def test_rows_fill_the_grid_from_left_to_right_and_down() -> None:
    made = json.loads(text(_wide(12, 12, 8, 16), PAGE))
    places = [tuple(panel["gridPos"][key] for key in "xywh") for panel in made["panels"]]
    assert places == [(0, 0, 24, 1), (0, 1, 12, 4), (12, 1, 12, 4), (0, 5, 8, 4), (8, 5, 16, 4), (0, 9, 24, 1)]
    folded = made["panels"][-1]
    assert folded["collapsed"]
    assert [panel["title"] for panel in folded["panels"]] == ["full"]
    numbers = [panel["id"] for panel in (*made["panels"], *folded["panels"])]
    assert sorted(numbers) == list(range(1, 8))


@pytest.mark.parametrize(
    ("widths", "summary"),
    [((12, 13), r"'1' is 13 wide, and 12 are left"), ((12, 8), r"4 of 24 columns are left empty")],
)
def test_a_row_that_does_not_fill_the_grid_is_refused(widths: tuple[int, ...], summary: str) -> None:
    with pytest.raises(ValueError, match=summary):
        built(_wide(*widths), PAGE)


def test_names_in_links_are_fit_for_addresses() -> None:
    host = links.to_board("Host", "host", host=links.of_field("host"))
    assert host["url"] == (
        "/d/truerail-host?${datasource:queryparam}&${fabric:queryparam}&var-host=${__data.fields.host:percentencode}&${__url_time_range}"
    )
    assert all(":percentencode}" in link["url"] for link in (*links.HOST, *links.SWITCH, *links.HOST_SERIES))


def test_what_belongs_to_no_pod_is_not_left_out() -> None:
    assert (variables.pod().build().all_value, variables.hosts().build().all_value) == (".*", ".+")
