"""Recorded answers of real switches, from a corpus beside the project where there is one; it is not copied.

The tables below were drafted from the readers' output and then checked against the files: the JSON and SNMP files and
the EOS text by a second extraction that shares no code with the readers, the other texts by eye. Where the corpus
index names a Junos port by its SNMP index (519), the tables have the interface that the same answer names (xe-0/0/0).
"""

from pathlib import Path

import pytest

from collector import collectors
from truerail.errors import UnreadableError
from truerail.model import Device, Neighbor, NetLink, Role

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
if not (CORPUS / "switch_lldp").is_dir():
    pytest.skip(f"no corpus of recorded answers at {CORPUS}", allow_module_level=True)

Seen = tuple[str, str | None, str | None]
SWITCH = Device("leaf-0", Role.LEAF)


def read(collector: str, kind: str, file: str) -> tuple[object, ...]:
    return collectors()[collector].read((CORPUS / kind / file).read_bytes().decode(), SWITCH)


def seen(facts: tuple[object, ...]) -> list[Seen]:
    assert all(isinstance(fact, Neighbor) for fact in facts)
    return [(fact.port, fact.system_name, fact.port_id) for fact in facts if isinstance(fact, Neighbor)]


SWITCH_LLDP: dict[str, list[Seen]] = {
    "anta_eos_multiple_neighbors.json": [
        ("Ethernet1", "DC1-SPINE1.local.com", "Ethernet1"),
        ("Ethernet1", "DC1-SPINE2.local.com", "Ethernet1"),
    ],
    "canu_dell_os10_detail.txt": [
        ("ethernet1/1/1", "sw-test01", "Eth1/15"),
        ("ethernet1/1/2", "sw-test02", "ethernet1/1/15"),
        ("mgmt1/1/3", None, "00:40:a6:00:00:02"),
        ("ethernet1/1/4", None, "00:40:a6:00:00:01"),
    ],
    "genie_nxos_detail_5.txt": [
        ("Eth1/1", "ROUTER_Y", "Te0/1/0/4/0"),
        ("Eth1/5", "R1_xe.cisco.com", "Te0/1/0/5/0"),
        ("Eth1/6", "R1_xe.cisco.com", "Gi7"),
    ],
    "napalm_cumulus_nclu_show_interface_all.json": [
        ("eth0", "L2IOU1.ntc.com", "Ethernet0/0"),
        ("eth0", "DYNA1.ntc.com", "FastEthernet0/0"),
        ("eth0", "NXOS1(TB000D0000B)", "mgmt0"),
        ("eth0", "IOUL3-01.ntc.com", "Ethernet0/0"),
        ("swp1", "NXOS1(TB000D0000B)", "Ethernet2/1"),
        ("swp1", "VIRL1.ntc.com", "GigabitEthernet0/1"),
        ("swp1", "L2IOU1.ntc.com", "Ethernet0/1"),
        ("swp1", "DYNA1.ntc.com", "FastEthernet1/0"),
        ("swp2", "DYNA1.ntc.com", "FastEthernet2/0"),
        ("swp2", "DYNA1.ntc.com", "FastEthernet3/0"),
        ("swp2", "cumulus", "swp3"),
        ("swp3", "cumulus", "swp2"),
        ("swp3", "DYNA1.ntc.com", "FastEthernet2/0"),
        ("swp3", "DYNA1.ntc.com", "FastEthernet3/0"),
    ],
    "napalm_eos_brief_list.json": [
        ("Ethernet1", "precise64", "08:00:27:4f:33:2d"),
        ("Ethernet2", "precise64", "08:00:27:ca:c5:be"),
    ],
    "napalm_eos_issue1153.json": [
        ("Ethernet1/1", "some-server", "1c:e7:10:03:54:13"),
        ("Ethernet27/1", "some-switch", "et-0/0/20"),
        ("Ethernet26/1", "some-other-switch", "et-0/0/20"),
    ],
    "napalm_eos_issue903.json": [("Ethernet22", "linux", "00:0c:29:7b:d2:a8")],
    "napalm_junos_qfx5110.xml": [("ge-2/0/0", "EX9208", None)],
    "napalm_nxos_detail_textinjson.txt": [
        ("mgmt0", "PERIMETER.cisco.com", "Fa1/0/9"),
        ("Eth1/1", "n9k2.ntc.com", "Ethernet1/1"),
        ("Eth1/2", "n9k2.ntc.com", "Ethernet1/2"),
    ],
    "ntc_arista_eos_show_lldp_neighbors_detail.txt": [
        ("Ethernet1", "spine2.company.com", "Ethernet1"),
        ("Ethernet2", "spine2.company.com", "Ethernet2"),
        ("Ethernet3", "spine2.company.com", "Ethernet3"),
        ("Ethernet4", "spine2.company.com", "Ethernet4"),
        ("Management1", "vmx1", "fxp0"),
        ("Management1", "spine2.company.com", "Management1"),
        ("Ethernet8", "cvx", "Management1"),
        ("Ethernet8", "cvx-client-1", "Ethernet1"),
        ("Ethernet8", "cvx-client-1", "Management1"),
        ("Ethernet9", "Leaf1.cliqr.com", "Eth1/23"),
        ("Ethernet10", "Leaf1.cliqr.com", "Eth1/24"),
        ("Ethernet23", "MX", "527"),
        ("Ethernet33", "cvx-client-2", "Management1"),
        ("Ethernet33", "cvx-client-2", "Ethernet1"),
        ("Ethernet33", "aci-compute", "00:50:56:ac:4c:d9"),
        ("Ethernet33", "aci-control", "00:50:56:ac:4e:29"),
        ("Ethernet49/1", "R4-Arista-L3-SDNLAB-SW1", "Ethernet49/1"),
        ("Ethernet51/1", "R4-Arista-L3-SDNLAB-SW2", "Ethernet49/1"),
        ("Ethernet52/1", "R4-Arista-L3-SDNLAB-SW2", "Ethernet50/1"),
        ("Management1", "test-host.domain.com", "Management1"),
    ],
    "ntc_cisco_nxos_show_lldp_neighbors_detail2.txt": [
        ("Eth1/52", "SW-NEXUS", "Ethernet1/52"),
        ("Eth101/1/10", "pure-storage", "1a:51:48:00:00:01"),
    ],
    "ntc_hp_comware_display_lldp_neighbor-information_list2.txt": [
        ("GE1/0/24", "SEP0000000000A0.example.com", "AABBCCDDEEFF:P1"),
        ("XGE1/0/29", "SWITCH01", "Ten-GigabitEthernet1/0/17"),
        ("GE2/0/45", None, "Port 1"),
    ],
    "ntc_ipinfusion_ocnos_show_lldp_table.txt": [
        ("Ethernet0", "spine01", "fortyGigE0/20"),
        ("Ethernet4", "spine02", "fortyGigE0/20"),
        ("Ethernet8", "leaf01", "fortyGigE0/20"),
        ("Ethernet12", "leaf02", "fortyGigE0/20"),
        ("Ethernet16", "leaf03", "fortyGigE0/24"),
        ("Ethernet20", "leaf04", "fortyGigE0/24"),
        ("eth0", "mgmt-switch", "swp14"),
    ],
    "ntc_juniper_junos_show_lldp_neighbors_ae7.txt": [
        ("xe-0/1/1", "core01.sjc01", "Ethernet3/29/1"),
        ("xe-0/3/3", "core01.sjc01", "Ethernet3/29/2"),
        ("xe-2/0/5", "core01.sjc01", "Ethernet3/29/3"),
        ("xe-2/1/5", "core01.sjc01", "Ethernet3/29/4"),
    ],
    "ntc_show_lldp_neighbors-info_detail_issue1453.txt": [
        ("1/1/10", "SYSNAME_TEXT", "xx:xx:xx:xx:xx:xx"),
        ("1/1/11", "AP3-4-3", "xx:xx:xx:xx:xx:xx"),
        ("1/1/12", "SYSNAME_TEXT", "106"),
    ],
    "nvue_lldp_detail_text.txt": [("eth0", "oob-mgmt-switch", "swp10"), ("swp1", "server01", "48:b0:2d:76:ee:8e")],
    "nvue_lldp_text_cl5.txt": [
        ("eth0", "oob-mgmt-switch", "swp10"),
        ("swp1", "server01", "48:b0:2d:76:ee:8e"),
        ("swp2", "server02", "48:b0:2d:86:c1:f8"),
        ("swp3", "server03", "48:b0:2d:08:de:37"),
        ("swp49", "leaf02", "swp49"),
        ("swp50", "leaf02", "swp50"),
        ("swp51", "spine01", "swp1"),
        ("swp52", "spine02", "swp1"),
        ("swp53", "spine03", "swp1"),
        ("swp54", "spine04", "swp1"),
    ],
    "sonic_lldp_neighbors_doc.txt": [
        ("eth0", "swtor-b2lab2-1610", "GigabitEthernet 0/2"),
        ("Ethernet116", "T1-2", "hundredGigE1/2"),
    ],
    "sonic_lldp_table_doc.txt": [
        ("Ethernet112", "T1-1", "hundredGigE1/2"),
        ("Ethernet116", "T1-2", "hundredGigE1/2"),
        ("eth0", "swtor-b2lab2-1610", "GigabitEthernet 0/2"),
    ],
    "sz_cumulus_4.2.1_ospf-ibgp_spine02.json": [
        ("swp1", "leaf01", "swp2"),
        ("swp2", "leaf02", "swp2"),
        ("swp3", "leaf03", "swp2"),
        ("swp4", "leaf04", "swp2"),
        ("swp5", "exit02", "swp2"),
        ("swp6", "exit01", "swp2"),
    ],
    "sz_cumulus_4.3.0_dual-bgp_leaf01.json": [
        ("swp1", "spine01", "swp1"),
        ("swp2", "spine02", "swp1"),
        ("swp3", "leaf02", "swp3"),
        ("swp4", "leaf02", "swp4"),
    ],
    "sz_cumulus_4.3.0_dual-bgp_spine01.json": [
        ("swp1", "leaf01", "swp1"),
        ("swp2", "leaf02", "swp1"),
        ("swp3", "leaf03", "swp1"),
        ("swp4", "leaf04", "swp1"),
        ("swp5", "exit02", "swp1"),
        ("swp6", "exit01", "swp1"),
    ],
    "sz_cumulus_4.3.0_ospf-single_internet.json": [],
    "sz_eos_eos_leaf01.json": [
        ("Ethernet2", "spine02", "Ethernet1"),
        ("Ethernet1", "spine01", "Ethernet1"),
        ("Ethernet6", "leaf02", "Ethernet6"),
        ("Ethernet5", "leaf02", "Ethernet5"),
    ],
    "sz_eos_eos_spine01.json": [
        ("Ethernet2", "leaf02", "Ethernet1"),
        ("Ethernet3", "leaf03", "Ethernet1"),
        ("Ethernet1", "leaf01", "Ethernet1"),
        ("Ethernet6", "exit02", "Ethernet1"),
        ("Ethernet4", "leaf04", "Ethernet1"),
        ("Ethernet5", "exit01", "Ethernet1"),
    ],
    "sz_eos_mixed_leaf5-eos.json": [
        ("Ethernet2", "spine2-nxos", "Ethernet1/5"),
        ("Ethernet1", "spine1-nxos", "Ethernet1/5"),
    ],
    "sz_ios_leaf1.txt": [("Gi0/0", "spine1-nxos", "Ethernet1/1"), ("Gi0/1", "spine2-nxos", "Ethernet1/1")],
    "sz_junos_junos_leaf01.json": [("xe-0/0/0", "spine01", "517"), ("xe-0/0/1", "spine02", "517")],
    "sz_junos_vmx_TOR1BBN-PE-RT01.json": [("ge-0/0/2", "TOR1CRP-SEC-FW01", "ethernet1/3")],
    "sz_nxos_nxos_spine01.json": [
        ("Eth1/1", "leaf01", "Ethernet1/1"),
        ("Eth1/2", "leaf02", "Ethernet1/1"),
        ("Eth1/3", "leaf03", "Ethernet1/1"),
        ("Eth1/4", "leaf04", "Ethernet1/1"),
        ("Eth1/5", "exit01", "Ethernet1/1"),
        ("Eth1/6", "exit02", "Ethernet1/1"),
    ],
}

SNMP: dict[str, list[Seen]] = {
    "arista_eos_vrf.snmprec": [
        ("Ethernet1", "switchname2", "47"),
        ("Ethernet23", "switchname3", "Ethernet23"),
        ("Ethernet24", "switchname3", "Ethernet24"),
        ("Management1", "switchname4", "41"),
    ],
    "arubaos-cx_8360.snmprec": [
        ("1/1/1", "<private>", "1/1/1"),
        ("1/1/2", "<private>", "1/1/2"),
        ("mgmt", "<private>", "mgmt"),
    ],
    "dell-sonic.snmprec": [
        ("Eth1/19", None, "74:86:e2:0a:0c:04"),
        ("Eth1/20", None, "00:26:fd:a0:54:cf"),
        ("Eth1/22", None, "00:26:fd:a0:54:b9"),
        ("Eth1/47", None, "c4:5a:b1:e0:c0:f5"),
        ("Eth1/48", "xxxxx-xxx-xxx-sw-acc02", "Gi1/0/44"),
        ("Eth1/13", None, "a0:29:19:d0:25:58"),
        ("Eth1/8", None, "ac:91:a1:7a:b4:1a"),
        ("Eth1/23", None, "cc:48:3a:90:0d:a6"),
        ("Eth1/32", None, "ac:91:a1:7a:b5:f6"),
        ("Eth1/2", None, "cc:48:3a:90:5d:71"),
        ("Eth1/53", "xxxxx-xxx-xxx-sw-dist01", "Eth1/54"),
        ("eth0", "xxxxx-xxx-xxx-sw-acc-warehouse01", "Gi1/0/42"),
        ("Eth1/15", None, "ac:1a:3d:4f:f5:c1"),
        ("Eth1/9", None, "ac:91:a1:81:8f:d5"),
        ("Eth1/21", None, "cc:48:3a:91:74:90"),
        ("Eth1/4", None, "a0:29:19:b4:aa:17"),
        ("Eth1/7", None, "a0:29:19:d0:20:b9"),
        ("Eth1/35", None, "4c:d7:17:c2:7c:88"),
        ("Eth1/33", None, "ac:1a:3d:aa:55:0e"),
        ("Eth1/30", None, "4c:d7:17:23:37:a7"),
        ("Eth1/36", None, "34:48:ed:d1:2e:a7"),
        ("Eth1/46", None, "cc:96:e5:d0:fa:89"),
        ("Eth1/39", None, "ac:b4:80:09:71:b1"),
    ],
    "edgecos_dcs203.snmprec": [
        ("Eth6/3(Port1)", None, None),
        ("Eth6/2(Port2)", None, None),
        ("Eth6/4(Port3)", None, None),
        ("Eth7/4(Port4)", None, None),
        ("Eth7/3(Port5)", None, None),
        ("Eth6/1(Port6)", None, None),
        ("Eth7/1(Port7)", None, None),
        ("Eth11/4(Port8)", None, None),
        ("Eth7/2(Port9)", None, None),
        ("Eth11/2(Port10)", None, None),
        ("Eth11/1(Port11)", None, None),
        ("Eth18/2(Port14)", None, None),
        ("Eth18/4(Port15)", None, None),
        ("Eth19/4(Port16)", None, None),
        ("Eth19/3(Port17)", None, None),
        ("Eth18/1(Port18)", None, None),
        ("Eth19/1(Port19)", None, None),
        ("Eth23/4(Port20)", None, None),
        ("Eth19/2(Port21)", None, None),
        ("Eth31/3(Port29)", None, None),
        ("Eth30/1(Port30)", None, None),
        ("Eth44/1(Port44)", "removed", "Eth44/1(Port44)"),
        ("Eth40/3(Port45)", "removed", "x3"),
        ("Eth44/3(Port46)", "removed", "x1"),
        ("Eth44/4(Port47)", "removed", "Te1/1/4"),
        ("Eth49(Port49)", "removed", "Eth49(Port49)"),
        ("Eth50(Port50)", "removed", "Eth50(Port50)"),
        ("Eth51(Port51)", "removed", "Eth53(Port53)"),
        ("Eth56(Port56)", "removed", "Eth56(Port56)"),
        ("eth0", "removed", "Eth4(Port4)"),
    ],
    "fortigate_60f3g4g.snmprec": [("wan2", "forti-60f-3g4g", "port12")],
    "junos_qfx5100.snmprec": [("xe-0/0/0", "devicea", "2150"), ("xe-0/0/1", "deviceb", "2447")],
    "junos_rpm.snmprec": [("ge-0/0/0.0", "gsm-core-1", "GigabitEthernet1/0/3"), ("ge-0/0/1.0", "J9660A", "3")],
    "nxos_n3k-3064pq.snmprec": [("Ethernet1/49", "<private>", "Ethernet1/49")],
    "pmp.snmprec": [("et1", "00:00:00:00", "00:00:00:00")],
    "routeros_crs317.snmprec": [
        ("sfp-sfpplus8", "router.jason.corp.local", "Guest"),
        ("sfp-sfpplus10", "router.jason.corp.local", "Phones"),
        ("sfp-sfpplus11", "server-sw", None),
        ("sfp-sfpplus16", "shop-sw", None),
        ("shop-trunk", "router.jason.corp.local", "Phones"),
        ("23", "router.jason.corp.local", "bridge1/server-trunk/ether6"),
        ("24", "router.jason.corp.local", "bridge1/server-trunk/ether6"),
        ("77", "SEP0015FAFE4806", "Port 1"),
        ("82", None, None),
        ("84", "SEP001795B0F381.jason.corp.local", "SW PORT"),
        ("85", "SEP001930D4A025.jason.corp.local", "SW PORT"),
        ("86", "router.jason.corp.local", "bridge1/shop-trunk/ether4"),
        ("87", "router.jason.corp.local", "Guest"),
        ("88", "router.jason.corp.local", "Phones"),
        ("89", "core-sw.jason.corp.local", "bridge1/shop-trunk/sfp-sfpplus14"),
        ("90", "core-sw.jason.corp.local", "bridge1/ether1"),
        ("93", "ap.jason.corp.local", "bridge"),
        ("94", "ap.jason.corp.local", "bridge"),
    ],
    "voss_7432cq.snmprec": [
        ("1/22/1", "3002C OBM 4850GTS", "1/49"),
        ("1/23", "N8K-3002-SCH1", "1/17"),
        ("1/24", "N8K-3002-SCH3", "1/17"),
        ("1/25", "N8K-3002-ADMIN1", "1/18"),
        ("1/26", "N7K-3002-CORE6", "1/28"),
        ("1/27", "N7K-3002-CORE5", "1/29"),
        ("1/28", "N7K-3002-CORE4", "1/28"),
        ("1/30", "N7K-3002-CORE2", "1/30"),
    ],
    "vrp_5720.snmprec": [
        ("GigabitEthernet0/0/14", "LNS-Huawei", "GigabitEthernet0/0/7"),
        ("XGigabitEthernet0/0/1", "CE-NG", "10GE1/0/42"),
        ("XGigabitEthernet0/0/2", "Zrih", "XGigabitEthernet0/0/1"),
        ("XGigabitEthernet0/0/4", "CE-NG", "10GE1/0/41"),
        ("MEth0/0/1", "pm-test", "GigabitEthernet0/0/1"),
    ],
}


FULL = {
    ("switch_lldp", "napalm_eos_issue1153.json"): Neighbor(
        "Ethernet27/1",
        "fc:66:10:03:54:13",
        "mac",
        "some-switch",
        "et-0/0/20",
        "ifname",
        "et-0/0/20",
        120,
        None,
        ("10.0.0.1",),
    ),
    ("switch_lldp", "ntc_arista_eos_show_lldp_neighbors_detail.txt"): Neighbor(
        "Ethernet33",
        "00:50:56:ac:4e:29",
        "mac",
        "aci-control",
        "00:50:56:ac:4e:29",
        "mac",
        "ens192",
        120,
        5 * 86400 + 19 * 3600 + 11 * 60 + 29,
        ("172.16.2.221", "fe80::250:56ff:feac:4e29"),
    ),
    ("switch_lldp", "genie_nxos_detail_5.txt"): Neighbor(
        "Eth1/6",
        "43:21:ab:cd:12:34",
        "mac",
        "R1_xe.cisco.com",
        "Gi7",
        None,
        "GigabitEthernet7",
        management_addresses=("172.16.1.73", "2001:10:12:90::1"),
    ),
    ("switch_lldp", "sz_junos_junos_leaf01.json"): Neighbor(
        "xe-0/0/0", "02:05:86:71:2e:00", "mac", "spine01", "517", "local", "xe-0/0/0", 120, local_port_id="519"
    ),
    ("switch_lldp", "napalm_junos_qfx5110.xml"): Neighbor(
        "ge-2/0/0", "2c:21:31:a5:17:c0", "mac", "EX9208", None, None, "ge-3/3/1"
    ),
    ("switch_lldp", "nvue_lldp_detail_text.txt"): Neighbor(
        "swp1",
        "44:38:39:22:01:7e",
        "mac",
        "server01",
        "48:b0:2d:76:ee:8e",
        "mac",
        "eth1",
        120,
        142,
        ("192.168.200.31", "fe80::4638:39ff:fe22:17e"),
    ),
    ("switch_lldp", "sonic_lldp_neighbors_doc.txt"): Neighbor(
        "Ethernet116",
        "4c:76:25:e7:f0:c0",
        "mac",
        "T1-2",
        "hundredGigE1/2",
        "local",
        "T0-2:hundredGigE1/30",
        120,
        12 * 3600 + 20 * 60 + 49,
        ("10.11.162.40",),
        "LLDP",
    ),
    ("switch_lldp", "sonic_lldp_table_doc.txt"): Neighbor(
        "Ethernet112", system_name="T1-1", port_id="hundredGigE1/2", port_description="T0-2:hundredGigE1/29"
    ),
    ("switch_lldp", "ntc_show_lldp_neighbors-info_detail_issue1453.txt"): Neighbor(
        "1/1/12", "xx:xx:xx:xx:xx:xx", None, "SYSNAME_TEXT", "106", None, "D10", 120, None, ("123.123.123.123",)
    ),
    ("snmp", "voss_7432cq.snmprec"): Neighbor(
        "1/22/1",
        "bc:ad:ab:cb:ac:00",
        "mac",
        "3002C OBM 4850GTS",
        "1/49",
        "ifname",
        "Port 49",
        management_addresses=("10.254.75.11",),
    ),
    ("snmp", "arubaos-cx_8360.snmprec"): Neighbor(
        "1/1/1",
        "ec:67:94:50:4d:00",
        "mac",
        "<private>",
        "1/1/1",
        "ifname",
        "ISL-lag1-1",
        management_addresses=("192.168.102.6", "2a02:d480:480:ee00::6"),
    ),
    ("snmp", "dell-sonic.snmprec"): Neighbor("Eth1/47", "xxxxx-T00634I", "local", None, "c4:5a:b1:e0:c0:f5", "mac"),
}
LINKS = {
    "arista_eos_vrf.snmprec": (
        29,
        NetLink("Ethernet1", "00:1c:73:b3:bd:72", 9214, "UP", ("UP",), 1.0, aliases=("trunk to switchname2",)),
    ),
    "arubaos-cx_8360.snmprec": (
        67,
        NetLink("1/1/1", "9c:37:08:72:ad:d4", 9500, "UP", ("UP",), 100.0, aliases=("ISL-lag1-1",)),
    ),
    "dell-sonic.snmprec": (56, NetLink("Eth1/3", "e8:65:5f:f5:ee:41", 1532, "DOWN", ("UP",), 1.0)),
    "edgecos_dcs203.snmprec": (
        64,
        NetLink("Eth6/3(Port1)", "d0:77:ce:4b:bd:7a", 9100, "UP", ("UP",), 10.0, aliases=("Ethernet0", "removed")),
    ),
    "fortigate_60f3g4g.snmprec": (21, NetLink("wan1", "d4:76:a0:5b:47:5c", 1500, "DOWN", ("UP",))),
    "junos_qfx5100.snmprec": (50, NetLink("lo0", None, None, "UP", ("UP",))),  # ifMtu 2147483647: it has no limit
    "junos_rpm.snmprec": (59, NetLink("fxp2", "00:00:00:00:00:00", 1514, "UP", ("UP",))),
    "nxos_n3k-3064pq.snmprec": (
        54,
        NetLink("port-channel10", "f8:72:ea:e0:09:98", 1500, "UP", ("UP",), 40.0, aliases=("Uplink",)),
    ),
    "pmp.snmprec": (
        2,
        NetLink("et1", "0a:00:3e:a0:90:3b", 1510, "UP", ("UP",), 100000.0, aliases=("Cambium 10/100 Ethernet", "None")),
    ),
    "routeros_crs317.snmprec": (20, NetLink("sfp-sfpplus1", "cc:2d:e0:a3:3d:d5", 1500, "DOWN", ("UP",))),
    "voss_7432cq.snmprec": (
        36,
        NetLink(
            "1/1",
            "f4:6e:95:a2:f8:00",
            1950,
            "DOWN",
            ("NO-CARRIER",),
            aliases=("Extreme Networks Virtual Services Platform 7432CQ - 100GbNone Port 1/1",),
            down_reason="switched off",
        ),
    ),
    "vrp_5720.snmprec": (65, NetLink("MEth0/0/1", "48:8e:ef:71:66:e0", 1500, "UP", ("UP",), 0.1)),
}


@pytest.mark.parametrize("file", SWITCH_LLDP)
def test_every_neighbour_of_a_switch_answer(file: str) -> None:
    assert seen(read("lldp_switch", "switch_lldp", file)) == SWITCH_LLDP[file]


@pytest.mark.parametrize("file", SNMP)
def test_every_neighbour_of_a_walk(file: str) -> None:
    assert seen(read("lldp_snmp", "snmp", file)) == SNMP[file]


@pytest.mark.parametrize(("kind", "file"), FULL)
def test_neighbour_in_full(kind: str, file: str) -> None:
    collector = "lldp_snmp" if kind == "snmp" else "lldp_switch"
    assert FULL[kind, file] in read(collector, kind, file)


@pytest.mark.parametrize("file", LINKS)
def test_interfaces_of_a_walk(file: str) -> None:
    links = read("if_snmp", "snmp", file)
    count, link = LINKS[file]
    assert len(links) == count
    assert link in links


def test_every_file_of_the_corpus_has_expectations() -> None:
    assert {path.name for path in (CORPUS / "switch_lldp").iterdir()} == set(SWITCH_LLDP)
    assert {path.name for path in (CORPUS / "snmp").iterdir()} == set(SNMP) == set(LINKS)


LLDP_FILES = [*(("switch_lldp", name) for name in SWITCH_LLDP), *(("snmp", name) for name in SNMP)]


@pytest.mark.parametrize(("kind", "file"), LLDP_FILES)
def test_answers_of_another_kind_are_refused(kind: str, file: str) -> None:
    other = "lldp_switch" if kind == "snmp" else "lldp_snmp"
    with pytest.raises(UnreadableError):
        read(other, kind, file)
