"""Hosts' answers out of public tickets, sources and manuals, each shortened to what was once lost, mixed or refused.

The key names the source; names and addresses in the answers are changed.
"""

import pytest

from collector import collectors
from tests.public_answers import Answers, Refused, reads, refuses
from truerail.errors import NoAnswerError
from truerail.model import (
    Counter,
    Device,
    GpuNicPath,
    LinkSpeed,
    MachineIdentity,
    Neighbor,
    Optic,
    PcieLink,
    PortCounters,
    PortQos,
    RdmaLink,
    Role,
)

HOST = Device("gpu-1", Role.HOST)
OF_DEVICE = "hca_id:\t{}\n\tphys_port_cnt:\t1\n\t\tport:\t1\n\t\t\tstate:\t{}\n\t\t\tphys_state:\t{}\n"
MODULE = (
    "\tIdentifier                                : 0x11 (QSFP28)\n"
    "\tVendor SN                                 : {}\n"
    "\tRcvr signal avg optical power(Channel 1)  : 0.9522 mW / -{}.21 dBm\n"
)
BYTES = "Offset\t\tValues\n------\t\t------\n0x0000:\t\t19 40 04 06 00 00 00 00 00 00 00 00 00 00 2a 5c \n"
LLDPDU = (
    "Chassis ID TLV\n\tMAC: 02:00:00:00:00:0{0}\nPort ID TLV\n\tIfname: swp{0}\n"
    "Time to Live TLV\n\t120\nEnd of LLDPDU TLV\n"
)
QOS = "Priority trust state: {}\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     {}\n"
RATES = "Physical Counters and BER Info\n---\nEffective Physical BER : 15E-255\nRaw Physical BER : {}E-9\n"
PLAIN = (
    "Interface:    eth0, via: {}, Time: 0 day, 00:01:12\n  Chassis:\n    ChassisID:    mac 02:00:00:00:00:0{}\n"
    "  Port:\n    PortID:       ifname swp1\n"
)
OF_OWN = '"via": "unknown", "chassis": [{"id": [{"type": "mac", "value": "1"}]}], "ttl": [{"ttl": "120"}], '
SENT = "what the host itself sends (`lldpcli show interfaces`), not its neighbours"
CA, LEAF = f"0x{1:016x}", f"0x{10:016x}"
ANSWERS: Answers = {
    "rdma-core devinfo.c: its spelling of training, and its word for physical state 0": (
        "rdma_link",
        OF_DEVICE.format("mlx5_0", "PORT_DOWN (1)", "PORT_CONFIGURATION TRAINNING (4)")
        + OF_DEVICE.format("siw0", "PORT_ACTIVE (4)", "invalid physical state (0)"),
        [RdmaLink("mlx5_0", 1, "DOWN", "ARMED"), RdmaLink("siw0", 1, "ACTIVE", "UNKNOWN")],
    ),
    "hack-gpon#326: a kind of module that ethtool does not know hides no other": (
        "optics",
        f"# ethtool -m eth0\n{BYTES}# ethtool -m eth1\n" + MODULE.format("MT2", 0),
        [Optic("eth1", 1, -0.21, serial="MT2")],
    ),
    "sichek: an excerpt of mlxlink without the cable's technology": (
        "optics",
        (
            "Module Info\n-----------\n"
            "Rx Power Current [dBm]             : 1.886,1.989 [-10.41..6]\n"
            "Identifier                         : OSFP\n"
            "Vendor Part Number                 : T-F4GS-BV0\n"
            "Vendor Serial Number               : C1\n"
        ),
        [
            Optic("", lane, power, rx_power_low_dbm=-10.41, rx_power_high_dbm=6.0, part="T-F4GS-BV0", serial="C1")
            for lane, power in ((1, 1.886), (2, 1.989))
        ],
    ),
    "pci.ids: AMD's GPUs are processing accelerators or display controllers": (
        "host_facts",
        (
            "05:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X]\n"
            "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L0s L1\n"
            "\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x16\n"
            "29:00.0 Display controller [0380]: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran [Instinct MI250X]\n"
            "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L0s L1\n"
            "\t\tLnkSta:\tSpeed 16GT/s, Width x16\n"
        ),
        [PcieLink("0000:05:00.0", 16.0, 16, 32.0, 16), PcieLink("0000:29:00.0", 16.0, 16, 16.0, 16)],
    ),
    "a manual of Talos: dcb's values on one line": (
        "nic_qos",
        (
            "# dcb pfc show dev eth1\n"
            "pfc-cap 8 prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off delay 0\n"
            "# mlnx_qos -i eth2\nPFC configuration:\n\tenabled:   0   0   0   0   0   1   0   0\n"
        ),
        [PortQos("eth1", pfc_priorities=(3,)), PortQos("eth2", pfc_priorities=(5,))],
    ),
    "a loop over interfaces: the variable is none": (
        "lldp_host",
        "# for i in eth0 eth1; do lldptool -t -n -i $i; done\n" + LLDPDU.format(1) + LLDPDU.format(2),
        [Neighbor("", f"02:00:00:00:00:0{n}", "mac", None, f"swp{n}", "ifname", None, 120) for n in (1, 2)],
    ),
    "two commands on one line: the second answer is not of the first interface": (
        "lldp_host",
        "# lldptool -t -n -i eth0; lldptool -t -n -i eth1\n" + LLDPDU.format(1) + LLDPDU.format(2),
        [
            Neighbor(port, f"02:00:00:00:00:0{n}", "mac", None, f"swp{n}", "ifname", None, 120)
            for port, n in (("eth0", 1), ("", 2))
        ],
    ),
    "a script's command: quotes are no part of a name": (
        "nic_qos",
        '+ mlnx_qos -i "eth0"\n' + QOS.format("dscp", "0 0 0 1 0 0 0 0"),
        [PortQos("eth0", "dscp", (3,))],
    ),
    "GLPI's invalid serial numbers: a maker's that count up": (
        "machine_identity",
        (
            "System Information\n\tSerial Number: SYS-1234567890\nBase Board Information\n\tSerial Number: WM12345\n"
            "Chassis Information\n\tSerial Number: 0123456789ABCDEF\nChassis Information\n\tSerial Number: 12345\n"
        ),
        [MachineIdentity("board", "WM12345")],
    ),
    "FOG's and GLPI's lists: serial numbers and UUIDs that many machines share": (
        "machine_identity",
        (
            "System Information\n\tSerial Number: Not Present\n\tUUID: 00020003-0004-0005-0006-000700080009\n"
            "Base Board Information\n\tSerial Number: BSS-0123456789\nBase Board Information\n\tSerial Number: AB1\n"
            "System Information\n\tUUID: 6AB5B300-538D-1014-9FB5-B0684D007B53\n\tSerial Number: OEM_Serial\n"
        ),
        [MachineIdentity("board", "AB1")],
    ),
    "sglang's report of an H20: a terminal has glued the cells at the ends of its lines": (
        "gpu_nic_topology",
        (
            "\tGPU0\tGPU1\tNIC0\tNIC1    NIC2\tCPU Affinity\n"
            "GPU0\t X NV18\tNODE\tNODEPIX0-55,112-167\nGPU1\tNV18 X \tPIX\tSYSSYS\t70-99,102-107\n"
            "NIC0\tNODE\tPIX\t X PIXNODE\nNIC1\tNODE\tSYS\tPIX\t X NODE\nNIC2\tPIX\tSYS\tNODE\tNODEX\n"
        ),
        [
            *(GpuNicPath(0, f"NIC{n}", None, level) for n, level in enumerate(("NODE", "NODE", "PIX"))),
            *(GpuNicPath(1, f"NIC{n}", None, level) for n, level in enumerate(("PIX", "SYS", "SYS"))),
        ],
    ),
    "a legend of NICs with the interface of each": (
        "gpu_nic_topology",
        "\tGPU0\tNIC0\nGPU0\t X \tPIX\n\nNIC Legend:\n\n  NIC0: mlx5_an (eth0)\n",
        [GpuNicPath(0, "NIC0", "mlx5_an", "PIX")],
    ),
    "interfaces that a note gives to NICs are not their devices": (
        "gpu_nic_topology",
        "\tGPU0\tNIC0\tNIC1\nGPU0\t X \tPIX\tSYS\n\nNIC0: ens2np0\nNIC0: 200 Gb/s\nNIC1: mlx5_1\n",
        [GpuNicPath(0, "NIC0", None, "PIX"), GpuNicPath(0, "NIC1", None, "SYS")],
    ),
    "a report with topo -p2p before topo -m": (
        "gpu_nic_topology",
        " \tGPU0\tGPU1\n GPU0\tX\tGNS\n GPU1\tGNS\tX\n\nLegend:\n\n\tGPU0\tNIC0\nGPU0\t X \tPHB\n",
        [GpuNicPath(0, "NIC0", None, "PHB")],
    ),
    "ipmi_exporter#127: FreeIPMI's words; of other parts only theirs": (
        "machine_identity",
        (
            "FRU Inventory Device: Base (ID 00h)\n\n  FRU Chassis Serial Number: C1\n  FRU Board Serial Number: B1\n"
            "  FRU Product Serial Number: S1\n\nFRU Inventory Device: PCIe Riser 1 (ID 0Bh)\n\n"
            "  FRU Board Serial Number: R1\n\nFRU Information           : BMC Storage Module\n"
            "Board Serial              : R2\n\nFRU Device Description : Builtin FRU Device (ID 0)\n Board Serial : B1\n"
        ),
        [MachineIdentity("chassis", "C1"), MachineIdentity("board", "B1"), MachineIdentity("system", "S1")],
    ),
    "rdma-core#847: settings of a port below the counters of another": (
        "ib_counters",
        (
            "# Port counters: Lid 2 port 3\nPortXmitData:....................1965\n# Port info: Lid 38 port 1\n"
            "Mkey:............................0x0000000000000000\nSMLid:...........................13\n"
        ),
        [PortCounters("LID 2/3", (Counter("port_xmit_data"),), (1965,))],
    ),
    "a course on lldpd 1.0.4: its own interfaces below its neighbours": (
        "lldp_host",
        (
            f"LLDP neighbors:\n{PLAIN.format('LLDP, RID: 1', 2)}    TTL:          120\n---\n$ lldpcli show int\n---\n"
            f"LLDP interfaces:\n---\n{PLAIN.format('unknown', 1)}  TTL:          120\n---\n"
        ),
        [Neighbor("eth0", "02:00:00:00:00:02", "mac", None, "swp1", "ifname", None, 120, 72, via="LLDP")],
    ),
    "a notebook has taken the descriptions out of ibdiagnet2.lst for markup": (
        "ib_fabric",
        (
            "{ CA Ports:02 SystemGUID:2 NodeGUID:1 PortGUID:2 VenID:2c9 DevID:1003 Rev:0  LID:0005 PN:01 } "
            "{ SW Ports:24 SystemGUID:a NodeGUID:a PortGUID:a VenID:2c9 DevID:c738 Rev:0 {leaf-1} LID:0002 PN:14 } "
            "PHY=4x LOG=ACT SPD=2.5\n"
        ),
        [
            LinkSpeed("1", 10.0, CA, CA),
            LinkSpeed("20", 10.0, "leaf-1", LEAF),
            Neighbor("1", LEAF, "guid", "leaf-1", "20", "ifname", via="InfiniBand", of=CA, of_guid=CA),
            Neighbor("20", CA, "guid", CA, "1", "ifname", via="InfiniBand", of="leaf-1", of_guid=LEAF),
        ],
    ),
}
REFUSED: Refused = {
    "a script that frames ports in its own way: the settings of two ports": (
        "nic_qos",
        "".join(
            f"======== device eth{number} / mlx5_{number}========\n{QOS.format(trust, pfc)}"
            for number, trust, pfc in ((0, "dscp", "0 0 0 0 0 1 0 0"), (1, "pcp", "0 0 0 0 0 0 0 0"))
        ),
        "line 10: PFC twice: of several ports, which no line names",
    ),
    "a loop over interfaces: the settings of two ports": (
        "nic_qos",
        "$ for n in eth0 eth1; do mlnx_qos -i $n; done\n" + 2 * QOS.format("dscp", "0 0 0 1 0 0 0 0"),
        "line 9: PFC twice: of several ports, which no line names",
    ),
    "a loop over devices: the counters of two": (
        "rdma_counters",
        "$ for d in mlx5_0 mlx5_1; do show_counters $d; done\n" + 2 * "Port 1 hw counters:\nout_of_sequence: 5\n",
        "line 5: a counter twice: of devices that no line names",
    ),
    "two commands on one line: the modules of two ports": (
        "optics",
        "$ ethtool -m eth0; ethtool -m eth1\n" + MODULE.format("MT1", 1) + MODULE.format("MT2", 2),
        "line 5: a second module, whose port no line names",
    ),
    "two commands on one line: the error rates of two ports": (
        "bit_error_rates",
        "$ mlxlink -d mlx5_0 -c; mlxlink -d mlx5_1 -c\n" + RATES.format(1) + RATES.format(2),
        "line 2: a second port's rates, which no line names",
    ),
    "the counters of two devices without the commands": (
        "rdma_counters",
        "Port 1 hw counters:\nout_of_sequence: 5\nPort 1 hw counters:\nout_of_sequence: 7\n",
        "line 4: a counter twice: of devices that no line names",
    ),
    "pdsh: RDMA devices behind the names of their hosts": (
        "rdma_link",
        "gpu-001: mlx5_0 port 1 ==> ib0 (Up)\ngpu-002: mlx5_0 port 1 ==> ib0 (Down)\n",
        "line 1: not a line of ibdev2netdev",
    ),
    "pdsh: counters behind the name of their host": (
        "nic_counters",
        "gpu-001: NIC statistics:\ngpu-001:      rx_packets: 5\n",
        "line 2: not a counter and its value",
    ),
    "pdsh: a bond behind the name of its host": (
        "lag_members",
        "gpu-001: Ethernet Channel Bonding Driver: v5.15.0\ngpu-001: \ngpu-001: Slave Interface: eth0\n",
        "line 1: not an answer about members of link aggregations",
    ),
    "clush -b: NVLinks of two hosts": (
        "nvlink",
        "".join(
            f"---------------\n{host}\n---------------\nGPU 0: NVIDIA B300 (UUID: GPU-1)\n\t Link 0: {state}\n"
            for host, state in (("gpu-001", "53.125 GB/s"), ("gpu-002", "<inactive>"))
        ),
        "line 9: a GPU twice: answers of two hosts",
    ),
    "ansible: serial numbers of two hosts": (
        "machine_identity",
        "".join(
            f"{host} | CHANGED | rc=0 >>\nSystem Information\n\tSerial Number: {serial}\n"
            for host, serial in (("gpu-001", "AB12"), ("gpu-002", "AB13"))
        ),
        "serial numbers of two systems: answers of two machines: 'AB12, AB13'",
    ),
    "ansible: the interfaces of two hosts": (
        "net_link",
        "".join(
            f"{host} | CHANGED | rc=0 >>\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT\n"
            f"    link/ether 02:00:00:00:00:0{number} brd ff:ff:ff:ff:ff:ff\n"
            for number, host in enumerate(("gpu-001", "gpu-002"))
        ),
        "eth0 with two MAC addresses: answers of several hosts",
    ),
    "two hosts' ibstat, one below the other": (
        "rdma_link",
        "".join(
            f"CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tNode GUID: 0x58a2e10300a7820{number}\n"
            "\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n"
            for number in range(2)
        ),
        "mlx5_0 with two GUIDs or PCI addresses: answers of several hosts",
    ),
    "amd-smi topology: a table of hops": (
        "gpu_nic_topology",
        "HOPS TABLE:\n             0000:c1:00.0 0000:c6:00.0\n0000:c1:00.0 0            1\n",
        "AMD's tools show paths between GPUs alone",
    ),
    "rocm-smi --showtopoweight: a table without the tool's title": (
        "gpu_nic_topology",
        "======== Weight between two GPUs ========\n       GPU0  GPU1\nGPU0   0     52\nGPU1   52    0\n",
        "AMD's tools show paths between GPUs alone",
    ),
    "rocm-smi --showtopo --json": (
        "gpu_nic_topology",
        '{"system": {"(Topology) Weight between DRM devices 0 and 1": "15"}}',
        "AMD's tools show paths between GPUs alone",
    ),
    "amd-smi topology --json": (
        "gpu_nic_topology",
        '[{"gpu": 0, "links": [{"gpu": 1, "weight": 15, "link_type": "XGMI", "num_hops": 1}]}]',
        "the answer of `amd-smi topology`: AMD's tools show paths between GPUs alone",
    ),
    "sonic-buildimage#11008: an interface of lldpd's own, without the title": (
        "lldp_host",
        PLAIN.replace(", Time: 0 day, 00:01:12", "").format("LLDP", 1) + "  TTL:          120\n",
        f"line 6: {SENT}",
    ),
    "a course on lldpd 1.0.4: its own interfaces alone": (
        "lldp_host",
        f"---\nLLDP interfaces:\n---\n{PLAIN.format('unknown', 1)}  TTL:          120\n---\n",
        SENT,
    ),
    "lldpd 1.0.4: an interface of its own, over no protocol": (
        "lldp_host",
        "LLDP neighbors:\n" + PLAIN.format("unknown", 1),
        f"line 2: {SENT}",
    ),
    "lldpd 1.0.4, json: its own interfaces": (
        "lldp_host",
        '{"lldp": {"interface": {"eth0": {' + OF_OWN + '"port": {"id": {"type": "mac", "value": "2"}}}}}}',
        "interface eth0 carries no neighbour",
    ),
    "lldpd 1.0.4, json0: its own interfaces": (
        "lldp_host",
        '{"lldp": [{"interface": [{"name": "eth0", '
        + OF_OWN
        + '"port": [{"id": [{"type": "mac", "value": "2"}]}]}]}]}',
        "interface eth0 carries no neighbour",
    ),
    "tuananh0788/Exadata: ibportstate reports settings": (
        "ib_counters",
        "PortInfo:\n# Port info: Lid 1 port 28\nLinkState:.......................Down\n",
        "no port's counters in it",
    ),
    "nvidia-smi topo -p2p: peers that a setting of the driver has disabled": (
        "gpu_nic_topology",
        "\tGPU0\tGPU1\n GPU0\tX\tDR\n GPU1\tDR\tX\n\nLegend:\n  X    = Self\n  DR   = Disabled by regkey\n",
        "row GPU0 says what pairs of GPUs are capable of",
    ),
}


test_what_was_once_misread = reads(ANSWERS, HOST)


test_what_was_once_mixed = refuses(REFUSED, HOST)


@pytest.mark.parametrize(
    ("state", "rate"),
    [
        ("4X     undefined (8) Active/  LinkUp", 400.0),
        ("undefined (16)     53.125 Gbps Active/  LinkUp", 100.0),
        ("undefined (16)     undefined (16) Active/  LinkUp", 400.0),
        ("4X     undefined (77) Active/  LinkUp", None),
        ("4X     Extended speed Active/  LinkUp", None),
    ],
)
def test_widths_and_speeds_that_an_old_iblinkinfo_has_no_name_for(state: str, rate: float | None) -> None:
    """libibmad's `dump.c`: HDR, NDR and links of two lanes are codes to releases before them."""
    answer = f'Switch: 0x1 leaf-1:\n  9  1[  ] ==( {state})==>  12  1[  ] "gpu-1 mlx5_0" ( )\n'
    found = collectors()["ib_fabric"].read(answer, HOST)
    assert {fact.gbps for fact in found if isinstance(fact, LinkSpeed)} == ({rate} if rate else set())


def test_bytes_alone_are_no_lack_of_modules() -> None:
    with pytest.raises(NoAnswerError, match="a kind that this ethtool does not know"):
        collectors()["optics"].read(f"# ethtool -m eth0\n{BYTES}", HOST)
