"""Cable lists by the words of their columns, as NetBox, Arista's AVD, switch tables and hand-made sheets have them.

Sources of the headers: NetBox' table of cables (`Termination A`, `Device A`) and its REST and GraphQL answers, the CSV
of links that Arista's AVD documents a fabric with, and rack elevations with a server's column beside its switch's.
"""

import json

import pytest

from tests.each import each
from truerail.model import Role
from truerail.plans import PlanError, loads
from truerail.plans.imports import import_text

CABLE = ("gpu-1", "mlx5_3", "leaf-1", "Ethernet1/7")


def ends(text: str, file: str = "cables.csv") -> list[tuple[str, str, str, str]]:
    found = import_text(text, file)
    assert found is not None
    return [(cable.a.device, cable.a.name, cable.b.device, cable.b.name) for cable in found.plan.cables]


@each(
    "header, row",
    [
        ("ID,Label,Termination A,Device A,Rack A,Termination B,Device B,Rack B", "1,C1,{1},{0},R1,{3},{2},R2"),
        ("Device1,Port1,Device2,Port2", "{0},{1},{2},{3}"),
        ("device_1,interface_1,device_2,interface_2", "{0},{1},{2},{3}"),
        ("device_a_name,interface_a_name,device_b_name,interface_b_name", "{0},{1},{2},{3}"),
        ("termination_a_device,termination_a_name,termination_b_device,termination_b_name", "{0},{1},{2},{3}"),
        ("Device A;Port A;Device Z;Port Z", "{0};{1};{2};{3}"),
        ("A-End Device,A-End Port,Z-End Device,Z-End Port", "{0},{1},{2},{3}"),
        ("End A Device,End A Port,End B Device,End B Port", "{0},{1},{2},{3}"),
        ("Source,Source Port,Target,Target Port", "{0},{1},{2},{3}"),
        ("Local Host,Local Port,Neighbor,Neighbor Port", "{2},{3},{0},{1}"),
        ("Switch,Switch Port,Server,Server Port", "{2},{3},{0},{1}"),
        ("Switch Name,Switch Interface,Host Name,Host Interface", "{2},{3},{0},{1}"),
        ("Node Type,Node,Node Interface,Peer Type,Peer Node,Peer Interface", "l3leaf,{2},{3},server,{0},{1}"),
        ("Rack,U,Server,NIC,Rail,Leaf Switch,Leaf Port,Cable ID", "R1,12,{0},{1},0,{2},{3},C1"),
        ("# cables of pod 1\nSource Device,Source Port,Destination Device,Destination Port", "{0},{1},{2},{3}"),
        ("Hostname,Port,Connected To,Connected Port", "{0},{1},{2},{3}"),
        ("GPU Node,HCA,Leaf,Leaf Port", "{0},{1},{2},{3}"),
        ("Server Name,Server NIC,ToR Name,ToR Port", "{0},{1},{2},{3}"),
        ("Device,Port,Remote Device,Remote Port", "{0},{1},{2},{3}"),
        ("From,To", "{0}:{1},{2}:{3}"),
        ("Endpoint A,Endpoint B", "{0} / {1},{2} / {3}"),
        ("From,To", "{0} {1},{2} {3}"),
        ("source,source_device,source_port,target,target_device,target_port", "5,{0},{1},6,{2},{3}"),
        ("source_device,source_endpoint,tgt_device,tgt_endpoint", "{0},{1},{2},{3}"),
        ("Source Node,Source GPU,Source NIC,Dest Leaf,Dest Port", "{0},3,{1},{2},{3}"),
        ("hostname,rail,leaf,leaf_port,nic", "{0},0,{2},{3},{1}"),
        ("Rail ID,GPU,HCA,Host,Leaf,Port", "0,3,{1},{0},{2},{3}"),
        ("node_a,if_a,node_b,if_b", "{0},{1},{2},{3}"),
        ("a.device,a.port,b.device,b.port", "{0},{1},{2},{3}"),
        ("Side A: Device,Side A: Port,Side B: Device,Side B: Port", "{0},{1},{2},{3}"),
        ("Dev A,Port,Dev B,Port", "{0},{1},{2},{3}"),
        ("name,port,neighbor,neighbor_port", "{0},{1},{2},{3}"),
        ("srcdevice,srcport,dstdevice,dstport", "{0},{1},{2},{3}"),
        ("fromHost,fromport,toHost,toport", "{0},{1},{2},{3}"),
        ("Quelle,Quellport,Ziel,Zielport", "{0},{1},{2},{3}"),
        ("Quellgerät;Quell-Schnittstelle;Zielgerät;Ziel-Schnittstelle", "{0};{1};{2};{3}"),
        ("Gerät Quelle,Port Quelle,Gerät Ziel,Port Ziel", "{0},{1},{2},{3}"),
        ("Startgerät,Startport,Endgerät,Endport", "{0},{1},{2},{3}"),
        ("von Geraet,von Port,nach Geraet,nach Port", "{0},{1},{2},{3}"),
        ("Seite A Gerät,Seite A Port,Seite B Gerät,Seite B Port", "{0},{1},{2},{3}"),
        ("Schrank,HE,Server,Port,Schrank,HE,Switch,Port,Kabel-Nr.,Länge (m)", "R1,3,{0},{1},N1,40,{2},{3},K1,3"),
        ("Gerät,Schnittstelle,Gegenstelle,Schnittstelle der Gegenstelle", "{0},{1},{2},{3}"),
        ("序号,源设备,源端口,目的设备,目的端口,线缆长度（米）", "1,{0},{1},{2},{3},3"),
        ("源端设备,源端端口,目标端设备,目标端端口", "{0},{1},{2},{3}"),
        ("本端机柜,本端设备,本端端口,对端机柜,对端设备,对端端口", "R1,{0},{1},R2,{2},{3}"),
        ("A端设备名称,A端口,Z端设备名称,Z端口", "{0},{1},{2},{3}"),
        ("起始U位,服务器名称,网卡口,轨道,交换机,端口号", "3,{0},{1},0,{2},{3}"),
        ("设备,端口(本端),设备(对端),端口(对端)", "{0},{1},{2},{3}"),
        ("源主机名,源网口,目的主机名,目的网口", "{0},{1},{2},{3}"),
    ],
)
def test_both_ends_of_a_cable_are_found_by_the_words_of_the_header(header: str, row: str) -> None:
    assert ends(f"{header}\n{row.format(*CABLE)}\n") == [CABLE]


def test_rows_without_a_cable_and_kinds_of_devices_in_german_and_chinese() -> None:
    found = import_text(
        "源设备,源设备类型,源端口,目的设备,目的设备类型,目的端口,线缆长度（米）\n"
        "g1,服务器,p1,x1,交换机,1/1,3\ng1,服务器,p2,预留,交换机,1/2,\ng1,服务器,p3,frei,交换机,1/3,\n",
        "cables.csv",
    )
    assert found is not None
    (cable,) = found.plan.cables
    assert (cable.a.device, cable.b.device, cable.length_m) == ("g1", "x1", 3.0)
    assert found.plan.devices["g1"].role is Role.HOST
    assert found.plan.devices["x1"].role is Role.LEAF


@pytest.mark.parametrize("slot", ["Slot", "Tray", "Line Card"])
def test_a_slot_beside_the_port_is_part_of_its_name_at_either_end(slot: str) -> None:
    """Trays are those of tt-metal's cut sheets (`tools/scaleout`)."""
    header = f"Switch,{slot},Port,Peer,Peer {slot},Peer Port\n"
    assert ends(f"{header}leaf-1,1,3,gpu-1,2,4\nleaf-1,2,3,gpu-1,3,4\n") == [
        ("gpu-1", "2:4", "leaf-1", "1:3"),
        ("gpu-1", "3:4", "leaf-1", "2:3"),
    ]


@pytest.mark.parametrize(
    ("cards", "ports"),
    [
        (("NIC1", "NIC1", "NIC2", "NIC2"), ("NIC1:1", "NIC1:2", "NIC2:1", "NIC2:2")),
        (("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"), ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")),
    ],
)
@pytest.mark.parametrize("header", ["Server,NIC,Port,Leaf,Leaf Port", "A Node,A HCA,A Port,Z Node,Z Port"])
def test_a_card_beside_its_port_names_it_where_it_tells_ports_apart(
    header: str, cards: tuple[str, ...], ports: tuple[str, ...]
) -> None:
    numbers = (1, 2, 1, 2) if cards[0] == cards[1] else (1, 1, 1, 1)
    rows = [f"gpu-1,{card},{port},leaf-{at},1\n" for at, (card, port) in enumerate(zip(cards, numbers, strict=True))]
    assert tuple(end[1] for end in ends(f"{header}\n{''.join(rows)}")) == ports


def test_a_card_that_is_a_model_does_not_name_its_port() -> None:
    text = "Server,NIC,Port,Leaf,Leaf Port\ng,ConnectX-7,mlx5_0,a,1\ng,ConnectX-7,mlx5_1,b,1\n"
    assert [end[1] for end in ends(text)] == ["mlx5_0", "mlx5_1"]


FASTFABRIC = """Standard-Format Topology,,,,,,,,,,,,,,
Source,,,,,,Destination,,,,,,Cable,,
Rack Group,Rack,Name,Name-2,Port,Type,Rack Group,Rack,Name,Name-2,Port,Type,Label,Length,Details
g1,r1,n1,hfi1_0,1,FI,g1,r9,edge1,,5,SW,S1,3m,
g1,r1,n1,hfi1_1,1,FI,g1,r9,edge2,,5,SW,S2,3m,
g1,r9,edge1,,33,SW,g1,r9,x1,L101,1,CL,S3,5m,
g1,r9,edge2,,33,SW,g1,r9,x1,L102,1,CL,S4,5m,
g1,r9,edge2,,34,SW,g1,r9,x1,L102,2,CL,S5,5m,
,,,,,,,,,,,,,,
Core Name:x1,Core Group:,Core Rack:,Core Size:288,Core Full:0,,,,,,,,,,
"""
"""The spreadsheet of Omni-Path's and Ethernet's FastFabric, as `opaxlattopology_cust` writes it."""


def test_the_spreadsheet_of_fastfabric_names_a_port_by_its_leaf_or_adapter_too() -> None:
    found = import_text(FASTFABRIC, "topology.csv")
    assert found is not None
    assert ends(FASTFABRIC) == [
        ("n1", "hfi1_0", "edge1", "5"),
        ("n1", "hfi1_1", "edge2", "5"),
        ("edge1", "33", "x1", "L101:1"),
        ("edge2", "33", "x1", "L102:1"),
        ("edge2", "34", "x1", "L102:2"),
    ]
    roles = {name: device.role for name, device in found.plan.devices.items()}
    assert roles == {"n1": Role.HOST, "edge1": Role.LEAF, "edge2": Role.LEAF, "x1": Role.SPINE}
    assert any("row 10: not a cable" in note for note in found.plan.notes)


def test_a_column_of_gpus_beside_the_server_is_no_third_device() -> None:
    assert ends("Server,GPU,NIC,Leaf,Leaf Port\n{},GPU3,{},{},{}\n".format(*CABLE)) == [CABLE]


def test_rows_that_stand_for_several_cables_are_listed_and_no_cable() -> None:
    found = import_text(
        "From Device,From Port,To Device,To Port,Qty,Length (ft),Speed (Gbps)\n"
        "leaf-1,1-4,spine-1,1-4,4,10,800\nleaf-1,5-1,spine-1,5-1,1,10,800\nleaf-1,swp6-7,spine-1,6,,,\n"
        'leaf-1,"8, 9",spine-1,8,,,\nleaf-1,10,spine-1,10,2,far,800\n',
        "cables.csv",
    )
    assert found is not None
    assert [(cable.a.name, cable.length_m, cable.speed_gbps) for cable in found.plan.cables] == [
        ("5-1", 3.048, 800),
        ("10", None, 800),
    ]
    left_out = " / ".join(found.plan.notes)
    assert "row 2: not one cable but several" in left_out
    assert "row 4: not a cable, because 'swp6-7' names several ports" in left_out
    assert "row 5: not a cable, because '8, 9' names several ports" in left_out
    assert "row 6: no length, because it says 'far'" in left_out


def test_ports_that_only_some_cells_name_are_not_read_from_them() -> None:
    found = import_text("From,To\ngpu-1:mlx5_3,leaf-1:swp1\ngpu-2,leaf-2\n", "cables.csv")
    assert found is not None
    assert found.plan.cables[0].a.name == "?1"
    assert any("names no ports" in note for note in found.plan.notes)


def test_three_columns_of_devices_are_no_cable_list() -> None:
    with pytest.raises(PlanError):
        import_text("Switch,Port,Server,NIC,Spine,Spine Port\na,1,b,2,c,3\n", "cables.csv")


CABLES = [
    {"a_terminations": [{"object": {"device": {"name": "gpu-1"}, "name": "mlx5_3"}}]}
    | {"b_terminations": [{"object": {"device": {"name": "leaf-1"}, "name": "Ethernet1/7"}}]},
    {"termination_a": {"device": {"name": "gpu-1"}, "name": "mlx5_3"}}
    | {"termination_b": {"device": {"name": "leaf-1"}, "name": "Ethernet1/7"}},
    {
        "terminations": [
            {"cable_end": "B", "termination": {"device": {"name": "leaf-1"}, "name": "Ethernet1/7"}},
            {"cable_end": "A", "termination": {"device": {"name": "gpu-1"}, "name": "mlx5_3"}},
        ]
    },
]


@pytest.mark.parametrize("cable", CABLES)
@pytest.mark.parametrize("around", ["results", "graphql", "list"])
def test_netbox_cables_in_json(cable: object, around: str) -> None:
    document = {"results": {"results": [cable]}, "graphql": {"data": {"cable_list": [cable]}}, "list": [cable]}[around]
    assert ends(json.dumps(document), "cables.json") == [CABLE]


def test_a_netbox_cable_with_several_ports_at_an_end_is_reported_and_not_guessed() -> None:
    ports = [{"object": {"device": {"name": "gpu-2"}, "name": name}} for name in ("a", "b")]
    document = {"results": [CABLES[0], {"id": 9, "a_terminations": ports, "b_terminations": ports[:1]}]}
    found = import_text(json.dumps(document), "cables.json")
    assert found is not None
    assert len(found.plan.cables) == 1
    assert any("cable 9" in note for note in found.plan.notes)


def test_json_of_something_else_is_no_cable_list() -> None:
    assert import_text('[{"name": "gpu-1"}]', "cables.json") is None
    assert import_text('{"a": {"b": {"c": {"d": {"e": {"f": [1]}}}}}}', "cables.json") is None


MINIGRAPH = """<DeviceMiniGraph xmlns="Microsoft.Search.Autopilot.Evolution">
  <PngDec><DeviceInterfaceLinks>
    <DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType><Bandwidth>400000</Bandwidth>
      <EndDevice>leaf-1</EndDevice><EndPort>etp7a</EndPort>
      <StartDevice>spine-1</StartDevice><StartPort>Ethernet8</StartPort></DeviceLinkBase>
    <DeviceLinkBase><ElementType>DeviceSerialLink</ElementType>
      <EndDevice>leaf-1</EndDevice><EndPort>console</EndPort>
      <StartDevice>console-1</StartDevice><StartPort>5</StartPort></DeviceLinkBase>
  </DeviceInterfaceLinks></PngDec>
</DeviceMiniGraph>
"""
"""Elements as sonic-config-engine's `minigraph.py` reads them."""


def test_the_cables_of_a_sonic_minigraph() -> None:
    found = import_text(MINIGRAPH, "minigraph.xml")
    assert found is not None
    assert ends(MINIGRAPH, "minigraph.xml") == [("leaf-1", "etp7a", "spine-1", "Ethernet8")]
    assert found.plan.cables[0].speed_gbps == 400
    assert any("link 2" in note for note in found.plan.notes)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("<ElementType>LogicalLink</ElementType>", "link 2: no cable of a port"),
        ("<ElementType>DeviceInterfaceLink</ElementType><ChassisInternal>true</ChassisInternal>", "within its chassis"),
    ],
)
def test_links_of_a_minigraph_that_are_no_cables(words: str, why: str) -> None:
    """The mux of two ToRs; the links between the ASICs of one switch (sonic-config-engine's multi-ASIC sample)."""
    found = import_text(MINIGRAPH.replace("<ElementType>DeviceSerialLink</ElementType>", words), "minigraph.xml")
    assert found is not None
    assert [str(cable.b) for cable in found.plan.cables] == ["spine-1/Ethernet8"]
    assert any(why in note for note in found.plan.notes)


LAB_GRAPH = """<LabConnectionGraph><PhysicalNetworkGraphDeclaration>
  <Devices><Device Hostname="g" HwSku="TestServ" Type="Server"/><Device Hostname="x" Type="FanoutLeaf"/></Devices>
  <DeviceInterfaceLinks>
    <DeviceInterfaceLink BandWidth="40000" EndDevice="g" EndPort="p4p1" StartDevice="x" StartPort="19"/>
    <DeviceInterfaceLink EndDevice="g" EndPort="p4p2" StartDevice="x" StartPort="20"/>
  </DeviceInterfaceLinks></PhysicalNetworkGraphDeclaration>
  <ConsoleGraphDeclaration><ConsoleLinkInfo EndDevice="x" StartDevice="console-1" StartPort="10"/>
  </ConsoleGraphDeclaration>
</LabConnectionGraph>
"""
"""Elements of sonic-mgmt's `lab_connection_graph.xml`."""


def test_the_cables_of_a_sonic_labs_connection_graph() -> None:
    found = import_text(LAB_GRAPH, "graph.xml")
    assert found is not None
    assert found.format == "SONiC lab graph"
    assert ends(LAB_GRAPH, "graph.xml") == [("g", "p4p1", "x", "19"), ("g", "p4p2", "x", "20")]
    assert [cable.speed_gbps for cable in found.plan.cables] == [40, None]
    assert found.plan.devices["g"].role is Role.HOST
    assert "link 3: a console or power cable" in found.plan.notes


@pytest.mark.parametrize("text", [MINIGRAPH[:-30], f"<!DOCTYPE x>{MINIGRAPH}"])
def test_a_minigraph_that_is_cut_or_declares_a_type_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="XML"):
        import_text(text, "minigraph.xml")


def test_subgraphs_of_a_drawing_group_its_cables_and_nothing_else() -> None:
    text = 'graph "x" {\n subgraph cluster_pod1 {\n  "gpu-1":"eth2" -- "leaf-1":"swp1"\n }\n}\n'
    assert [str(cable.b) for cable in loads(text, ".dot").cables] == ["leaf-1/swp1"]
