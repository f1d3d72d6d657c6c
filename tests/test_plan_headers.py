"""Cable lists by the words of their columns, as NetBox, Arista's AVD, switch tables and hand-made sheets have them.

Sources of the headers: NetBox' table of cables (`Termination A`, `Device A`) and its REST and GraphQL answers, the CSV
of links that Arista's AVD documents a fabric with, and rack elevations with a server's column beside its switch's.
"""

import pytest

from tests.each import each
from truerail.plans import PlanError
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


def test_ports_that_only_some_cells_name_are_not_read_from_them() -> None:
    found = import_text("From,To\ngpu-1:mlx5_3,leaf-1:swp1\ngpu-2,leaf-2\n", "cables.csv")
    assert found is not None
    assert found.plan.cables[0].a.name == "?1"
    assert any("names no ports" in note for note in found.plan.notes)


def test_json_of_something_else_is_no_cable_list() -> None:
    assert import_text('[{"name": "gpu-1"}]', "cables.json") is None
    assert import_text('{"a": {"b": {"c": {"d": {"e": {"f": [1]}}}}}}', "cables.json") is None


@pytest.mark.parametrize("word", ["3-Jan", "Mar-01", "1. Mrz", "2026-03-01", "01.03.2026", "3/1/2026", "5-May-26"])
def test_a_port_that_became_a_date_in_csv_is_an_error(word: str) -> None:
    with pytest.raises(PlanError, match=r"x.csv:2: row 2: a date, made of a port by the spreadsheet"):
        import_text(f"Device A,Port A,Device B,Port B\ngpu-1,eth1,leaf-0,{word}\n", "x.csv")


@pytest.mark.parametrize("name", ["1/3", "1/3/20", "mar1", "0-1", "2026", "1/1/2", "jun-0/0/1"])
def test_ports_that_are_like_dates(name: str) -> None:
    text = f"Device A,Port A,Device B,Port B\ngpu-1,eth1,leaf-0,{name}\n"
    assert ends(text) == [("gpu-1", "eth1", "leaf-0", name)]
