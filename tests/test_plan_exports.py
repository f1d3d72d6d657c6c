"""Plans written for other tools and read back; the files that come with a cable list; ports without names."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import Cable, Device, Plan, Port, Role
from truerail.plans import PlanError, dump_csv, lint, load, loads, new_plan
from truerail.plans.companions import with_hca_names, with_layout
from truerail.plans.exports import TEXTS, dump_workbook
from truerail.plans.imports import import_text

SUFFIXES = {"ndt": ".ndt", "netbox": ".csv", "containerlab": ".yml", "topo": ".topo"}
P2P = "A-Rack,A-U,A-Node Name,A-Port,Z-Rack,Z-RU,Z-Node Name,Z-Port"


def fabric() -> Plan:
    return loads(new_plan(4, 2, spines=2), ".yaml")


def ends(plan: Plan) -> set[tuple[Port, Port]]:
    return {(cable.a, cable.b) for cable in plan.cables}


def run(*words: object) -> str:
    done = CliRunner().invoke(app, ["plan", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stderr


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", TEXTS)
def test_a_format_of_another_tool_reads_back_to_the_same_cables(form: str, tmp_path: Path) -> None:
    plan = fabric()
    again = load(written(tmp_path, f"plan{SUFFIXES[form]}", TEXTS[form](plan)))
    assert ends(again) == ends(plan)
    assert {one.name: one.role for one in again.devices.values()} == {
        one.name: one.role for one in plan.devices.values()
    }


def test_a_workbook_keeps_racks_rails_planes_speeds_lengths_and_labels(tmp_path: Path) -> None:
    devices = {
        "=gpu": Device("=gpu", Role.HOST, rack="r1", unit=4),
        "leaf-0": Device("leaf-0", Role.LEAF, rack="n1", unit=40),
    }
    cable = Cable(Port("=gpu", "1/3"), Port("leaf-0", "swp1"), 3, 1, 400.0, "+A-1", 2.5)
    path = tmp_path / "p2p.xlsx"
    path.write_bytes(dump_workbook(Plan(devices, (cable,))))
    again = load(path)
    assert again.cables == (cable._replace(line=2),)
    assert (again.devices["=gpu"].rack, again.devices["leaf-0"].unit) == ("r1", 40)


def test_netbox_has_lengths_with_their_unit() -> None:
    cable = Cable(Port("gpu-1", "nic0"), Port("leaf-0", "swp1"), label="A,1", length_m=2.5)
    text = TEXTS["netbox"](Plan({}, (cable,)))
    assert 'gpu-1,dcim.interface,nic0,leaf-0,dcim.interface,swp1,"A,1",2.5,m' in text
    found = import_text(text.replace("2.5,m", "10,ft").replace('"A,1"', "A"), "x")
    assert found
    assert found.plan.cables[0].length_m == 3.048


def test_containerlab_quotes_names_that_yaml_would_read_otherwise() -> None:
    cable = Cable(Port("no", 'a"\\'), Port("1e3", "{x}"))
    plan = Plan({name: Device(name, Role.LEAF, platform="eos") for name in ("no", "1e3")}, (cable,))
    tree = yaml.safe_load(TEXTS["containerlab"](plan))["topology"]
    assert tree["links"] == [{"endpoints": ['no:a"\\', "1e3:{x}"]}]
    assert tree["nodes"] == {"no": {"kind": "arista_ceos"}, "1e3": {"kind": "arista_ceos"}}


def test_a_topology_file_cannot_hold_a_name_with_a_blank() -> None:
    plan = Plan({}, (Cable(Port("gpu 1", "1"), Port("leaf", "1")),))
    with pytest.raises(QueryError, match="'gpu 1' has a blank"):
        TEXTS["topo"](plan)


def test_convert_says_what_a_format_cannot_hold_and_takes_it_from_the_suffix(tmp_path: Path) -> None:
    plan = written(tmp_path, "plan.csv", dump_csv(fabric()))
    for name in ("x.ndt", "x.topo", "x.clab.yml", "x.xlsx"):
        said = run("convert", plan, "--output", tmp_path / name)
        assert ("not in this format: " in said) is (name != "x.xlsx")
        assert ends(load(tmp_path / name)) == ends(fabric())
    refused = CliRunner().invoke(app, ["plan", "convert", str(plan), "--to", "xlsx"])
    assert str(refused.exception) == "a workbook is no text: give a file with --output"


def test_a_layout_gives_pods_and_a_mapping_gives_devices(tmp_path: Path) -> None:
    rows = "".join(f"\nr{n},1,gpu-{n},{port},n1,40,leaf-{port},{n}" for n in (1, 2, 3) for port in (1, 2))
    plan = written(tmp_path, "p2p.csv", P2P + rows + "\n")
    layout = written(tmp_path, "layout.csv", "Rack,DH,SU #,Row\nr1,A,su1,1\nr2,A,su2,1\nn1,A,su1,1\n")
    mapping = written(tmp_path, "hca.csv", "port,hca-name\n1, mlx5_1\n2, mlx5_0\n")
    said = run("convert", plan, "--layout", layout, "--hca-mapping", mapping, "--output", tmp_path / "x.csv")
    assert "layout.csv has no pod for rack r3" in said
    made = load(tmp_path / "x.csv")
    assert {name: device.pod for name, device in made.devices.items()} == {
        "gpu-1": "su1",
        "gpu-2": "su2",
        "gpu-3": "",
        "leaf-1": "su1",
        "leaf-2": "su1",
    }
    assert (Port("gpu-1", "mlx5_1"), Port("leaf-1", "1")) in ends(made)
    assert (
        "hca.csv has no name for port 3"
        in with_hca_names(Plan({"g": Device("g")}, (Cable(Port("g", "3"), Port("s", "1")),)), mapping).notes
    )


@pytest.mark.parametrize(
    ("read", "text", "reason"),
    [
        (with_layout, "Rack,Row\nr1,1\n", "expected a header with rack and one of su"),
        (with_layout, "", "expected a header with rack"),
        (with_hca_names, "hca,port\n", "expected the header port,hca-name"),
        (with_hca_names, "port,hca-name\n1,mlx5_0\n1,mlx5_1\n", r"hca.csv:3: expected a port and a name, each once"),
    ],
)
def test_a_companion_that_is_none_is_refused(read, text: str, reason: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def] # one of two functions
    with pytest.raises(PlanError, match=reason):
        read(fabric(), written(tmp_path, "hca.csv", text))


def test_netlab_names_no_ports(tmp_path: Path) -> None:
    path = Path(__file__).parent / "plan_files" / "netlab-names-no-ports" / "topology.yml"
    run("convert", path, "--output", tmp_path / "x.yaml")
    with pytest.raises(PlanError, match=r"10 ports have no name, the first is gpu-1/\?1: name them"):
        load(tmp_path / "x.yaml")


def test_links_and_nodes_of_a_workbook(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Links"
    sheet.append(["A-Node", "A-Port", "Z-Node", "Z-Port", "Protocol", "Shuffle-ID"])
    sheet.append(["gpu-1", "rail0", "leaf-0", "swp1", "ethernet", "S7"])
    sheet.append(["gpu-1", "rail1", "leaf-0", "swp1", "ethernet", "S7"])
    sheet.append(["gpu-1", "nvl0", "nvsw-0", "1", "nvlink", ""])
    nodes = book.create_sheet("Nodes")
    nodes.append(["Node", "Type", "Rack", "U"])
    nodes.append(["gpu-1", "Host", "r1", 4])
    book.save(tmp_path / "cvt.xlsx")
    plan = load(tmp_path / "cvt.xlsx")
    assert [(str(cable.a), cable.rail, cable.label) for cable in plan.cables] == [
        ("gpu-1/rail0", 0, "S7"),
        ("gpu-1/rail1", 1, "S7"),
    ]
    assert (plan.devices["gpu-1"].rack, plan.devices["gpu-1"].unit) == ("r1", 4)
    assert "sheet 'Links' row 4: NVLink, which is no cable of the fabric" in plan.notes
    used_twice = next(problem for problem in lint(plan) if "used twice" in problem.summary)
    there = "for gpu-1/rail1 here and for gpu-1/rail0 in sheet 'Links' row 2, column D"
    assert f"cvt.xlsx: sheet 'Links' row 3, column D: the port is used twice, {there}" in str(used_twice)
