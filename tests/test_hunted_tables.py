"""Tables out of public manuals and test data, each shortened to what was once read as something else.

The key names the source; names and addresses in the tables are changed.
"""

import pytest

from collector import collectors
from tests.public_answers import ANY, Answers, reads
from truerail.errors import UnreadableError
from truerail.model import AddressEntry, LagMember, LinkSpeed, Neighbor, NetLink

MAC = "02:00:00:00:00:01"
TABLES: Answers = {
    "Huawei's CloudEngine command reference, `display arp`: a VPN instance is no port, whatever its name": (
        "neigh_table",
        (
            "IP ADDRESS      MAC ADDRESS    EXP(M) TYPE/VLAN       INTERFACE        VPN-INSTANCE\n"
            "----------------------------------------------------------------------------------------\n"
            "10.0.0.1        0200-0000-0001            I           100GE1/0/1       rail-2\n"
            "10.0.0.2        0200-0000-0001  17        D           100GE1/0/1       r2\n"
            "10.0.0.3        0200-0000-0001   6    D/BD111         25GE1/0/10.111   VRF-MY\n"
            "10.0.0.4        0200-0000-0001  13    D/802           Eth-Trunk40      r2"
        ),
        [
            AddressEntry("100GE1/0/1", "10.0.0.1", MAC, state="interface"),
            AddressEntry("100GE1/0/1", "10.0.0.2", MAC),
            AddressEntry("25GE1/0/10.111", "10.0.0.3", MAC),
            AddressEntry("Eth-Trunk40", "10.0.0.4", MAC),
        ],
    ),
    "ntc-templates, huawei_vrpv8_display_arp_all: names of interfaces reach below the next title": (
        "neigh_table",
        (
            "IP ADDRESS      MAC ADDRESS     EXPIRE(M) TYPE        INTERFACE   VPN-INSTANCE\n"
            "                                          VLAN/CEVLAN PVC\n"
            "----------------------------------------------------------------------------------------\n"
            "10.0.0.1        0200-0000-0001            I -         Eth-Trunk1.1001  OM-3G\n"
            "10.0.0.2        0200-0000-0001  17        D-0         Eth-Trunk1.1001  OM-3G\n"
            "                                          1001/-\n"
            "10.0.0.3        0200-0000-0001            S--                          OM-3G\n"
            "10.0.0.4        0200-0000-0001  17        D-0         Eth-Trunk1.1001\n"
        ),
        [
            AddressEntry("Eth-Trunk1.1001", "10.0.0.1", MAC, state="interface"),
            AddressEntry("Eth-Trunk1.1001", "10.0.0.2", MAC),
            AddressEntry("Eth-Trunk1.1001", "10.0.0.4", MAC),
        ],
    ),
    "genieparser, nxos `show interface brief`: a header of two lines, and a module missing in a port that may be off": (
        "port_state",
        (
            "Ethernet      VLAN    Type Mode   Status  Reason                   Speed     Port\n"
            "Interface                                                                    Ch #\n"
            "--------------------------------------------------------------------------------\n"
            "Eth1/1        --      eth  routed up      none                       400G(D) --\n"
            "Eth1/3        1       eth  access down    Administratively down      auto(D) --\n"
            "Eth1/6/1      1       eth  access down    Link not connected         auto(D) --\n"
            "Eth1/8        1       eth  fabric down    SFP not inserted            10G(D) 8\n\n"
            "Port-channel VLAN    Type Mode   Status  Reason                    Speed   Protocol\n"
            "Interface                                                                  \n"
            "Po8          1       eth  access down    No operational members      auto(I)  none\n"
        ),
        [
            NetLink("Eth1/1", operstate="UP", flags=("UP", "LOWER_UP")),
            NetLink("Eth1/3", operstate="DOWN", flags=("NO-CARRIER",), down_reason="switched off"),
            NetLink("Eth1/6/1", operstate="DOWN", flags=("NO-CARRIER", "UP"), down_reason="no light"),
            NetLink("Eth1/8", operstate="DOWN", down_reason="no module"),
        ],
    ),
    "a script for RGOS, `show lldp neighbors detail`: a heading without the port's number, and a blank in its name": (
        "lldp_switch",
        (
            "LLDP neighbor-information of port [TFGigabitEthernet 0/1]\n"
            "  Neighbor index                    : 1\n"
            "  Chassis ID type                   : MAC address\n"
            f"  Chassis ID                        : {MAC}\n"
            "  System name                       : gpu-1\n"
            "  Port ID type                      : Interface name\n"
            "  Port ID                           : eth0\n"
            "  Port description                  : rail 0\n"
            "  Aging time                        : 1minutes 47seconds\n"
        ),
        [Neighbor("TFGigabitEthernet 0/1", MAC, "mac", "gpu-1", "eth0", "ifname", "rail 0")],
    ),
    "noc, D-Link DGS-3610, `show interfaces status`: blanks in the names of ports": (
        "port_state",
        (
            "Interface                Status    Vlan  Duplex   Speed     Type\n"
            "------------------------ --------  ----  -------  --------- ------\n"
            "GigabitEthernet 0/1      up        1     Full     1000M     fiber\n"
            "GigabitEthernet 0/2      down      1     Unknown  Unknown   fiber\n"
            "GigabitEthernet 0/3      disabled  1     Unknown  Unknown   fiber\n"
            "AggregatePort 1          up        1     Full     2000M     fiber\n"
        ),
        [
            NetLink("GigabitEthernet 0/1", operstate="UP", flags=("UP", "LOWER_UP")),
            NetLink("GigabitEthernet 0/2", operstate="DOWN"),
            NetLink("GigabitEthernet 0/3", operstate="DOWN", flags=("NO-CARRIER",), down_reason="switched off"),
        ],
    ),
    "ntc-templates, aruba_aoscx_show_arp_all-vrfs: a VRF's name where no physical port is known": (
        "neigh_table",
        (
            "IPv4 Address     MAC                Port         Physical Port              State      VRF\n"
            "------------------------------------------------------------------------------------------\n"
            f"10.0.0.1         {MAC}  vlan10       1/1/28                     reachable  rail1\n"
            f"10.0.0.2         {MAC}  vlan10                                  stale      rail1\n"
            f"10.0.0.3         {MAC}  vlan10       vxlan1(10.0.0.9)           reachable  rail1\n"
        ),
        [
            AddressEntry("vlan10", "10.0.0.1", MAC, "1/1/28"),
            AddressEntry("vlan10", "10.0.0.2", MAC),
            AddressEntry("vlan10", "10.0.0.3", MAC),
        ],
    ),
    "CloudEngine, `display arp interface`: no column of VPN instances, and the switch's own address": (
        "neigh_table",
        (
            "IP ADDRESS      MAC ADDRESS    EXP(M) TYPE/VLAN/CEVLAN INTERFACE\n"
            "------------------------------------------------------------------------------\n"
            "10.0.0.1        0200-0000-0001        I                Vbdif100\n"
            "10.0.0.2        0200-0000-0001        S/10/100         100GE1/0/2.1\n"
        ),
        [
            AddressEntry("Vbdif100", "10.0.0.1", MAC, state="interface"),
            AddressEntry("100GE1/0/2.1", "10.0.0.2", MAC),
        ],
    ),
    "noc of Yandex, NX-OS, `show ipv6 neighbor vrf all`: the source of a row is no port, its address stands above it": (
        "neigh_table",
        (
            "IPv6 Adjacency Table for all VRFs\n"
            "Total number of entries: 3\n"
            "Address         Age       MAC Address     Pref Source     Interface\n"
            "2001:db8:b020:500c:428d:5cff:fe34:fc79\n"
            "                00:02:13  0000.0000.0000  255  icmpv6     Vlan641          #\n"
            "2001:db8:b020:500c:428d:5cff:fe34:fd9a\n"
            "                   16w3d  0200.0000.0001  50   icmpv6     Vlan641        \n"
            "fe80::11:d1        10w4d  0200.0000.0001  50   icmpv6     port-channel1.3000\n"
        ),
        [
            AddressEntry("Vlan641", "2001:db8:b020:500c:428d:5cff:fe34:fd9a", MAC),
            AddressEntry("port-channel1.3000", "fe80::11:d1", MAC),
        ],
    ),
    "ntc-templates, cisco_xr_show_arp3: an address without an age is the device's own": (
        "neigh_table",
        (
            "Protocol  Address          Age (min)  Hardware Addr   Type   Interface\n"
            "Internet  10.0.0.1                -   0200.0000.0001  ARPA   Vlan4\n"
            "Internet  10.0.0.2               75   0200.0000.0001  ARPA   TenGigabitEthernet0/1\n"
        ),
        [
            AddressEntry("Vlan4", "10.0.0.1", MAC, state="interface"),
            AddressEntry("TenGigabitEthernet0/1", "10.0.0.2", MAC),
        ],
    ),
    "H3C's command reference, `display lldp neighbor-information list`: marks of the agents behind chassis ids": (
        "lldp_switch",
        (
            "Chassis ID : * -- -- Nearest nontpmr bridge neighbor\n"
            "             # -- -- Nearest customer bridge neighbor\n"
            "             Default -- -- Nearest bridge neighbor\n"
            "System Name          Local Interface   Chassis ID       Port ID\n"
            "leaf-1               GE1/0/1           0200-0000-0001   GigabitEthernet1/0/5\n"
            "leaf-2               GE1/0/2           0200-0000-0001*  GigabitEthernet1/0/6\n"
            "leaf-3               GE1/0/3           0200-0000-0001#  GigabitEthernet1/0/7\n"
        ),
        [
            Neighbor(f"GE1/0/{n}", MAC, "mac", f"leaf-{n}", f"GigabitEthernet1/0/{port}")
            for n, port in ((1, 5), (2, 6), (3, 7))
        ],
    ),
    "sonic-mgmt-framework's design of LAGs, sonic-cli: U is a member that is up": (
        "lag_members",
        (
            "Flags: D - Down\n       U - Up\n\n"
            "---------------------------------------------------------------------------\n"
            "Group   PortChannel            Type    Protocol    Member Ports\n"
            "---------------------------------------------------------------------------\n"
            "1       PortChannel1    (D)     Eth      LACP       Ethernet56(D)\n"
            "                                                    Ethernet60(U)\n"
            "111     PortChannel111  (D)     Eth      LACP\n"
        ),
        [
            LagMember("Ethernet56", "PortChannel1", selected=False),
            LagMember("Ethernet60", "PortChannel1", selected=True),
        ],
    ),
    "Arista's command reference, `show port-channel summary`: S is a short timeout": (
        "lag_members",
        (
            "   Port-Channel       Protocol    Ports\n"
            "------------------ -------------- -------------------\n"
            "   Po1(U)             LACP(a)     Et1(PSG+)\n"
            "   Po2(D)             LACP(a)     Et3(sSG-) Et4(IS)\n"
        ),
        [
            LagMember("Et1", "Po1", selected=True),
            LagMember("Et3", "Po2", selected=False),
            LagMember("Et4", "Po2", selected=False),
        ],
    ),
    "sonic-mgmt-framework, lldp_show.j2: sonic-cli prints no total": (
        "lldp_switch",
        (
            f"{'-' * 102}\n"
            "LocalPort           RemoteDevice        RemotePortID        Capability           RemotePortDescr\n"
            f"{'-' * 103}\n"
            "Ethernet0           spine-1             Ethernet8           BR                  Eth1/2\n"
            "Ethernet4                               02:00:00:00:00:01                       \n"
        ),
        [
            Neighbor("Ethernet0", system_name="spine-1", port_id="Ethernet8", port_description="Eth1/2"),
            Neighbor("Ethernet4", port_id=MAC, port_id_type="mac"),
        ],
    ),
    "taf, OS10: the beginning of a server's UUID is not its chassis id": (
        "lldp_switch",
        (
            "Loc PortID          Rem Host Name        Rem Port Id                    Rem Chassis Id\n"
            "--------------------------------------------------------------------------------------\n"
            "ethernet1/1/3:1     Not Advertised       02:00:00:00:00:01             39373638-3935-5A43-4A39-\n"
            "ethernet1/1/2       Not Advertised       fortyGigE 0/56                02:00:00:00:00:01\n"
        ),
        [
            Neighbor("ethernet1/1/3:1", port_id=MAC, port_id_type="mac"),
            Neighbor("ethernet1/1/2", MAC, "mac", port_id="fortyGigE 0/56"),
        ],
    ),
}


@pytest.mark.parametrize(
    ("above", "rows"),
    [
        ("-" * 102 + "\n", ""),
        ("-" * 102 + "\n", "Ethernet0           leaf-of-row-3-unit-23Ethernet8           BR\n"),
        ("", "Ethernet0           spine-1             Ethernet8           BR                  Eth1/2\n"),
    ],
    ids=["no row", "a name without a blank behind it", "no ruler above"],
)
def test_a_table_of_sonic_cli_that_may_be_cut(above: str, rows: str) -> None:
    labels = "LocalPort           RemoteDevice        RemotePortID        Capability           RemotePortDescr"
    with pytest.raises(UnreadableError):
        collectors()["lldp_switch"].read(f"{above}{labels}\n{'-' * 103}\n{rows}", ANY)


SONIC_CLI = {
    "Name                Description         Admin          Oper           Speed          MTU": "up  {}  100GB  9100",
    "Name     Description    Admin   Oper   Speed     MTU     Alternate Name": "up   {}   100000   9100   Eth1/1",
    "Name     Description    Admin   Oper   AutoNeg   Speed   MTU     Alternate Name": "up   {}   on  100000   9100  x",
}
"""The tables of `show interface status` in SONiC's design documents: interface naming, link tracking, autoneg."""


@pytest.mark.parametrize("header", SONIC_CLI)
def test_states_and_speeds_of_sonic_cli(header: str) -> None:
    rows = (
        f"Ethernet0    rail 1 down   {SONIC_CLI[header].format('up')}\n"
        f"Ethernet4    -             {SONIC_CLI[header].format('down')}\n"
        f"Ethernet8    -             {SONIC_CLI[header].format('down').replace('up', 'down')}\n"
    )
    answer = f"{'-' * 60}\n{header}\n{'-' * 60}\n{rows}"
    assert list(collectors()["link_speed"].read(answer, ANY)) == [LinkSpeed("Ethernet0", 100)]
    found = collectors()["port_state"].read(answer, ANY)
    assert [(link.netdev, link.operstate, link.down_reason) for link in found if isinstance(link, NetLink)] == [
        ("Ethernet0", "UP", None),
        ("Ethernet4", "DOWN", None),
        ("Ethernet8", "DOWN", "switched off"),
    ]


test_what_was_once_misread = reads(TABLES)
