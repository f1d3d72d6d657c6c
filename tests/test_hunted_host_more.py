"""More answers of hosts out of public sources and manuals, each shortened to what was once misread.

The key names the source; names and addresses in the answers are changed.
"""

import pytest

from collector import collectors
from tests.public_answers import Answers, reads
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Counter, Device, GpuNicPath, MachineIdentity, PortCounters, RdmaLink, Role

HOST = Device("gpu-1", Role.HOST)
BROKEN = "0000:31:00.0 mlx5_0 (MT41692 - 900-X ) DPU, dual-port QSFP112,\n"
OF_DEVICE = "hca_id: mlx4_0 # the driver\n    phys_port_cnt:      1\n"
ANSWERS: Answers = {
    "infra-controller: a long line of ibdev2netdev -v is broken by its description": (
        "rdma_link",
        (
            "0000:31:00.0 mlx5_0 (MT41692 - 900-X ) DPU, 400GbE, dual-port QSFP112,\n"
            "PCIe Gen5.0 x16 FHHL                fw 32.37.1306 port 1 (DOWN  ) ==> ens3np0 (Down)\n"
            "0000:98:00.0 mlx5_1 (MT4129 - MCX-X ) NIC            fw 28.39.1002 port 1 (ACTIVE) ==> eth1 (Up)\n"
        ),
        [
            RdmaLink("mlx5_0", 1, "DOWN", None, "ens3np0", pci_address="0000:31:00.0"),
            RdmaLink("mlx5_1", 1, "ACTIVE", None, "eth1", pci_address="0000:98:00.0"),
        ],
    ),
    "a manual's ibstat with notes behind the values": (
        "rdma_link",
        (
            "CA 'mlx5_0'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active     <-- as it should be\n"
            "\t\tPhysical state: LinkUp   <-- cable in\n\t\tRate: 400   <-- NDR\n"
        ),
        [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", rate_gbps=400.0)],
    ),
    "notes on ibstat: a comment behind headings and values": (
        "rdma_link",
        (
            "CA 'mlx4_0' # the driver\n    Number of ports: 1 # one\n    Node GUID: 0x0000000000000001 # of the card\n"
            "    Port 1:\n        State: Active # a subnet manager has it\n        Rate: 40 # Gb/s\n"
        ),
        [RdmaLink("mlx4_0", 1, "ACTIVE", None, rate_gbps=40.0, guid="0x0000000000000001")],
    ),
    "notes on ibstatus: a comment behind headings and values": (
        "rdma_link",
        (
            "Infiniband device 'mlx4_0' port 2 status: # no cable\n    state:       1: DOWN\n"
            "    phys state:  2: Polling\n    rate:        10 Gb/sec (4X) # wrong\n    link_layer:  InfiniBand\n"
        ),
        [RdmaLink("mlx4_0", 2, "DOWN", "POLLING", rate_gbps=10.0, link_layer="InfiniBand")],
    ),
    "notes on ibv_devinfo: a comment behind headings and values": (
        "rdma_link",
        OF_DEVICE + "        port:   1 # with a cable\n            state:          PORT_ACTIVE (4)\n"
        "            link_layer:     InfiniBand # or Ethernet\n",
        [RdmaLink("mlx4_0", 1, "ACTIVE", None, link_layer="InfiniBand")],
    ),
    "dmidecode -q quoted with indentation: a module of memory is no chassis": (
        "machine_identity",
        (
            "    Chassis Information\n        Manufacturer: X\n        Serial Number: CH7X\n\n"
            "    Memory Device\n        Total Width: 72 bits\n        Serial Number: 7A3F11\n\n"
            "    System Information\n        Serial Number: To be filled by O.E.M. by More String\n"
        ),
        [MachineIdentity("chassis", "CH7X")],
    ),
    "salt's inventory and openUBMC: a FRU's number stands with its LUN or its name": (
        "machine_identity",
        (
            "FRU Device Description : Builtin FRU Device (LUN 0 ID 0)\n Product Serial        : AK7X\n\n"
            "FRU Device Description : BMC\n Product Serial        : BMC7X\n\n"
            "FRU Device Description : PSU (LUN 1 ID 0)\n Product Serial        : PS7X\n\n"
            "FRU Device Description : Builtin FRU Device (ID 0, MainBoard)\n Board Serial          : MB7X\n\n"
            "FRU Device Description : Builtin FRU Device (FRUID 1, PSU1)\n Board Serial          : PS8X\n"
        ),
        [MachineIdentity("system", "AK7X"), MachineIdentity("board", "MB7X")],
    ),
    "a runbook's perfquery: a note behind a counter": (
        "ib_counters",
        (
            "# Port counters: Lid 3 port 1 (CapMask: 0x5300)\nSymbolErrorCounter:..............893  # the cable\n"
            "PortRcvErrors:...................5   <-- rising\nVL15Dropped:.....................0\n"
        ),
        [
            PortCounters(
                "LID 3/1", (Counter("symbol_error"), Counter("port_rcv_errors"), Counter("VL15_dropped")), (893, 5, 0)
            )
        ],
    ),
    "a runbook's matrix: a remark below it begins with the name of a GPU": (
        "gpu_nic_topology",
        "\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tPIX\t0-31\nNIC0\tPIX\t X \n\nGPU0 <-> NIC0 = one switch\n",
        [GpuNicPath(0, "NIC0", None, "PIX")],
    ),
}


test_what_was_once_misread = reads(ANSWERS, HOST)


@pytest.mark.parametrize(
    "answer",
    [
        "**Weight Between Two GPUs**\n\n|   | GPU0 |\n| - | :--: |\n| **GPU0** |   0  |\n",
        "Weight between two GPUs      Hops between two GPUs\n  GPU0 GPU1  GPU0 GPU1\nGPU0    0   40 GPU0    0    2\n",
    ],
    ids=["drawn", "side by side"],
)
def test_tables_of_rocm_smi_that_an_author_rearranged(answer: str) -> None:
    with pytest.raises(NoAnswerError, match="AMD's tools show paths between GPUs alone"):
        collectors()["gpu_nic_topology"].read(answer, HOST)


@pytest.mark.parametrize(
    "answer",
    [
        "/dev/sda:\n\nATA device, with non-removable media\n\tModel Number:   X\n\tSerial Number:      S3Z2NB0K77\n",
        "Device Model:     X\nSerial Number:    S3Z2NB0K77\n",
        "\tSize: 32 GB\n\tLocator: DIMM_A1\n\tSerial Number: 12AB34\n",
        "\tSerial Number: 12AB34\n\tPart Number: M393X\n",
    ],
    ids=["hdparm", "smartctl", "dmidecode -t memory in part", "the part number below it"],
)
def test_serial_numbers_of_drives_and_modules_are_no_machines(answer: str) -> None:
    with pytest.raises(NoAnswerError, match="no serial number of the machine in it"):
        collectors()["machine_identity"].read(answer, HOST)


@pytest.mark.parametrize(
    "answer",
    [
        "PCIe Gen5.0 x16 FHHL  fw 32.37.1306 port 1 (DOWN  ) ==> ens3np0 (Down)\n",
        BROKEN + "mlx5_1 port 1 ==> eth1 (Up)\n",
        BROKEN + "PCIe Gen5.0 x16 FHHL  fw 32.37.1306 port 1 (DOWN  ) ==> ens3\nnp0 (Down)\n",
    ],
    ids=["head lost", "tail lost", "broken in the name"],
)
def test_half_a_line_of_ibdev2netdev_is_no_device(answer: str) -> None:
    with pytest.raises(UnreadableError, match="not a line of ibdev2netdev, or cut short"):
        list(collectors()["rdma_link"].read(answer, HOST))


def test_frames_that_tcpdump_decodes_are_named() -> None:
    """lldpd#372: tickets show them where `lldpcli` shows nothing."""
    frames = "09:00:01.000001 LLDP, length 215\n\tChassis ID TLV (1), length 7\n\t  Subtype Local (7): leaf-1\n"
    with pytest.raises(UnreadableError, match="the answer of `tcpdump -v`"):
        list(collectors()["lldp_host"].read(frames, HOST))
