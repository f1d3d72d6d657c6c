"""What hosts count, are set to and see of light: real answers read in full, shells that ask, answers that end early."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector import collectors
from tests.draws import draws
from truerail.analysis.counters.quantities import Quantity, columns_of
from truerail.errors import UnreadableError
from truerail.model import Counter, Device, Fact, HostSetting, Optic, PcieLink, PortCounters, PortQos
from truerail.transport.replay import read_capture

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "host_counters"
RECORDINGS = Path(__file__).parent / "recordings"
HOST = Device("gpu-001")
NAMES = ("nic_counters", "rdma_counters", "host_facts", "nic_qos", "optics")
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of recorded answers at {CORPUS}")


def read(name: str, answer: str) -> tuple[Fact, ...]:
    return collectors()[name].read(answer, HOST)


def counted(name: str, answer: str) -> dict[str, list[tuple[str, int]]]:
    """The counters of each port, in order."""
    facts = [fact for fact in read(name, answer) if isinstance(fact, PortCounters)]
    return {fact.port: [(c.counter, v) for c, v in zip(fact.counters, fact.values, strict=True)] for fact in facts}


def values(name: str, answer: str, port: str) -> dict[str, int]:
    return dict(counted(name, answer)[port])


def refusal(name: str, answer: str) -> str:
    with pytest.raises(UnreadableError) as refused:
        read(name, answer)
    return str(refused.value)


# The corpus, each value taken out of the file by another way than the collector's.


@needs_corpus
@pytest.mark.parametrize(
    ("file", "port", "count"),
    [
        ("ethtool_S_ethq_bnxt_en.txt", "", 499),
        ("ethtool_S_ethq_ena.txt", "", 104),
        ("ethtool_S_ethq_mlx5_core.txt", "", 751),
        ("ethtool_S_ice_grep_priority.txt", "eth03", 32),
        ("ethtool_S_intel_i40e_01_int_tp.txt", "", 308),
        ("ethtool_S_intel_i40e_02_sfp_10_or_25g_sr.txt", "", 607),
        ("ethtool_S_intel_igb_00_int_tp.txt", "", 115),
        ("ethtool_S_node_exporter_eth0.txt", "eth0", 16),
    ],
)
def test_every_counter_of_every_driver_is_read(file: str, port: str, count: int) -> None:
    answer = (CORPUS / file).read_text()
    said = re.findall(r"^ *([^\n]*[^ \n]): +([0-9]+)$", answer, re.MULTILINE)
    assert len(said) == count
    assert counted("nic_counters", answer) == {port: [(counter, int(value)) for counter, value in said]}


@needs_corpus
@pytest.mark.parametrize(
    ("file", "port", "count"),
    [
        ("rdma_statistic_optional_appended.txt", "rocep8s0f0/1", 30),
        ("rdma_statistic_optional_set.txt", "rocep8s0f0/1", 30),
        ("rdma_statistic_trailing_blank.txt", "mlx5_2/1", 29),
        ("rdma_statistic_wrapped_mail.txt", "mlx5_0/1", 21),
    ],
)
def test_rdma_statistic_is_read_however_it_is_wrapped(file: str, port: str, count: int) -> None:
    answer = (CORPUS / file).read_text()
    said = re.findall(r"\b([a-z][a-z_]+)\s+([0-9]+)(?![\w/])", answer.split("link ")[-1])
    assert len(said) == count
    assert counted("rdma_counters", answer) == {port: [(counter, int(value)) for counter, value in said]}


@needs_corpus
def test_rdma_statistic_as_json() -> None:
    answer = (CORPUS / "rdma_statistic_spiderpool.json").read_text()
    (said,) = json.loads(answer)
    del said["ifname"], said["port"]
    assert counted("rdma_counters", answer) == {"mlx5_1/1": list(said.items())}
    assert said["rx_write_requests"] == 2331678


@needs_corpus
def test_show_counters() -> None:
    found = values("rdma_counters", (CORPUS / "show_counters_mlx5_bond_0.txt").read_text(), "mlx5_bond_0/1")
    assert len(found) == 29
    assert "lifespan" not in found
    assert found["np_cnp_sent"] == 1052612505
    assert found["np_ecn_marked_roce_packets"] == 21278189006
    assert found["rx_write_requests"] == 2402134794


@needs_corpus
@pytest.mark.parametrize("device", ["mlx5_0", "mlx5_bond_0"])
def test_sysfs_lines(device: str) -> None:
    answer = (CORPUS / f"sysfs_infiniband_h100_{device}.txt").read_text()
    split = [line.replace(":", "/").split("/") for line in answer.splitlines() if "counters" in line]
    said = [(words[4], int(words[5])) for words in split if words[4] != "lifespan"]
    assert len(said) == 46
    assert counted("rdma_counters", answer) == {f"{device}/1": said}


@needs_corpus
@pytest.mark.parametrize(("device", "count"), [("mlx5_0", 45), ("hfi1_0", 17)])
def test_archives_of_sysfs(device: str, count: int) -> None:
    answer = (CORPUS / f"sysfs_procfs_{device}.ttar").read_text()
    said = re.findall(r"/ports/1/(?:hw_)?counters/(\S+)\nLines: 1\n(\d+)(?:EOF)?\n", answer)
    found = [(counter, int(value)) for counter, value in said if counter != "lifespan"]
    assert len(found) == count
    assert counted("rdma_counters", answer) == {f"{device}/1": found}


@needs_corpus
@pytest.mark.parametrize("file", ["gcm_eth_learn_good.json", "gcm_eth_learn_missing_intf.json"])
def test_another_tools_inventory_is_no_list_of_counters(file: str) -> None:
    assert "not a list of interfaces" in refusal("nic_counters", (CORPUS / file).read_text())


# What a counter is.


def test_ports_that_print_the_same_names_share_one_tuple() -> None:
    one = read("nic_counters", "# ethtool -S a\nrx: 1\ntx: 2\n# ethtool -S b\nrx: 3\ntx: 4\n")
    two = read("nic_counters", "NIC statistics:\n     rx: 5\n     tx: 6\n")
    first, second, third = (fact.counters for fact in (*one, *two) if isinstance(fact, PortCounters))
    assert first is second
    assert first is third


def test_a_live_answer_of_sysfs_is_read_at_once_and_alike() -> None:
    paths = [f"/sys/class/infiniband/m_{n}/ports/1/{of}" for of in ("hw_counters", "counters") for n in range(3)]
    answer = "".join(f"{path}/{word}:{len(path + word)}\n" for path in paths for word in ("lifespan", "a", "bc"))
    found = read("rdma_counters", answer)
    assert [fact.port for fact in found if isinstance(fact, PortCounters)] == ["m_0/1", "m_1/1", "m_2/1"]
    for other in (
        f"{answer}grep: x: Invalid argument\n",
        f"{answer}m_1/ports/1/state:1\n",
        answer + "m_1/ports/1/x:12",
    ):
        assert read("rdma_counters", other) == found
    assert dict(counted("rdma_counters", answer.replace("bc", "a"))["m_0/1"]) == {"a": 44}
    assert len(counted("rdma_counters", answer + "".join(f"m_3/ports/1/counters/{n}:1\n" for n in range(6000)))) == 4


def test_names_without_end_are_not_kept() -> None:
    answer = "".join(f"n{number}: 1\n" for number in range(12_000))  # beyond a cached layout
    one, two = (
        fact.counters for _ in range(2) for fact in read("nic_counters", answer) if isinstance(fact, PortCounters)
    )
    assert one == two
    assert one is not two


def test_counters_map_to_what_they_count() -> None:
    def column(*names: str) -> list[Quantity | None]:
        return [found.quantity if found else None for found in columns_of(tuple(Counter(name) for name in names))]

    assert column("rx_pause_frames") == [Quantity.RX_PAUSE_FRAMES]
    assert column("rx_pause_frames", "rx_pfc_frames") == [Quantity.RX_GLOBAL_PAUSE_FRAMES, None]
    assert column("link_down_events_phy", "carrier_down_count") == [Quantity.LINK_DOWNS, None]
    assert column("stats64.rx.bytes", "stats64.rx.errors") == [None, Quantity.RX_ERRORS]
    assert column("RxECNMrkd", "cnpSent") == [Quantity.ECN_RECEIVED_PACKETS, Quantity.CNP_SENT]


KNOWN = {
    "nic_counters/ionic": {
        Quantity.RX_BYTES: 3712345678901,
        Quantity.TX_BYTES: 3600000000001,
        Quantity.RX_PAUSE_FRAMES: 5120,
        Quantity.TX_PAUSE_FRAMES: 12,
        Quantity.CRC_ERRORS: 1,
    },
    "rdma_counters/sysfs_ionic": {
        Quantity.ECN_RECEIVED_PACKETS: 90211,
        Quantity.CNP_SENT: 88123,
        Quantity.CNP_HANDLED: 412,
        Quantity.PACKET_SEQUENCE_ERRORS: 7,
        Quantity.OUT_OF_SEQUENCE: 9,
        Quantity.ACK_TIMEOUTS: 2,
        Quantity.OUT_OF_BUFFER: 0,
    },
    "rdma_counters/statistic_efa": {
        Quantity.RX_BYTES: 900000000000,
        Quantity.RETRANSMITTED_PACKETS: 20,
        Quantity.ACK_TIMEOUTS: 1,
    },
    "nic_counters/driver_unknown": {Quantity.LINK_DOWNS: 1},
}


@pytest.mark.parametrize("case", KNOWN)
def test_what_a_driver_counts_is_known_by_its_names(case: str) -> None:
    collector = case.partition("/")[0]
    answer = (RECORDINGS / case / "answer.txt").read_text()
    (fact,) = collectors()[collector].read(answer, HOST)
    assert isinstance(fact, PortCounters)
    counted = zip(columns_of(fact.counters, collector), fact.values, strict=True)
    reported = {column.quantity: value for column, value in counted if column and column.priority is None}
    assert {quantity: reported.get(quantity) for quantity in KNOWN[case]} == KNOWN[case]
    assert case != "nic_counters/driver_unknown" or reported == KNOWN[case]


def test_ionic_tells_how_long_each_priority_was_paused() -> None:
    names = tuple(Counter(name, 3) for name in ("rx_pripause_3_1us_count", "tx_pripause_3_1us_count"))
    assert [column and column.quantity for column in columns_of(names)] == [Quantity.RX_PAUSE_US, Quantity.TX_PAUSE_US]


def test_the_bytes_of_rdma_alone_are_not_those_of_the_wire() -> None:
    names = ("rx_bytes", "tx_bytes", "rx_roce_errors", "rx_roce_discards", "rx_out_of_buffer", "max_retry_exceeded")
    found = columns_of(tuple(Counter(name) for name in names), "rdma_counters")
    assert [column and column.quantity for column in found] == [
        None,
        None,
        Quantity.RX_ERRORS,
        Quantity.RX_DISCARDS,
        Quantity.OUT_OF_BUFFER,
        Quantity.RETRIES_EXCEEDED,
    ]


# The shell that asks all ports at once, and captures that hold a file for each.


ETHTOOL = """#!/bin/sh
case $1 in
-S) printf 'NIC statistics:\\n     rx_bytes: 5\\n     rx_64_bytes_phy: 1\\n     [0]: rx_discards: 7\\n'
    printf '     rx0_packets: 3\\n     tx-0.x: 3\\n     queue_0_x: 1\\n     rx_queue_3_x: 4\\n     ch0_events: 3\\n' ;;
-m) printf '\\tIdentifier : 0x11 (QSFP28)\\n\\tVendor PN : %s\\n' "$2" ;;
-a) printf 'Pause parameters for %s:\\nAutonegotiate:\\toff\\nRX:\\t\\toff\\nTX:\\t\\ton\\n\\n' "$2" ;;
esac
"""
QOS = "#!/bin/sh\nprintf 'Priority trust state: dscp\\nPFC configuration:\\n\\tenabled 0 0 0 1 0 0 0 0\\n'\n"


def tree(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)


OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (dvs-builder@U16)"


def asked(name: str, root: Path, shell: str) -> tuple[str, int]:
    """What the first command of a collector prints where `/sys` is a folder of the test's, and its exit status."""
    text = collectors()[name].ask[0].text.replace("/sys", str(root / "sys")).replace("/proc", str(root / "proc"))
    done = subprocess.run(
        [shell, "-c", text], env={"PATH": f"{root / 'bin'}:/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    return done.stdout, done.returncode


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A host with two physical ports, a virtual function, a bond, an RDMA device and a GPU."""
    net, device = "sys/class/net", "sys/class/infiniband/mlx5_0/device"
    tree(
        tmp_path,
        {
            "bin/ethtool": ETHTOOL,
            "bin/mlnx_qos": QOS,
            f"{net}/eth0/device/vendor": "x\n",
            f"{net}/eth0/carrier_down_count": "4\n",
            f"{net}/eth0/ecn/roce_np/enable/3": "1\n",
            f"{net}/eth0/ecn/roce_rp/enable/3": "1\n",
            f"{net}/eth1/device/vendor": "x\n",
            f"{net}/eth9/device/physfn/vendor": "x\n",
            f"{net}/bond0/carrier_down_count": "9\n",
            f"{device}/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:1a:00.0\n",
            f"{device}/current_link_speed": "16.0 GT/s PCIe\n",
            f"{device}/iommu_group/type": "DMA\n",
            "sys/module/nvidia/initstate": "live\n",
            "proc/driver/nvidia/version": f"{OPEN}\nGCC version:  gcc version 13.3.0\n",
            "proc/version": "Linux version 6.8.0-40-generic (build@host) #40-Ubuntu SMP\n",
            "sys/bus/pci/drivers/nvidia/0000:1b:00.0/max_link_width": "16\n",
            "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer": "3\n",
            "sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan": "10\n",
            "sys/class/infiniband/mlx5_0/ports/1/counters/link_downed": "1\n",
            "sys/class/infiniband/mlx5_0/ports/1/counters/empty": "",
        },
    )
    return tmp_path


EXPECTED: dict[str, tuple[Fact, ...]] = {
    "nic_counters": (
        PortCounters(
            "eth0", (Counter("rx_bytes"), Counter("rx_64_bytes_phy"), Counter("carrier_down_count")), (5, 1, 4)
        ),
        PortCounters("eth1", (Counter("rx_bytes"), Counter("rx_64_bytes_phy")), (5, 1)),
    ),
    "rdma_counters": (PortCounters("mlx5_0/1", (Counter("out_of_buffer"), Counter("link_downed")), (3, 1)),),
    "host_facts": (
        HostSetting("nvidia_peermem", "not loaded"),
        HostSetting("nvidia_fs", "not loaded"),
        HostSetting("dma_buf", "supported"),
        HostSetting("iommu", "on", "0000:1a:00.0"),
        PcieLink("0000:1a:00.0", 16.0, None, None, None, "mlx5_0"),
        PcieLink("0000:1b:00.0", None, None, None, 16),
    ),
    "nic_qos": (PortQos("eth0", "dscp", (3,), (3,), True), PortQos("eth1", "dscp", (3,), None, True)),
    "optics": (Optic("eth0", part="eth0"), Optic("eth1", part="eth1")),
}


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
@pytest.mark.parametrize("name", NAMES)
def test_one_command_asks_all_physical_ports(name: str, shell: str, machine: Path) -> None:
    found = shutil.which(shell)
    assert found, f"no {shell} on this machine"
    answer, status = asked(name, machine, found)
    assert status == 0
    assert read(name, answer) == EXPECTED[name]


@pytest.mark.parametrize("name", ["nic_counters", "optics"])
def test_a_host_without_the_tool_says_so(name: str, machine: Path) -> None:
    (machine / "bin" / "ethtool").unlink()
    if shutil.which("ethtool", path="/usr/bin:/bin"):
        pytest.skip("ethtool is installed here")
    assert asked(name, machine, "/bin/sh") == ("", 127)


def test_a_capture_made_by_hand_has_a_file_for_each_port(tmp_path: Path) -> None:
    host = tmp_path / "capture" / "gpu-001"
    files = {
        "ethtool_-S_enp26s0f0np0": "NIC statistics:\n     rx_prio3_pause: 14\n",
        "ethtool_-S_enp60s0f0np0": "NIC statistics:\n     rx_prio3_pause: 15",
        "ethtool_-S_eno1": "no stats available\n",
        "ethtool_-m_enp26s0f0np0": "\tIdentifier : 0x11 (QSFP28)\n\tVendor SN : S1\n",
        "ethtool_-a_enp26s0f0np0": "Pause parameters for enp26s0f0np0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n",
        "rdma_statistic": "link mlx5_0/1 out_of_buffer 7 \n",
        "lspci_-nnvv": "1a:00.0 Ethernet controller [0200]: A\n\t\tLnkSta:\tSpeed 16GT/s, Width x8\n",
    }
    tree(host, files)
    readings = {reading.collector: reading for reading in read_capture(tmp_path / "capture").readings}
    assert {name: reading.error for name, reading in readings.items()} == dict.fromkeys(NAMES, "")
    assert readings["nic_counters"].facts == (PortCounters("enp26s0f0np0", (Counter("rx_prio3_pause", 3),), (14,)),)
    assert readings["rdma_counters"].facts == (PortCounters("mlx5_0/1", (Counter("out_of_buffer"),), (7,)),)
    assert readings["optics"].facts == (Optic("enp26s0f0np0", serial="S1"),)
    assert readings["nic_qos"].facts == (PortQos("enp26s0f0np0", global_pause=False),)
    assert readings["host_facts"].facts == (PcieLink("0000:1a:00.0", 16.0, 8),)


# Answers that end too early.


def whole_answers() -> list[tuple[str, str]]:
    cases = sorted(case.parent for name in NAMES for case in (RECORDINGS / name).glob("*/facts.json"))
    whole = [case for case in cases if not case.name.startswith("odd-")]  # some have a port twice
    return [(case.parent.name, (case / "answer.txt").read_bytes().decode()) for case in whole]


@settings(max_examples=draws(60, 1200))
@given(st.sampled_from(whole_answers()), st.data())
def test_no_truncation_tells_a_counter_otherwise(whole: tuple[str, str], data: st.DataObject) -> None:
    name, answer = whole
    cut = answer[: data.draw(st.integers(0, len(answer)))]
    try:
        facts = read(name, cut)
    except UnreadableError:
        return
    known = read(name, answer)
    if name in ("nic_counters", "rdma_counters"):
        said = {(port, *one) for port, all_of in counted(name, answer).items() for one in all_of}
        assert {(port, *one) for port, all_of in counted(name, cut).items() for one in all_of} <= said
    else:
        assert all(any(agrees(fact, other) for other in known) for fact in facts)


def agrees(part: Fact, whole: Fact) -> bool:
    """Whether one fact says nothing that the other does not."""
    return type(part) is type(whole) and all(a is None or a == b for a, b in zip(part, whole, strict=True))
