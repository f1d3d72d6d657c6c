"""The cabling pack: codes that a scanner reads, text that a person reads, and names that are no commands."""

import csv
import re
import subprocess
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from tests import real
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import Cable, Device, Plan, Port, Role
from truerail.outputs.pack import Pack, make_pack
from truerail.outputs.pack.labels import labels_of
from truerail.outputs.pack.zpl import Stock, escaped, render_zpl
from truerail.plans import loads, new_plan

HOSTILE = '^XZ~JA"\\)Tj\x1b[2J'
BASE = "https://truerail.example.com/gpu"


def one_cable(**more: object) -> Plan:
    devices = {
        HOSTILE: Device(HOSTILE, Role.HOST, rack="r1", unit=4),
        "leaf-ü-東京": Device("leaf-ü-東京", Role.LEAF, rack="n1", unit=40),
    }
    cable = Cable(Port(HOSTILE, "nic0"), Port("leaf-ü-東京", "swp1"), 3, 1, 400.0, "A-001", 2.5)
    return Plan(devices, (cable._replace(**more),))


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pack of four hosts and two rails, with the cable of a hostile host first."""
    fabric = loads(new_plan(4, 2, spines=2, hosts_per_rack=2), ".yaml")
    hostile = one_cable()
    plan = Plan({**hostile.devices, **fabric.devices}, (*hostile.cables, *fabric.cables), name="lab")
    folder = tmp_path_factory.mktemp("pack")
    for name, content in make_pack(plan, Pack(BASE)):
        (folder / name).write_bytes(content)
    return folder


def scanned(picture: Path) -> list[str]:
    """What zbar reads in a picture, sorted."""
    done = subprocess.run(["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True, check=True)
    return sorted(done.stdout.splitlines())


def text_of(document: Path) -> str:
    return subprocess.run(["pdftotext", "-layout", document, "-"], capture_output=True, text=True, check=True).stdout


def test_every_code_of_a_sheet_of_labels_opens_its_cable(pack: Path) -> None:
    real.require("pdftoppm", "zbarimg")
    sheet = pack / "sheet.png"
    subprocess.run(
        [
            "pdftoppm",
            "-png",
            "-gray",
            "-r",
            "150",
            "-f",
            "1",
            "-singlefile",
            pack / "labels.pdf",
            sheet.with_suffix(""),
        ],
        check=True,
    )
    addresses = scanned(sheet)
    assert len(addresses) == 21
    assert addresses.count(f"{BASE}/ask?q=where&port=gpu-001%2Fnic0") == 2
    hostile = "%5EXZ~JA%22%5C%29Tj%1B%5B2J%2Fnic0"
    assert addresses.count(f"{BASE}/ask?q=where&port={hostile}") == 2


def test_a_code_of_the_label_printer_is_read(tmp_path: Path) -> None:
    real.require("zbarimg")
    plan = loads(new_plan(1, 1, spines=1), ".yaml")
    zpl = render_zpl(labels_of(plan, BASE), Stock())
    total, each, data = re.search(r"\^GFA,(\d+),\d+,(\d+),([0-9A-F:]+)\^FS", zpl).groups()  # type: ignore[union-attr] # it is there
    rows: list[str] = []
    for found in re.finditer(rf"[0-9A-F]{{{2 * int(each)}}}|:", data):
        rows.append(rows[-1] if found[0] == ":" else found[0])
    assert len(rows) * int(each) == int(total)
    bits = Image.frombytes("1", (8 * int(each), len(rows)), bytes.fromhex("".join(rows)))
    label = Image.new("L", (406, 203), 255)
    label.paste(bits.convert("L").point(lambda value: 255 - value), (12, 12))
    label.save(tmp_path / "label.png")
    assert scanned(tmp_path / "label.png") == [f"{BASE}/ask?q=where&port=gpu-001%2Fnic0"]


def test_a_name_is_no_command_of_the_printer() -> None:
    zpl = render_zpl(labels_of(one_cable(label="^JUS")), Stock())
    assert (zpl.count("^XA"), zpl.count("^XZ"), zpl.count("~")) == (2, 2, 0)
    assert "^JU" not in zpl
    assert re.fullmatch(r"(?:_[0-9A-F]{2}|[A-Za-z0-9 -])*", escaped(f"{HOSTILE}東_é"))
    assert escaped("a_^é") == "a_5F_5E_C3_A9"


def test_without_an_address_the_code_holds_both_ends() -> None:
    ((a, b),) = labels_of(one_cable())
    assert a.code is b.code
    assert a.code.text == f"{HOSTILE}/nic0 -- leaf-ü-東京/swp1"
    assert (a.place, a.far_place, b.place) == ("r1 U4", "n1 U40", "n1 U40")
    assert a.about == "A-001  rail 3  plane 1  400G  2.5 m"


def test_labels_leave_out_the_domain_that_all_names_share_and_codes_do_not() -> None:
    names = {name: f"{name}.fabric.example.com" for name in ("gpu-001", "leaf-0")}
    devices = {name: Device(name, role) for name, role in zip(names.values(), (Role.HOST, Role.LEAF), strict=True)}
    cable = Cable(Port(names["gpu-001"], "nic0"), Port(names["leaf-0"], "swp1"))
    ((a, b),) = labels_of(Plan(devices, (cable,)))
    assert (str(a.here), str(b.here), a.code.text) == ("gpu-001/nic0", "leaf-0/swp1", f"{cable.a} -- {cable.b}")
    same = Plan({**devices, "gpu-001": Device("gpu-001", Role.HOST)}, (cable,))
    assert labels_of(same)[0][0].here == cable.a


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_text_is_escaped_and_stays_on_its_label(paper: str, tmp_path: Path) -> None:
    real.require("pdftotext")
    long = "x" * 120 + "-end"
    plan = one_cable(b=Port("leaf-ü-東京", long))
    for name, content in make_pack(plan, Pack(paper=paper)):
        (tmp_path / name).write_bytes(content)
    words = text_of(tmp_path / "labels.pdf")
    assert r"^XZ~JA" in words
    assert "\x1b" not in words
    assert re.search(r"leaf-ü-\s*\\u6771\\u4eac", text_of(tmp_path / "ports.pdf"))
    assert long not in words
    assert re.search(r"x{4,}…x*-end", words)


def test_rack_sheets_and_port_maps_have_every_cable_end(pack: Path) -> None:
    real.require("pdftotext")
    racks, ports = text_of(pack / "racks.pdf"), text_of(pack / "ports.pdf")
    assert "Rack r1: 3 devices, 5 cable ends" in racks
    assert "Rack r2: 2 devices, 4 cable ends" in racks
    assert "No rack planned: 4 devices" in racks
    assert re.search(r"gpu-001 +nic1 +leaf-1 +swp1", racks)
    assert "leaf-0: leaf, 8 cables" in ports
    assert re.search(r"swp2 +0 +gpu-002 +nic0 +r1 U21", ports)


def test_the_bill_counts_cables_by_kind_and_length(pack: Path) -> None:
    rows = list(csv.DictReader((pack / "bill.csv").read_text().splitlines()))
    assert {(row["from"], row["to"], row["length_m"]): row["cables"] for row in rows} == {
        ("host", "leaf", "unknown"): "8",
        ("host", "leaf", "2.5"): "1",
        ("leaf", "spine", "unknown"): "8",
    }


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://x", "no http or https"),
        ("truerail.example.com", "no http or https"),
        ("https://operator:secret@truerail.example.com", "a user or password"),
    ],
)
def test_an_address_that_no_label_may_have(address: str, reason: str) -> None:
    with pytest.raises(QueryError, match=reason) as refused:
        labels_of(one_cable(), address)
    assert "secret" not in str(refused.value)


def test_a_label_that_is_too_small_for_its_code_is_refused() -> None:
    with pytest.raises(QueryError, match=r"a label of 20 x 10 mm at 203 dpi is too small for a code of 45 modules"):
        render_zpl(labels_of(one_cable(), BASE), Stock(20, 10))


def test_the_command_writes_a_folder_and_prints_the_bill(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(new_plan(2, 1, spines=1))
    done = CliRunner().invoke(app, ["plan", "pack", str(plan), "--output", str(tmp_path / "pack")])
    assert done.exit_code == 0, done.output
    assert re.search(r"host +leaf +400 +unknown +2\n", done.stdout)
    assert {path.name for path in (tmp_path / "pack").iterdir()} == {
        *("labels.pdf", "labels.zpl", "racks.pdf", "ports.pdf", "bill.csv")
    }
    for words, reason in (
        (["--label", "50"], "--label 50: expected width x height"),
        (["--base-url", "x"], "no http or https address"),
    ):
        refused = CliRunner().invoke(app, ["plan", "pack", str(plan), "--output", str(tmp_path / "y"), *words])
        assert reason in str(refused.exception)
