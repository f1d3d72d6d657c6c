"""CSV and xlsx: a row for each finding with its stable id, and no cell that a spreadsheet would run."""

import csv
import io
from dataclasses import replace

import openpyxl
import pytest
import report_fabric as fabric

from truerail.model import CableState, Evaluation
from truerail.outputs.report import render
from truerail.outputs.report_csv import inert


def rows(evaluation: Evaluation) -> list[dict[str, str]]:
    report = render(evaluation, "csv")
    assert isinstance(report, str)
    return list(csv.DictReader(io.StringIO(report, newline="")))


def book(evaluation: Evaluation) -> openpyxl.Workbook:
    report = render(evaluation, "xlsx")
    assert isinstance(report, bytes)
    return openpyxl.load_workbook(io.BytesIO(report))


def table(evaluation: Evaluation, sheet: str) -> list[dict[str, object]]:
    lines = list(book(evaluation)[sheet].values)
    return [dict(zip(map(str, lines[0]), line, strict=True)) for line in lines[1:]]


def test_csv_has_a_row_for_each_finding_with_its_id():
    evaluation = fabric.every_cause()
    assert sorted(row["id"] for row in rows(evaluation)) == sorted(finding.id for finding in evaluation.findings)


def test_a_csv_row_says_where_what_and_why():
    row = next(row for row in rows(fabric.every_cause()) if row["subject"] == "gpu-012/enp60s0f0np0")
    assert row["place"] == "rack A03 unit 28"
    assert (row["rail"], row["expected"], row["observed"]) == ("1", "leaf-1/swp12", "leaf-3/swp12")
    assert (row["cause"], row["cause_kind"], row["confidence"]) == ("C1", "cable-swap", "0.99")


def test_ids_do_not_change_with_what_else_is_wrong():
    alone = fabric.Maker()
    alone.find(fabric.host_port(55, 2), CableState.MISSING)
    assert rows(alone.evaluation())[0]["id"] in {row["id"] for row in rows(fabric.every_cause())}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_cell_that_looks_like_a_formula_is_made_inert(start):
    assert inert(f"{start}1+1") == f"'{start}1+1"
    assert inert("gpu-001") == "gpu-001"


def test_hostile_strings_stay_in_their_cells_and_start_no_formula():
    found = rows(fabric.hostile())
    assert len(found) == 1
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in found[0].values())
    assert found[0]["action"].startswith("'+\\x1b[31mred")
    assert not any(ord(char) < 32 or char == "\u202e" for cell in found[0].values() for char in cell)


def test_the_workbook_has_four_sheets_each_with_frozen_header_filter_and_widths():
    workbook = book(fabric.every_cause())
    assert workbook.sheetnames == ["Punch list", "Causes", "Findings", "Summary"]
    for sheet in workbook:
        assert sheet.freeze_panes == "B2"
        assert sheet.auto_filter.ref == sheet.dimensions
        assert all(sheet.column_dimensions[letter].width > 5 for letter in "ABC")
        assert sheet["A1"].font.bold


def test_the_summary_counts_by_host_worst_first():
    summary = table(fabric.every_cause(), "Summary")
    assert len(summary) == 64
    assert summary[0]["host"] == "gpu-055"
    assert summary[0]["missing"] == 1
    host = next(row for row in summary if row["host"] == "gpu-012")
    assert (host["planned"], host["right"], host["wrong"], host["not right"]) == (8, 2, 6, 6)
    assert host["place"] == "rack A03 unit 28"
    assert next(row for row in summary if row["host"] == "gpu-060")["unknown"] == 4


def test_the_causes_sheet_has_a_line_for_each_move_and_one_for_causes_without():
    evaluation = fabric.every_cause()
    causes = table(evaluation, "Causes")
    assert len(causes) == sum(max(1, len(cause.moves)) for cause in evaluation.causes)
    first = causes[0]
    assert (first["unplug from"], first["plug into"]) == ("leaf-3/swp12", "leaf-1/swp12")
    assert (first["place"], first["other end"], first["label"]) == (
        "rack N01 unit 33",
        "gpu-012/enp60s0f0np0",
        "P1-012-1",
    )
    leaf_swap = next(row for row in causes if row["kind"] == "leaf-swap")
    assert leaf_swap["move"] is None
    assert "bundle-swap: all cables" in str(leaf_swap["alternatives"])


def test_the_workbook_opens_on_the_steps_ordered_by_rack():
    steps = table(fabric.every_cause(), "Punch list")
    racks = [step["rack"] for step in steps]
    assert racks == sorted(racks)
    move = next(step for step in steps if step["at"] == "leaf-3/swp12")
    assert (move["move the plug to"], move["place of target"]) == ("leaf-1/swp12", "rack N01 unit 31")
    assert (move["other end"], move["place of other end"]) == ("gpu-012/enp60s0f0np0", "rack A03 unit 28")


def test_the_findings_sheet_tells_the_same_as_the_csv():
    evaluation = fabric.every_cause()
    assert [row["id"] for row in table(evaluation, "Findings")] == [row["id"] for row in rows(evaluation)]


@pytest.mark.parametrize("made", [fabric.hostile, fabric.every_cause])
def test_no_cell_of_the_workbook_is_a_formula_or_a_link(made):
    cells = [cell for sheet in book(made()) for line in sheet.iter_rows() for cell in line if cell.value is not None]
    assert len(cells) > 40
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert not any(cell.hyperlink for cell in cells)
    assert not any(ord(char) < 32 for cell in cells for char in str(cell.value))


def test_an_empty_evaluation_still_makes_all_sheets():
    empty = replace(fabric.clean(), cable_states={}, findings=(), causes=())
    assert [sheet.max_row for sheet in book(empty)] == [1, 1, 1, 1]
    assert rows(empty) == []
