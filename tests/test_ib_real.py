"""InfiniBand with the real tools on Debian's ibsim: what they print of several hundred adapters is read and
evaluated."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.ib_site import DGX, Site
from tests.ibsim import Ibsim, ibsim
from tests.live_site import Run
from tests.sshd import sshd
from tests.test_unplanned_links import plan_of
from truerail.inventory import Inventory, dump_yaml
from truerail.plans import dump_csv


@pytest.fixture(scope="module")
def site() -> Site:
    """Fifty-four hosts in three units, with two cables of a host and two of different hosts swapped."""
    site = Site((18, 18, 18))
    site.swap_rails(site.host(2, 7), 3, 4)
    site.swap((site.host(1, 3), DGX[6]), (site.host(1, 9), DGX[6]))
    site.serve("b11-p1-cufm-02", ("mlx5_0", "mlx5_1"), [(site.leaf(1, rail), 28) for rail in (2, 3)])
    return site


@pytest.fixture(scope="module")
def fabric(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    with ibsim(tmp_path_factory.mktemp("ibsim"), site.listing()) as running:
        yield running


def checked(run: Run, folder: Path, *words: object) -> tuple[int, dict[str, Any]]:
    code, out, _ = run("check", "--from", folder, *words, "--format", "json")
    return code, json.loads(out)


def across(site: Site) -> set[str]:
    """The wrong cables of different hosts. Two of one host may be two names: RDMA devices follow the probe order."""
    return {"/".join(end) for end in site.wrong if end[0] != site.host(2, 7)}


def moved(report: dict[str, Any]) -> set[str]:
    return {move["cable"] for cause in report["causes"] for move in cause["moves"]}


@pytest.mark.parametrize(
    ("file", "command"), [("ibnetdiscover", ["ibnetdiscover"]), ("iblinkinfo_-l", ["iblinkinfo", "-l"])]
)
@pytest.mark.parametrize("planned", [True, False], ids=["with a plan", "without a plan"])
def test_swapped_cables_among_several_hundred_adapters(
    site: Site, fabric: Ibsim, file: str, command: list[str], planned: bool, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "capture").mkdir()
    (tmp_path / "capture" / file).write_text(fabric.answer(*command))
    (tmp_path / "plan.csv").write_text(dump_csv(plan_of(site)))
    words = ("--plan", tmp_path / "plan.csv") if planned else ()
    code, report = checked(run, tmp_path / "capture", *words)
    assert code == 1
    assert moved(report) == across(site)
    (within,) = (cause for cause in report["causes"] if not cause["moves"])
    assert [cause["kind"] for cause in report["causes"]] == ["cable-swap"] * 2
    assert {subject.partition("/")[0] for subject in within["subjects"]} == {site.host(2, 7)}
    assert "or the names of their NICs" in within["summary"]
    assert "nvidia-smi topo -m" in within["to_confirm"]
    assert report["summary"]["cables_wrong"] == 4
    assert report["summary"]["cables_right"] == report["summary"]["cables_planned"] - 4


def test_the_machine_that_walks_the_fabric_is_asked_live(site: Site, fabric: Ibsim, tmp_path: Path, run: Run) -> None:
    (tmp_path / "plan.csv").write_text(dump_csv(plan_of(site)))
    with sshd(tmp_path / "sshd") as server:
        server.program(
            "ibnetdiscover", f"export IBSIM_SOCKNAME={fabric.socket}; exec ibsim-run /usr/sbin/ibnetdiscover"
        )
        target = replace(server.target("ufm-1"), platform="infiniband")
        (tmp_path / "inventory.yaml").write_text(dump_yaml(Inventory((target,))))
        words = ("--inventory", tmp_path / "inventory.yaml", "--plan", tmp_path / "plan.csv", "--format", "json")
        code, out, _ = run("check", *words)
    assert code == 1
    assert moved(json.loads(out)) == across(site)


def matrix(order: tuple[int, ...]) -> str:
    """`nvidia-smi topo -m` of eight GPUs: GPU g is nearest to adapter `order[g]` of the compute adapters."""
    head = "\t" + "\t".join([*(f"GPU{g}" for g in range(8)), *(f"NIC{n}" for n in range(8)), "CPU Affinity"])
    rows = [
        "\t".join(
            [f"GPU{gpu}", *("X" if other == gpu else "NV18" for other in range(8))]
            + ["PXB" if order[gpu] == nic else "SYS" for nic in range(8)]
            + ["0-47"]
        )
        for gpu in range(8)
    ]
    legend = "\n".join(f"  NIC{number}: {name}" for number, name in enumerate(DGX))
    return "\n".join([head, *rows]) + f"\n\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n{legend}\n"


def test_gpu_order_by_the_discovery_and_the_topology_alone(site: Site, fabric: Ibsim, tmp_path: Path, run: Run) -> None:
    """No host answers `ibstat` or `rdma link`: the plan names the RDMA devices, as the topology does."""
    folder, plan = tmp_path / "capture", tmp_path / "plan.csv"
    folder.mkdir()
    (folder / "ibnetdiscover").write_text(fabric.answer("ibnetdiscover"))
    plan.write_text(dump_csv(plan_of(site)))
    turned = site.host(3, 5)
    for place in range(1, 9):
        host = folder / site.host(3, place)
        host.mkdir()
        order = (1, 0, 2, 3, 4, 5, 6, 7) if host.name == turned else tuple(range(8))
        (host / "nvidia-smi_topo_-m").write_text(matrix(order))
    _, report = checked(run, folder, "--plan", plan)
    assert [f["subject"] for f in report["findings"] if f["rule"] == "NIC001"] == [turned]
    kinds = {cause["kind"]: cause for cause in report["causes"]}
    assert kinds.keys() == {"cable-swap", "gpu-nic-order"}
    assert not kinds["gpu-nic-order"]["moves"]
