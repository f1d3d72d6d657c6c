"""Cable lists as other public projects have them: their own words for columns, answers of NetBox' and Nautobot's
queries, labs and configs.

Sources of the texts, shortened and renamed: Tenstorrent's cut sheets (tt-metal `tools/scaleout`), LLDP tables of what
was seen (`remote_device` unknown), Nautobot's test of its GraphQL (`connected_endpoint`), NetBox 4's GraphQL
(`device_list`, `interface_list`) and REST, Batfish's layer 1 edges, containerlab's kinds by group and default, NVIDIA
Air's SDK and Custom-Topology.md, SONiC's golden config of several ASICs, port names of Huawei's VRP.
"""

import json
from typing import Any

import pytest

from truerail.model import Plan, Role
from truerail.plans import PlanError
from truerail.plans.imports import import_text

ONE = ["gpu-1/eth1 leaf-0/Ethernet1"]


def plan_of(text: str, file: str = "x.csv") -> Plan:
    imported = import_text(text, file)
    assert imported is not None
    return imported.plan


def plan_of_json(data: object) -> Plan:
    return plan_of(json.dumps(data), "x.json")


def ends(plan: Plan) -> list[str]:
    return [f"{cable.a.device}/{cable.a.name} {cable.b.device}/{cable.b.name}" for cable in plan.cables]


@pytest.mark.parametrize(
    "header",
    [
        "Device,Interface,Connected To,Remote Interface",
        "Local Hostname,Local Int,Remote Hostname,Remote Int",
        "A Side Host,A Side Int,Z Side Host,Z Side Int",
        "From (Device),From (Port),To (Device),To (Port)",
    ],
)
def test_headers_in_other_words(header: str) -> None:
    assert ends(plan_of(f"{header}\ngpu-1,eth1,leaf-0,Ethernet1\n")) == ONE


def test_cells_of_device_and_port() -> None:
    text = "Source Device/Port,Destination Device/Port\ngpu-1:eth1,leaf-0:Ethernet1\n"
    assert ends(plan_of(text)) == ONE


def test_a_cut_sheet_with_trays_and_shelves() -> None:
    text = (
        "Source,,,,,,,,,Destination,,,,,,,,,Cable Length,Cable Type\n"
        "Hostname,Hall,Aisle,Rack,Shelf U,Tray,Port,Label,Node Type,"
        "Hostname,Hall,Aisle,Rack,Shelf U,Tray,Port,Label,Node Type,,\n"
        "glx-b02,120,B,2,U02,1,2,120B02U02-1-2,GALAXY,glx-b08,120,B,2,U08,2,2,120B02U08-2-2,GALAXY,1m,QSFP\n"
    )
    plan = plan_of(text)
    assert ends(plan) == ["glx-b02/1:2 glx-b08/2:2"]
    assert [device.unit for device in plan.devices.values()] == [2, 8]


@pytest.mark.parametrize("word", ["unknown", "TBD (leaf 3)", "not connected", "TBD"])
def test_a_peer_that_is_not_known_is_no_device(word: str) -> None:
    plan = plan_of(f"device_a,port_a,device_b,port_b\ngpu-1,eth1,leaf-0,Ethernet1\ngpu-1,eth2,{word},{word}\n")
    assert ends(plan) == ONE
    assert f"row 3: not a cable, because it says {word!r}" in plan.notes


def test_names_that_differ_in_case_alone_are_one_device_and_noted() -> None:
    rows = [f"GPU-{n},eth1,leaf-0,Ethernet1/{n}\ngpu-{n},eth2,leaf-1,Ethernet{n}" for n in range(1, 9)]
    plan = plan_of("\n".join(["Device A,Port A,Device B,Port B", *rows, "leaf-0,Eth1/1,gpu-1,eth1", ""]))
    assert len(plan.devices) == 10
    assert len(plan.cables) == 16
    assert {cable.rail for cable in plan.cables} == {0, 1}
    assert any(note.startswith("read as one device") and "gpu-1 as GPU-1" in note for note in plan.notes)
    assert any(note.endswith("gpu-6 as GPU-6 and 2 more") for note in plan.notes)


def test_batfish_edges_whose_ends_differ_in_case_count_once() -> None:
    edges = [
        {"node1": end("Leaf1", "Ethernet1"), "node2": end("Spine1", "Ethernet2")},
        {"node1": end("spine1", "ethernet2"), "node2": end("leaf1", "ethernet1")},
    ]
    assert ends(plan_of_json({"edges": edges})) == ["Leaf1/Ethernet1 Spine1/Ethernet2"]


def end(device: str, port: str) -> dict[str, str]:
    return {"hostname": device, "interfaceName": port}


def port(name: str, device: str = "leaf-0") -> dict[str, Any]:
    return {"name": name, "device": {"name": device}}


FAR = port("Ethernet1")
ANSWERS: list[dict[str, Any]] = [
    {"data": {"devices": [{"name": "gpu-1", "interfaces": [{"name": "eth1", "connected_endpoint": FAR}]}]}},
    {"data": {"device_list": [{"name": "gpu-1", "interfaces": [{"name": "eth1", "connected_endpoints": [FAR]}]}]}},
    {"data": {"device_list": [{"name": "gpu-1", "interfaces": [{"name": "eth1", "link_peers": [FAR]}]}]}},
    {"data": {"interface_list": [{**port("eth1", "gpu-1"), "connected_endpoints": [FAR]}]}},
    {
        "data": {
            "interfaces": [
                {
                    **port("eth1", "gpu-1"),
                    "connected_endpoint": {"__typename": "InterfaceType"},
                    "connected_interface": FAR,
                }
            ]
        }
    },
    {"data": {"cables": [{"termination_a": port("eth1", "gpu-1"), "termination_b": FAR}]}},
    {"results": [{**port("eth1", "gpu-1"), "connected_endpoints": [FAR], "link_peers": [port("F1", "panel-1")]}]},
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_of_netbox_and_nautobot(answer: dict[str, Any]) -> None:
    assert ends(plan_of_json(answer)) == ONE


def test_netbox_devices_have_roles_racks_and_units() -> None:
    host: dict[str, Any] = {"name": "n1", "role": {"name": "GPU server"}, "rack": {"name": "R1"}, "position": "4.0"}
    leaf = {"name": "s1", "device_role": {"name": "Leaf"}, "interfaces": [{"name": "2", "connected_endpoints": []}]}
    host["interfaces"] = [{"name": "1", "connected_endpoints": [port("2", "s1")], "cable": {"label": "x"}}]
    plan = plan_of_json({"data": {"device_list": [host, leaf]}})
    assert ends(plan) == ["n1/1 s1/2"]
    assert plan.devices["s1"].role is Role.LEAF
    assert (plan.devices["n1"].rack, plan.devices["n1"].unit, plan.cables[0].label) == ("R1", 4, "x")


def test_interfaces_whose_cable_is_none_of_the_plan_are_listed() -> None:
    plan = plan_of_json(
        [
            {**port("eth1", "gpu-1"), "connected_endpoints": [FAR]},
            {**port("eth2", "gpu-1"), "connected_endpoints": None, "cable": {"id": 6}, "link_peers": [port("F1")]},
            {**port("eth3", "gpu-1"), "connected_endpoints": [port("1"), port("2")]},
            {**port("eth4", "gpu-1"), "connected_endpoints": None, "cable": None},
            {"name": "eth5", "device": {"id": "d"}, "connected_endpoint": {"id": "c"}},
        ]
    )
    assert ends(plan) == ONE
    assert plan.notes[:3] == (
        "interface gpu-1/eth2: not a cable, because it leads to no port",
        "interface gpu-1/eth3: not a cable, because it leads to several ports",
        "interface /eth5: not a cable, because its device has no name here; Nautobot gives it with depth=1",
    )


def test_netbox_cables_have_their_length() -> None:
    ends_of = {f"{side}_terminations": [{"object": one}] for side, one in (("a", port("eth1", "gpu-1")), ("b", FAR))}
    cable = {**ends_of, "length": 10, "length_unit": {"value": "ft", "label": "Feet"}}
    assert plan_of_json({"results": [cable]}).cables[0].length_m == 3.048


def test_containerlab_kinds_by_group_and_default() -> None:
    text = (
        "topology:\n  defaults: {kind: nokia_srlinux}\n  groups: {servers: {kind: linux}}\n"
        "  nodes:\n    r1:\n    r2: {}\n    x1: {group: servers}\n    x2: {kind: linux}\n"
        "  links:\n  - endpoints: [r1:p1, r2:p1]\n  - endpoints: [r1:p2, x1:p1]\n  - endpoints: [r2:p2, x2:p1]\n"
    )
    plan = plan_of(text, "lab.clab.yml")
    assert {name: device.role for name, device in plan.devices.items()} == {
        "r1": Role.LEAF,
        "r2": Role.LEAF,
        "x1": Role.HOST,
        "x2": Role.HOST,
    }
    assert {cable.rail for cable in plan.cables} == {None}, "routers of a lab number no rails"


def test_what_airs_sdk_is_given_is_read_with_the_systems_of_nodes() -> None:
    nodes = {"a": {"os": "cumulus-vx-5.16.1"}, "b": {"os": "generic/ubuntu2404"}}
    links = [[{"node": "a", "interface": "eth1"}, {"node": "b", "interface": "eth1"}]]
    plan = plan_of_json({"nodes": nodes, "links": links})
    assert ends(plan) == ["b/eth1 a/eth1"]


def test_sonics_golden_config_of_several_asics() -> None:
    config = {
        "localhost": {"DEVICE_METADATA": {"localhost": {"hostname": "sw-1"}}},
        "asic0": {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "spine-1", "port": "Ethernet1"}}},
        "asic1": {
            "DEVICE_NEIGHBOR": {
                "Ethernet8": {"name": "spine-2", "port": "Ethernet1"},
                "Ethernet-BP0": {"name": "ASIC0", "port": "Eth0-ASIC0"},
            }
        },
    }
    plan = plan_of_json(config)
    assert ends(plan) == ["sw-1/Ethernet0 spine-1/Ethernet1", "sw-1/Ethernet8 spine-2/Ethernet1"]
    assert "sw-1/Ethernet-BP0: within its chassis" in plan.notes
    with pytest.raises(PlanError, match="does not name its switch"):
        plan_of_json({"asic0": config["asic0"]})


@pytest.mark.parametrize("name", ["400GE1/0/1", "XGE1/0/1", "GE1/0/1"])
def test_ports_of_vrp_are_those_of_a_switch(name: str) -> None:
    assert ends(plan_of(f"Device A,Port A,Device B,Port B\nx,{name},y,eth1\n")) == [f"y/eth1 x/{name}"]


@pytest.mark.parametrize(
    "text",
    [
        (
            "A Device,A Port,B Device,B Port\n{0}\nUplinks\n"
            "A Device,A Port,Speed,B Device,B Port\n{1[0]},{1[1]},400G,{1[2]},{1[3]}\n"
        ),
        "Server,NIC,Switch,Switch Port\n{0}\nLeaf,Leaf Port,Spine,Spine Port\n{1[0]},{1[1]},{1[2]},{1[3]}\n",
        "A Device,A Port,B Device,B Port,,A Device,A Port,B Device,B Port\n{0},,{1[0]},{1[1]},{1[2]},{1[3]}\n",
        "Source,,Dest,,,Source,,Dest,\nName,Port,Name,Port,,Name,Port,Name,Port\n{0},,{1[0]},{1[1]},{1[2]},{1[3]}\n",
    ],
)
def test_further_tables_below_and_beside_the_first_one(text: str) -> None:
    uplink = ("leaf-0", "swp33", "spine-0", "swp1")
    plan = plan_of(text.format("gpu-1,eth1,leaf-0,Ethernet1", uplink))
    assert ends(plan) == [*ONE, "leaf-0/swp33 spine-0/swp1"]


def test_a_row_that_is_half_a_header_is_a_row() -> None:
    plan = plan_of(
        "A Device,A Port,B Device,B Port\ngpu-1,eth1,leaf-0,Ethernet1\nserver,port,switch,1\nnode,port,rack,u\n"
    )
    assert ends(plan) == [*ONE, "server/port switch/1", "node/port rack/u"]


@pytest.mark.parametrize("word", ["#REF!", "#N/A", "#NAME?", "=B2", "='Sheet 2'!A1"])
def test_what_a_spreadsheet_writes_for_a_formula_is_no_port(word: str) -> None:
    plan = plan_of(f"Device A,Port A,Device B,Port B\ngpu-1,eth1,leaf-0,Ethernet1\ngpu-2,eth1,leaf-0,{word}\n")
    assert ends(plan) == ONE
    assert f"row 3: not a cable, because it says {word!r}" in plan.notes


@pytest.mark.parametrize("word", ["3-Jan", "Mar-01", "1. Mrz", "2026-03-01", "01.03.2026", "3/1/2026", "5-May-26"])
def test_a_port_that_became_a_date_in_csv_is_an_error(word: str) -> None:
    with pytest.raises(PlanError, match=r"x.csv:2: row 2: a date, made of a port by the spreadsheet"):
        plan_of(f"Device A,Port A,Device B,Port B\ngpu-1,eth1,leaf-0,{word}\n")


@pytest.mark.parametrize("name", ["1/3", "1/3/20", "mar1", "0-1", "2026", "1/1/2", "jun-0/0/1"])
def test_ports_that_are_like_dates(name: str) -> None:
    assert ends(plan_of(f"Device A,Port A,Device B,Port B\ngpu-1,eth1,leaf-0,{name}\n")) == [
        f"gpu-1/eth1 leaf-0/{name}"
    ]


def test_a_page_of_several_says_that_the_others_are_missing() -> None:
    found = [{"a_terminations": [{"object": port("eth1", "gpu-1")}], "b_terminations": [{"object": FAR}]}]
    page = {"count": 120, "next": "https://netbox/api/dcim/cables/?offset=50", "previous": None}
    assert "a page of 1 of 120: the others are not read" in plan_of_json({**page, "results": found}).notes
    ports = [{**port("eth1", "gpu-1"), "connected_endpoints": [FAR]}]
    assert "a page of 1 of 120: the others are not read" in plan_of_json({**page, "results": ports}).notes


def test_links_with_one_end_are_listed() -> None:
    def side(device: str, name: str) -> dict[str, Any]:
        return {"system": {"label": device}, "interface": {"if_name": name}}

    links = [{"endpoints": [side("gpu-1", "eth1"), side("leaf-0", "Ethernet1")]}, {"endpoints": [side("x", "y")]}]
    plan = plan_of_json({"links": links})
    assert ends(plan) == ONE
    assert "link 2: not a cable between two devices" in plan.notes
    nodes = [{"compounded_nodes": [{"id": 1, "name": "gpu-1"}, {"id": 2, "name": "leaf-0", "device_type": "switch"}]}]
    pair = [{"node": 1, "interface": "eth1"}, {"node": 2, "interface": "Ethernet1"}]
    joined = [{"compounded_links": [{"interfaces": pair}, {"interfaces": pair[:1]}]}]
    plan = plan_of_json([{"nodes": nodes, "links": joined}])
    assert ends(plan) == ONE
    assert "link 2: not a cable between two devices" in plan.notes
    plan = plan_of_json({"level1": {"leaf-0": {"1": ["spine-0", "1"], "2": None}}})
    assert plan.notes == ("leaf-0/2: not a cable, because a device or a port is empty",)
