"""Neighbours in answers out of public places, shortened and renamed, each of which was once read wrongly or refused."""

from tests.public_answers import Answers, Refused, reads, refuses
from truerail.model import AddressEntry, BgpPeer, LagMember, MacEntry, Neighbor, SharedLag

SROS = """\
A:admin@sr1# show system lldp neighbor
Link Layer Discovery Protocol (LLDP) System Information

===============================================================================
NB = nearest-bridge   NTPMR = nearest-non-tpmr   NC = nearest-customer
===============================================================================
Lcl Port      Scope Remote Chassis ID  Index  Remote Port     Remote Sys Name
-------------------------------------------------------------------------------
1/1/c11/1     NB    0C:00:2B:0F:FB:00  1      1/1/c11/1, 100* p2
1/1/c12/1     NB    0C:00:2B:0F:FC:00  2      Ethernet Slot#* MSS Site-a-long-*
3/2/c5/1      NB    24:21:24:DA:F6:3F  3      3/2/c5/1        sr2
===============================================================================
* indicates that the corresponding row element may have been truncated.
Number of neighbors : 3
"""
VYOS = """\
Capability Codes: R - Router, B - Bridge, W - Wlan r - Repeater, S - Station
                  D - Docsis, T - Telephone, O - Other

Device ID                 Local     Proto  Cap   Platform             Port ID
---------                 -----     -----  ---   --------             -------
br2.lab.example           eth0      LLDP   R     VyOS 1.2.4           eth1
sw1.lab.example           eth2      LLDP   B     Cisco IOS Software   GigabitEthernet0/6
"""
LLDPTOOL = """\
Chassis ID TLV
\tMAC: 02:00:00:00:00:01
Port ID TLV
\tIfname: ens2f0
Time to Live TLV
\t120
End of LLDPDU TLV
"""
NVUE = """\
cumulus@leaf01:~$ nv show bridge domain br_default mac-table
entry-id  age      bridge-domain  entry-type    interface   last-update  MAC address        remote-dst   src-vni  vlan
--------  -------  -------------  ------------  ----------  -----------  -----------------  -----------  -------  ----
1         0:12:54  br_default                   bond2       0:00:18      48:b0:2d:46:8f:ca                        20
2         0:13:47  br_default     permanent     bond2       0:13:47      48:b0:2d:6c:f4:fc
3         0:06:36  br_default     extern_learn  vxlan48     0:06:36      44:38:39:be:ef:bb                        4036
4         0:06:36  br_default     extern_learn  bond3       0:06:36      44:38:39:be:ef:cc  10.0.1.34    10
"""

ESI = "03:44:38:39:be:ef:aa:00:00:0"
JUNOS = """\
root@leaf-1> show lacp interfaces extensive
Aggregated interface: ae0
    LACP state:       Role   Exp   Def  Dist  Col  Syn  Aggr  Timeout  Activity
      xe-0/0/2       Actor    No    No   Yes  Yes  Yes   Yes     Fast    Active
      xe-0/0/2     Partner    No    No   Yes  Yes  Yes   Yes     Fast    Active
    LACP protocol:        Receive State  Transmit State          Mux State
      xe-0/0/2                  Current   Fast periodic Collecting distributing
    LACP info:        Role     System             System       Port     Port    Port
                             priority         identifier   priority   number     key
      xe-0/0/2       Actor        127  01:02:00:00:00:01        127        1       1
      xe-0/0/2     Partner        127  02:05:86:71:ce:00        127        3       1
"""

READ: Answers = {
    "notes on EVPN with Junos, `show lacp interfaces extensive`: the partners": (
        "lag_members",
        JUNOS,
        [LagMember("xe-0/0/2", "ae0", "02:05:86:71:ce:00", 3, None, 63, 63)],
    ),
    "Cumulus Linux' documentation, `show evpn es detail`: a segment of other switches has a dash for its interface": (
        "multihoming",
        f"ESI: {ESI}1\n Type: Remote\n Interface: -\n\nESI: {ESI}2\n Type: Local,Remote\n Interface: bond2\n",
        [SharedLag("bond2", f"{ESI}2")],
    ),
    "the same, `show evpn es`": (
        "multihoming",
        f"""\
Type: B bypass, L local, R remote, N non-DF
ESI                            Type ES-IF                 VTEPs
{ESI}1  R    -                     192.0.2.22,192.0.2.23
{ESI}2  LRN  bond2                 192.0.2.22
{ESI}3  LB   bond3
""",
        [SharedLag("bond2", f"{ESI}2"), SharedLag("bond3", f"{ESI}3")],
    ),
    "Cumulus Linux' command reference, `nv show evpn multihoming esi -o json`": (
        "multihoming",
        f'{{"{ESI}1": {{"local-interface": "bond1", "mac-count": 2}}, "{ESI}2": {{"flags": {{"remote": "on"}}}}}}',
        [SharedLag("bond1", f"{ESI}1")],
    ),
    "Cumulus Linux' command reference, `nv show interface neighbor`: an interface is in its first row only": (
        "neigh_table",
        """\
Interface      IP/IPV6                    LLADR(MAC)         State      Flag
-------------  -------------------------  -----------------  ---------  ----------
swp51          169.254.0.1                48:b0:2d:a2:4c:79  permanent
               fe80::4ab0:2dff:fea2:4c79  48:b0:2d:a2:4c:79  reachable  router
vlan10         10.1.10.104                48:b0:2d:1d:d7:e8  noarp      |ext_learn
""",
        [
            AddressEntry("swp51", "169.254.0.1", "48:b0:2d:a2:4c:79", None, "permanent"),
            AddressEntry("swp51", "fe80::4ab0:2dff:fea2:4c79", "48:b0:2d:a2:4c:79"),
            AddressEntry("vlan10", "10.1.10.104", "48:b0:2d:1d:d7:e8", None, "noarp"),
        ],
    ),
    "Cumulus Linux' documentation, `nv show vrf default router bgp neighbor`": (
        "bgp_peers",
        """\
  Neighbor       AS     State        UpTime   ResetReason                  MsgRcvd  Afi-Safi      PfxSent
  -------------  -----  -----------  -------  --------------------------…  -------  ------------  -------
  swp51          65199  established  4:16:59  No AFI/SAFI activated for    34059    ipv4-unicast  13
                                              peer                                  l2vpn-evpn    81
  swp52                 idle         0:00:00                               0        ipv4-unicast  0
  192.0.2.1      65199  established  4:16:59                               34059    ipv4-unicast  13
""",
        [BgpPeer("swp51", None, None, "Established"), BgpPeer("swp52", None, None, "Idle")],
    ),
    "a test of an inventory, EOS' `show port-channel | json`": (
        "lag_members",
        """{"portChannels": {"Port-Channel1": {
        "activePorts": {"Ethernet6": {"protocol": "lacp"}, "PeerEthernet6": {}},
        "inactivePorts": {"Ethernet5": {"reasonUnconfigured": "waiting for LACP response"}}}}}""",
        [
            LagMember("Ethernet6", "Port-Channel1", selected=True),
            LagMember("Ethernet5", "Port-Channel1", selected=False),
        ],
    ),
    "Cumulus Linux' documentation, 5.6: learned entries without a type": (
        "mac_table",
        NVUE,
        [MacEntry("bond2", "48:b0:2d:46:8f:ca", 20, "dynamic")],
    ),
    "Cumulus Linux' documentation, 5.0: an age before the MAC is no VLAN": (
        "mac_table",
        """\
    age     bridge-domain  entry-type  interface   last-update  MAC address        src-vni  vlan  vni   Summary
--  ------  -------------  ----------  ----------  -----------  -----------------  -------  ----  ----  ---------------
0   3       br_default     static      bond2       970          48:b0:2d:9d:31:ae           20
+ 1 58      br_default                 bond1       4            a6:e0:55:25:f3:b2           30
2   970     br_default                 vxlan48     970          48:b0:2d:bc:7e:83           10    None  remote-dst: 10.0
""",
        [
            MacEntry("bond2", "48:b0:2d:9d:31:ae", 20, "static"),
            MacEntry("bond1", "a6:e0:55:25:f3:b2", 30, "dynamic"),
        ],
    ),
    "a test of NVUE's API": (
        "mac_table",
        """{"1": {"age": 21, "interface": "swp30s0", "mac": "48:b0:2d:6c:8d:6f", "vlan": 121},
        "12": {"age": 14, "entry-type": "permanent", "interface": "bond5", "mac": "48:b0:2d:ec:3c:d4"}}""",
        [MacEntry("swp30s0", "48:b0:2d:6c:8d:6f", 121, "dynamic")],
    ),
    "Edgecore's command reference: the port comes first, with blanks in its name": (
        "mac_table",
        """\
 Interface MAC Address       VLAN Type     Life Time
 --------- ----------------- ---- -------- -----------------
 CPU       00-E0-00-00-00-01    1 CPU      Delete on Reset
 Eth 1/ 1  00-E0-29-94-34-DE    1 Config   Delete on Reset
 Trunk 1   00-E0-29-94-34-DF    1 Learn    Delete on Timeout
""",
        [
            MacEntry("Eth 1/1", "00:e0:29:94:34:de", 1, "static"),
            MacEntry("Trunk 1", "00:e0:29:94:34:df", 1, "dynamic"),
        ],
    ),
    "Ruijie's command reference: blanks in the names of ports": (
        "mac_table",
        """\
Vlan        MAC Address          Type     Interface                      Live Time
----------  -------------------- -------- ------------------------------ -------------
1           00d0.f800.1001       DYNAMIC  HundredGigabitEthernet 0/5     0d 00:03:12
10          00d0.f800.1002       DYNAMIC  AggregatePort 3                0d 00:03:12
""",
        [
            MacEntry("HundredGigabitEthernet 0/5", "00:d0:f8:00:10:01", 1, "dynamic"),
            MacEntry("AggregatePort 3", "00:d0:f8:00:10:02", 10, "dynamic"),
        ],
    ),
    "NVUE, cut within the last line: only whole rows count": ("mac_table", NVUE[: NVUE.index("0\n2  ")], []),
    "napalm#759, older IOS: a neighbour without a name has its chassis id in the column of names": (
        "lldp_switch",
        """\
Device ID           Local Intf     Hold-time  Capability      Port ID
switch1             Fa0/24         120        B               Fa0/19
480f.cf28.8a1b      Fa0/17         3601                       480f.cf28.8a1b

Total entries displayed: 2
""",
        [
            Neighbor("Fa0/24", None, None, "switch1", "Fa0/19", ttl_seconds=120),
            Neighbor("Fa0/17", "48:0f:cf:28:8a:1b", "mac", None, "48:0f:cf:28:8a:1b", "mac", ttl_seconds=3601),
        ],
    ),
    "EOS, JSON: the same": (
        "lldp_switch",
        """{"lldpNeighbors": [
        {"port": "Ethernet1", "neighborDevice": "0c42.a1dd.0001", "neighborPort": "0c42.a1dd.0002", "ttl": 120}
        ]}""",
        [Neighbor("Ethernet1", "0c:42:a1:dd:00:01", "mac", None, "0c:42:a1:dd:00:02", "mac", ttl_seconds=120)],
    ),
    "lldptool(8): flags joined before the interface": (
        "lldp_host",
        f"# lldptool -tni ens2f0\n{LLDPTOOL}",
        [Neighbor("ens2f0", "02:00:00:00:00:01", "mac", None, "ens2f0", "ifname", None, 120)],
    ),
    "Nokia's SR OS hackathon, OpenNMS' NMS-13593: a port's description behind its name, cells cut with an asterisk": (
        "lldp_switch",
        SROS,
        [
            Neighbor("1/1/c11/1", "0c:00:2b:0f:fb:00", "mac", "p2", "1/1/c11/1"),
            Neighbor("1/1/c12/1", "0c:00:2b:0f:fc:00", "mac", "MSS Site-a-long-..."),
            Neighbor("3/2/c5/1", "24:21:24:da:f6:3f", "mac", "sr2", "3/2/c5/1"),
        ],
    ),
    "SR OS without neighbours": (
        "lldp_switch",
        SROS[: SROS.index("1/1/c11")] + "=" * 79 + "\nNumber of neighbors : 0\n",
        [],
    ),
    "VyOS 1.2's documentation": (
        "lldp_switch",
        VYOS,
        [
            Neighbor("eth0", None, None, "br2.lab.example", "eth1"),
            Neighbor("eth2", None, None, "sw1.lab.example", "GigabitEthernet0/6"),
        ],
    ),
    "VyOS' op_mode/lldp.py, since 1.4": (
        "lldp_switch",
        """\
Device    Local Interface    Protocol    Capability    Platform            Remote Port
--------  -----------------  ----------  ------------  ------------------  -------------
sw 3      eth2               LLDP        BR            Debian GNU/Linux 1  swp3
""",
        [Neighbor("eth2", None, None, "sw 3", "swp3")],
    ),
    "FastIron's command reference: a name cut with a tilde": (
        "lldp_switch",
        """\
Lcl Port Chassis ID      Port ID         Port Description          System Name
1        0000.0034.0fc0  0000.0034.0fc0  GigabitEthernet9/1        FastIron Supe~
17       0000.0011.0200  xe17~           GigabitEthernet18
""",
        [
            Neighbor(
                *("1", "00:00:00:34:0f:c0", "mac", "FastIron Supe..."),
                *("00:00:00:34:0f:c0", "mac", "GigabitEthernet9/1"),
            ),
            Neighbor("17", "00:00:00:11:02:00", "mac", None, None, None, "GigabitEthernet18"),
        ],
    ),
    "Juniper's notes on OISM: the prompt with the next command below the table": (
        "lldp_switch",
        """\
Local Interface    Parent Interface    Chassis Id          Port info          System Name
re0:mgmt-0         -                   50:7c:6f:05:29:f0   tap5               q-pod
R1-SL1> show igmp snooping evpn database
""",
        [Neighbor("re0:mgmt-0", "50:7c:6f:05:29:f0", "mac", "q-pod", "tap5")],
    ),
}
REFUSED: Refused = {
    "Junos, cut before a partner's row": (
        *(
            "lag_members",
            JUNOS[: JUNOS.index("      xe-0/0/2     Partner")],
            "line 5: a member without its partner's row",
        ),
    ),
    "a course on Junos, `show lacp statistics interfaces`: no states": (
        "lag_members",
        """\
Aggregated interface: ae0
    LACP Statistics:       LACP Rx     LACP Tx   Unknown Rx   Illegal Rx
      ge-0/0/0                 237         238            0            0
""",
        "line 1: not the states of link aggregations",
    ),
    "a guide to MetalSoft's fabrics: a tool prints the switch's name before each line": (
        "lldp_switch",
        """\
leaf-r0 | Interface  Speed  Type  Remote Host  Remote Port
leaf-r0 | ---------  -----  ----  -----------  -----------
leaf-r0 | swp33s0    1G     swp   spine-s00    swp1s0
""",
        "line 2: a ruler with words beside it",
    ),
    "Cumulus Linux' command reference, `nv show interface swp51 neighbor ipv4`: whose rows these are is not said": (
        "neigh_table",
        """\
IPV4         LLADR(MAC)         State      Flag
-----------  -----------------  ---------  ----
169.254.0.1  48:b0:2d:2b:5b:b9  permanent
""",
        "line 3: no row names its interface",
    ),
    "Cumulus Linux' command reference, 5.0: MACs that a narrow terminal cut": (
        "mac_table",
        NVUE.replace("48:b0:2d:6c:f4:fc", "48:b0:2d:6c:f4…"),
        "line 5: cells are cut: the terminal was too narrow",
    ),
    "openlldp#39: without -n, lldptool prints what the host itself sends": (
        "lldp_host",
        f"# lldptool -t -n -i eth0\n{LLDPTOOL}# lldptool -t -i ens2f0\n{LLDPTOOL}",
        "line 10: what the host itself sends",
    ),
    "SR OS, cut between two rows": (
        *("lldp_switch", SROS[: SROS.index("3/2/c5/1  ")], "no total below the table: the answer is cut"),
    ),
    "SR OS, a row lost": (
        *("lldp_switch", SROS.replace("3/2/c5/1      NB    24:21:24:DA:F6:3F", ""), "line 11: a row that does not fit"),
    ),
    "VyOS 1.2, a name that fills its column, and the port would be part of it": (
        "lldp_switch",
        VYOS.replace("br2.lab.example          ", "br2-of-the-third-row.lab.example"),
        "line 6: a row that does not fit the table's header",
    ),
}
test_read = reads(READ)
test_refused = refuses(REFUSED)
