"""Answers out of public tickets, each shortened to what was once lost, refused or read as something else.

The key names the ticket; names and addresses in the answers are changed. Answers of other makes, which were read as
they should be, are not repeated here.
"""

from collector import collectors
from tests.public_answers import ANY, Answers, reads
from truerail.model import AddressEntry, BgpPeer, LagMember, MacEntry, Neighbor, NetLink, PortCounters

MAC = "02:00:00:00:00:01"
ANSWERS: Answers = {
    "napalm-ce#9: Huawei's prompt is no XML": (
        "lldp_switch",
        (
            "<leaf-1>display lldp neighbor brief\n"
            "Local Interface         Exptime(s) Neighbor Interface      Neighbor Device\n"
            "-------------------------------------------------------------------------------\n"
            "10GE1/0/1                     108  0200-0000-0001\n"
            "10GE1/0/5                      94  0200-0000-0002          An adapter fw_version:AFW_214.0.245.0\n"
            "10GE1/0/18                     90  XGigabitEthernet0/0/4   leaf-9\n"
        ),
        [
            Neighbor("10GE1/0/1", port_id=MAC, port_id_type="mac"),
            Neighbor(
                "10GE1/0/5",
                system_name="An adapter fw_version:AFW_214.0.245.0",
                port_id="02:00:00:00:00:02",
                port_id_type="mac",
            ),
            Neighbor("10GE1/0/18", system_name="leaf-9", port_id="XGigabitEthernet0/0/4"),
        ],
    ),
    "ntc-templates#2204, on a CloudEngine: the names of its ports begin with digits": (
        "lldp_switch",
        (
            "<leaf-1> display lldp neighbor\n"
            "100GE1/0/1 has 1 neighbor(s):\n\n"
            "Neighbor index                     :1\n"
            "Chassis type                       :MAC Address\n"
            "Chassis ID                         :0200-0000-0001\n"
            "Port ID subtype                    :Interface Name\n"
            "Port ID                            :100GE1/0/2\n"
            "System name                        :leaf-2\n"
            "Expired time                       :117s\n"
        ),
        [Neighbor("100GE1/0/1", MAC, "mac", "leaf-2", "100GE1/0/2", "ifname")],
    ),
    "OS10: chassis ids stand one column left of their label, a long name leaves one blank": (
        "lldp_switch",
        (
            "Loc PortID          Rem Host Name        Rem Port Id                    Rem Chassis Id\n"
            "--------------------------------------------------------------------------------------\n"
            "ethernet1/1/31      LEAF-R03-U23-Mell... Eth1/32                       02:00:00:00:00:01\n"
            "mgmt1/1/1           LAB-7103-B-R04       19                            02:00:00:00:00:02\n"
        ),
        [
            Neighbor("ethernet1/1/31", MAC, "mac", "LEAF-R03-U23-Mell...", "Eth1/32"),
            Neighbor("mgmt1/1/1", "02:00:00:00:00:02", "mac", "LAB-7103-B-R04", "19"),
        ],
    ),
    "sonic-buildimage#19209: a warning of lldpctl in brackets is no JSON": (
        "lldp_switch",
        (
            "[lldpctl] unable to get socket\n"
            "-------------------------------------------------------------------------------\n"
            "LLDP neighbors:\n"
            "-------------------------------------------------------------------------------\n"
            "Interface:    Ethernet0, via: LLDP, RID: 1, Time: 0 day, 00:00:03\n"
            "  Chassis:\n    ChassisID:    mac 02:00:00:00:00:01\n    SysName:      spine-1\n"
            "  Port:\n    PortID:       ifname Ethernet1\n    TTL:          120\n"
            "-------------------------------------------------------------------------------\n"
        ),
        [Neighbor("Ethernet0", MAC, "mac", "spine-1", "Ethernet1", "ifname", None, 120, 3, (), "LLDP")],
    ),
    "sonic-utilities#106: fdbshow had no types": (
        "mac_table",
        (
            "  No.    Vlan  MacAddress         Port\n"
            "-----  ------  -----------------  ----------\n"
            "    1    1000  02:00:00:00:00:01  Ethernet52\n"
            "Total number of entries 1\n"
        ),
        [MacEntry("Ethernet52", MAC, 1000, "dynamic")],
    ),
    "Dell OS10's user guide: octets without their zero": (
        "mac_table",
        "VlanId  Mac Address         Type        Interface\n100     2:0:0:0:00:1        dynamic     ethernet1/1/3\n",
        [MacEntry("ethernet1/1/3", MAC, 100, "dynamic")],
    ),
    "sonic-utilities#404: the port behind a VLAN is printed instead of the VLAN": (
        "neigh_table",
        (
            "Address       MacAddress         Iface            Vlan\n"
            "------------  -----------------  ---------------  ------\n"
            "192.168.0.79  02:00:00:00:00:01  Ethernet4        1000\n"
            "192.168.0.78  02:00:00:00:00:02  -                1000\n"
            "10.0.0.1      02:00:00:00:00:03  Ethernet8        -\n"
        ),
        [
            AddressEntry("Vlan1000", "192.168.0.79", MAC, "Ethernet4"),
            AddressEntry("Vlan1000", "192.168.0.78", "02:00:00:00:00:02"),
            AddressEntry("Ethernet8", "10.0.0.1", "02:00:00:00:00:03"),
        ],
    ),
    "project-arlo/SONiC#11: commas between the members": (
        "lag_members",
        (
            "Flags:  D - Down\n        U - Up\n"
            "Group Port-Channel           Type     Protocol  Member Ports\n"
            "--------------------------------------------------------------------------------\n"
            "1    PortChannel1    (D)     Eth      DYNAMIC    Ethernet56(D), Ethernet60(P)\n"
        ),
        [
            LagMember("Ethernet56", "PortChannel1", selected=False),
            LagMember("Ethernet60", "PortChannel1", selected=True),
        ],
    ),
    "ntc-templates#2142: a switch without a lag": (
        "lag_members",
        (
            "Flags\n------------------------ ---------------------------- -------------------------\n"
            "   U - In Use                  D - Down\n\n"
            "Number of channels in use: 0\nNumber of aggregators: 0\n\n"
            "   Port-Channel       Protocol    Ports\n------------------ -------------- -----\n"
        ),
        [],
    ),
}


ANSWERS["NX-OS: an address of link scope on a line of its own"] = (
    "bgp_peers",
    (
        "BGP router identifier 10.0.0.11, local AS number 65101\n\n"
        "Neighbor        V    AS MsgRcvd MsgSent   TblVer  InQ OutQ Up/Down  State/PfxRcd\n"
        "Ethernet1/1     4 65000     121     119       13    0    0 01:51:10 3\n"
        "fe80::200:ff:fe00:1%Ethernet1/2\n"
        "                4 65000     121     119       13    0    0 01:51:10 Idle\n"
    ),
    [
        BgpPeer("Ethernet1/1", state="Established"),
        BgpPeer("Ethernet1/2", None, "fe80::200:ff:fe00:1", "Idle"),
    ],
)


test_what_was_once_misread = reads(ANSWERS)


def test_states_of_nxos_that_are_the_transceivers_or_a_pairs() -> None:
    """genieparser#945."""
    answer = (
        "Port          Name               Status    Vlan      Duplex  Speed   Type\n"
        "--------------------------------------------------------------------------------\n"
        "Eth1/11       --                 vpcCmpFai trunk     full    10G     10Gbase-SR\n"
        "Eth1/33       --                 xcvrSpeed 1         auto    10G     1000base-T\n"
    )
    (link,) = collectors()["port_state"].read(answer, ANY)
    assert isinstance(link, NetLink)
    assert (link.netdev, link.down_reason) == ("Eth1/33", "module not accepted")


def test_counters_of_a_cloudengine() -> None:
    """Huawei's command reference, `display interface`: bytes stand before packets, and `Input:` stands twice."""
    answer = (
        "<leaf-1> display interface 100GE1/0/1\n"
        "100GE1/0/1 current state : UP (ifindex: 6)\n"
        "Line protocol current state : UP\n"
        "Input Flow-control: DISABLE,     Output Flow-control:           ENABLE\n"
        "    Last 300 seconds input rate: 79 bits/sec, 0 packets/sec\n"
        "    Input peak rate 181 bits/sec, Record time: 2022-03-28 10:45:15\n"
        "    Input :             207592 bytes,                616 packets\n"
        "    Output:            1325324 bytes,               9268 packets\n"
        "    Input:\n"
        "      Unicast:                      0,   Multicast:                     616\n"
        "      Discard:                      4,   Frames:                         --\n"
        "      Pause:                        5,   Ignoreds:                        0\n\n"
        "      Total Error:                  2\n"
        "      CRC:                          1,   Giants:                          0\n\n"
        "    Output:\n"
        "      Discard:                      7,   Buffers Purged:                  0\n"
        "      Pause:                        8\n\n"
        "    Input bandwidth utilization threshold : 90.00%\n"
    )
    (port,) = collectors()["port_counters"].read(answer, ANY)
    assert isinstance(port, PortCounters)
    assert port.port == "100GE1/0/1"
    assert dict(zip((one.counter for one in port.counters), port.values, strict=True)) == {
        "rx_bytes": 207592,
        "rx_packets": 616,
        "tx_bytes": 1325324,
        "tx_packets": 9268,
        "rx_discards": 4,
        "rx_global_pause_frames": 5,
        "rx_errors": 2,
        "crc_errors": 1,
        "tx_discards": 7,
        "tx_global_pause_frames": 8,
    }


def test_states_of_vrp_that_say_why() -> None:
    """Huawei's command reference, `display interface`."""
    words = ("Transceiver type mismatch", "The optical power is too low", "Port unavailable", "UP")
    answer = "".join(
        f"100GE1/0/{n} current state : {word} (ifindex: {n})\nLine protocol current state : DOWN\n"
        for n, word in enumerate(words, 1)
    )
    found = collectors()["port_state"].read(answer, ANY)
    assert [(link.netdev, link.operstate, link.down_reason) for link in found if isinstance(link, NetLink)] == [
        ("100GE1/0/1", "DOWN", "module not accepted"),
        ("100GE1/0/2", "DOWN", "no light"),
        ("100GE1/0/4", "UP", None),
    ]


def test_an_error_in_the_brief_table_of_vrp() -> None:
    answer = (
        "Interface                  PHY      Protocol  InUti OutUti   inErrors  outErrors\n"
        "100GE1/0/1                 down(ed) down         0%     0%          0          0\n"
        "100GE1/0/2                 up       up           0%     0%          0          0\n"
    )
    found = collectors()["port_state"].read(answer, ANY)
    assert [link.down_reason for link in found if isinstance(link, NetLink)] == ["error-disabled", None]
