"""Logs of NCCL and RCCL, RAS and Inspector: terminals that break lines, cuts, hostile text."""

import json
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
from truerail.model.nccl_facts import row

HEAD = "gpu-001:34001:34043 [0] NCCL INFO "
HOP = f"{HEAD}Channel 12/1 : 10[2] -> 120[1] [receive] via NET/IB/11(14)/GDRDMA(PCI)/Shared"
REST = f"{HEAD}Connected all rings\n"


def rows(name: str, answer: str, device: str = "gpu-009") -> list[Mapping[str, Any]]:
    """The objects of `truerail parse`."""
    return [row(fact) for fact in collectors()[name].read(answer, Device(device))]  # type: ignore[arg-type]


def hops(answer: str) -> list[Mapping[str, Any]]:
    return [row for row in rows("nccl_log", answer) if row["fact"] == "hop"]


def attempt(read: Callable[[], list[Mapping[str, Any]]]) -> list[Mapping[str, Any]] | UnreadableError:
    """What is read, or the error that refuses it."""
    try:
        return read()
    except UnreadableError as error:
        return error


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

    steps(1)  # some patterns are compiled at their first use
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
