"""Tables out of public manuals and test data, each shortened to what was once read as something else.

The key names the source; names and addresses in the tables are changed.
"""

from collections.abc import Sequence

import pytest

from collector import collectors
from truerail.model import AddressEntry, Device, Fact, Neighbor

ANY = Device("any")
MAC = "02:00:00:00:00:01"
TABLES: dict[str, tuple[str, str, Sequence[Fact]]] = {
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


@pytest.mark.parametrize("source", TABLES)
def test_what_was_once_misread(source: str) -> None:
    name, answer, expected = TABLES[source]
    assert list(collectors()[name].read(answer, ANY)) == list(expected)
