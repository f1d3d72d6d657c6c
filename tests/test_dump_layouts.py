"""Folders of dumps as people make them read like a capture: other names, session logs, other layouts."""

import json
from pathlib import Path

import pytest

from tests.capture_trees import LINKS, RDMA, TABLE, grow, lldp, pack
from truerail.errors import CaptureError
from truerail.model import Device, Role
from truerail.transport.answers import LARGEST_BYTES
from truerail.transport.replay import Capture, read_capture

TOPO = "\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
HOST = {"rdma_link": RDMA, "ip_-j_link": LINKS, "lldpctl_-f_json0": lldp("eth0", "leaf-0", "swp1")}
PLAN = {"gpu-1": Device("gpu-1"), "gpu-2": Device("gpu-2"), "leaf-0": Device("leaf-0", Role.LEAF)}
EACH = {("gpu-1", "lldp_host"), ("gpu-1", "net_link"), ("gpu-1", "rdma_link")}


def answered(capture: Capture) -> set[tuple[str, str]]:
    return {(reading.device, reading.collector) for reading in capture.readings if not reading.error}


def facts(capture: Capture) -> object:
    return sorted((reading.device, reading.collector, reading.facts) for reading in capture.readings)


@pytest.mark.parametrize(
    "names",
    [
        ("rdma_link.txt", "ip_-j_link.json", "lldpctl_-f_json0.LOG"),
        ("rdma link", "ip -j link", "lldpctl -f json0.out"),
        ("rdma-link.txt", "IP-J-LINK", "lldpctl_f_json0"),
        ("r.txt", "links.json", "neighbors"),  # by content
    ],
)
def test_a_file_may_have_an_ending_other_separators_or_any_name(tmp_path: Path, names: tuple[str, ...]) -> None:
    named = {f"gpu-1/{name}": text for name, text in zip(names, HOST.values(), strict=True)}
    exact = {f"gpu-1/{name}": text for name, text in HOST.items()}
    assert facts(read_capture(grow(tmp_path / "a", named), devices=PLAN)) == facts(
        read_capture(grow(tmp_path / "b", exact), devices=PLAN)
    )
    assert facts(read_capture(pack(tmp_path / "a.tar.gz", named), devices=PLAN)) == facts(
        read_capture(tmp_path / "b", devices=PLAN)
    )


def test_the_exact_name_is_preferred_and_a_port_keeps_its_name(tmp_path: Path) -> None:
    other = lldp("eth0", "leaf-9", "swp9")
    capture = read_capture(
        grow(
            tmp_path,
            {
                "gpu-1/lldpctl_-f_json0": HOST["lldpctl_-f_json0"],
                "gpu-1/lldpctl_-f_json0.txt": other,
                "gpu-1/ethtool_-S_eth0.100.txt": "NIC statistics:\n     rx_packets_phy: 1\n     tx_packets_phy: 2\n",
            },
        ),
        devices=PLAN,
    )
    read = {reading.collector: reading for reading in capture.readings}
    assert read["lldp_host"].source == "gpu-1/lldpctl_-f_json0"
    assert [fact.port for fact in read["nic_counters"].facts] == ["eth0.100"]  # type: ignore[union-attr]


def test_what_was_read_by_content_is_reported_and_junk_stays_unknown(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"gpu-{n}/topo.txt": TOPO for n in (1, 2)}
    files |= {"gpu-1/dmesg.txt": "[    0.000000] Linux version"}
    files |= {"gpu-2/core.bin": b"\x89PNG\xff\0", "gpu-2/large.txt": " " * (LARGEST_BYTES + 1)}
    capture = read_capture(grow(tmp_path, files), devices=PLAN)
    assert answered(capture) == {("gpu-1", "gpu_nic_topology"), ("gpu-2", "gpu_nic_topology")}
    assert capture.notes == (
        "unknown files ignored: 3 (gpu-1/dmesg.txt, gpu-2/core.bin, gpu-2/large.txt)",
        (
            "files whose names are no command, read by their content: 2 (gpu-1/topo.txt: gpu_nic_topology, "
            "gpu-2/topo.txt: gpu_nic_topology)"
        ),
    )


def test_a_name_that_nothing_reads_is_not_tried_for_ever(tmp_path: Path) -> None:
    junk = {f"h{n:02}/notes.txt": "to do" for n in range(9)}
    capture = read_capture(grow(tmp_path, junk | {"h09/notes.txt": TOPO, "h09/rdma_link": RDMA}))
    assert answered(capture) == {("h09", "rdma_link")}


SESSION = f"""\
Last login: Tue Nov 24 10:00:00 2026
admin@leaf-0:~$ uname -a
Linux leaf-0 5.10
admin@leaf-0:~$ show lldp table
{TABLE}admin@leaf-0:~$ ls
notes
admin@leaf-0:~$ exit
"""


@pytest.mark.parametrize(
    "log",
    [
        SESSION,
        SESSION.replace("\n", "\r\n"),
        SESSION.replace("admin@leaf-0:~$", "leaf-0#"),
        SESSION.replace("admin@leaf-0:~$", "RP/0/RP0/CPU0:leaf-0#"),
        SESSION.replace("admin@leaf-0:~$", "<leaf-0>"),
        SESSION.replace("admin@leaf-0:~$ ", "#"),
        f"===== uname -a =====\nLinux\n===== show lldp table =====\n{TABLE}===== ls =====\nnotes\n",
        f"`show version`\nX 1.0\n`show lldp table`\n{TABLE}",
        f"### Command: show lldp table ###\n{TABLE}\n",
        f"+ show lldp table\n{TABLE}+ ls\nnotes\n",
        f"leaf-0# show lldp table\nerror\nleaf-0# show lldp table | no-more\n{TABLE}leaf-0# exit\n",
    ],
)
@pytest.mark.parametrize("where", ["leaf-0/session.log", "leaf-0.log"])
def test_a_session_log_is_read_by_its_commands(tmp_path: Path, log: str, where: str) -> None:
    capture = read_capture(grow(tmp_path, {where: log}), devices=PLAN)
    assert answered(capture) == {("leaf-0", "lldp_switch")}
    exact = read_capture(grow(tmp_path / "exact", {"leaf-0/show_lldp_table": TABLE}), devices=PLAN)
    assert [reading.facts for reading in capture.readings if not reading.error] == [exact.readings[0].facts]


def test_commands_of_one_port_and_lines_that_only_look_like_commands(tmp_path: Path) -> None:
    statistics = "NIC statistics:\n     rx_prio3_pause: {}\n     tx_prio3_pause: 2\n"
    log = (
        "# rdma link" + "x" * 700 + "\n"
        "root@gpu-1:~# ethtool -S eth0\n" + statistics.format(1) + "root@gpu-1:~# ethtool -S eth1 | grep pause\nnone\n"
        "root@gpu-1:~# ethtool -S eth2\n" + statistics.format(3)
    )
    capture = read_capture(grow(tmp_path, {"gpu-1/x.log": log}), devices=PLAN)
    (reading,) = [reading for reading in capture.readings if reading.collector == "nic_counters"]
    assert [fact.port for fact in reading.facts] == ["eth0", "eth2"]  # type: ignore[union-attr]


def test_a_session_is_of_the_planned_device_at_the_prompt(tmp_path: Path) -> None:
    capture = read_capture(grow(tmp_path, {"putty-1.log": SESSION, "putty-2.log": "hello\n"}), devices=PLAN)
    assert answered(capture) == {("leaf-0", "lldp_switch")}
    assert capture.notes[0] == "files beside the folders of devices ignored: 1 (putty-2.log)"
    assert answered(read_capture(tmp_path)) == {("leaf-0", "lldp_switch")}


def parallel(answers: dict[str, str], style: str) -> str:
    if style == "pdsh":
        return "".join(f"{host}: {line}\n" for host, text in answers.items() for line in text.splitlines())
    rule = "-" * 16
    return "".join(f"{rule}\n{host}\n{rule}\n{text}" for host, text in answers.items())


LAYOUTS = {
    "device and command": {f"gpu-1_{name}.txt": text for name, text in HOST.items()},
    "dots between": {f"gpu-1.{name}": text for name, text in HOST.items()},
    "a folder per command": {f"{name}/gpu-1": text for name, text in HOST.items()},
    "any name behind the device": {f"gpu-1-{n}.txt": text for n, text in enumerate(HOST.values())},
    "in one more folder": {f"dump/gpu-1_{name}": text for name, text in HOST.items()},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts_read_like_a_capture(tmp_path: Path, layout: str) -> None:
    capture = read_capture(grow(tmp_path, LAYOUTS[layout]), devices=PLAN)
    assert answered(capture) == EACH
    assert capture.at.timestamp() > 0
    assert answered(read_capture(pack(tmp_path / "x.tar", LAYOUTS[layout]), devices=PLAN)) == EACH


@pytest.mark.parametrize("style", ["pdsh", "clush"])
@pytest.mark.parametrize("devices", [PLAN, {}])
def test_the_output_of_a_parallel_shell_is_of_each_host(tmp_path: Path, style: str, devices: dict[str, Device]) -> None:
    both = {"gpu-1": RDMA, "gpu-2": RDMA.replace("eth0", "eth1")}
    text = parallel(both, style)
    for name, written in (("unix", text), ("windows", text.replace("\n", "\r\n"))):
        capture = read_capture(grow(tmp_path / name, {"rdma_link.txt": written}), devices=devices)
        assert answered(capture) == {("gpu-1", "rdma_link"), ("gpu-2", "rdma_link")}
        assert [reading.facts[0].netdev for reading in capture.readings] == ["eth0", "eth1"]  # type: ignore[union-attr]


def test_equal_answers_of_many_hosts_have_one_heading(tmp_path: Path) -> None:
    text = f"{'-' * 15}\ngpu-[1-2] (2)\n{'-' * 15}\n{TOPO}"
    assert answered(read_capture(grow(tmp_path, {"topo.txt": text}), devices=PLAN)) == {
        ("gpu-1", "gpu_nic_topology"),
        ("gpu-2", "gpu_nic_topology"),
    }


@pytest.mark.parametrize(
    "text",
    [
        f"{'-' * 15}\ngpu-[2-1]\n{'-' * 15}\n{RDMA}",  # no node set
        f"gpu-1: {RDMA}and one line more\n",
        f"gpu-1: {RDMA}",  # one host alone is a label
        f"port: {RDMA}speed: {RDMA}",
    ],
)
def test_what_only_looks_like_a_parallel_shell_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CaptureError, match="no folder of a device"):
        read_capture(grow(tmp_path, {"rdma_link.txt": text}))


def test_links_out_of_the_capture_are_no_answers_in_any_layout(tmp_path: Path) -> None:
    outside = grow(tmp_path / "outside", {"secret": RDMA, "folder/gpu-2": RDMA})
    inside = grow(tmp_path / "capture", {"gpu-1/rdma_link": RDMA, "gpu-1/ip_-j_link": json.dumps([])})
    (inside / "gpu-2_rdma_link").symlink_to(outside / "secret")
    (inside / "rdma_link").symlink_to(outside / "folder")
    (inside / "gpu-1" / "topo.txt").symlink_to(outside / "secret")
    assert {device for device, _ in answered(read_capture(inside, devices=PLAN))} == {"gpu-1"}
