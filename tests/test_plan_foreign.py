"""Plan files of other tools beside their cables: workbooks, encodings, misspelled devices, `plan convert --from`."""

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner

from truerail.cli.app import app
from truerail.model import Plan
from truerail.plans import PlanError, lint, load
from truerail.plans.imports import import_text

NODES = "nodes: [r1, r2, r3]\n"


def ends(plan: Plan) -> list[str]:
    return [f"{cable.a} {cable.b}" for cable in plan.cables]


def plan_of(text: str, file: str) -> Plan:
    found = import_text(text, file)
    assert found is not None
    return found.plan


HEADER = ["A-Node Name", "A-Port", "Z-Node Name", "Z-Port"]


def written(path: Path, change: Any, *rows: list[Any]) -> Path:
    book = openpyxl.Workbook()
    for row in (HEADER, *rows):
        book.active.append(row)
    change(book)
    book.save(path)
    return path


def test_merged_cells_hold_for_all_their_rows(tmp_path: Path) -> None:
    rows = [["gpu-1", "rail0", "leaf-0", "1"], [None, "rail1", "leaf-1", "1"], [None, "rail2", "leaf-2", "1"]]
    path = written(tmp_path / "x.xlsx", lambda book: book.active.merge_cells("A2:A4"), *rows)
    assert [str(cable.a) for cable in load(path).cables] == ["gpu-1/rail0", "gpu-1/rail1", "gpu-1/rail2"]


def test_a_hidden_sheet_is_not_read_and_formulas_without_a_value_are_named(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        hidden = book.create_sheet("Old")
        for row in (HEADER, ["gpu-1", "rail0", "leaf-9", "9"]):
            hidden.append(row)
        hidden.sheet_state = "hidden"

    path = written(tmp_path / "x.xlsx", change, ["gpu-1", "rail0", "leaf-0", "1"], ["gpu-2", "rail0", '=B2&"x"', "2"])
    plan = load(path)
    assert ends(plan) == ["gpu-1/rail0 leaf-0/1"]
    assert {
        "sheet 'Old' is hidden and not read",
        "sheet 'Sheet' row 3: not a cable, because a device or a port is empty",
    } <= {*plan.notes}
    assert any(note.startswith("sheet 'Sheet': 1 formulas without a value") for note in plan.notes)


@pytest.mark.parametrize("suffix", [".xls", ".xlsx", ".ods"])
def test_workbooks_that_are_old_encrypted_or_of_another_program(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"p2p{suffix}"
    path.write_bytes(b"PK" if suffix == ".ods" else bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500))
    with pytest.raises(PlanError, match="save it as"):
        load(path)


def test_text_in_utf_16_as_a_spreadsheet_saves_it(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("Device A\tPort A\tDevice B\tPort B\ngpu-1\trail0\tleaf-0\t1\n".encode("utf-16"))
    assert ends(load(path)) == ["gpu-1/rail0 leaf-0/1"]


def misspelled(wrong: str, *others: str) -> list[str]:
    lines = [f"gpu-{n},rail0,{wrong if n == 5 else 'leaf-0'},swp{n}" for n in range(1, 9)]
    text = "\n".join(["Device A,Port A,Device B,Port B", *lines, *others])
    return [str(problem) for problem in lint(plan_of(f"{text}\n", "x.csv")) if "did you mean" in str(problem)]


def test_lint_names_a_device_that_is_misspelled_with_its_cell() -> None:
    (problem,) = misspelled("laef-0")
    assert "row 6, column D: laef-0 has 1 of the cables, did you mean 'leaf-0'?" in problem
    assert misspelled("Leaf-0") == [], "names that differ in case alone are one device"


@pytest.mark.parametrize("wrong", ["leaf-1", "storage-0", "leaf-0"])
def test_lint_takes_other_devices_for_no_misspelling(wrong: str) -> None:
    assert misspelled(wrong, "gpu-9,rail0,laef-7,swp1", "gpu-10,rail0,laef-0,swp1") == []


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("netbox", "a,leaf"),
        ("cable-list", "a,leaf"),
        ("canu", "expected CANU, recognized is cable list"),
        ("netlap", "no such format, did you mean 'netlab'?"),
        ("csv", "unknown column"),
    ],
)
def test_convert_from_a_format(form: str, answer: str, tmp_path: Path) -> None:
    path = tmp_path / "x.conf"
    path.write_text("Device A,Port A,Device B,Port B\na,swp1,b,swp2\n")
    done = CliRunner().invoke(app, ["plan", "convert", str(path), "--from", form])
    assert answer in f"{done.stdout}{done.exception}"


def test_a_round_trip_of_records(tmp_path: Path) -> None:
    text = json.dumps([{"device_a": "gpu-1", "port_a": 1, "device_b": "leaf-1", "port_b": 3}])
    assert ends(plan_of(text, "x.json")) == ["gpu-1/1 leaf-1/3"]
    assert import_text(json.dumps([{"name": 1}]), "x.json") is None
