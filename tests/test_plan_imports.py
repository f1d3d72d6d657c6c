"""Cable lists of other tools become plans: workbooks made here, delimited text, JSON, YAML and topology files."""

import io
import json
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
from truerail.model import Cable, Plan, Role
from truerail.plans import PlanError, dump_csv, dump_yaml, load, loads
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


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def ends(plan: Plan) -> list[tuple[str, ...]]:
    return [(cable.a.device, cable.a.name, cable.b.device, cable.b.name) for cable in plan.cables]


def roles(plan: Plan) -> dict[str, str]:
    return {name: device.role.value for name, device in plan.devices.items()}


def hosts(cables: tuple[Cable, ...]) -> dict[str, tuple[int | None, int | None]]:
    return {str(cable.a): (cable.rail, cable.plane) for cable in cables}


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "#StartDevice,StartPort,EndDevice,EndPort,LinkType\nsw-1,Port 21,sw-2,sw-2/Port 2,Data\n",
            [("sw-1", "Port 21", "sw-2", "Port 2")],
        ),
        (
            (
                "Role,Speed,Endpoint 1 Name,Endpoint 1 Type,Endpoint 1 Interface Name,Endpoint 2 Name,Endpoint 2 Type,"
                "Endpoint 2 Interface Name\nLeaf to Server,400G,leaf1,Leaf,et-0/0/0:0,sys1,Server,nic-03\n"
            ),
            [("sys1", "nic-03", "leaf1", "et-0/0/0:0")],
        ),
        (
            (
                "side_a_site;side_a_device;side_a_type;side_a_name;side_b_site;side_b_device;side_b_type;side_b_name\n"
                "S1;one;dcim.interface;eth 1;S2;one;dcim.interface;eth 2\nS1;p;dcim.powerport;x;S1;q;dcim.powerfeed;y\n"
            ),
            [("one (S1)", "eth 1", "one (S2)", "eth 2")],
        ),
        (
            (
                "SourceHostname\tSourcePhysicalPort\tSourceRU\tDestHostname\tDestPhysicalPort\tCableLength\n"
                "gpu-1\tmlx5_0\t3\tleaf-1\t1/1\t10m\n"
            ),
            [("gpu-1", "mlx5_0", "leaf-1", "1/1")],
        ),
    ],
)
def test_delimited_cable_lists(text: str, expected: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert ends(load(written(tmp_path, "cables.csv", text))) == expected


def test_a_lab_graphs_bandwidth_is_in_megabits(tmp_path: Path) -> None:
    text = "StartDevice,StartPort,EndDevice,EndPort,BandWidth\ndut-1,Ethernet0,fanout-1,Ethernet4,100000\n"
    (cable,) = load(written(tmp_path, "links.csv", text)).cables
    assert cable.speed_gbps == 100


def air(cables: list[tuple[str, str, str, str]]) -> Any:
    links: list[Any] = [[{"node": a, "interface": p}, {"node": b, "interface": q}] for a, p, b, q in cables]
    return {"content": {"nodes": {}, "links": [*links, [{"node": "gpu-1", "interface": "eth9"}, "unconnected"]]}}


FABRIC = [(f"gpu-{h}", f"eth{r + 1}", f"tor-{r // 2}", f"swp{2 * h + r % 2}") for h in (1, 2, 3) for r in range(4)]


def test_rails_by_the_order_of_ports_where_the_leaves_agree(tmp_path: Path) -> None:
    found = import_plan(written(tmp_path, "air.json", json.dumps(air(FABRIC))))
    assert found.format == "NVIDIA Air"
    assert hosts(found.plan.cables) == {f"gpu-{h}/eth{r + 1}": (r, None) for h in (1, 2, 3) for r in range(4)}
    assert "1 ports without a cable are left out" in found.plan.notes


def test_no_rail_where_hosts_do_not_agree(tmp_path: Path) -> None:
    crossed = [*FABRIC[:4], ("gpu-2", "eth1", "tor-1", "swp4"), ("gpu-2", "eth2", "tor-0", "swp4")]
    found = import_plan(written(tmp_path, "air.json", json.dumps(air(crossed))))
    assert {cable.rail for cable in found.plan.cables} == {None}
    assert any(note.startswith("no rail is decided") for note in found.plan.notes)


def test_two_ports_of_each_nic_are_planes(tmp_path: Path) -> None:
    every = [(h, n, p) for h in (1, 2) for n in (0, 1) for p in (0, 1)]
    cables = [(f"gpu-{h}", f"M{n + 1}P{p + 1}", f"leaf-{n}{p}", f"swp{h}") for h, n, p in every]
    plan = import_plan(written(tmp_path, "air.json", json.dumps(air(cables)))).plan
    assert hosts(plan.cables) == {f"gpu-{h}/M{n + 1}P{p + 1}": (n, p) for h, n, p in every}


def test_rails_by_the_numbers_of_the_leaves_count_from_zero(tmp_path: Path) -> None:
    cables = [("gpu-1", f"enp{n}", f"pod1-r{n}-t1", "swp1") for n in (1, 2)]
    plan = import_plan(written(tmp_path, "air.json", json.dumps(air(cables)))).plan
    assert hosts(plan.cables) == {"gpu-1/enp1": (0, None), "gpu-1/enp2": (1, None)}


def nautobot_device(name: str, *interfaces: dict[str, Any], role: str) -> dict[str, Any]:
    return {"name": name, "role": {"name": role}, "rack": {"name": "R1"}, "position": 4, "interfaces": [*interfaces]}


def port(name: str, far: str, far_port: str) -> dict[str, Any]:
    peer = {"name": far_port, "device": {"name": far}}
    return {"name": name, "connected_interface": peer, "cable": {"label": "C1"}}


EDGE = {"hostname": "gpu-1", "interfaceName": "eth1"}, {"hostname": "leaf-1", "interfaceName": "Ethernet1"}
JSONS: dict[str, Any] = {
    "Nautobot GraphQL": {
        "data": {
            "devices": [
                nautobot_device("gpu-1", port("eth1", "leaf-1", "Ethernet1"), {"name": "bmc"}, role="gpu-server"),
                nautobot_device("leaf-1", port("Ethernet1", "gpu-1", "eth1"), role="leaf"),
            ]
        }
    },
    "Batfish layer 1": {"edges": [{"node1": EDGE[0], "node2": EDGE[1]}, {"node1": EDGE[1], "node2": EDGE[0]}]},
    "Apstra cabling map": {
        "links": [
            {
                "speed": "400G",
                "endpoints": [
                    {"interface": {"if_name": "Ethernet1"}, "system": {"label": "leaf-1", "role": "leaf"}},
                    {"interface": {"if_name": "eth1"}, "system": {"label": "gpu-1", "role": "generic"}},
                ],
            }
        ]
    },
    "CANU": {
        "topology": [
            {"common_name": "gpu-1", "id": 1, "type": "server", "ports": []},
            {
                "common_name": "leaf-1",
                "id": 2,
                "type": "switch",
                "location": {"rack": "x1", "elevation": "u40"},
                "ports": [
                    {"port": "Ethernet1", "slot": None, "destination_node_id": 1, "destination_port": "eth1"},
                    {"port": "Ethernet2", "slot": None, "destination_node_id": None},
                ],
            },
        ]
    },
    "SONiC DEVICE_NEIGHBOR": {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf-1"}},
        "DEVICE_NEIGHBOR": {"Ethernet1": {"name": "gpu-1", "port": "eth1"}},
    },
    "Arista cabling check": {"level1": {"leaf-1": {"Ethernet1": ["gpu-1", "eth1"]}}},
}


@pytest.mark.parametrize("form", JSONS)
def test_cable_lists_in_json(form: str, tmp_path: Path) -> None:
    found = import_plan(written(tmp_path, "cables.json", json.dumps(JSONS[form])))
    assert found.format == form
    assert ends(found.plan) == [("gpu-1", "eth1", "leaf-1", "Ethernet1")]
    assert roles(found.plan) == {"gpu-1": "host", "leaf-1": "leaf"}


LAB = """
name: lab
topology:
  nodes: {gpu-1: {kind: linux}, leaf1: {kind: nokia_srlinux}, spine1: {kind: nokia_srlinux}}
  links:
    - endpoints: ["leaf1:e1-1", "spine1:e1-1"]
    - endpoints: ["gpu-1:eth1", "leaf1:e1-2"]
    - type: veth
      endpoints: [{node: gpu-1, interface: eth2}, {node: leaf1, interface: e1-3}]
    - endpoints: ["gpu-1:eth3", "host:veth0"]
"""
WIRING = """
apiVersion: wiring.githedgehog.com/v1beta1
kind: Switch
metadata: {name: leaf-01}
spec: {role: server-leaf}
---
apiVersion: wiring.githedgehog.com/v1beta1
kind: Connection
metadata: {name: x}
spec:
  unbundled:
    link:
      server: {port: server-1/enp2s1}
      switch: {port: leaf-01/E1/3/1}
---
apiVersion: wiring.githedgehog.com/v1beta1
kind: Connection
metadata: {name: leaf-01--external}
spec: {external: {link: {switch: {port: leaf-01/E1/9}}}}
"""
TOPOLOGY = """
# generated
MQM9700 sw-1
   P1 -4x-25G-> MQM9700 sw-2 P9
   P2 -> MT4129 gpu-1 P1

MQM9700 sw-2
   P9 -> MQM9700 sw-1 P1
"""


def test_containerlab(tmp_path: Path) -> None:
    found = import_plan(written(tmp_path, "fabric.clab.yml", LAB))
    assert ends(found.plan) == [
        ("leaf1", "e1-1", "spine1", "e1-1"),
        ("gpu-1", "eth1", "leaf1", "e1-2"),
        ("gpu-1", "eth2", "leaf1", "e1-3"),
    ]
    assert roles(found.plan) == {"leaf1": "leaf", "spine1": "spine", "gpu-1": "host"}
    assert "link 4: not a cable between two nodes" in found.plan.notes


def test_hedgehog_wiring(tmp_path: Path) -> None:
    plan = load(written(tmp_path, "wiring.yaml", WIRING))
    assert ends(plan) == [("server-1", "enp2s1", "leaf-01", "E1/3/1")]
    assert "connection leaf-01--external: not a cable between two devices" in plan.notes


def test_a_topology_file_of_infiniband(tmp_path: Path) -> None:
    plan = load(written(tmp_path, "fabric.topo", TOPOLOGY))
    assert ends(plan) == [("sw-1", "P1", "sw-2", "P9"), ("gpu-1", "P1", "sw-1", "P2")]
    assert roles(plan)["gpu-1"] == "host"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("x.drawio", "<mxfile host='x'/>", "a drawing has no ports"),
        ("x.svg", "<svg/>", "a drawing has no ports"),
        ("x.pdf", "", "a drawing has no ports"),
        ("x.xml", "<system version='1'/>", "the inside of one host"),
        ("x.yml", "nodes: [a, b]\nlinks: [a-b]\n", r"2 ports have no name, the first is a/\?1"),
        ("x.yaml", "switches: {S1: {nodes: ['n[1-']}}\nnodes: []\n", "brackets|bracket"),
        ("x.csv", "StartDevice,StartPort,EndDevice\nc-1,10,sw-1\n", r"1 ports? ha\w+ no name, the first is sw-1/\?1"),
        ("x.csv", "FrontPanel,Channel\n9,1\n", "unknown column"),
        ("x.ndt", "what is this\n", "no cable list is recognized"),
        ("x.json", '{"content": 1}', "no cable list is recognized"),
        ("x.json", '{"edges": [', "not JSON"),
        ("x.ndt", "StartDevice,StartPort,EndDevice,EndPort\na,1,tbd,TBD\n", "no cable; row 2: not a cable"),
        ("x.ndt", "StartDevice,StartPort,EndDevice,EndPort\na,1,\x1b[2Jb,2\n", r"control character \\x1b"),
        ("x.xlsx", "PK\x03\x04 but no archive", "not a workbook"),
        ("x.doc", "", "expected a plan file"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(name: str, text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=reason):
        load(written(tmp_path, name, text))


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


@pytest.mark.parametrize("form", JSONS)
def test_an_imported_plan_is_the_same_in_the_formats_of_truerail(form: str, tmp_path: Path) -> None:
    plan = import_plan(written(tmp_path, "cables.json", json.dumps(JSONS[form]))).plan
    through_yaml = loads(dump_yaml(plan), ".yaml")
    again = loads(dump_csv(through_yaml), ".csv")
    assert sorted(ends(again)) == sorted(ends(plan))
    assert {name: device.role for name, device in again.devices.items()} == {
        name: device.role for name, device in plan.devices.items()
    }


def test_convert_writes_the_plan_and_reports_what_it_left_out(tmp_path: Path) -> None:
    rows = [["A", 1, f"gpu-{h}", "Host", "eth1", "B", 2, "tbd", "", "x"] for h in (1, 2)]
    cable = ["A", 1, "gpu-1", "Host", "nic0", "B", 2, "sw-1", "Switch", "swp1"]
    path = workbook(tmp_path, IB=[P2P, *rows, cable])
    done = CliRunner().invoke(app, ["plan", "convert", str(path), "--to", "csv"])
    assert done.exit_code == 0
    assert "sheet 'IB' row 2, sheet 'IB' row 3: not a cable, because it says 'tbd'" in done.stderr
    assert loads(done.stdout, ".csv").role_of("sw-1") is Role.LEAF
