"""Logs of NCCL and RCCL, RAS and Inspector: public samples, terminals that break lines, hostile text."""

import json
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


def test_a_long_ring_that_may_be_cut_loses_its_last_rank() -> None:
    ring = " ".join(str(rank) for rank in range(1000, 1400))
    (row,) = rows("nccl_log", f"{HEAD}Channel 00/01 : {ring[:1000]}\n")
    assert row["ranks"][-1] == 1000 + len(row["ranks"]) - 1
    assert len(ring[:1000].split()) == len(row["ranks"]) + 1


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
