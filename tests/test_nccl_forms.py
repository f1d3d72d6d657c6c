"""NCCL's logs as Ray passes them on, fused devices and those of plugins, and the files of its Inspector."""

import json
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
from truerail.model.nccl_facts import NcclHop, NcclTorn

HEAD = "gpu-001:34001:34043 [0] NCCL INFO "


def rows(name: str, answer: str) -> list[Mapping[str, Any]]:
    """The objects of `truerail parse`."""
    return [fact.row() for fact in collectors()[name].read(answer, Device("gpu-009"))]  # type: ignore[union-attr]


def test_a_fused_device_has_the_ports_of_its_members() -> None:
    """The name of a virtual device has none: two ports of one adapter (`mlx4_0+mlx4_0`), or a second port."""

    def fused(listed: str, name: str) -> list[str]:
        text = f"{HEAD}NET/IB : Using {listed} [RO]; OOB eth0:10.0.0.1<0>\n"
        text += f"{HEAD}NET/IB : Made virtual device [9] name={name} speed=80000 ndevs=2\n"
        return next(row["devices"] for row in rows("nccl_log", text) if row["fact"] == "nic" and row["index"] == 9)

    assert fused("[0]mlx4_0:1/IB [1]mlx4_0:2/IB", "mlx4_0+mlx4_0") == ["mlx4_0", "mlx4_0:2"]
    assert fused("[0]mlx5_0:2/IB [1]mlx5_1:1/IB", "mlx5_0+mlx5_1") == ["mlx5_0:2", "mlx5_1"]
    assert fused("[0]mlx5_0:1/IB [1]mlx5_0:2/IB", "mlx5_0+mlx5_7") == ["mlx5_0", "mlx5_7"]


RAY = (
    "(RayWorkerWrapper pid=626, ip=10.244.1.107) gpu-1:626:626 [0] NCCL INFO {} [repeated 14x across cluster]{}\n"
    "\x1b[36m(RayWorkerWrapper pid=626)\x1b[0m g:6:6 [0] NCCL INFO {}\x1b[32m [repeated 2x across cluster]\x1b[0m\n"
)
"""As Ray's `log_deduplicator` prints what several workers print alike; vLLM over two hosts with NCCL 2.21."""
HOW = " (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see https://x.)"


def test_lines_that_ray_left_out_are_no_part_of_a_message_and_the_log_is_not_whole() -> None:
    start = (
        "ncclCommInitRank comm 0x3fc66150 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 100000 commId 0x9bdf - Init START"
    )
    hop = "Channel 01/0 : 0[0] -> 1[0] [receive] via NET/IB/0/GDRDMA"
    text = RAY.format(start, HOW, "Using network IB") + RAY.format(
        hop, "", "NCCL_NET_GDR_LEVEL set by environment to SYS"
    )
    facts = collectors()["nccl_log"].read(text, Device("gpu-9"))
    assert {one.row()["fact"]: one for one in facts}.keys() == {"rank", "network", "hop", "setting"}  # type: ignore[union-attr]
    found = [fact.row() for fact in facts]  # type: ignore[union-attr]
    assert {"fact": "network", "host": "g", "network": "IB"} in found
    assert {"fact": "setting", "host": "g", "name": "NCCL_NET_GDR_LEVEL", "value": "SYS"} in found
    assert {"fact": "setting", "host": None, "name": "RAY_DEDUP_LOGS", "value": "1"} in found
    assert next(fact.comm for fact in facts if isinstance(fact, NcclHop)) == "0x9bdf"
    assert (
        rows("nccl_log", text.splitlines()[0].partition("NCCL")[0] + "NCCL INFO x [repeated 2x across cluster]\n") == []
    )


def _dumped(**changes: object) -> str:
    """A line of Inspector's own files (`inspector_output_format_version` v4.0)."""
    coll = {"coll": "AllReduce", "coll_sn": 7, "coll_msg_size_bytes": 2360832, "coll_busbw_gbs": 0.55585}
    record = {"header": {"id": "0xad56", "rank": 1, "n_ranks": 3}, "metadata": {"hostname": "w-0"}, "coll_perf": coll}
    return json.dumps(record | changes) + "\n"


def test_lines_of_json_of_inspector() -> None:
    sent = {"p2p": "Send", "p2p_msg_size_bytes": 4096, "p2p_busbw_gbs": 1}
    first, second = rows("nccl_inspector", f"{_dumped()}\n" + _dumped(p2p_perf=sent).replace('"coll_perf"', '"x"'))
    assert first == {
        "job": None,
        "node": "w-0",
        "gpu": None,
        "comm": "0xad56",
        "ranks": 3,
        "collective": "AllReduce",
        "bytes": "2360832",
        "busbw_gbs": 0.55585,
    }
    assert (second["collective"], second["bytes"], second["busbw_gbs"]) == ("Send", "4096", 1.0)
    for line in (_dumped()[:-9], _dumped(header=1), _dumped(metadata={}), '{"a": 1}\n'):
        with pytest.raises(UnreadableError, match=r"line 2: not a record"):
            rows("nccl_inspector", _dumped() + line)
    with pytest.raises(UnreadableError, match="not a bandwidth"):
        rows("nccl_inspector", _dumped().replace("0.55585", "1e999"))
    indented = json.dumps(json.loads(_dumped()), indent=2)  # as its manual shows them
    assert rows("nccl_inspector", f"{indented}\n{indented}") == [first, first]


def test_operations_of_inspector_share_what_the_marker_before_them_says() -> None:
    """`inspector_output_format_version` v4.3."""

    def marker(rank: int, node: str) -> str:
        header = {"id": "0xad56", "rank": rank, "n_ranks": 3}
        return json.dumps({"header": header, "metadata": {"hostname": node}, "dump_stats": {"coll_records": 1}}) + "\n"

    operation = json.dumps({"coll_perf": json.loads(_dumped())["coll_perf"]}) + "\n"
    proxy = json.dumps({"proxy_trace": {"record_type": "proxy_op", "rank": 1}}) + "\n"
    found = rows("nccl_inspector", marker(1, "w-0") + operation + operation + proxy + marker(0, "w-1") + operation)
    assert [(row["node"], row["comm"], row["ranks"]) for row in found] == [
        *[("w-0", "0xad56", 3)] * 2,
        ("w-1", "0xad56", 3),
    ]
    with pytest.raises(UnreadableError, match="line 1: not a record"):
        rows("nccl_inspector", operation)


OFI = (
    f"{HEAD}NET/Libfabric : GPU Direct RDMA Enabled for HCA 0 'rdmap85s0'\n"
    f"{HEAD}NET/Libfabric : GPU Direct RDMA Disabled for HCA 1 'rdmap87s0'\n"
    f"{HEAD}Channel 00/0 : 9[1] -> 0[0] [receive] via NET/Libfabric/1/GDRDMA/flush=None\n"
)
"""NCCL 2.31 with aws-ofi-nccl 1.20 on EFA."""


def test_devices_of_a_plugin_are_those_whose_index_the_topology_names() -> None:
    """aws-ofi-nccl prints no list of its devices; Slingshot's are called cxi0."""

    def nics(text: str) -> list[tuple[int, list[str], str | None]]:
        return [(row["index"], row["devices"], row["layer"]) for row in rows("nccl_log", text) if row["fact"] == "nic"]

    assert nics(OFI) == [(0, ["rdmap85s0"], None), (1, ["rdmap87s0"], None)]
    assert nics(OFI.replace("NET/Libfabric :", "NET/Socket :"))[0] == (0, ["rdmap85s0"], "Socket")
    assert nics(OFI.replace("rdmap85s0", "mlx5_0+mlx5_1"))[0] == (0, ["mlx5_0", "mlx5_1"], None)
    assert nics(OFI.replace("rdmap85s0", "rdmap87s0")) == []  # two ports of one device
    assert nics(f"{HEAD}NET/IB : Using [0]mlx5_0:2/RoCE [RO]; OOB eth0:10.0.0.1<0>\n{OFI}") == [
        (0, ["mlx5_0:2"], "RoCE")
    ]


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
