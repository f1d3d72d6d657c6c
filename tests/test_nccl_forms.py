"""NCCL's logs as Ray passes them on, fused devices and those of plugins, and the files of its Inspector."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.nccl.drawn import draw
from collector import collectors
from collector.formats.nccl_lines import MARK
from collector.nccl_log import facts_of
from tests.each import each
from truerail.cli.app import app
from truerail.cli.parse import answer_of, parts_of
from truerail.errors import UnreadableError
from truerail.model import Device, Fact
from truerail.model.nccl_facts import NcclHop, NcclTorn, row

HEAD = "gpu-001:34001:34043 [0] NCCL INFO "


def rows(name: str, answer: str) -> list[Mapping[str, Any]]:
    """The objects of `truerail parse`."""
    return [row(fact) for fact in collectors()[name].read(answer, Device("gpu-009"))]  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["/flush=None", "/flush=Always", "/Shared/flush=None", "/flush=None/Shared"])
def test_how_a_receiver_flushes_is_no_part_of_a_hop(end: str) -> None:
    """NCCL 2.30 and RCCL with its transport IB-CAST print it."""
    line = f"{HEAD}Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB-CAST/1(3)/GDRDMA"
    (hop,) = rows("nccl_log", f"{line}{end}\n")
    assert (hop["net"], hop["nic"], hop["proxy_rank"], hop["gdr"], hop["shared"]) == (
        *("IB-CAST", 1, 3, True),
        "Shared" in end,
    )
    broken = f"{HEAD}Connected all rings\n{line}\n{end}\n{HEAD}Connected all rings\n"
    assert [row for row in rows("nccl_log", broken) if row["fact"] == "hop"] == [hop]
    with pytest.raises(UnreadableError, match="line 1: looks like a hop"):
        rows("nccl_log", f"{line}/flush=\n")


BAR = "\r 10%|█         | 5/50 [00:01<00:09,  4.97it/s]"
HOPS = [
    f"gpu-00{1 + rank // 2}:{3000 + rank}:{4000 + rank} [{rank % 2}] NCCL INFO "
    f"Channel {channel:02}/0 : {rank}[{rank % 2}] -> {(rank + 2) % 4}[{rank % 2}] [send] via NET/IB/1{rank}/GDRDMA"
    for rank in range(4)
    for channel in range(16)
]


def facts(*lines: str) -> set[Fact]:
    return set(collectors()["nccl_log"].read("".join(lines), Device("job.log")))


@each("at", range(len(HOPS[3])))
def test_a_line_into_which_a_progress_bar_is_written_is_left_out_and_counted(at: int) -> None:
    whole = facts(*(f"{line}\n" for line in HOPS))
    found = facts(
        *(f"{line}\n" for line in HOPS[:3]), HOPS[3][:at], BAR, HOPS[3][at:], *(f"\n{one}" for one in HOPS[4:])
    )
    (torn,) = facts(f"{HOPS[3]}\n")
    facts(HOPS[3][:at], BAR, HOPS[3][at:])  # alone it is no unknown form either
    kept = {hop for hop in found if isinstance(hop, NcclHop)}
    assert whole - {torn} <= kept
    for hop in kept - whole:  # the beginning is torn: what has printed it is not known
        assert hop == torn._replace(host=None, process=None)  # type: ignore[union-attr]
    assert found - kept == (set() if kept - (whole - {torn}) else {NcclTorn("job.log", 1, 4)})


@each("lost", ["gpu-0", "Using network IB", "COMPLETE", "[7] 1/-1/-1->0->-1", "epoch 3", "loss=1.5", "#"])
def test_glued_lines_invent_no_host(lost: str) -> None:
    whole = [f"{line}\n" for line in (*HOPS, HOPS[-1].partition("Channel")[0] + "Using network IB")]
    assert facts(*whole, lost, HOPS[0]) == facts(*whole)
    assert facts(*whole, HOPS[0][4:]) == facts(*whole)
    named = facts(*whole, lost, HOPS[5].partition("Channel")[0], "NET/IB : Using [0]mlx5_0:1/RoCE\n") - facts(*whole)
    named |= facts(*whole, lost, HOPS[5].partition("Channel")[0], "Using network IB\n") - facts(*whole)
    assert {fact.host for fact in named} == {"gpu-001"}  # type: ignore[union-attr]
    overwritten = facts(*whole, HOPS[0].replace("gpu-001", "it/s]pu-1"))
    assert {hop.host for hop in overwritten - facts(*whole)} == {None}  # type: ignore[union-attr]


def test_a_log_is_read_in_parts_as_it_is_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, text = tmp_path / "job.log", draw(29).log
    log.write_text(text, "utf-8")
    whole = collectors()["nccl_log"].read(text, Device(log.name))
    for size in (1 << 10, 1 << 16):
        monkeypatch.setattr("truerail.cli.parse._PART_BYTES", size)
        assert len(list(parts_of(log, MARK))) > 1
        assert set(facts_of(parts_of(log, MARK), log.name)) == set(whole)
        assert answer_of(log) == text


def test_a_pipe_is_read_once_and_one_that_nothing_is_written_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "job.pipe"
    os.mkfifo(pipe)
    (tmp_path / "plan.csv").write_text("Server,NIC,Leaf,Leaf Port\ngpu-001,mlx5_0,leaf-1,1\n")
    command = ["nccl", str(pipe), "--plan", str(tmp_path / "plan.csv")]
    assert "job.pipe: a pipe that no process writes to" in str(CliRunner().invoke(app, command).exception)
    set_blocking = os.set_blocking
    texts = {"\n".join(HOPS): "64 connections", f"{HEAD}Launch mode Parallel\n": "read: 1 line of NCCL"}
    for text, words in texts.items():
        other = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(pipe, os.O_WRONLY)

        def late(number: int, blocking: bool, writer: int = writer, text: str = text) -> None:
            """What is written once the reader has found the pipe empty, and waits."""
            os.write(writer, text.encode())
            os.close(writer)
            monkeypatch.setattr(os, "set_blocking", set_blocking)
            set_blocking(number, blocking)

        monkeypatch.setattr(os, "set_blocking", late)
        assert words in CliRunner().invoke(app, command).stdout
        os.close(other)
