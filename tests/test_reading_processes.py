"""A capture that several processes read gives what one process reads from it."""

import os
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from truerail.model import Reading
from truerail.simulator import Noise, Shape, simulate
from truerail.simulator.simulation import TAKEN_AT
from truerail.transport import reading_processes, replay
from truerail.transport.reading_processes import read_by_processes
from truerail.transport.replay import Capture, read_capture
from truerail.transport.warnings import Notes

MADE = simulate(
    Shape(hosts=24, rails=4, spines=2, platforms=("eos", "cumulus", "junos")),
    1,
    Noise(stale=0.1, strange_files=True, mixed=True, serials=True, stations=True),
    seed=3,
)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With an answer that is no answer, one that is not UTF-8, and folders that cannot be read."""
    folder = MADE.write(tmp_path_factory.mktemp("fabric"))
    (folder / "gpu-003" / "rdma_link").write_text("no such command")
    (folder / "gpu-005" / "ip_-j_link").write_bytes(b"\xff\xfe")
    (folder / "gpu-004").rename(folder / "GPU-004.example.net")
    (folder / "stranger").mkdir()
    (folder / "stranger" / "rdma_link").symlink_to("/etc/hostname")
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, and processes for a small fabric."""
    monkeypatch.setattr(reading_processes, "BATCH", 5)
    monkeypatch.setattr(replay, "processes", lambda devices: 2)


def read(capture: Path) -> Capture:
    return read_capture(capture, devices=MADE.plan.devices)


def test_processes_read_what_one_reads(capture: Path, request: pytest.FixtureRequest) -> None:
    alone = read(capture)
    request.getfixturevalue("small")
    together = read(capture)
    assert together == alone
    assert [list(map(type, one.facts)) for one in together.readings] == [
        list(map(type, one.facts)) for one in alone.readings
    ]
    assert any("unknown files ignored" in note for note in alone.notes)
    assert any(one.error for one in alone.readings)


@pytest.mark.usefixtures("small")
def test_equal_answers_to_a_shared_question_are_one_object(capture: Path) -> None:
    found = [one.facts for one in read(capture).readings if one.collector == "gpu_nic_topology" and one.facts]
    assert len(found) > 20
    assert len({id(facts) for facts in found}) == len(set(found))


@pytest.mark.usefixtures("small")
def test_progress_counts_devices_up_to_all_of_them(capture: Path) -> None:
    seen: list[tuple[int, int]] = []
    read_capture(capture, devices=MADE.plan.devices, progress=lambda done, total: seen.append((done, total)))
    total = len(list(capture.iterdir()))
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)


def _readings(names: Sequence[str], killed: str, parent: int) -> tuple[list[Reading], Notes]:
    if killed in names and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return [Reading(name, "rdma_link", TAKEN_AT) for name in names], Notes()


def test_what_a_killed_process_leaves_undone_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_processes, "BATCH", 2)
    names = [f"gpu-{number}" for number in range(9)]
    parts = list(read_by_processes(names, partial(_readings, killed="gpu-3", parent=os.getpid()), 2))
    assert [reading.device for _, found, _ in parts for reading in found] == names
    assert [count for count, _, _ in parts] == [2, 2, 2, 2, 1]


def test_a_small_fabric_starts_no_process() -> None:
    assert reading_processes.processes(reading_processes.LEAST_DEVICES - 1) == 1
    assert 1 <= reading_processes.processes(20_000) <= reading_processes.MOST_PROCESSES
