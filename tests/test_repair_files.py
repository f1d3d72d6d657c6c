"""Names changed in the files of others: Slurm's topology.conf, bulk updates of NetBox and Nautobot."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.real import require
from truerail.cli.app import app
from truerail.errors import CommandError, QueryError
from truerail.outputs.inventory_rows import bulk_updates, read_ids
from truerail.outputs.topology_diff import topology_diff

TOPOLOGY = """\
# by rack
SwitchName=leaf-1 Nodes=gpu-[001-004]   # rack 1
switchname=leaf-2 nodes=gpu-[005-008],login LinkSpeed=400
SwitchName=spine Switches=leaf-[1-2]
SwitchName=edge Nodes=ALL
"""
SWAPPED = {"leaf-1": "leaf-2", "leaf-2": "leaf-1"}


def patched(tmp_path: Path, names: dict[str, str], text: str = TOPOLOGY) -> list[str]:
    require("patch")
    file = tmp_path / "topology.conf"
    file.write_text(text)
    subprocess.run(["patch", "-s", str(file)], input=topology_diff(text, names), text=True, check=True)
    return file.read_text().splitlines()


def test_swapped_switches_exchange_their_lines_and_the_list_above_stays_as_it_is(tmp_path: Path) -> None:
    before = TOPOLOGY.splitlines()
    after = patched(tmp_path, SWAPPED)
    assert after[1:3] == [before[1].replace("leaf-1", "leaf-2"), before[2].replace("leaf-2", "leaf-1")]
    assert [*after[:1], *after[3:]] == [*before[:1], *before[3:]]


def test_nodes_change_their_lists_only_across_switches_and_without_steps(tmp_path: Path) -> None:
    assert topology_diff(TOPOLOGY, {"gpu-001": "gpu-002", "gpu-002": "gpu-001"}) == ""
    after = patched(tmp_path, {"gpu-002": "gpu-006", "gpu-006": "gpu-002"})
    assert after[1] == "SwitchName=leaf-1 Nodes=gpu-[001,003-004,006]   # rack 1"
    assert after[2] == "switchname=leaf-2 nodes=gpu-[002,005,007-008],login LinkSpeed=400"


def test_blocks_are_read_too_and_a_last_line_without_its_end(tmp_path: Path) -> None:
    assert patched(tmp_path, {"gpu-2": "sw-2"}, "BlockName=b1 Nodes=gpu-[1-2]") == ["BlockName=b1 Nodes=gpu-1,sw-2"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", r"no line has SwitchName="),
        ("TopologyPlugin=topology/tree\n", r"no line has SwitchName="),
        ("\nSwitchName=a Nodes=b[1-\n", r"topology\.conf:2: a bracket is not closed|topology\.conf:2: brackets"),
        ("SwitchName=a Nodes=b[1-99999999]c[1-99999999]\n", r"topology\.conf:1: .*more names than a file"),
    ],
)  # fmt: skip
def test_what_is_no_topology_is_refused(text: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        topology_diff(text, SWAPPED)


@pytest.mark.parametrize(
    "export",
    [
        "ID,Name,Role\n11,leaf-1,leaf\n12,leaf-2,leaf\n13,,spare\n",
        json.dumps({"count": 2, "results": [{"id": 11, "name": "leaf-1"}, {"id": 12, "name": "leaf-2"}]}),
    ],
)
def test_names_that_are_exchanged_take_two_requests(export: str) -> None:
    first, second = map(json.loads, bulk_updates(SWAPPED, read_ids(export)))
    assert first == [{"id": 11, "name": "leaf-2-renamed"}, {"id": 12, "name": "leaf-1-renamed"}]
    assert second == [{"id": 11, "name": "leaf-2"}, {"id": 12, "name": "leaf-1"}]


def test_interfaces_have_their_devices_and_nautobot_has_other_ids() -> None:
    rows = [
        {"id": "a3f1-7c", "name": "eth0", "device": {"name": "gpu-1"}},
        {"id": "b", "name": "eth0", "device": "gpu-2"},
    ]
    (only,) = bulk_updates({"gpu-1/eth0": "gpu-1/rail0"}, read_ids(json.dumps(rows)))
    assert json.loads(only) == [{"id": "a3f1-7c", "name": "rail0"}]
    assert bulk_updates({"gpu-1/eth0": "gpu-1/eth1", "gpu-1/eth1": "gpu-1/eth0"}, read_ids(json.dumps(rows))) == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name,role\nleaf-1,leaf\n", "no row with an id and a name"),
        ("[1, 2]", "no row with an id and a name"),
        ('{"results": 3}', "no row with an id and a name"),
        ("{", "is not JSON"),
        ('id,name\n1,"a" b\n', "neither JSON nor CSV"),
        ("id,name\n1,leaf-1\n2,leaf-1\n", "two ids of 'leaf-1'"),
    ],
)
def test_what_is_no_export_is_refused(text: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        read_ids(text)


def test_the_command_takes_both_files(tmp_path: Path) -> None:
    made = ["demo", "--once", "--hosts", "8", "--rails", "4", "--fault", "leaf-swap", "-o", str(tmp_path / "f")]
    assert CliRunner().invoke(app, made).exit_code == 0
    given = ["repair-diff", "--plan", str(tmp_path / "f/plan.csv"), "--from", str(tmp_path / "f/capture")]
    topology, export = tmp_path / "topology.conf", tmp_path / "devices.csv"
    topology.write_text("".join(f"SwitchName=leaf-{n} Nodes=gpu-00{n + 1}\n" for n in range(4)))
    export.write_text("id,name\n" + "".join(f"{n + 20},leaf-{n}\n" for n in range(4)))
    done = CliRunner().invoke(app, [*given, "--topology", str(topology), "--ids", str(export)])
    assert done.exit_code == 1
    assert "-SwitchName=leaf-" in done.stdout
    assert "2. PATCH /api/dcim/devices/" in done.stdout
    absent = CliRunner().invoke(app, [*given, "--topology", str(tmp_path / "no")])
    assert isinstance(absent.exception, CommandError)
    assert "cannot be read: No such file" in str(absent.exception)
