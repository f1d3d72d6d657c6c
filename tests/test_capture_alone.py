"""Two captures into one folder at a time: the second one's error names the first, and nothing is mixed."""

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.live_site import Site, runner
from truerail.errors import FolderBusyError
from truerail.simulator import Shape, simulate
from truerail.transport.capture_writer import LOCK_FILE, CaptureWriter, alone_in

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
HOLDS = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from truerail.transport.capture_writer import alone_in
with alone_in(Path(sys.argv[1]), datetime(2026, 11, 20, 13, 0, tzinfo=UTC)):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_one_is_reported_who_writes_there_and_since_when(tmp_path: Path) -> None:
    with alone_in(tmp_path, AT) as alone:
        assert alone
        with pytest.raises(FolderBusyError) as busy, alone_in(tmp_path, AT):
            raise AssertionError
    here = f"process {os.getpid()} on {socket.gethostname()}, since 2026-11-20T14:00:00Z"
    assert str(busy.value) == f"another capture is writing there: {here}"
    assert not list(tmp_path.iterdir())


def test_the_lock_of_a_process_that_was_killed_is_none(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(FolderBusyError, match=rf"process {holder.pid} on .*, since 2026-11-20T13:00:00Z$"),
            alone_in(tmp_path, AT),
        ):
            raise AssertionError
        holder.send_signal(signal.SIGKILL)
    assert (tmp_path / LOCK_FILE).exists()
    with alone_in(tmp_path, AT) as alone:
        assert alone
        assert (tmp_path / LOCK_FILE).read_text().startswith(f"process {os.getpid()} on ")
    assert not (tmp_path / LOCK_FILE).exists()


def test_a_lock_that_its_holder_just_took_away_is_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def late(handle: int, how: int) -> None:
        (tmp_path / LOCK_FILE).unlink()
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(FolderBusyError, match="has just ended"), alone_in(tmp_path, AT):
        raise AssertionError


def test_without_locks_an_unfinished_round_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(handle: int, how: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    CaptureWriter(tmp_path, AT).add("gpu-001", {"rdma_link": b"somebody else's"})
    with alone_in(tmp_path, AT) as alone:
        later = CaptureWriter(tmp_path, datetime(2026, 11, 21, tzinfo=UTC), alone=alone)
        assert later.answered() == set()
        with pytest.raises(FileExistsError):
            CaptureWriter(tmp_path, AT, alone=alone)


def test_a_lock_that_fails_otherwise_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(handle: int, how: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(OSError, match="Input/output error"), alone_in(tmp_path, AT):
        raise AssertionError


def test_a_hostile_holder_is_shown_on_one_line(tmp_path: Path) -> None:
    with alone_in(tmp_path, AT):
        (tmp_path / LOCK_FILE).write_bytes(b"\x1b[31m\xff\nsecond line")
        with pytest.raises(FolderBusyError) as busy, alone_in(tmp_path, AT):
            raise AssertionError
    assert str(busy.value) == "another capture is writing there: \\x1b[31m\ufffd\\x0asecond line"


def test_the_command_names_the_other_capture_and_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site(tmp_path, simulate(Shape(hosts=2, rails=2, spines=1, uplinks=1), folders="inventory"), monkeypatch)
    run = runner(monkeypatch, capsys)
    with alone_in(tmp_path / "c", AT):
        CaptureWriter(tmp_path / "c", AT).add("gpu-001", {"rdma_link": b"kept"})
        code, out, err = run("capture", "--inventory", site.inventory, "--out", tmp_path / "c")
    assert (code, out) == (2, "")
    assert f"{tmp_path / 'c'}: another capture is writing there: process {os.getpid()} on " in err
    assert "set another folder with --out" in err
    assert not site.fleet.asks
    kept = tmp_path / "c" / ".2026-11-20T14:00:00Z.partial" / "gpu-001" / "rdma_link"
    assert kept.read_bytes() == b"kept"
