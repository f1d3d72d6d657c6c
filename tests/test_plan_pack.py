"""The cabling pack: codes that a scanner reads, and text that a person reads."""

import csv
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests import real
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import Cable, Device, Plan, Port, Role
from truerail.outputs.pack import make_pack
from truerail.outputs.pack.cable_labels import labels_of
from truerail.plans import loads, new_plan

HOSTILE = 'gpu^"\\)Tj\x1b[2J'
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
    for name, content in make_pack(plan, BASE):
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
    hostile = "gpu%5E%22%5C%29Tj%1B%5B2J%2Fnic0"
    assert addresses.count(f"{BASE}/ask?q=where&port={hostile}") == 2


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
    for name, content in make_pack(plan, paper=paper):
        (tmp_path / name).write_bytes(content)
    words = text_of(tmp_path / "labels.pdf")
    assert r'gpu^"\)Tj' in words
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


def test_the_command_writes_a_folder_and_prints_the_bill(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(new_plan(2, 1, spines=1))
    done = CliRunner().invoke(app, ["plan", "pack", str(plan), "--output", str(tmp_path / "pack")])
    assert done.exit_code == 0, done.output
    assert re.search(r"host +leaf +400 +unknown +2\n", done.stdout)
    assert {path.name for path in (tmp_path / "pack").iterdir()} == {"labels.pdf", "racks.pdf", "ports.pdf", "bill.csv"}
    refused = CliRunner().invoke(app, ["plan", "pack", str(plan), "--output", str(tmp_path / "y"), "--base-url", "x"])
    assert "no http or https address" in str(refused.exception)
