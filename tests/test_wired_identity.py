"""Port ids that are aliases or numbers, and descriptions that are labels: read through the command line.

A cable that is right is never moved; a fault is named, or the cables that it hides in are unknown.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.capture_trees import grow
from tests.wired_answers import End, Fabric
from truerail.cli.app import app

A, B, A2 = ("gpu-003", "ens1f0np0"), ("gpu-007", "ens1f0np0"), ("gpu-003", "ens2f0np0")
FORMS = [("sonic", "json"), ("sonic", "table"), ("junos", "json"), ("junos", "xml"), ("junos", "text")]
SILENT = ["nobody", "hosts", "switches"]


def check(fabric: Fabric, folder: Path) -> tuple[int, dict[str, Any]]:
    """Exit code and report of `truerail check`."""
    grow(folder, {"plan.csv": fabric.plan(), **{f"capture/{path}": text for path, text in fabric.capture().items()}})
    words = ["check", "--plan", str(folder / "plan.csv"), "--from", str(folder / "capture"), "--format", "json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


def silence(fabric: Fabric, who: str) -> Fabric:
    """The fabric, of which all hosts or all switches do not answer."""
    if who != "nobody":
        fabric.silent = {device for device in fabric.devices if device.startswith("gpu") == (who == "hosts")}
    return fabric


def seen(fabric: Fabric) -> int:
    """How many cables have an end that answers."""
    return sum(not fabric.silent.issuperset((a[0], b[0])) for a, b in fabric.planned.items())


def moved(report: dict[str, Any]) -> set[str]:
    """The cables that some cause would have moved."""
    return {move["cable"] for cause in report["causes"] for move in cause["moves"]}


def kinds(report: dict[str, Any]) -> set[str]:
    """The kinds of the causes."""
    return {cause["kind"] for cause in report["causes"]}


@pytest.mark.parametrize("host_alias", [False, True])
@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize("labels", ["peer", "old", "none"])
@pytest.mark.parametrize(("nos", "form"), FORMS)
def test_a_faultless_fabric_is_right(
    nos: str, form: str, labels: str, silent: str, host_alias: bool, tmp_path: Path
) -> None:
    fabric = silence(Fabric(nos=nos, switch_form=form, labels=labels, host_alias=host_alias), silent)
    code, report = check(fabric, tmp_path)
    nameless = (nos, form, silent, host_alias) == ("junos", "text", "hosts", True)  # a label in place of the NIC's name
    hosts = sum(not {a[0], b[0]}.isdisjoint(fabric.silent) for a, b in fabric.planned.items()) if nameless else 0
    assert (code, report["causes"], report["summary"]["cables_right"]) == (0, [], seen(fabric) - hosts)
    assert report["summary"]["cables_unknown"] >= hosts


SWAPS = {"on a leaf": (A, B), "on a host": (A, A2)}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=list(SWAPS))
@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize("labels", ["peer", "old"])
@pytest.mark.parametrize(("nos", "form"), FORMS)
def test_two_cables_are_swapped(
    nos: str, form: str, labels: str, silent: str, swap: tuple[End, End], tmp_path: Path
) -> None:
    fabric = silence(Fabric(nos=nos, switch_form=form, labels=labels), silent)
    fabric.swap(*swap)
    code, report = check(fabric, tmp_path)
    both = {"/".join(end) for end in swap}
    assert code == 1
    if nos == "junos" and silent == "switches":  # ports are numbers that only the switches can explain
        one_host = swap[0][0] == swap[1][0]  # it hears two leaves in each other's places
        assert (kinds(report), moved(report)) == ({"cable-swap" if one_host else "unknown"}, set())
        assert {finding["subject"] for finding in report["findings"]} == both
        assert all(
            [other["kind"] for other in cause["alternatives"]] == ["cable-rotation"] and cause["to_confirm"]
            for cause in report["causes"]
            if one_host
        )
    else:
        assert (kinds(report), moved(report)) == ({"cable-swap"}, both)


@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize(("nos", "form"), FORMS)
def test_an_unplugged_cable_moves_no_other(nos: str, form: str, silent: str, tmp_path: Path) -> None:
    fabric = silence(Fabric(nos=nos, switch_form=form), silent)
    fabric.wires[A] = None
    _, report = check(fabric, tmp_path)
    assert (moved(report), report["summary"]["cables_right"]) == (set(), seen(fabric) - 1)


@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize(("nos", "form"), FORMS)
def test_two_leaves_carry_each_others_names(nos: str, form: str, silent: str, tmp_path: Path) -> None:
    fabric = silence(Fabric(nos=nos, switch_form=form), silent)
    fabric.exchange_names("leaf-0", "leaf-1")
    code, report = check(fabric, tmp_path)
    assert (code, moved(report)) == (1, set())
    assert kinds(report) <= {"leaf-swap", "unknown"}
    if nos == "sonic" or silent == "nobody":
        assert "leaf-swap" in kinds(report)


def by_alias(fabric: Fabric, port: str) -> str:
    """A plan that names ports as they are called over LLDP."""
    return fabric.alias(fabric.cage(port))


ALIASES = {
    "etp": lambda cage: f"etp{cage}",
    "like another port": lambda cage: f"Ethernet{cage}",
    "number": lambda cage: str(cage),
    "slot": lambda cage: f"fourhundredGigE1/{cage}",
    "lane": lambda cage: f"Ethernet{cage}/1",
    "in brackets": lambda cage: f"Eth{cage}(Port{cage})",
}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize("form", ["json", "table", "status"])
def test_a_plan_may_name_a_switchs_ports_by_their_aliases(
    form: str, silent: str, swapped: bool, tmp_path: Path
) -> None:
    fabric = silence(Fabric(switch_form=form, plan_port=by_alias), silent)
    if swapped:
        fabric.swap(A, B)
    code, report = check(fabric, tmp_path)
    assert report["summary"]["cables_right"] == seen(fabric) - 2 * swapped
    assert (code, kinds(report)) == ((1, {"cable-swap"}) if swapped else (0, set()))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize("alias", ALIASES.values(), ids=list(ALIASES))
def test_every_scheme_of_aliases(alias: Callable[[int], str], silent: str, swapped: bool, tmp_path: Path) -> None:
    fabric = silence(Fabric(alias=alias, lanes=8), silent)
    if swapped:
        fabric.swap(A, B)
    code, report = check(fabric, tmp_path)
    assert report["summary"]["cables_right"] == seen(fabric) - 2 * swapped
    assert (code, kinds(report)) == ((1, {"cable-swap"}) if swapped else (0, set()))
