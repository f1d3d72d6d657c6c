"""Answers of real devices out of public tests and tickets, shortened to what was once read wrongly or refused.

The key of each names where it was published.
"""

import pytest

from collector import collectors
from collector.formats.documents import root_of
from truerail.errors import UnreadableError
from truerail.model import Device, Neighbor, RdmaLink

ANY = Device("any")
SONIC = """\
    admin@sonic1:~$ show lldp table

    Capability codes: (R) Router, (B) Bridge, (O) Other
    LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
    -----------  --------------  -----------------  ------------  -----------------
    Ethernet0    sonic3          fortyGigE0/4       BR            Ethernet4
    eth0         sonic4          0c:69:cf:50:00:00  BR            eth0
    --------------------------------------------------
    Total entries displayed:  2

Note that `sonic1` sees three neighbors (`sonic2`, `sonic3` and `sonic4`) on its eth0 interface.
"""
LLDPD_XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<lldp label="LLDP neighbors">
 <interface label="Interface" name="Ethernet0" via="LLDP" rid="2" age="7 days, 22:11:33">
  <chassis label="Chassis">
   <id label="ChassisID" type="mac">00:00:00:00:00:01</id>
   <name label="SysName">dummy</name>
   <mgmt-ip label="MgmtIP">192.0.2.1</mgmt-ip>
   <mgmt-ip label="MgmtIP">2001:db8::1</mgmt-ip>
   <capability label="Capability" type="Bridge" enabled="on"/>
  </chassis>
  <port label="Port">
   <id label="PortID" type="mac">00:00:00:00:00:02</id>
   <descr label="PortDescr">First MAC</descr>
   <ttl label="TTL">120</ttl>
   <auto-negotiation label="PMD autoneg" supported="no" enabled="no">
    <current label="MAU oper type">unknown</current>
   </auto-negotiation>
  </port>
 </interface>
 <interface label="Interface" name="Ethernet0" via="LLDP" rid="3" age="0 day, 00:00:10">
  <chassis label="Chassis"><id label="ChassisID" type="mac">00:00:00:00:00:03</id></chassis>
  <port label="Port"><id label="PortID" type="ifname">eth1</id></port>
 </interface>
</lldp>
"""
SWITCHES: dict[str, tuple[str, list[tuple[str, str | None, str | None]]]] = {
    "ntc-templates arista_eos_show_lldp_neighbors_header_line.raw: the ruler is not where the cells are": (
        (
            "Port       Neighbor Device ID             Neighbor Port ID           TTL\n"
            "---------- ---------------------------------- ---------------------- ---\n"
            "Et3/1      tg104.sjc.aristanetworks.com   Ethernet3/2                120\n"
            "Ma1/1      dc1-rack11-tor1.sjc            1/1                        120\n"
        ),
        [("Et3/1", "tg104.sjc.aristanetworks.com", "Ethernet3/2"), ("Ma1/1", "dc1-rack11-tor1.sjc", "1/1")],
    ),
    "a GNS3 guide for SONiC: indented, prose behind": (
        SONIC,
        [("Ethernet0", "sonic3", "fortyGigE0/4"), ("eth0", "sonic4", "0c:69:cf:50:00:00")],
    ),
    "an Arista campus workshop: an indented table inside a fence": (
        (
            "        Port          Neighbor Device ID       Neighbor Port ID    TTL\n"
            "        ------------- ------------------------ ------------------- ---\n"
            "        Et33          Arista_18:66:BF          3086.2d18.66bf      120\n"
            "        ```\n"
        ),
        [("Et33", "Arista_18:66:BF", "30:86:2d:18:66:bf")],
    ),
    "opnsense/plugins #4561: EOS detail, as it is without its indentation": (
        (
            "SW03#sh ll n e 31 d\nInterface Ethernet31 detected 1 LLDP neighbors:\n\n"
            "Neighbor 7c5a.1c49.f061/7c5a.1c49.f062, age 15 seconds\n"
            "- Chassis ID type: MAC address (4)\nChassis ID     : 7c5a.1c49.f061\n"
            "- Port ID type: MAC address (3)\nPort ID     : 7c5a.1c49.f062\n"
            '- Time To Live: 120 seconds\n- System Name: "RTR01"\nPort ID                : 13\n'
        ),
        [("Ethernet31", "RTR01", "7c:5a:1c:49:f0:62")],
    ),
    "ntc-templates cisco_nxos_show_lldp_neighbors_multiline.raw, indented: a name on a line of its own": (
        (
            "  Device ID            Local Intf      Hold-time  Capability  Port ID\n"
            "  r2-services          Eth1/1          120        BR           Eth1/1\n"
            "  fw1-clinical-partner \n"
            "                       Eth1/5          120                     ethernet1/9\n"
            "  Total entries displayed: 2\n"
        ),
        [("Eth1/1", "r2-services", "Eth1/1"), ("Eth1/5", "fw1-clinical-partner", "ethernet1/9")],
    ),
    "sonic-utilities tests/lldp_test.py: lldpd's XML": (
        LLDPD_XML,
        [("Ethernet0", "dummy", "00:00:00:00:00:02"), ("Ethernet0", None, "eth1")],
    ),
}


@pytest.mark.parametrize("source", SWITCHES)
def test_neighbours_of_a_switch(source: str) -> None:
    answer, expected = SWITCHES[source]
    facts = collectors()["lldp_switch"].read(answer, ANY)
    assert [(fact.port, fact.system_name, fact.port_id) for fact in facts if isinstance(fact, Neighbor)] == expected


def test_a_host_answers_in_the_xml_of_lldpd_as_a_switch_does() -> None:
    facts = collectors()["lldp_host"].read("root@gpu-001:~# lldpctl -f xml\n" + LLDPD_XML, ANY)
    assert facts == collectors()["lldp_switch"].read(LLDPD_XML, ANY)
    assert facts[0] == Neighbor(
        "Ethernet0",
        "00:00:00:00:00:01",
        "mac",
        "dummy",
        "00:00:00:00:00:02",
        "mac",
        "First MAC",
        120,
        7 * 86400 + 22 * 3600 + 11 * 60 + 33,
        ("192.0.2.1", "2001:db8::1"),
        "LLDP",
    )


def test_xml_of_lldpd_that_is_cut_is_refused_with_its_line() -> None:
    lines = LLDPD_XML.splitlines(keepends=True)
    for end in range(3, len(lines)):
        with pytest.raises(UnreadableError, match=r"^line \d+: not whole XML"):
            collectors()["lldp_host"].read("".join(lines[:end]), ANY)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('<lldp label="LLDP interfaces"><interface name="eth0"><status>RX</status></interface></lldp>', "no neighbour"),
        ('<lldp interface="x"><interface name="eth0"/></lldp>', "interface is not an object"),
        ('<?xml version="1.0"?', "not whole XML"),
        ("<lldp", "not whole XML"),
    ],
)
def test_xml_of_lldpd_about_something_else(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        collectors()["lldp_host"].read(answer, ANY)


def test_xml_of_lldpd_that_names_nobody() -> None:
    assert collectors()["lldp_host"].read('<?xml version="1.0"?>\n<lldp label="LLDP neighbors"/>\n', ANY) == ()


def test_two_cells_cut_through_by_their_header_are_no_row() -> None:
    header = "Port       Neighbor Device ID    Neighbor Port ID    TTL\n"
    with pytest.raises(UnreadableError, match="line 3: a row that does not fit the table's header"):
        collectors()["lldp_switch"].read(
            f"{header}Et1  a  b  120\nThe rest of the ports are not in use today, 1\n", ANY
        )


def test_ibdev2netdev_through_column_with_remarks() -> None:
    """Of imbue-ai/cluster-health #4."""
    answer = (
        "$ ibdev2netdev | column -t\n"
        "mlx5_0   port  1  ==>  ibp26s0        (Down)  # CX-7 1/8 infiniband\n"
        "mlx5_1   port  1  ==>  enp27s0f0np0   (Up)    # CX-6 2/2 *ethernet* port 1/2\n"
    )
    assert collectors()["rdma_link"].read(answer, ANY) == (
        RdmaLink("mlx5_0", 1, "DOWN", None, "ibp26s0"),
        RdmaLink("mlx5_1", 1, "ACTIVE", None, "enp27s0f0np0"),
    )


def test_ibstat_that_broke_off_at_a_device_it_cannot_read() -> None:
    """Of leptonai/gpud #752: one adapter that cannot be read takes none of the others with it."""
    panic = "ibpanic: [1323906] main: stat of IB device 'mlx5_8' failed: Unknown error\n"
    read = "CA 'mlx5_7'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n"
    for answer in (read + panic, panic + read):
        (link,) = collectors()["rdma_link"].read(answer, ANY)
        assert link == RdmaLink("mlx5_7", 1, "ACTIVE", "LINK_UP")
    with pytest.raises(UnreadableError, match="no device: cut short"):
        collectors()["rdma_link"].read("CA ''\n" + panic, ANY)


def test_ibstat_below_what_debugging_prints() -> None:
    """Of linux-rdma/rdma-core #847."""
    answer = (
        "+ ibstat\nibwarn: [168988] umad_get_ca: opened mlx4_0\nCA 'mlx4_0'\n\tNumber of ports: 1\n\tPort 1:\n"
        "\t\tState: Down\n\t\tPhysical state: Disabled\n\t\tRate: 10\n\t\tLink layer: InfiniBand\n"
    )
    (link,) = collectors()["rdma_link"].read(answer, ANY)
    assert link == RdmaLink("mlx4_0", 1, "DOWN", "DISABLED", rate_gbps=10.0, link_layer="InfiniBand")


def test_text_is_no_xml() -> None:
    with pytest.raises(UnreadableError, match="no XML in it"):
        root_of("5 < 6")
