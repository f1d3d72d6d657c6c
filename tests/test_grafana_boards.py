"""What the boards promise: one colour for one meaning, unknown never green, choices that chain, links that lead."""

import json
import re
from typing import Any

import pytest

from dashboards.grafana import palette
from dashboards.grafana.boards import BOARDS
from dashboards.grafana.written import text
from tests.grafana_made import PAGE, overrides, panels, properties
from truerail.outputs.metrics.declared import CATALOGUE

MADE: dict[str, Any] = {board.name: json.loads(text(board, PAGE)) for board in BOARDS}
NAMES = sorted(MADE)
CHAIN = {"pod": {"fabric"}, "rail": {"fabric", "pod"}, "host": {"fabric", "pod"}, "switch": {"fabric", "pod"}}
OF_FIELD = re.compile(r"\$\{__data\.fields\.(\w+):percentencode\}")
OF_LABEL = re.compile(r"\$\{__field\.labels\.(\w+):percentencode\}")
TO_BOARD = re.compile(r"/d/([\w-]+)\?(.*)")


def test_the_boards_that_operators_were_promised() -> None:
    assert [board.name for board in BOARDS] == [
        "overview", "day1", "rails", "congestion", "ecmp", "jobs", "host", "switch", "service",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_data_is_never_green(name: str) -> None:
    for panel in panels(MADE[name]):
        for scale in properties(panel, "thresholds"):
            lowest = scale["steps"][0]
            assert lowest == {"color": palette.UNKNOWN, "value": None}, panel["title"]
        assert panel["fieldConfig"]["defaults"]["noValue"], panel["title"]
        assert panel["fieldConfig"]["defaults"].get("custom", {}).get("spanNulls") in (None, False), panel["title"]


@pytest.mark.parametrize("name", NAMES)
def test_one_meaning_has_one_colour(name: str) -> None:
    colours = dict(palette.STATES.values()) | palette.WORDS
    seen = 0
    for panel in panels(MADE[name]):
        for mapping in (mapping for found in properties(panel, "mappings") for mapping in found):
            results = mapping["options"] if mapping["type"] == "value" else {"null": mapping["options"]["result"]}
            for value, result in results.items():
                word = result.get("text", value)
                assert colours.get(word, result["color"]) == result["color"], (panel["title"], word)
                seen += 1
        for override in panel["fieldConfig"]["overrides"]:
            series = override["matcher"]["options"]
            colour = next((p["value"].get("fixedColor") for p in override["properties"] if p["id"] == "color"), None)
            assert colour is None or colours.get(series, colour) == colour, (panel["title"], series)
    assert seen


def test_the_states_are_the_metrics_own() -> None:
    said = " ".join(f"{value} {word}" for value, (word, _) in sorted(palette.STATES.items())).replace(" ", "")
    assert said in CATALOGUE["truerail_link_state"].summary.replace(" ", "").replace(",", "")
    assert palette.STATES[1][1] == palette.UNKNOWN != palette.RIGHT


@pytest.mark.parametrize("name", [name for name in NAMES if name != "service"])
def test_the_first_row_answers_in_colours_and_not_from_an_old_evaluation(name: str) -> None:
    first, *rest = MADE[name]["panels"]
    assert first["type"] == "row"
    answers = [panel for panel in rest if panel["gridPos"]["y"] == 1]
    stats = [panel for panel in answers if panel["type"] == "stat"]
    assert stats
    for panel in stats:
        expr = panel["targets"][0]["expr"]
        assert "truerail_evaluation_age_seconds" in expr, panel["title"]
        assert panel["targets"][0]["instant"], panel["title"]
        assert panel["options"]["reduceOptions"]["calcs"] == ["last"], panel["title"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_chosen_chains(name: str) -> None:
    chosen = MADE[name]["templating"]["list"]
    names = [variable["name"] for variable in chosen]
    assert names[:3] == ["datasource", "truerail", "fabric"]
    for at, variable in enumerate(chosen):
        if variable["type"] != "query":
            continue
        asked = set(re.findall(r"\$(\w+)", variable["query"]["query"]))
        assert asked <= set(names[:at]), f"{variable['name']} asks for what is chosen after it"
        assert asked >= CHAIN.get(variable["name"], set()), variable["name"]
        assert variable["includeAll"] == ("allValue" in variable)
        assert variable["includeAll"] == variable["multi"]


@pytest.mark.parametrize("name", NAMES)
def test_a_choice_of_several_is_matched_as_such(name: str) -> None:
    """A variable of several values becomes a regular expression; of one, a plain text, which must match exactly."""
    for variable in MADE[name]["templating"]["list"]:
        if variable["type"] == "query":
            matcher = "=~" if variable["multi"] else "="
            for panel in panels(MADE[name]):
                for target in panel["targets"]:
                    used = re.findall(rf'(=~|!=|!~|=)"\${variable["name"]}"', target["expr"])
                    assert set(used) <= {matcher}, (panel["title"], variable["name"])


@pytest.mark.parametrize("name", NAMES)
def test_the_time_of_each_cause_is_marked(name: str) -> None:
    """Grafana joins the samples of a series that are at most a step apart to one region, if none is a time itself."""
    marks, *jobs = MADE[name]["annotations"]["list"]
    assert len(jobs) == (name in ("host", "overview"))
    for one, metric in ((marks, "truerail_cause_info"), *((one, "truerail_job_info") for one in jobs)):
        assert (one["enable"], one["hide"], one["useValueForTime"], one["step"]) == (True, False, False, "60s")
        assert one["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        labels = set(re.findall(r"{{(\w+)}}", one["titleFormat"] + one["textFormat"])) | {one["tagKeys"]}
        assert labels <= set(CATALOGUE[metric].labels)
        assert "placement" not in one
    chosen = {variable["name"] for variable in MADE[name]["templating"]["list"]}
    assert ('pod=~"$pod"' in marks["expr"]) == ("pod" in chosen)


@pytest.mark.parametrize("name", NAMES)
def test_links_on_values_find_what_they_name(name: str) -> None:
    for panel in panels(MADE[name]):
        shown = {
            field
            for change in panel.get("transformations", ())
            if change["id"] == "filterFieldsByName"
            for field in change["options"]["include"]["names"]
        }
        for link in (link for found in properties(panel, "links") for link in found):
            assert set(OF_FIELD.findall(link["url"])) <= shown, (panel["title"], link["url"])
            for label in OF_LABEL.findall(link["url"]):
                named = [target.get("legendFormat", "") + target["expr"] for target in panel["targets"]]
                assert all(re.search(rf"\b{label}\b", name) for name in named), (panel["title"], link["url"])
            assert set(link) == {"title", "url", "targetBlank"}


@pytest.mark.parametrize("name", NAMES)
def test_links_to_boards_keep_time_and_fabric_and_set_what_is_there(name: str) -> None:
    for panel in panels(MADE[name]):
        for link in (link for found in properties(panel, "links") for link in found):
            if to := TO_BOARD.fullmatch(link["url"]):
                there = MADE[to[1].removeprefix("truerail-")]["templating"]["list"]
                names = {variable["name"] for variable in there}
                assert set(re.findall(r"var-(\w+)=", to[2])) <= names, (panel["title"], link["url"])
                kept = ("${__url_time_range}", "${fabric:queryparam}", "${datasource:queryparam}")
                assert all(part in to[2] for part in kept), link["url"]
            else:
                assert link["url"].startswith("${truerail:raw}/"), link["url"]


@pytest.mark.parametrize("name", NAMES)
def test_links_above_a_board_keep_what_is_chosen(name: str) -> None:
    boards, page = MADE[name]["links"]
    assert (boards["type"], boards["tags"], boards["includeVars"], boards["keepTime"]) == (
        "dashboards", ["truerail"], True, True,
    )  # fmt: skip
    assert page["url"].startswith("${truerail:raw}/")
    assert "placement" not in boards
    assert "placement" not in page
    assert MADE[name]["tags"] == boards["tags"]


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_tables_are_filled_by_their_queries(name: str) -> None:
    for panel in panels(MADE[name]):
        if panel["type"] != "table":
            continue
        assert all(target["format"] == "table" and target["instant"] for target in panel["targets"]), panel["title"]
        changes = {change["id"]: change.get("options", {}) for change in panel["transformations"]}
        letters = [target["refId"] for target in panel["targets"]]
        values = {f"Value #{letter}" for letter in letters} if len(letters) > 1 else {"Value"}
        if "groupingToMatrix" in changes:
            assert changes["groupingToMatrix"]["valueField"] == "Value"
            continue
        names = changes["filterFieldsByName"]["include"]["names"]
        assert {name for name in names if name.startswith("Value")} <= values, panel["title"]
        assert len(set(names)) == len(names), panel["title"]
        assert ("merge" in changes) == (len(letters) > 1), panel["title"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_tables_are_names_and_values_that_are_not_there_unknown(name: str) -> None:
    """Grafana would show rail 3 as 300 %, and the words for an empty table in each empty cell."""
    for panel in panels(MADE[name]):
        if panel["type"] == "table":
            assert overrides(panel)["string"] == {"unit": "string", "noValue": ""}, panel["title"]
            assert panel["fieldConfig"]["overrides"][0]["matcher"] == {"id": "byType", "options": "string"}
            number = overrides(panel)["number"]
            assert number.get("noValue") == "unknown" or "mappings" in number, panel["title"]
