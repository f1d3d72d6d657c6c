"""Plan files as tools and people write them beside their main form: other words, other shapes, and mistakes.

Sources of the texts, shortened: netlab's tests/topology/input (link-formats, links-as-dict, link-group, lag-mlag),
topograph's tests/models/medium.yaml, sonic-buildimage's Configuration.md (L2 Neighbors), Arista's cEOS-Topo and Vane,
Cumulus' topology_converter, UFM's NDT plugin, acitoolkit's cableplan, LLDPq's ai_p2p.py, NetBox's REST API, AVD's
examples, the connections of HPE's cani, sFlow-RT, NeXt UI's topologyData, containerlab's graph,
Network as Code for VXLAN (topology, fabric links).
"""

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner

from truerail.cli.app import app
from truerail.model import Plan, Role
from truerail.plans import PlanError, lint, load, loads
from truerail.plans.imports import import_text

NODES = "nodes: [r1, r2, r3]\n"
NETLAB = {
    "r1-r2": f"{NODES}links: [r1 - r2]\n",
    "r1-r2 r2-r3 r3-r1": f"{NODES}links:\n  g1:\n  - r1-r2\n  g2:\n  - r2:\n    r3:\n  g3: r3-r1\n",
    "r1-r2 r2-r3": f"{NODES}links:\n- group: core\n  members: [ r1-r2, r2-r3 ]\n",
    "s1-s2 s2-s1": (
        "groups:\n  _auto_create: True\n  switches: {members: [s1, s2], device: dellos10}\n"
        "links:\n- lag:\n    members: [s1-s2, s2-s1]\n    mlag.peergroup: True\n"
    ),
    "r2-r3": f"{NODES}links:\n- r2.ospf.cost: 3\n  r3:\n  vlan.access: red\n",
    "r3-r1": "nodes:\n- name: r1\n  device: eos\n- name: r3\nlinks:\n- interfaces: [{node: r1}, r3]\n",
}
TEXTS: dict[str, tuple[str, str]] = {
    "Arista lab": (
        (
            "topology: {name: t}\nnodes:\n  leaf-1:\n    neighbors: []\nhosts:\n  gpu-1:\n    neighbors:\n"
            "      - {neighborDevice: leaf-1, neighborPort: Ethernet3, port: eth1}\n"
        ),
        "topology.yml",
    ),
    "Arista lab in a list": (
        (
            "veos: {version: 4.27.2F}\nnodes:\n- leaf-1:\n    neighbors:\n"
            "      - {neighborDevice: gpu-1, neighborPort: eth1, port: Ethernet3}\n"
        ),
        "topology.yml",
    ),
    "Cisco Modeling Labs": (
        (
            "nodes:\n  - {id: n0, label: gpu-1, node_definition: ubuntu, interfaces: [{id: i0, label: eth1}]}\n"
            "  - {id: n1, label: leaf-1, node_definition: nxosv9000, interfaces: [{id: i0, label: Ethernet3}]}\n"
            "links: [{n1: n0, n2: n1, i1: i0, i2: i0}]\n"
        ),
        "lab.yaml",
    ),
    "netlab with ifname": (
        "nodes: [gpu-1, leaf-1]\nlinks: [{gpu-1: {ifname: eth1}, leaf-1: {ifname: Ethernet3}}]\n",
        "lab.yml",
    ),
    "netlab with ifname behind a dot": (
        "nodes: [gpu-1, leaf-1]\nlinks: [{gpu-1.ifname: eth1, leaf-1: {ifname: Ethernet3}}]\n",
        "lab.yml",
    ),
    "Cisco cable plan": (
        (
            '<?xml version="1.0"?><CISCO_NETWORK_TYPES xmlns="http://www.cisco.com/cableplan/Schema2"><DATA_CENTER>'
            '<CHASSIS_INFO sourceChassis="leaf-1">'
            '<LINK_INFO sourcePort="Ethernet3" destChassis="gpu-1" destPort="eth1"/>'
            '<LINK_INFO sourcePort="eth1/1-eth1/9" destChassis="x" destPort="eth1/50"/></CHASSIS_INFO></DATA_CENTER>'
            "</CISCO_NETWORK_TYPES>"
        ),
        "plan.xml",
    ),
    "by the neighbor's name": (
        (
            '{"DEVICE_METADATA": {"localhost": {"hostname": "leaf-1"}}, "DEVICE_NEIGHBOR": {"gpu-1": {"local_port":'
            ' "Ethernet3", "port": "eth1", "type": "Server"}}}'
        ),
        "config_db.json",
    ),
    "flat keys of a database": (
        (
            '{"DEVICE_METADATA|localhost": {"hostname": "leaf-1"}, "DEVICE_NEIGHBOR|Ethernet3": {"name": "gpu-1",'
            ' "port": "eth1"}, "FEATURE": {"bgp": {}}}'
        ),
        "dump.json",
    ),
    "AVD": (
        (
            "hostname: leaf-1\nethernet_interfaces:\n- {name: Ethernet3, peer: gpu-1, peer_interface: eth1,"
            " peer_type: server}\n- {name: Ethernet4, description: spare}\n---\nhostname: leaf-2\n"
            "ethernet_interfaces:\n- {name: Ethernet9, metadata: {peer: gpu-1}}\n"
        ),
        "leaf-1.yml",
    ),
    "CANI's connections": (
        "a_device,a_port,b_device,b_port,type,label\n_defaults,,,,cat6a,\nleaf-1,Ethernet3,gpu-1,eth1,aoc,x\n",
        "cables.csv",
    ),
    "CANI's connection map": (
        (
            "version: v1\nconnections:\n- {a: {device: gpu-1, port: eth1}, b: {device: leaf-1, port: Ethernet3}}\n"
            '- {a: {device: "gpu-{2..4}", port: eth1}, b: {device: leaf-1, port: "{4..6}"}}\n'
        ),
        "cables.yml",
    ),
    "sFlow-RT": (
        '{"links": {"x": {"node1": "leaf-1", "port1": "Ethernet3", "node2": "gpu-1", "port2": "eth1"}}}',
        "topology.json",
    ),
    "NeXt UI": (
        (
            '{"links": [{"id": 0, "source": 4, "srcDevice": "gpu-1", "srcIfName": "eth1", "target": 7, "tgtDevice":'
            ' "leaf-1", "tgtIfName": "Ethernet3"}], "nodes": [{"id": 4, "name": "gpu-1", "icon": "server"}]}'
        ),
        "topology.json",
    ),
    "containerlab's graph": (
        (
            '{"nodes": [{"name": "gpu-1", "kind": "linux"}], "links": [{"source": "gpu-1", "source_endpoint": "eth1",'
            ' "target": "leaf-1", "target_endpoint": "Ethernet3"}]}'
        ),
        "graph.json",
    ),
    "Cisco's fabric links": (
        (
            "vxlan: {topology: {switches: [{name: leaf-1}], fabric_links: [{source_device: leaf-1,"
            " source_interface: Ethernet3, dest_device: gpu-1, dest_interface: eth1}]}}\n"
        ),
        "topology.nac.yaml",
    ),
    "records below a key": (
        (
            '{"format": "lldpq-p2p-v1", "connections": [{"source_name": "gpu-1", "source_port": "eth1",'
            ' "dest_name": "leaf-1", "dest_port": "Ethernet3", "cable_length": 7.5}]}'
        ),
        "p2p.json",
    ),
    "NetBox interfaces": (
        (
            '{"results": [{"device": {"name": "gpu-1"}, "name": "eth1", "cable": null, "connected_endpoints":'
            ' [{"device": {"name": "leaf-1"}, "name": "Ethernet3"}]}, {"device": {"name": "gpu-1"}, "name": "eth2",'
            ' "connected_endpoints": null}]}'
        ),
        "interfaces.json",
    ),
    "a title above the header": (
        "Cables of pod 1\n\nDevice A;Port A;Device B;Port B\ngpu-1;eth1;leaf-1;Ethernet3\n",
        "x.csv",
    ),
}


def ends(plan: Plan) -> list[str]:
    return [f"{cable.a} {cable.b}" for cable in plan.cables]


def plan_of(text: str, file: str) -> Plan:
    found = import_text(text, file)
    assert found is not None
    return found.plan


@pytest.mark.parametrize("pairs", NETLAB)
def test_the_links_of_netlab_in_every_form(pairs: str) -> None:
    plan = plan_of(NETLAB[pairs], "topology.yml")
    assert " ".join(f"{cable.a.device}-{cable.b.device}" for cable in plan.cables) == pairs


@pytest.mark.parametrize("name", TEXTS)
def test_one_cable_in_forms_of_other_tools(name: str, tmp_path: Path) -> None:
    text, file = TEXTS[name]
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert ends(load(tmp_path / file)) == ["gpu-1/eth1 leaf-1/Ethernet3"]


def test_links_of_containerlab_that_leave_the_lab_are_no_cables() -> None:
    """Its manual's "Links": brief forms of `host`, `mgmt-net`, `macvlan`, `vxlan`, `vxlan-stitch` and `dummy`."""
    beside = ("host:x", "mgmt-net:x", "macvlan:eth0", "vxlan:x", "vxlan-stitch:x", "dummy")
    links = "".join(f"  - endpoints: [gpu-1:eth{at}, '{end}']\n" for at, end in enumerate(beside, 2))
    text = f"topology:\n  nodes: {{gpu-1: , leaf-1: }}\n  links:\n  - endpoints: [gpu-1:eth1, leaf-1:e1-1]\n{links}"
    plan = plan_of(text, "lab.clab.yml")
    assert ends(plan) == ["gpu-1/eth1 leaf-1/e1-1"]
    assert "link 2, link 3, link 4, link 5, link 6, link 7: not a cable between two nodes" in plan.notes


@pytest.mark.parametrize(
    "default", ["defaults.device: eos", "defaults: {device: cumulus_nvue}", "defaults: {device: srlinux}"]
)
def test_the_device_of_all_nodes_of_netlab_says_which_are_hosts(default: str) -> None:
    text = f"{default}\nnodes:\n  s1:\n  x1:\n  h1: {{device: linux}}\nlinks: [h1-x1, x1-s1]\n"
    roles = {name: device.role.value for name, device in plan_of(text, "topology.yml").devices.items()}
    assert roles == {"h1": "host", "x1": "leaf", "s1": "spine"}


def test_models_of_topograph_with_lists_and_blocks_below_switches() -> None:
    text = (
        "switches:\n- {name: sw1, switches: [sw2, sw3]}\n- {name: sw2, capacity_blocks: [cb1]}\n"
        "capacity_blocks:\n- {name: cb1, nodes: ['n[1-2]']}\n- {name: cb2, nodes: [n3]}\n"
    )
    plan = plan_of(text, "model.yaml")
    assert [f"{cable.a.device}-{cable.b.device}" for cable in plan.cables] == ["sw2-sw1", "sw3-sw1", "n1-sw2", "n2-sw2"]
    assert plan.devices["sw3"].role is plan.devices["sw2"].role is Role.LEAF
    assert any(note.startswith("n3 below no switch: not a cable") for note in plan.notes)


def test_dot_is_read_by_its_statements_and_not_by_its_lines() -> None:
    """Several statements a line, attributes over several, defaults of nodes, and ranks, as Graphviz reads them."""
    text = (
        'graph "dc1" { rankdir=LR; node [shape=box]; edge [color=blue]\n'
        '  "leaf-1" [function="leaf" os="CumulusCommunity/cumulus-vx"\n    memory="768"]\n'
        '  { rank=same; "gpu-1"; "gpu-2" }\n'
        '  subgraph cluster_0 { label="pod; 1"; "gpu-1":"eth1" -- "leaf-1":"swp1"; "gpu-2":eth1 -- "leaf-1":swp2 }\n'
        '  "gpu-1":"eth2" -- "leaf-2":"swp1"\n    [left_mac="44:38:39:1E:AF:11",\n     speed="400"] }\n'
    )
    plan = loads(text, ".dot")
    assert ends(plan) == ["gpu-1/eth1 leaf-1/swp1", "gpu-2/eth1 leaf-1/swp2", "gpu-1/eth2 leaf-2/swp1"]
    assert set(plan.devices) == {"leaf-1", "gpu-1", "gpu-2", "leaf-2"}
    assert plan.cables[2].speed_gbps == 400
    assert plan.devices["gpu-1"].chassis_ids == ("44:38:39:1e:af:11",)
    with pytest.raises(PlanError, match=r":2: expected \"device\":\"port\" .*\[left_mac"):
        loads('graph x {\n"a":"p1" -- "b":"p2" [left_mac="1"\n', ".dot")


def test_the_function_of_a_node_of_a_converted_topology_is_its_role() -> None:
    text = '"a1" [function="leaf" os="x"]\n"b1" [function="host"]\n"b1":"p1" -- "a1":"p2"\n'
    assert ends(loads(text, ".dot")) == ["b1/p1 a1/p2"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "a", "port": "b"}}}', "does not name its switch"),
        ('{"data": {"items": [{"compute-hpc-island-id": "x"}]}}', "a cloud's topology lists hosts"),
        ("A-Nod Nam,A-Prot,Z-Node Name,Z-Port\na,1,b,2\n", "row 1, column A: an unknown column, did you mean 'a node"),
        (
            "A-Node Name,A-Port,Z-Node Name,Z-Prot\na,1,b,2\n",
            "row 1, column D: an unknown column, did you mean 'z port'",
        ),
    ],
)
def test_files_that_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(PlanError, match=reason):
        import_text(text, "cables.csv")


def test_records_in_several_lists_are_all_read_and_named_by_their_list() -> None:
    def cable(host: str, leaf: str) -> dict[str, Any]:
        return {"a": {"device": host, "port": "1"}, "b": {"device": leaf, "port": "1/1"}}

    text = json.dumps({"pod1": [cable("g1", "l1")], "pod2": {"links": [cable("g2", "l2"), cable("g3", "TBD")]}})
    plan = plan_of(text, "cables.json")
    assert ends(plan) == ["g1/1 l1/1/1", "g2/1 l2/1/1"]
    assert "sheet 'pod2.links' row 2: not a cable, because it says 'TBD'" in plan.notes


def test_the_architecture_of_a_switch_of_canu_is_its_tier() -> None:
    nodes = [
        {"common_name": "sw-1", "id": 0, "type": "switch", "architecture": "spine", "ports": []},
        {"common_name": "sw-leaf-1", "id": 1, "type": "switch", "ports": [
            {"port": 1, "destination_node_id": 0, "destination_port": 2},
            {"port": 2, "destination_node_id": 2, "destination_port": 1, "destination_slot": "ocp"},
        ]},
        {"common_name": "ncn-1", "id": 2, "type": "server", "architecture": "river_ncn", "ports": []},
    ]  # fmt: skip
    plan = plan_of(json.dumps({"topology": nodes}), "paddle.json")
    assert {name: device.role.value for name, device in plan.devices.items()} == {
        "sw-leaf-1": "leaf",
        "sw-1": "spine",
        "ncn-1": "host",
    }


def test_a_host_of_several_adapters_in_ndt_is_one_host() -> None:
    """UFM's plugin takes node descriptions of `ibdiagnet` for names (`ndt_plugin`, its generator of NDT files)."""
    header = "rack #,U height,#Fields:StartDevice,StartPort,EndDevice,EndPort,U height_1,LinkType,Speed\n"
    rows = ",,sw-1,Port 26,gpu-1 mlx5_0,Port 1,,,100Gb\n,,sw-2,Port 1,gpu-1 HCA-2,Port 2,,,100 GbE\n"
    plan = plan_of(header + rows, "generated.ndt")
    assert ends(plan) == ["gpu-1/mlx5_0 sw-1/Port 26", "gpu-1/HCA-2:2 sw-2/Port 1"]
    assert [cable.speed_gbps for cable in plan.cables] == [100, 100]


def test_planes_may_have_letters_and_lengths_a_unit_beside_them() -> None:
    header = "Device A,Port A,Device B,Port B,Rail,Plane,Cable Length,Cable Length Unit\n"
    plan = plan_of(f"{header}g,1,x,1,0,A,10,ft\ng,2,y,1,0,plane b,3,Meters\ng,3,z,1,1,2,,\n", "x.csv")
    assert [(cable.plane, cable.length_m) for cable in plan.cables] == [(0, 3.048), (1, 3.0), (2, None)]


def test_cells_that_are_no_value_are_named_and_others_understood() -> None:
    header = "Device A,Port A,Device B,Port B,Rail,Length,Speed\n"
    plan = plan_of(f'{header}a,1,b,1,R3,"3,5 m",NDR\na,2,b,2,rail one,long,fast\na,3,b,3,4,10 ft,800G\n', "x.csv")
    values = [(cable.rail, cable.length_m, cable.speed_gbps) for cable in plan.cables]
    assert values == [(3, 3.5, 400), (None, None, None), (4, 3.048, 800)]
    for field, text in (("rail", "rail one"), ("length", "long"), ("speed", "fast")):
        assert f"row 3: no {field}, because it says {text!r}" in plan.notes


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
