"""Cable lists of other tools become plans: workbooks made here, headers of any words, misspelled devices, `--from`."""

import io
import zipfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from truerail.cli.app import app
from truerail.model import Plan, Role
from truerail.plans import PlanError, lint, load, loads
from truerail.plans.imports import import_plan, import_text
from truerail.plans.imports.headers import header_of

Sheet = list[list[Any]]
P2P = ["A-Rack", "A-U", "A-Node Name", "A-Type", "A-Port", "Z-Rack", "Z-RU", "Z-Node Name", "Z-Type", "Z-Port"]


def workbook(folder: Path, **sheets: Sheet) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path = folder / "p2p.xlsx"
    book.save(path)
    return path


def ends(plan: Plan) -> list[tuple[str, ...]]:
    return [(cable.a.device, cable.a.name, cable.b.device, cable.b.name) for cable in plan.cables]


def roles(plan: Plan) -> dict[str, str]:
    return {name: device.role.value for name, device in plan.devices.items()}


def test_a_p2p_workbook_gives_devices_with_racks_and_rails_by_the_names_of_ports(tmp_path: Path) -> None:
    rows = [["R1", 2, "node-a", "Host", f"rail{n}", "R9", 40 + n, f"sw-x{n}", "Switch", "swp1s0"] for n in (5, 6)]
    plan = import_plan(workbook(tmp_path, Cables=[P2P, *rows])).plan
    assert ends(plan) == [("node-a", "rail5", "sw-x5", "swp1s0"), ("node-a", "rail6", "sw-x6", "swp1s0")]
    assert [cable.rail for cable in plan.cables] == [5, 6]
    assert roles(plan) == {"node-a": "host", "sw-x5": "leaf", "sw-x6": "leaf"}
    assert (plan.devices["sw-x6"].rack, plan.devices["sw-x6"].unit) == ("R9", 46)


def test_a_column_name_that_repeats_is_the_unit(tmp_path: Path) -> None:
    head = ["Rack", "U", "Name", "HCA/Port", "Rack", "Name", "Name", "Port"]
    plan = import_plan(workbook(tmp_path, IB=[head, ["A", 28, "node-1", 1.0, "B", 30, "sw-1", "1/3"]])).plan
    assert ends(plan) == [("node-1", "1", "sw-1", "1/3")]
    assert plan.devices["sw-1"].unit == 30


def test_two_rows_of_headers_vague_rows_and_rows_listed_twice(tmp_path: Path) -> None:
    groups = [None, None, "Source", None, None, None, "Dest", None, None, None, "Cable", "label"]
    head = ["MVP", "SEQ", "rack", "U", "name", "HCA/port", "rack", "U", "nae", "port", "Cable Length", "hostname"]
    rows = [
        ["Y", 1, "A1", 3, "gpu-1", "1", "N1", 40, "leaf-1", "1/1", 7, "gpu-1"],
        ["Y", 2, "N1", 40, "leaf-1", "1/1", "A1", 3, "gpu-1", "1", 7, "leaf-1"],
        ["Y", 3, "A1", 3, "gpu-1", "2", "TBD", None, "tbd", "TBD", None, None],
        ["Y", 4, "A1", 4, "gpu-2", "1", None, None, None, None, None, None],
        [None] * 12,
        ["Y", 5, "A1", 3, "gpu-1", "bmc", "N1", 1, "oob-1", "7", 2, None],
    ]
    path = workbook(tmp_path, BOM=[["Part", "Qty"], ["X", 2]], Cables=[groups, head, *rows])
    found = import_plan(path, out_of_band=True)
    assert ends(found.plan) == [("gpu-1", "1", "leaf-1", "1/1"), ("gpu-1", "bmc", "oob-1", "7")]
    assert found.plan.cables[0].length_m == 7
    unread = ", ".join(f"sheet 'Cables' column {column}" for column in ("A 'MVP'", "B 'SEQ'", "L 'hostname'"))
    assert found.plan.notes[:5] == (
        "sheet 'Cables' row 5: not a cable, because it says 'tbd'",
        "sheet 'Cables' row 6: not a cable, because a device or a port is empty",
        f"{unread}: not read",
        "sheet 'BOM': no cable list",
        "1 row lists a cable again, as its other end does",
    )
    evaluated = load(path)
    assert ends(evaluated) == [("gpu-1", "1", "leaf-1", "1/1")]
    assert "sheet 'Cables' row 8: management network or power, not evaluated" in evaluated.notes
    assert "oob-1" not in evaluated.devices


def test_a_date_in_place_of_a_port_is_named_with_its_row(tmp_path: Path) -> None:
    path = workbook(
        tmp_path, Cables=[P2P, ["A", 1, "n1", "Host", datetime(2026, 3, 1), "B", 2, "sw-1", "Switch", "1/1"]]
    )
    with pytest.raises(PlanError, match=r"row 2: a date, made of a port by the spreadsheet; use text cells"):
        import_plan(path)


def test_an_archive_that_is_no_workbook_or_too_large(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "nothing")
    with pytest.raises(PlanError, match="not a readable workbook"):
        load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"\0" * (257 << 20))
    with pytest.raises(PlanError, match="unpacks to more than"):
        load(path)


def test_a_stray_cell_far_below_is_reported_and_not_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for column, cell in enumerate(P2P, 1):
        sheet.cell(1, column, cell)
    for column, cell in enumerate(["A", 1, "n1", "Host", "eth1", "B", 2, "sw-1", "Switch", "swp1"], 1):
        sheet.cell(2, column, cell)
    sheet.cell(1_048_576, 3, "stray")
    buffer = io.BytesIO()
    book.save(buffer)
    path = tmp_path / "x.xlsx"
    path.write_bytes(buffer.getvalue())
    found = import_plan(path)
    assert len(found.plan.cables) == 1
    assert "sheet 'Sheet': rows beyond 100,000 are not read; the first is row 1,048,576" in found.plan.notes


NOUNS = ["Leaf", "Server", "Switch Port", "Remote Port", "NIC", "Device A", "Length (ft)", "Label", "GPU"]


@given(
    st.lists(st.sampled_from([*P2P, *NOUNS, "", "Port", "Name", "Source", "Rack", "hostname", "Endpoint 1 Name", "U"]))
)
@example(["Leaf Prt", "Switch Port", "Slot", "Port", "B-Port", "Hostname"])
@example(["Leaf Port", "Switch Port", "Slot", "Port", "B-Port", "Hostname"])
def test_no_header_breaks_the_reader(cells: list[str]) -> None:
    header = header_of(cells, cells[::-1])
    columns = [*header.end["a"].values(), *header.end["b"].values(), *header.cable.values()]
    assert all(0 <= column < len(cells) for column in columns)


@given(st.text(max_size=300))
def test_no_text_breaks_the_readers(text: str) -> None:
    with suppress(PlanError):
        found = import_text(text, "x")
        assert found is None or found.plan.cables


def test_convert_writes_the_plan_and_reports_what_it_left_out(tmp_path: Path) -> None:
    rows = [["A", 1, f"gpu-{h}", "Host", "eth1", "B", 2, "tbd", "", "x"] for h in (1, 2)]
    cable = ["A", 1, "gpu-1", "Host", "nic0", "B", 2, "sw-1", "Switch", "swp1"]
    path = workbook(tmp_path, IB=[P2P, *rows, cable])
    done = CliRunner().invoke(app, ["plan", "convert", str(path), "--to", "csv"])
    assert done.exit_code == 0
    assert "sheet 'IB' row 2, sheet 'IB' row 3: not a cable, because it says 'tbd'" in done.stderr
    assert loads(done.stdout, ".csv").role_of("sw-1") is Role.LEAF


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
    assert [str(cable.b) for cable in plan.cables] == ["leaf-0/1"]
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


def misspelled(wrong: str, *others: str) -> list[str]:
    lines = [f"gpu-{n},rail0,{wrong if n == 5 else 'leaf-0'},swp{n}" for n in range(1, 9)]
    text = "\n".join(["Device A,Port A,Device B,Port B", *lines, *others])
    found = import_text(f"{text}\n", "x.csv")
    assert found is not None
    return [str(problem) for problem in lint(found.plan) if "did you mean" in str(problem)]


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
