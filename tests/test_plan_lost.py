"""Nothing of a cable list is lost in silence: headers with a misspelled word are errors, and each sheet, column and row
that is not used is named; what names a device or a port in another way is read.
"""

import re
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.accuracy.drawn_lists import device_names
from tests.draws import draws
from tests.each import each
from truerail.cli.app import app
from truerail.model import Plan
from truerail.model.index import Devices
from truerail.plans import PlanError, load
from truerail.plans.imports import import_text
from truerail.plans.imports.cable_tables import Table
from truerail.plans.imports.headers import header_of, words
from truerail.plans.imports.misspelled import check_headers
from truerail.plans.imports.table_places import letters

HEADERS = (
    "A-Rack,A-U,A-Node Name,A-Type,A-Port,Z-Rack,Z-RU,Z-Node Name,Z-Type,Z-Port",
    "Src Rack,Src Device,Src Port,Dst Rack,Dst Device,Dst Port",
    "From,FromPort,To,ToPort",
    "Device A,Port A,Device B,Port B,Vendor",
    "Source Device,Source Interface,Dest Device,Dest Interface",
    "Side A Device,Side A Interface,Side B Device,Side B Interface",
    "Local Host,Local Port,Remote Host,Remote Port",
    "Server,NIC,Switch,Switch Port",
)
VALUES = {"device": ("gpu-001", "leaf-0"), "port": ("rail0", "swp1")}


def plan_of(text: str) -> Plan:
    found = import_text(text, "x.csv")
    assert found is not None
    return found.plan


def ends(plan: Plan) -> list[str]:
    return [f"{cable.a} {cable.b}" for cable in plan.cables]


def cable_below(header: list[str]) -> list[str]:
    found, cells = header_of(header), ["x"] * len(header)
    for what, values in VALUES.items():
        for side, value in zip("ab", values, strict=True):
            cells[found.end[side][what]] = value
    return cells


@st.composite
def misspelled(draw: st.DrawFn) -> tuple[list[str], list[str], int]:
    """A header, the same with a letter of a device's or port's column lost, doubled or exchanged with the next, and
    that column.
    """
    header = draw(st.sampled_from(HEADERS)).split(",")
    column = header_of(header).end[draw(st.sampled_from("ab"))][draw(st.sampled_from(("device", "port")))]
    cell = header[column]
    word = draw(st.sampled_from(list(re.finditer("[A-Z]?[a-z]{3,}", cell)) or [None]))
    assume(word is not None)
    at = word.start() + draw(st.integers(1, len(word[0]) - 2))
    wrongs = (cell[at + 1 :], f"{cell[at]}{cell[at:]}", f"{cell[at + 1]}{cell[at]}{cell[at + 2 :]}")
    wrong = cell[:at] + draw(st.sampled_from(wrongs))
    assume(words(wrong) != words(cell))
    return header, [*header[:column], wrong, *header[column + 1 :]], column


@settings(max_examples=draws(60, 2000))
@given(misspelled(), st.integers(0, 2), st.booleans())
def test_a_misspelled_header_is_an_error_in_any_sheet(
    found: tuple[list[str], list[str], int], above: int, beside: bool
) -> None:
    header, wrong, column = found
    assume(not header_of(wrong).complete)
    title = [(at + 1, ["Cables of pod 1"]) for at in range(above)]
    sheet = Table("Hosts", [*title, (above + 1, wrong), (above + 2, cable_below(header))])
    good = Table("Uplinks", [(1, header), (2, cable_below(header))])
    with pytest.raises(PlanError) as error:
        check_headers([good, sheet] if beside else [sheet], "p2p.xlsx")
    place = f"sheet 'Hosts' row {above + 1}, column {letters(column)}: an unknown column, did you mean"
    assert f"{place} {words(header[column])!r}?" in str(error.value)


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


UPLINKS = [["Device A", "Port A", "Device B", "Port B", "Vendor"], ["leaf-0", "swp9", "spine-0", "swp1", "x"]]


def test_a_further_table_with_a_misspelled_header_is_an_error(tmp_path: Path) -> None:
    """Below a right one its header would be a cable, above it would not be read."""
    wrong = [["Device A", "Prot A", "Device B", "Port B"], ["gpu-1", "rail0", "leaf-0", "swp1"]]
    for at, rows in enumerate(([*UPLINKS, *wrong], [*wrong, *UPLINKS])):
        path = book(tmp_path / "x.xlsx", All=rows)
        done = CliRunner().invoke(app, ["plan", "lint", str(path)])
        assert done.exit_code
        assert f"sheet 'All' row {1 if at else 3}, column B" in str(done.exception)


ORDINARY = (
    *("Part", "Qty", "Description", "Vendor", "Notes", "Note", "Code", "Cost", "Mode", "Model", "Date", "Size", "Link"),
    *("Colour", "Meaning", "Revision", "Change", "By", "Author", "Owner", "Contact", "Phone", "Serial", "Status", "PO"),
    *("Project", "Total", "Version", "Comment", "Location", "IP", "MAC", "VLAN", "Tested", "Optic", "Order", "State"),
)
KNOWN = ("Device", "Hostname", "Rack", "U", "Type", "Port", "Switch", "Host")


@settings(max_examples=draws(60, 3000))
@given(
    st.lists(st.sampled_from(ORDINARY), min_size=1, max_size=6, unique=True),
    st.lists(st.sampled_from(KNOWN), max_size=2, unique=True),
    st.data(),
)
def test_covers_legends_and_lists_of_devices_or_parts_are_no_errors(
    ordinary: list[str], known: list[str], data: st.DataObject
) -> None:
    header = data.draw(st.permutations([*ordinary, *known]))
    cell = st.sampled_from(("gpu-1", "leaf-0", "swp1", "rail0", "3", "ConnectX-7", "in work", ""))
    rows = data.draw(st.lists(st.lists(cell, min_size=len(header), max_size=len(header)), max_size=4))
    check_headers([Table("x", list(enumerate([header, *rows], 1)))], "x.xlsx")


def test_sheets_and_columns_that_are_not_used_are_named_in_one_line_each(tmp_path: Path) -> None:
    cover, legend = [["Cables of pod 1"], ["Author", "NN"]], [["Colour", "Meaning"], ["red", "host to leaf"]]
    hosts = [["From", "From Port", "To", "To Port", "Rial", "PO"], ["gpu-1", "rail0", "leaf-0", "swp1", 0, "x"]]
    path = book(tmp_path / "x.xlsx", Cover=cover, Legend=legend, Hosts=hosts, Uplinks=UPLINKS)
    said = CliRunner().invoke(app, ["plan", "lint", str(path)]).stderr
    assert "sheet 'Cover', sheet 'Legend': no cable list\n" in said
    hosts_unread = "sheet 'Hosts' column E 'Rial' (did you mean 'rail'?), sheet 'Hosts' column F 'PO'"
    assert f"{hosts_unread}, sheet 'Uplinks' column E 'Vendor': not read\n" in said


@settings(max_examples=draws(40, 1000))
@given(st.lists(st.lists(st.sampled_from(("", "x", "TBD", "1,2", "a|b", "eth0")), min_size=5, max_size=5), max_size=8))
def test_each_row_is_a_cable_or_named(rows: list[list[str]]) -> None:
    numbered = [[f"{cell}{at}" if cell == "x" else cell for cell in row] for at, row in enumerate(rows)]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in numbered)
    plan = plan_of(f"A-Rack,A-Device,A-Port,B-Device,B-Port\nr1,gpu-1,rail0,leaf-0,swp1\n{text}\n")
    named = {int(number) for note in plan.notes for number in re.findall(r"\brow (\d+)", note)}
    named |= {cable.line for cable in plan.cables}
    lost = [at for at, row in enumerate(rows, 3) if any(row) and at not in named]
    assert not lost or any("a cable again" in note for note in plan.notes)


def test_a_sheet_of_known_devices_that_is_not_read_is_told_from_a_cover(tmp_path: Path) -> None:
    ports = [["Port", "Device", "Remarks"], ["swp9", "leaf-0", ""], ["swp1", "spine-0", ""]]
    notes = load(book(tmp_path / "x.xlsx", Cables=UPLINKS, Cover=[["Cables of pod 1"]], Ports=ports)).notes
    assert "sheet 'Ports': names devices of the cables, but is not read" in notes
    assert "sheet 'Cover': no cable list" in notes


@settings(max_examples=draws(60, 1000))
@given(
    st.sampled_from(("swp", "eth", "Ethernet1/", "mlx5_", "")),
    st.sampled_from(("\n", "|", " | ", ",", ";", " & ", "~", "、", "，", " + ", " / ", " and ")),
    st.integers(0, 1),
)
def test_a_cell_of_two_ports_is_no_port(prefix: str, mark: str, end: int) -> None:
    assume(prefix or mark.strip() not in ("+", "/", "and"))
    cell = f"{prefix}1{mark}{prefix}2"
    wrong = ["gpu-2", "rail0", "leaf-0", "swp2"]
    wrong[1 + 2 * end] = f'"{cell}"'
    plan = plan_of(f"Device A,Port A,Device B,Port B\ngpu-1,rail0,leaf-0,swp1\n{','.join(wrong)}\n")
    assert ends(plan) == ["gpu-1/rail0 leaf-0/swp1"]
    assert any("names several ports" in note and re.match(r"row \d:", note) for note in plan.notes)


@each("port", ["1/1", "Slot 1 / Port 1", "et-0/0/1", "P1/2", "swp1s0", "0000:1a:00.0", "eth1.100", "OSFP4 Port 2"])
def test_a_port_with_a_slash_or_a_blank_is_one(port: str) -> None:
    assert ends(plan_of(f"Device A,Port A,Device B,Port B\ngpu-1,{port},leaf-0,swp1\n")) == [
        f"gpu-1/{port} leaf-0/swp1"
    ]


@given(st.lists(st.integers(1, 64), min_size=1, max_size=6, unique=True), st.booleans())
def test_a_number_with_a_point_is_a_whole_one_unless_another_is_none(numbers: list[int], parts: bool) -> None:
    ports = [f"{number}.0" for number in numbers] + ([f"{numbers[0]}.1"] if parts else [])
    rows = "\n".join(f"gpu-{at},rail0,leaf-0,{port},0.0" for at, port in enumerate(ports))
    plan = plan_of(f"Device A,Port A,Device B,Port B,Rail\n{rows}\n")
    assert [cable.b.name for cable in plan.cables] == (ports if parts else list(map(str, numbers)))
    assert {cable.rail for cable in plan.cables} == {0}


WITH_NAMES, ROW = "Device A,Hostname A,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}"
NAMES = {f"R01-pod1-gpu{at}": f"gpu-{at}.example.com" for at in range(1, 4)}


def hosts_and_leaves(form: str, names: dict[str, str]) -> str:
    rows = [(host, name, rail) for host, name in names.items() for rail in (0, 1)]
    return "\n".join(form.format(host, name, rail, f"leaf-{rail}", at) for at, (host, name, rail) in enumerate(rows))


def drawn_column(seed: int) -> tuple[str, str]:
    """A table with a column of further names, in any place and by any word; some with a cable's label behind it."""
    rng = Random(seed)
    word = rng.choice(("Label", "Hostname", "Asset Name", "Alias", "FQDN", "Asset", "DNS Name"))
    columns = [("Device A", "{0}"), ("Port A", "rail{2}"), ("Device B", "{3}"), ("Port B", "swp{4}")]
    columns.insert(rng.randrange(5), (rng.choice((f"A {word}", f"{word} A")), "{1}"))
    header, form = map(",".join, zip(*columns, *rng.choice(([], [("Label", "C{4}")])), strict=True))
    return header, form


@each(
    "header, form",
    [
        *map(drawn_column, range(draws(12, 400))),
        ("Server,Hostname,NIC,Switch,Switch Port", "{0},{1},rail{2},{3},swp{4}"),
        ("Device,Hostname,Port,Device,Hostname,Port", "{0},{1},rail{2},{3},{3}.example.com,swp{4}"),
        ("Device,Label,Port,Device,Label,Port", "{0},{1},rail{2},{3},{3}.example.com,swp{4}"),
        ("Device,Port,Hostname,Device,Port,Hostname", "{0},rail{2},{1},{3},swp{4},{3}.example.com"),
        ("Source,,,Destination,,\nName,Label,Port,Name,Label,Port", "{0},{1},rail{2},{3},x-{3},swp{4}"),
        ("Switch,Switch Port,Server,Server Port,Host", "{3},swp{4},{0},rail{2},{1}"),
    ],
)
def test_a_column_of_further_names_of_the_devices(header: str, form: str) -> None:
    spelled = device_names(Random(header))
    names = {spelled(f"gpu-{at}").replace(" ", "-"): f"gpu-{at}.example.com" for at in range(1, 4)}
    plan = plan_of(f"{header}\n{hosts_and_leaves(form, names)}\n")
    hosts = {name: device for name, device in plan.devices.items() if not name.startswith("leaf")}
    assert {*hosts} | {alias for one in hosts.values() for alias in one.aliases} == {*names, *names.values()}
    found = Devices(plan)
    assert all(found.find(host) == found.find(name) >= 0 for host, name in names.items())
    assert any(note.endswith("further names of the devices") for note in plan.notes)


@each(
    "header, form, names",
    [
        ("Device A,Label,Port A,Device B,Port B", "{0},C-{4},rail{2},{3},swp{4}", NAMES),
        ("Device A,Hostname A,Port A,Device B,Port B", "{0},h{2},rail{2},{3},swp{4}", NAMES),
        ("Device A,Hostname A,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}", {"g1": "h", "g2": "h"}),
        ("Device A,Hostname A,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}", {"g1": "17", "g2": "18"}),
        (WITH_NAMES, ROW, {"g1": "10.0.0.1", "g2": "10.0.0.2"}),
        ("Device A,Hostname A,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}", {"g1": "", "g2": "h"}),
        ("Device A,BMC Hostname,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}", NAMES),
        ("Device A,Hostname A,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}", {"g1": "g2", "g2": "g1"}),
        ("Device A,Hostname A,Port A,Device B,Port B", "{0},{1},rail{2},{3},swp{4}", {"g1": "g1", "g2": "g2"}),
    ],
)
def test_a_column_that_names_no_device_alone_is_none_of_further_names(
    header: str, form: str, names: dict[str, str]
) -> None:
    plan = plan_of(f"{header}\n{hosts_and_leaves(form, names)}\n")
    assert {device.aliases for device in plan.devices.values()} == {()}
    assert len(plan.cables) == 2 * len(names)


@each(
    "header, order",
    [
        ("Node,Hostname,Rack,U,Type,Serial", "{0},{1},R1,{2},Host,x"),
        ("Rack,U,Asset Name,Serial,Hostname", "R1,{2},{0},x,{1}"),
        ("Hostname,Device", "{1},{0}"),
        ("Site 1,,\nLabel,U,Device Name,Rack", "{1},{2},{0},R1"),
    ],
)
def test_a_list_of_devices_gives_their_further_names(header: str, order: str, tmp_path: Path) -> None:
    rows = [order.format(host, name, at) for at, (host, name) in enumerate(NAMES.items(), 1)]
    cables = hosts_and_leaves("{0},rail{2},{3},swp{4}", NAMES).splitlines()
    devices = [line.split(",") for line in [*header.splitlines(), *rows, order.format("spare-1", "spare", 9)]]
    cable_rows = [line.split(",") for line in ["Device A,Port A,Device B,Port B", *cables]]
    plan = load(book(tmp_path / "x.xlsx", Nodes=devices, Cables=cable_rows))
    assert {name: plan.devices[name].aliases for name in NAMES} == {host: (name,) for host, name in NAMES.items()}
    assert ("Rack" not in header) or {plan.devices[name].rack for name in NAMES} == {"R1"}
    assert not any("no cable list" in note for note in plan.notes)
    assert any("column" in note and "not read" in note for note in plan.notes) == ("Serial" in header)
    assert any(note.endswith(": names no device of the cables") for note in plan.notes), "spare-1"


@each(
    "header",
    [
        "Side A,Termination A,Side B,Termination B",
        "side_a,termination_a,side_b,termination_b",
        "ID,Label,Side A,Termination A,Rack A,Side B,Termination B,Rack B,Status",
        "Termination A,Side A,Termination B,Side B",
        "End A,Port A,End B,Port B",
    ],
)
def test_a_side_beside_its_termination_is_a_device(header: str) -> None:
    cells = {"side a": "gpu-1", "termination a": "eth1", "side b": "leaf-0", "termination b": "swp1"}
    cells |= {"end a": "gpu-1", "port a": "eth1", "end b": "leaf-0", "port b": "swp1"}
    row = ",".join(cells.get(words(cell), "") for cell in header.split(","))
    assert ends(plan_of(f"{header}\n{row}\n")) == ["gpu-1/eth1 leaf-0/swp1"]


def drawn_ids(seed: int) -> str:
    """The header of an export whose ends are ids, with other columns of NetBox in any order."""
    rng = Random(seed)
    end = rng.choice(("{}_terminations", "termination_{}", "termination_{}_id", "side_{}_id"))
    more = [*map("side_{}_device".format, "ab")] * (end == "side_{}_id" and rng.random() < 0.3)
    others = rng.sample(("id", "url", "display", "type", "status", "tenant", "label", "color", "length"), 5)
    header = ",".join(rng.sample([*others, *more, end.format("a"), end.format("b")], 7 + len(more)))
    return rng.choice((header, header.replace("_", " ").title()))


@each("header", [*map(drawn_ids, range(draws(8, 300)))])
def test_cables_that_name_their_ends_by_ids_are_refused_in_one_sentence(header: str, tmp_path: Path) -> None:
    path = tmp_path / "cables.csv"
    path.write_text(f"{header}\n{','.join('7' for _ in header.split(','))}\n")
    with pytest.raises(PlanError, match="row 1: the ends of cables are ids, as in a NetBox export") as error:
        load(path)
    assert len(error.value.problems) == 1
    rows = [header.split(","), ["7"] * len(header.split(","))]
    with pytest.raises(PlanError, match="sheet 'Export' row 1: the ends of cables are ids"):
        load(book(tmp_path / "x.xlsx", Cables=UPLINKS, Export=rows))
