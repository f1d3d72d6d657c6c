"""Logs of NCCL and RCCL, RAS and Inspector: public samples, terminals that break and glue lines, hostile text."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from collector import collectors
from tests.draws import draws
from tests.each import each
from truerail.cli.app import app
from truerail.errors import UnreadableError
from truerail.model import Device

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "jobs"
LOGS = {
    # file: hops, rank that sends in another one's place, GPUDirect, ranks with bus id, devices by index
    "deepep_106_ibext_rails_glued.log": (9, 0, 9, 0, ()),
    "nccl_392_2.5.7_ring_lines.log": (2, 0, 0, 0, ("0 mlx5_0",)),
    "nccl_601_socket_topology.log": (0, 0, 0, 0, ()),
    "nccl_cross_nic1_16ranks.log": (30, 0, 30, 0, ()),
    "nccl_plugin_v6_pxn_shared.log": (8, 3, 8, 4, ("0 mlx5_bond_6", "1 mlx5_bond_7")),
    "nccl_subnet_aware_override.log": (
        1,
        0,
        0,
        0,
        ("0 rocep1s0f0", "1 rocep1s0f1", "2 roceP2p1s0f0", "3 roceP2p1s0f1"),
    ),
    "nccl_tests_224_two_nics.log": (10, 0, 10, 0, ()),
    "rccl_2.20.5_lumi_socket.log": (0, 0, 0, 1, ("0 hsn0", "1 hsn1", "2 hsn2", "3 hsn3")),
    "rxe_3nodes_graph.log": (3, 0, 0, 1, ("0 rxe0",)),
    "nccl_2.27.7_mew0.log": (0, 0, 0, 2, ("0 mlx5_0", "1 mlx5_1", "2 mlx5_0+mlx5_1")),
    "nccl_tests_superbench_allreduce.log": (0, 0, 0, 0, ()),
}
HEAD = "gpu-001:34001:34043 [0] NCCL INFO "
HOP = f"{HEAD}Channel 12/1 : 10[2] -> 120[1] [receive] via NET/IB/11(14)/GDRDMA(PCI)/Shared"
REST = f"{HEAD}Connected all rings\n"


def rows(name: str, answer: str, device: str = "gpu-009") -> list[Mapping[str, Any]]:
    """The objects of `truerail parse`."""
    return [fact.row() for fact in collectors()[name].read(answer, Device(device))]  # type: ignore[union-attr]


def hops(answer: str) -> list[Mapping[str, Any]]:
    return [row for row in rows("nccl_log", answer) if row["fact"] == "hop"]


def attempt(read: Callable[[], list[Mapping[str, Any]]]) -> list[Mapping[str, Any]] | UnreadableError:
    """What is read, or the error that refuses it."""
    try:
        return read()
    except UnreadableError as error:
        return error


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of recorded answers at {CORPUS}")
@pytest.mark.parametrize("name", LOGS)
def test_public_logs_say_what_their_index_says(name: str) -> None:
    found = rows("nccl_log", (CORPUS / name).read_text())
    ends = [row for row in found if row["fact"] == "hop"]
    ranks = [row for row in found if row["fact"] == "rank" and row["bus_id"]]
    nics = tuple(f"{row['index']} {'+'.join(row['devices'])}" for row in found if row["fact"] == "nic")
    pxn, gdr = sum(row["proxy_rank"] is not None for row in ends), sum(row["gdr"] for row in ends)
    assert (len(ends), pxn, gdr, len(ranks), nics) == LOGS[name]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of recorded answers at {CORPUS}")
def test_public_answers_of_ras_and_inspector() -> None:
    mismatch = rows("nccl_ras", (CORPUS / "ras_2.26.2_text_1911.txt").read_text())
    assert Counter(row.get("behind") for row in mismatch) == {True: 30, False: 2, None: 1}
    assert [row["rank"] for row in mismatch if row.get("behind") is False] == [12, 13]
    missing = rows("nccl_ras", (CORPUS / "ras_2.29.1_missing.json").read_text())
    assert [(row["rank"], row["state"]) for row in missing[1:]] == [(0, "running"), (1, "missing")]
    (first, *_) = rows("nccl_inspector", (CORPUS / "inspector_v5.1.prom").read_text())
    assert (first["job"], first["gpu"], first["busbw_gbs"], first["bytes"]) == (None, 0, 678.263, "4-5GB")


@each("width", range(20, 130))
def test_a_hop_is_the_same_however_wide_the_terminal_was(width: int) -> None:
    (whole,) = hops(HOP)
    broken = "\n".join(HOP[at : at + width] for at in range(0, len(HOP), width))
    (found,) = hops(f"{REST}{broken}\n{REST}")
    if width > len(HEAD):
        assert found == whole
    assert {**found, "host": ""} == {**whole, "host": ""}


@each("end", range(len(HEAD) + 5, len(HOP)))
def test_a_log_that_ends_in_a_hop_has_it_in_part_or_is_refused(end: int) -> None:
    (whole,) = hops(HOP)
    answer = f"{REST}{HOP[:end]}"
    found = attempt(lambda: hops(answer))
    if isinstance(found, UnreadableError):
        assert found.line == 2
        return
    for hop in found:  # what names the transport and the index may have lost its end
        assert {key for key in hop if hop[key] != whole[key]} <= {"nic", "proxy_rank", "gdr", "shared"}


def test_what_is_no_hop_is_an_error_with_its_number() -> None:
    for text in (
        "Channel 01/0 : 0[0] -> x[0] [send] via NET/IB/0",
        "Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/zero",
        "Channel 01/0 : 0[0] -> 1[0] [sent] via NET/IB/0",
        "Channel 01/0 : 0[0] -> 1[0] [send] by NET/IB/0",
        f"Channel {'9' * 30}/0 : 0[0] -> 1[0] [send] via NET/IB/0",
    ):
        with pytest.raises(UnreadableError, match="line 3: looks like a hop"):
            rows("nccl_log", f"{REST}{REST}{HEAD}{text}\n{REST}")


def test_hops_within_a_host_and_of_switches_that_reduce_are_none() -> None:
    text = f"{HEAD}Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n{HEAD}CollNet 00/0 : 3 [send] via COLLNET/SHARP/0\n"
    assert rows("nccl_log", text) == []


def test_a_long_ring_that_may_be_cut_loses_its_last_rank() -> None:
    ring = " ".join(str(rank) for rank in range(1000, 1400))
    (row,) = rows("nccl_log", f"{HEAD}Channel 00/01 : {ring[:1000]}\n")
    assert row["ranks"][-1] == 1000 + len(row["ranks"]) - 1
    assert len(ring[:1000].split()) == len(row["ranks"]) + 1


@pytest.mark.parametrize(
    "header",
    [
        "[1,0]<stdout>:gpu-001:34001:34043 [0] ",
        "(Worker pid=77, ip=10.0.0.1) gpu-001:34001:34043 [0] ",
        "[2025-06-01 10:11:12] gpu-001:34001:34043 [-1] ",
        "3: gpu-001:34001:34043 [0] ",
    ],
)
def test_prefixes_of_launchers_do_not_hide_the_host(header: str) -> None:
    (row,) = rows("nccl_log", f"{header}NCCL INFO Using network AWS Libfabric\n")
    assert row == {"fact": "network", "host": "gpu-001", "network": "AWS Libfabric"}


def test_lines_without_a_process_have_no_host() -> None:
    for header in ("[0] ", "", "gpu-001 [0] ", "a:b:c [0] ", ":1:2 [0] "):
        (row,) = rows("nccl_log", f"{header}NCCL INFO Using network IB\n")
        assert row["host"] is None


def test_a_communicator_at_the_address_of_another_one_is_another_one() -> None:
    line = "comm 0x1 rank 0 nranks {} cudaDev 0 busId 1b000{} - Init {}\n"
    text = "".join(
        HEAD + line.format(*words)
        for words in ((2, "", "COMPLETE"), (2, " commId 0xa", "START"), (4, " commId 0xb", ""))
    )
    assert [(row["ranks"], row["comm"]) for row in rows("nccl_log", text)] == [(2, "0xa"), (4, "0xb")]
    older = HEAD + line.format(2, " commId 0xa", "START") + HEAD + line.format(4, "", "START")
    assert [(row["ranks"], row["comm"]) for row in rows("nccl_log", older)] == [(2, "0xa")]


@settings(max_examples=draws(20, 400), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                HOP,
                HEAD,
                "NCCL INFO ",
                "Channel ",
                "Ring 00 : 1 -> 2 [send] ",
                "via NET/IB/1",
                "\n",
                "->",
                "[send]",
                "0/0 : ",
            )
        )
        | st.text(max_size=5),
        max_size=20,
    ).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    for name in ("nccl_log", "nccl_ras", "nccl_inspector"):
        assert "not understood (" not in str(attempt(partial(rows, name, text)))


@pytest.mark.parametrize("line", ["", HEAD, HOP[:-20], "via NET/", "Channel 00/0 : 0 -> ", "[send]" * 9, "x" * 5000])
def test_odd_lines_cost_no_more_than_others(line: str) -> None:
    """Twice the lines, at most some times the steps: nothing looks back over the whole log."""
    import sys

    read = collectors()["nccl_log"].read  # collectors are found at the first use

    def steps(count: int) -> int:
        made = 0

        def count_step(*_: object) -> None:
            nonlocal made
            made += 1

        sys.setprofile(count_step)
        try:
            read("\n".join([REST, *[line] * count]), Device("any"))
        except UnreadableError:
            pass
        finally:
            sys.setprofile(None)
        return made

    assert steps(400) < 6 * steps(100) + 1000


RANK = {"rank": 0, "host": "h", "nvml_dev": 0, "status": {}, "collective_counts": {}}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({}, "not the status"),
        ({"communicators": [], "x": 1}, "it has no communicators"),
        ({"communicators": [1], "ras": {}}, "not a communicator"),
        ({"communicators": [{"hash": "0x1", "size": "2"}], "ras": {}}, "not a number"),
        ({"communicators": [{"hash": "0x1", "size": True}], "ras": {}}, "not a number"),
        ({"communicators": [{"hash": "0x1", "size": 1, "ranks": [1]}], "ras": {}}, "not a rank"),
        ({"communicators": [{"hash": "0x1", "size": 1, "missing_ranks": [{}]}], "ras": {}}, "not a rank"),
        ({"communicators": [{"hash": "0x1", "size": 1, "ranks": [RANK | {"rank": None}]}], "ras": {}}, "not a number"),
    ],
)
def test_json_of_ras_that_is_none(document: object, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        rows("nccl_ras", json.dumps(document))


def test_a_rank_of_ras_without_a_gpu() -> None:
    rank = {key: value for key, value in RANK.items() if key != "nvml_dev"}
    document = {"communicators": [{"hash": "0x1", "size": 1, "ranks": [rank]}], "ras": {}}
    assert rows("nccl_ras", json.dumps(document))[1]["gpu"] is None


TEXT = (Path(__file__).parent / "recordings/nccl_ras/text-mismatch/answer.txt").read_text()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("#0-0", "#9-0", "a group that the table does not have"),
        ("    1         2         1", "    1    999999         1", "more than 100,000 communicators"),
        ("NCCL version", "NCCL release", "not the status"),
        (TEXT, "OK\n", "not the status"),
    ],
)
def test_text_of_ras_that_is_none(old: str, new: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        rows("nccl_ras", TEXT.replace(old, new))


def test_a_status_of_ras_without_the_version_above_it() -> None:
    """As NCCL's manual and most tickets show it."""
    assert rows("nccl_ras", TEXT[TEXT.index("Job summary") :]) == rows("nccl_ras", TEXT)


def test_ranks_of_ras_that_do_not_add_up_are_not_named() -> None:
    found = rows("nccl_ras", TEXT.replace("6 ranks have launched", "5 ranks have launched"))
    assert {row["rank"] for row in found if row["fact"] == "rank" and row["host"] is None} == {0, 1, 2, 3, 6, 7, 5} - {
        5
    }
    alone = re.sub(r"(?s)  7 ranks.*", "  Rank 4 -- [process information not found]\n\n", TEXT)
    alone = alone.replace("6 ranks have launched", "5 ranks have launched")
    assert [row["rank"] for row in rows("nccl_ras", alone) if row["fact"] == "rank"] == [4, 5]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('nccl_bus_bandwidth_gbs{node="a"} 1', "a bandwidth without comm_name"),
        ('nccl_bus_bandwidth_gbs{node="a",comm_name="c",collective="AllReduce"} one', "not a number"),
        ('nccl_bus_bandwidth_gbs{node="a",comm_name="c",collective="AllReduce"} NaN', "not a bandwidth"),
        ("nccl_bus_bandwidth_gbs{node=a} 1", "not a sample"),
        ("node_load1 0.5", "not a sample"),
    ],
)
def test_series_of_inspector_that_are_none(line: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=f"line 2: .*{why}"):
        rows("nccl_inspector", f"# HELP x y\n{line}")


def test_a_bandwidth_without_gpu_ranks_and_size() -> None:
    (row,) = rows("nccl_inspector", 'nccl_bus_bandwidth_gbs{node="a",comm_name="c",collective="AllReduce"} 1e2')
    assert (row["job"], row["gpu"], row["ranks"], row["bytes"], row["busbw_gbs"]) == (None, None, None, "", 100.0)


def test_parse_prints_the_objects_of_the_contract(tmp_path: Path) -> None:
    file = tmp_path / "job.log"
    file.write_text(f"{HOP}\n")
    done = CliRunner().invoke(app, ["parse", "nccl_log", str(file)])
    (row,) = json.loads(done.stdout)
    fields = "fact host channel connection from_rank to_rank direction net nic proxy_rank gdr shared"
    assert list(row) == fields.split()
    assert row["nic"] == 11
    empty = CliRunner().invoke(app, ["parse", "nccl_log", "-"], input="")
    assert (empty.exit_code, empty.stdout) == (0, "[]\n")


def test_messages_that_begin_like_others_say_nothing() -> None:
    text = f"{HEAD}NCCL_X is odd\n{HEAD}Tree odd\n{HEAD}NET/IB : Using [0]={{none}}"
    assert rows("nccl_log", text) == []
    assert rows("nccl_log", f"{HEAD}NET/IB : Using [0]mlx5_0:1/IB\n[1]mlx5_1:1/IB")[1]["devices"] == ["mlx5_1"]


def test_errors_of_ranks_and_a_status_without_a_word_do_not_change_their_state() -> None:
    section = "#0-0 (fa93daea854b060b) ERROR\n  Initialization error on 1 rank\n  Rank 1 reported x -- GPU 0\n\n"
    status = "  Communicator ranks have different status\n  7 ranks have status RUNNING\n  Rank 4 has status ODD -- "
    text = TEXT.replace("Warnings\n", f"{section}Warnings\n").replace(
        "  Communicator ranks have different AllG", f"{status}[process]\n  Communicator ranks have different AllG"
    )
    (rank,) = (row for row in rows("nccl_ras", text) if row.get("rank") == 4)
    assert (rank["state"], rank["behind"], rank["host"]) == ("running", True, "10.0.0.2")


def test_a_list_of_devices_that_a_terminal_broke_is_whole() -> None:
    text = f"{HEAD}NET/IB : Using [0]mlx5_0:1/RoCE [1]m\nlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n{REST}"
    assert [row["devices"] for row in rows("nccl_log", text)] == [["mlx5_0"], ["mlx5_1"]]
    text = f"{HEAD}NET/IB : Using [0]mlx5_0:1/RoCE [RO]\nanother line\n{REST}"
    assert [row["devices"] for row in rows("nccl_log", text)] == [["mlx5_0"]]


@pytest.mark.parametrize("end", ["", "x", " gpu", "          gpu-001:3000:4000 [0] ", "\n\n", "/"])
def test_a_ring_of_many_ranks_costs_little_whatever_follows_it(end: str) -> None:
    ranks = " ".join(map(str, range(100_000, 100_140)))
    began = process_time()
    (ring,) = (row for row in rows("nccl_log", f"{HEAD}Channel 00/02 : {ranks}{end}") if row["fact"] == "ring")
    assert process_time() - began < 1
    assert ring["ranks"][:100] == list(range(100_000, 100_100))


def test_the_end_of_a_broken_line_is_no_shorter_number() -> None:
    whole = f"{HEAD}comm 0x55 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 5b000 commId 0x45a3c2 - Init COMPLETE"
    for at in range(len(HEAD) + 20, len(whole)):
        found = [row for row in rows("nccl_log", f"{whole[:at]}\n{whole[at:]}\n") if row["fact"] == "rank"]
        assert all(row["ranks"] == 16 and row["gpu"] == 3 for row in found)
        assert {row["comm"] for row in found} <= {None, "0x45a3c2"}
        assert {row["bus_id"] for row in found} <= {None, "5b000"}
