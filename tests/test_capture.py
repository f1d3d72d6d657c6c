"""Captures that are written: whole or not at all, continued, packed, and equal to the round they were taken of."""

import asyncio
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fake_fleet import FakeFleet, ambient, targets
from truerail.analysis.round import Round
from truerail.model import Plan
from truerail.outputs.report_json import render_json
from truerail.poller import Gathered, Limits, Poller, Row
from truerail.rounds import evaluate
from truerail.simulator import Noise, Shape, Simulation, simulate
from truerail.transport.capture_writer import CaptureWriter, folder_name, pack
from truerail.transport.replay import read_capture
from truerail.transport.round_files import UNANSWERED, Unanswered, load_unanswered

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
PLATFORMS = ("cumulus", "eos", "nxos", "junos", "sonic", "snmp")
SHAPE = Shape(hosts=8, rails=6, spines=2, uplinks=2, platforms=PLATFORMS, models=("xe9680",))
TROUBLES = {"gpu-002": "hangs", "gpu-003": "locked", "gpu-004": "half", "gpu-005": "cut", "leaf-1": "endless"}


def taken(simulation: Simulation, root: Path, troubles: dict[str, str]) -> tuple[Gathered, Path]:
    """A live round, and the capture that was written of it."""
    writer = CaptureWriter(root, AT)
    gatherer = Poller(
        targets(simulation),
        FakeFleet(simulation, troubles),
        devices=simulation.plan.devices,
        limits=Limits(device_seconds=0.5),
        ambient=ambient(),
    )
    found = asyncio.run(gatherer.round(progress=lambda row, done, total: writer.add(row.name, row.files())))
    return found, writer.finish()


def report(plan: Plan, seen: object) -> str:
    return render_json(evaluate(Round(plan, seen.snapshot()), notes=seen.notes))  # type: ignore[attr-defined]


@pytest.mark.parametrize("troubles", [{}, TROUBLES], ids=["well", "troubled"])
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_a_replay_says_what_the_live_round_said(tmp_path: Path, troubles: dict[str, str], packed: bool) -> None:
    simulation = simulate(SHAPE, 3, seed=5, folders="inventory", noise=Noise(labels=True, management=True, stale=0.05))
    live, path = taken(simulation, tmp_path, troubles)
    read = read_capture(pack(path) if packed else path.parent, devices=simulation.plan.devices)
    assert report(simulation.plan, read) == report(simulation.plan, live)
    assert bool(live.unreached) == bool(troubles)
    assert read.at == live.at == AT


def test_an_interrupted_round_is_gone_on_with(tmp_path: Path) -> None:
    first = CaptureWriter(tmp_path, AT)
    first.add("gpu-001", {"rdma_link": b"one"})
    first.add("gpu-002", {UNANSWERED: Unanswered("no answer within 30 s").dump()})
    (first.folder / ".gpu-003.partial").mkdir()
    again = CaptureWriter(tmp_path, datetime(2026, 11, 21, tzinfo=UTC))
    assert again.at == AT
    assert again.answered() == {"gpu-001"}
    again.add("gpu-002", {"rdma_link": b"two"})
    done = again.finish()
    assert done == tmp_path / "2026-11-20T14:00:00Z"
    assert {p.relative_to(done).as_posix(): p.read_bytes() for p in done.rglob("*") if p.is_file()} == {
        "gpu-001/rdma_link": b"one",
        "gpu-002/rdma_link": b"two",
    }
    assert [p.name for p in tmp_path.iterdir()] == [done.name]


def test_a_round_never_replaces_another(tmp_path: Path) -> None:
    CaptureWriter(tmp_path, AT).finish()
    with pytest.raises(FileExistsError):
        CaptureWriter(tmp_path, AT).finish()


def test_an_archive_depends_on_its_content_only(tmp_path: Path) -> None:
    members = []
    for root in (tmp_path / "a", tmp_path / "b"):
        writer = CaptureWriter(root, AT)
        for name in ("gpu-002", "gpu-001") if root.name == "a" else ("gpu-001", "gpu-002"):
            writer.add(name, {"rdma_link": name.encode()})
        with tarfile.open(pack(writer.finish())) as tar:
            members.append([(m.name, m.size, m.mtime, m.mode, m.uid, m.uname) for m in tar])
        assert [p.name for p in root.iterdir()] == ["2026-11-20T14:00:00Z.tar.gz"]
    assert members[0] == members[1]
    assert [name for name, *_ in members[0]] == [
        "2026-11-20T14:00:00Z/gpu-001/rdma_link",
        "2026-11-20T14:00:00Z/gpu-002/rdma_link",
    ]


@pytest.mark.parametrize("name", ["../gpu", "..", ".hidden", "a/b", "/etc"])
def test_no_name_leads_out_of_the_capture(tmp_path: Path, name: str) -> None:
    writer = CaptureWriter(tmp_path / "capture", AT)
    writer.add(name, {"rdma_link": b""})
    done = writer.finish()
    assert [p.name for p in tmp_path.iterdir()] == ["capture"]
    assert [p.name for p in done.iterdir()] == [folder_name(name)]
    assert not folder_name(name).startswith(".")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"commands": 3, "collectors": {}}', b"\xff\xfe", b'{"device": 1}'])
def test_a_broken_list_of_errors_says_nothing(content: bytes) -> None:
    assert not load_unanswered(content)


def test_errors_in_a_capture_are_safe_to_show() -> None:
    read = load_unanswered(Unanswered("\x1b[31mred", ("lldp_host",), {"rdma link": "a\x07b"}).dump())
    assert read.device == "\\x1b[31mred"
    assert read.commands == {"rdma link": "a\\x07b"}


def test_a_row_keeps_only_what_is_needed(tmp_path: Path) -> None:
    simulation = simulate(Shape(hosts=2, rails=2, spines=0), folders="inventory")
    kept: dict[str, set[str]] = {}

    def keep(row: Row, done: int, total: int) -> None:
        kept[row.name] = set(row.files())

    fleet = FakeFleet(simulation)
    asyncio.run(Poller(targets(simulation), fleet, devices=simulation.plan.devices).round(progress=keep))
    speeds = "grep_-sH_._sys_class_infiniband_ports_rate_sys_class_net_speed_"
    links = {"ip_-j_-d_link", "ip_-j_addr", "rdma_link", speeds}
    assert kept["gpu-001"] == {"nvidia-smi_topo_-m", "lldpctl_-f_json0", *links}
