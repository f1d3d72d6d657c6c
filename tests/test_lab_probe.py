"""The lab shows what packets over every path find: links that lose packets in silence, and tiers that hash alike."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab import __main__ as commands
from tests.lab import fabric, losses, routing
from tests.lab.commands import truerail
from tests.lab.layout import Layout
from tests.lab.serving import standing
from tests.lab.system import LabError
from tests.real import give_up, require

LOST = "superspine-2/swp4"
SENDER = "p2-spine-2/swp4"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    require("nft", root=True)
    if not routing.has_seeds():
        give_up("all switches hash alike on this kernel")
    folder = tmp_path_factory.mktemp("lab") / "user"
    with standing(Layout(f"p{os.getpid()}", 4, 2, 2, folder, pods=2, superspines=2)) as layout:
        yield layout


def probe(lab: Layout, what: str, wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What is named; on a busy machine hosts begin late and are no witnesses, so up to three runs are made."""
    for _ in range(3):
        found = named(probed(lab, what))
        if found == wanted:
            break
    return found


def probed(lab: Layout, what: str) -> dict[str, Any]:
    """The command as the lab proposes it."""
    site = ["--plan", str(lab.folder / "plan.csv"), "--inventory", str(lab.folder / "inventory.yaml")]
    by_operator = ["--pipe", "--by-operator", "root", "--yes", "--what", what, "--format", "json"]
    done = truerail(lab, "probe", *site, *by_operator, *commands.FAST.split())
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def named(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["rule"], one["subject"]) for one in found["findings"]]


def test_a_fabric_without_faults_is_probed_over_all_paths_without_a_finding(lab: Layout) -> None:
    for _ in range(3):
        found = probed(lab, "all")
        status = {one["rule"]: one["status"] for one in found["verdicts"] if one["rule"].startswith("PRB")}
        status.pop("PRB010", None)  # RDMA, which the lab has not
        if "unknown" not in status.values():
            break
    assert named(found) == []
    assert status.pop("PRB009") == "not applicable", "the spines join all rails"
    assert set(status.values()) == {"pass"}, status


@pytest.mark.parametrize(("share", "rule"), [("100%", "PRB005"), ("3%", "PRB007")])
def test_a_port_that_loses_packets_is_named_and_heals(lab: Layout, share: str, rule: str) -> None:
    losses.lose(lab, lab.jack(LOST), share)
    try:
        assert list(fabric.faults(lab)) == [f"{LOST} loses {share} of the packets that arrive"]
        assert probe(lab, "paths,loss", [(rule, SENDER)]) == [(rule, SENDER)]
    finally:
        fabric.heal(lab)
    assert list(fabric.faults(lab)) == []


def test_switches_that_hash_alike_are_polarized_and_heal(lab: Layout) -> None:
    routing.seed(lab, alike=True)
    try:
        assert list(fabric.faults(lab)) == [f"{', '.join(lab.switches)} hash alike"]
        leaves = [f"p{pod}-leaf-{rail}" for pod in (1, 2) for rail in (0, 1)]
        polarized = [("PRB004", leaf) for leaf in leaves]
        assert probe(lab, "paths", polarized) == polarized
    finally:
        fabric.heal(lab)
    assert list(fabric.faults(lab)) == []


@pytest.mark.parametrize("share", ["0%", "101%", "some", "1"])
def test_no_share_of_packets_is_refused(lab: Layout, share: str) -> None:
    with pytest.raises(LabError, match="is no share of packets"):
        losses.lose(lab, lab.jack(LOST), share)


def test_a_second_loss_at_a_port_replaces_the_first(lab: Layout) -> None:
    port = lab.jack(LOST)
    try:
        for share in ("10%", "0.5%"):
            losses.lose(lab, port, share)
        assert list(losses.lost(lab)) == [(port, "0.5%")]
    finally:
        fabric.heal(lab)
