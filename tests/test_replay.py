"""A capture, in each of its shapes, becomes readings under the plan's names."""

import gc
import sys
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import current_thread
from traceback import walk_tb
from typing import Any, TypeGuard

import pytest

from tests.capture_trees import LINKS, RDMA, TABLE, grow, lldp, pack
from truerail.errors import CaptureError, UnreadableError
from truerail.model import Device, Neighbor, NetLink, RdmaLink, Role
from truerail.transport.answers import Answers
from truerail.transport.folders import DiskFolder
from truerail.transport.prefetch import BATCH, THREADS
from truerail.transport.replay import Capture, read_capture

HOST = {"rdma_link": RDMA, "ip_-j_link": LINKS, "lldpctl_-f_json0": lldp("eth0", "leaf-0", "swp1")}
TWO = {f"{host}/{file}": text for host in ("gpu-1", "gpu-2") for file, text in HOST.items()}
PLAN = {name: Device(name) for name in ("gpu-1", "gpu-2")} | {"leaf-0": Device("leaf-0", Role.LEAF)}
EACH = ["lldp_host", "net_link", "rdma_link"]


def reported(capture: Capture) -> list[tuple[str, str]]:
    """Device and collector of each reading without an error."""
    return [(reading.device, reading.collector) for reading in capture.readings if not reading.error]


def test_a_folder_per_device_gives_a_reading_per_answer(tmp_path: Path) -> None:
    capture = read_capture(grow(tmp_path, TWO), devices=PLAN)
    assert reported(capture) == [(host, name) for host in ("gpu-1", "gpu-2") for name in EACH]
    assert capture.devices_seen == ("gpu-1", "gpu-2")
    assert capture.notes == ()
    assert capture.rounds == ()
    reading = capture.readings[2]
    assert reading.facts == (RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "eth0"),)
    assert reading.source == "gpu-1/rdma_link"
    written = [file.stat().st_mtime for file in capture.path.rglob("*") if file.is_file()]
    assert min(written) - 1 <= capture.at.timestamp() <= max(written) + 1
    assert capture.snapshot().table(NetLink).devices == ["gpu-1", "gpu-2"]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
@pytest.mark.parametrize("top", ["", "./", "capture/"])
def test_an_archive_reads_like_its_folder(tmp_path: Path, mode: str, top: str) -> None:
    folder = read_capture(grow(tmp_path / "tree", TWO), devices=PLAN)
    archive = read_capture(
        pack(tmp_path / "capture.any", {top + k: v for k, v in TWO.items()}, mode=mode), devices=PLAN
    )
    assert [(r.device, r.collector, r.facts) for r in archive.readings] == [
        (r.device, r.collector, r.facts) for r in folder.readings
    ]
    assert archive.at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert archive.notes == ()


@pytest.mark.parametrize("packed", [False, True])
def test_of_several_rounds_the_newest_is_read(tmp_path: Path, packed: bool) -> None:
    rounds = ("2026-11-20T14:00:00Z", "2026-11-20T15:30:00+02:00", "2026-11-20T09:00:00")  # the second is 13:30 UTC
    files = {f"{name}/gpu-{number}/rdma_link": RDMA for number, name in enumerate(rounds)}
    source = pack(tmp_path / "c.tgz", files) if packed else grow(tmp_path, files)
    capture = read_capture(source)
    assert capture.at == datetime(2026, 11, 20, 14, tzinfo=UTC)
    assert capture.devices_seen == ("gpu-0",)
    assert capture.rounds == (rounds[2], rounds[1], rounds[0])
    before = read_capture(source, round_name=capture.rounds[-2])
    assert before.at == datetime(2026, 11, 20, 15, 30, tzinfo=timezone(timedelta(hours=2)))
    assert reported(before) == [("gpu-1", "rdma_link")]
    assert capture.snapshot(before.snapshot()).previous == before.snapshot()
    with pytest.raises(CaptureError, match=r"no round named noon \(there are: 2026-11-20T09:00:00, "):
        read_capture(source, round_name="noon")


def test_an_archive_that_shows_a_newer_round_later_still_gives_the_newest(tmp_path: Path) -> None:
    files = {f"2026-11-20T{hour}:00:00Z/gpu-{hour}/rdma_link": RDMA for hour in ("10", "12", "11")}
    capture = read_capture(pack(tmp_path / "c.tar", files, mode="w"))
    assert reported(capture) == [("gpu-12", "rdma_link")]
    assert len(capture.rounds) == 3


def test_folders_beside_rounds_are_noted(tmp_path: Path) -> None:
    files = {"2026-11-20T14:00:00Z/gpu-1/rdma_link": RDMA, "gpu-2/rdma_link": RDMA}
    capture = read_capture(grow(tmp_path, files))
    assert capture.notes == ("folders beside the rounds ignored: 1 (gpu-2)",)


def test_the_best_answer_is_used_and_the_next_where_it_cannot_be_read(tmp_path: Path) -> None:
    files = {"gpu-1/lldpctl_-f_json0": "", "gpu-1/lldpctl_-f_json": lldp("eth0", "leaf-0", "swp1")}
    capture = read_capture(grow(tmp_path, files), devices=PLAN)
    assert [(r.source, r.error, len(r.facts)) for r in capture.readings] == [("gpu-1/lldpctl_-f_json", "", 1)]
    better = read_capture(grow(tmp_path, {"gpu-1/lldpctl_-f_json0": lldp("eth1", "leaf-1", "swp1")}), devices=PLAN)
    assert better.readings[0].source == "gpu-1/lldpctl_-f_json0"


def test_where_no_answer_can_be_read_each_is_named(tmp_path: Path) -> None:
    files = {"gpu-1/lldpctl_-f_json0": "", "gpu-1/lldpctl_-f_json": "bash: lldpctl: command not found\n"}
    (reading,) = read_capture(grow(tmp_path, files), devices=PLAN).readings
    assert reading.facts == ()
    assert reading.error == (
        "gpu-1/lldpctl_-f_json0: empty answer; "
        "gpu-1/lldpctl_-f_json: line 1: the device refused: 'bash: lldpctl: command not found'"
    )


def test_a_role_decides_who_reads_a_file_that_hosts_and_switches_share(tmp_path: Path) -> None:
    files = {"gpu-1/lldpctl_-f_json": HOST["lldpctl_-f_json0"], "leaf-0/lldpctl_-f_json": HOST["lldpctl_-f_json0"]}
    capture = read_capture(grow(tmp_path, files), devices=PLAN)
    assert reported(capture) == [("gpu-1", "lldp_host"), ("leaf-0", "lldp_switch")]


def test_without_a_plan_every_question_is_tried_and_no_answer_counts_twice(tmp_path: Path) -> None:
    files = {"a/lldpctl_-f_json": HOST["lldpctl_-f_json0"], "a/rdma_link": RDMA, "a/show_lldp_table": "?"}
    capture = read_capture(grow(tmp_path, files))
    assert [(r.collector, r.error) for r in capture.readings] == [("lldp_host", ""), ("rdma_link", "")]
    files["a/lldpctl_-f_json"] = "?"
    files["a/show_lldp_table"] = TABLE
    switch = read_capture(grow(tmp_path, files))
    assert [(r.collector, r.error) for r in switch.readings] == [("lldp_switch", ""), ("rdma_link", "")]


def test_answers_for_one_port_each_are_one_answer_that_names_the_ports(tmp_path: Path) -> None:
    answer = (
        "Chassis ID TLV\n\tMAC: 02:00:00:00:00:0{0}\nPort ID TLV\n\tIfname: swp{0}\nTime to Live TLV\n\t120\n"
        "End of LLDPDU TLV\n"
    )
    files = {f"gpu-1/lldptool_-t_-n_-i_eth{n}": answer.format(n) for n in (2, 1)}
    (reading,) = read_capture(grow(tmp_path, files), devices=PLAN).readings
    assert reading.error == ""
    assert [(fact.port, fact.port_id) for fact in reading.facts if isinstance(fact, Neighbor)] == [
        ("eth1", "swp1"),
        ("eth2", "swp2"),
    ]
    assert reading.source == "gpu-1/lldptool_-t_-n_-i_eth1 ..."


def test_without_a_plan_an_answer_that_nobody_understands_is_said_by_each_reader(tmp_path: Path) -> None:
    capture = read_capture(grow(tmp_path, {"a/lldpctl_-f_json": "?"}))
    assert sorted(reading.collector for reading in capture.readings if reading.error) == ["lldp_host", "lldp_switch"]


def test_equal_answers_to_a_shared_question_are_read_once(tmp_path: Path) -> None:
    matrix = "\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
    capture = read_capture(grow(tmp_path, {f"gpu-{n}/nvidia-smi_topo_-m": matrix for n in (1, 2)}), devices=PLAN)
    first, second = capture.readings
    assert first.facts
    assert first.facts is second.facts
    broken = read_capture(grow(tmp_path, {f"gpu-{n}/nvidia-smi_topo_-m": "GPU0" for n in (1, 2)}), devices=PLAN)
    assert [reading.error.partition(":")[0] for reading in broken.readings] == [
        "gpu-1/nvidia-smi_topo_-m",
        "gpu-2/nvidia-smi_topo_-m",
    ]


def test_equal_refusals_stay_short_and_hold_no_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    depths: list[int] = []
    whole = Answers._answer

    def watched(self: Answers, *question: Any) -> Any:
        reading = whole(self, *question)
        depths.extend(sum(1 for _ in walk_tb(kept.__traceback__)) for kept in self._shared.values() if is_error(kept))
        return reading

    def is_error(kept: object) -> TypeGuard[UnreadableError]:
        return isinstance(kept, UnreadableError)

    monkeypatch.setattr(Answers, "_answer", watched)
    files = {f"gpu-{number}/rdma_link": "bash: rdma: command not found\n" for number in range(9)}
    capture = read_capture(grow(tmp_path, files), devices={name: Device(name) for name in ("gpu-0", "gpu-8")})
    assert sum("the device refused" in reading.error for reading in capture.readings) == 9
    assert max(depths) < 6


def test_only_limits_what_is_read_by_any_spelling(tmp_path: Path) -> None:
    root = grow(tmp_path, {"gpu-1.example.net/rdma_link": RDMA, "gpu-2/rdma_link": RDMA, "new/rdma_link": RDMA})
    assert read_capture(root, devices=PLAN, only=["gpu-1"]).devices_seen == ("gpu-1",)
    assert read_capture(root, devices=PLAN, only=["GPU-1.example.net", "new"]).devices_seen == ("gpu-1", "new")
    assert read_capture(root, devices=PLAN, only=["nobody"]).readings == []


@pytest.mark.parametrize("slow", [False, True])
def test_many_devices_come_in_order_and_threads_open_them_where_that_has_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    read, openers = DiskFolder.read, set[str]()

    def slowly(self: DiskFolder, name: str) -> bytes:
        openers.add(current_thread().name.rpartition("_")[0])
        if slow:
            time.sleep(0.0002)
        return read(self, name)

    monkeypatch.setattr(DiskFolder, "read", slowly)
    names = [f"gpu-{number:03}" for number in range(2 * THREADS * BATCH + 5)]
    capture = read_capture(grow(tmp_path, {f"{name}/rdma_link": RDMA for name in names}))
    assert [reading.device for reading in capture.readings] == names
    counted = sys.platform == "linux"  # how often a thread had to wait
    assert ("truerail-open" in openers) is (slow or not counted)


def test_progress_counts_devices(tmp_path: Path) -> None:
    reported_so_far: list[tuple[int, int]] = []
    read_capture(grow(tmp_path, TWO), progress=lambda done, total: reported_so_far.append((done, total)))
    assert reported_so_far == [(1, 2), (2, 2)]


def test_garbage_collection_is_on_again_afterwards(tmp_path: Path) -> None:
    assert gc.isenabled()
    read_capture(grow(tmp_path, TWO))
    assert gc.isenabled()
    gc.disable()
    try:
        read_capture(tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()
