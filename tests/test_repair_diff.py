"""Names that repair a cause: set in the simulated fabric, they end its findings and bring none."""

import configparser
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from playwright.sync_api import expect
from typer.testing import CliRunner

from tests.api_client import Api
from tests.fake_tower import FakeTower
from tests.living_site import Site
from tests.page_site import Site as Living
from tests.page_site import Watched, chromium, publication
from tests.real import require
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import NotFoundError
from truerail.model import CauseKind, Snapshot
from truerail.model.finding import Rename
from truerail.outputs.options import Options
from truerail.outputs.renaming import is_name, renamed_plan
from truerail.plans import load
from truerail.plans.csv_plans import dump_csv
from truerail.questions.answer_text import answer_text
from truerail.questions.repair_diff import DeviceRename, TextRepair, repair_diff
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape

NOTHING_LEFT = "no open cause or finding is repaired by text alone"


def site(kind: CauseKind, variant: str) -> Site:
    """A fabric in which two names are exchanged."""
    shape = Shape(hosts=8, rails=4, spines=2, uplinks=4, gpus=4)
    found = Site((Fault(kind, variant),), shape=shape)
    found.fabric.living.settle()
    return found


def named(names: dict[str, str]) -> Site:
    """A fabric in which machines announce these names."""
    found = site(CauseKind.LEAF_SWAP, "labels")
    found.fabric.living.alter(lambda world: (world.hostname.clear(), world.hostname.update(names)))
    found.fabric.living.settle()
    return found


def rotated(machines: list[str]) -> dict[str, str]:
    """Each machine has the name of the next."""
    return dict(zip(machines, [*machines[1:], machines[0]], strict=True))


def published(fabric: Site) -> Published:
    return publication(fabric.fabric.plan, fabric.round().snapshot())


def applied(fabric: Site, renames: tuple[DeviceRename, ...]) -> None:
    """Gives each machine its new name."""
    living = fabric.fabric.living
    machines = {name: machine for machine, name in living.world.hostname.items()}

    def rename(world: object) -> None:
        for one in renames:
            living.world.hostname[machines[one.device]] = one.new_name

    living.alter(rename)
    living.settle()


@pytest.mark.parametrize("kind", [CauseKind.HOST_SWAP, CauseKind.LEAF_SWAP])
def test_the_names_end_the_findings_and_bring_none(kind: CauseKind) -> None:
    fabric = site(kind, "labels")
    before = published(fabric)
    (cause,) = before.evaluation.causes
    (repair,) = repair_diff(before, "").repairs
    assert (repair.id, repair.kind, repair.refused) == ("C1", kind.value, "")
    assert bool(repair.confirm_first) == bool(cause.to_confirm)
    applied(fabric, repair.devices)
    after = published(fabric)
    assert after.evaluation.findings == ()
    assert repair_diff(after, "").summary == NOTHING_LEFT


@pytest.mark.parametrize("machines", [["gpu-001", "gpu-004", "gpu-002"], ["leaf-3", "leaf-1", "leaf-2", "leaf-0"]])
def test_names_that_go_round_are_put_right_one_by_one(machines: list[str]) -> None:
    fabric = named(rotated(machines))
    (repair,) = repair_diff(published(fabric), "").repairs
    assert {one.new_name: one.device for one in repair.devices} == rotated(machines)
    assert sorted({one.name for one in repair.inventory} - set(machines)) == [f"{repair.inventory[0].name}-renamed"]
    applied(fabric, repair.devices)
    assert published(fabric).evaluation.findings == ()


def test_a_name_that_the_plan_does_not_have_is_wrong_on_the_device_or_misspelt_in_the_plan(tmp_path: Path) -> None:
    require("patch")
    fabric = named({"leaf-2": "sw-2"})
    before = published(fabric)
    (repair,) = repair_diff(before, "").repairs
    assert [(one.device, one.new_name) for one in repair.devices] == [("sw-2", "leaf-2")]
    assert [(one.name, one.new_name) for one in repair.inventory] == [("leaf-2", "sw-2")]
    file = tmp_path / "plan.csv"
    file.write_text(dump_csv(before.plan))
    subprocess.run(["patch", "-s", str(file)], input=repair.plan_diff, text=True, check=True)
    readings = [
        structs.replace(one, device="sw-2" if one.device == "leaf-2" else one.device)
        for one in before.snapshot.readings
    ]
    assert evaluate(Round(load(file), Snapshot(before.snapshot.at, readings), None)).findings == ()
    applied(fabric, repair.devices)
    assert published(fabric).evaluation.findings == ()


@pytest.mark.parametrize("variant", ["names", "model"])
def test_nics_in_another_order_get_link_files_or_the_plan_their_names(variant: str, tmp_path: Path) -> None:
    require("patch")
    fabric = site(CauseKind.GPU_NIC_ORDER, variant)
    world = fabric.fabric.living.world
    before = published(fabric)
    (repair,) = repair_diff(before, "").repairs
    assert {one.host for one in repair.links} == set(world.nic_order)
    for one in repair.links:
        root = tmp_path / one.host
        root.mkdir()
        subprocess.run(["patch", "-s", "-p0", "-d", str(root)], input=one.diff, text=True, check=True)
        names = dict(map(named_by, root.rglob("*.link")))
        slots = range(len(world.fabric.models[one.host].names))
        mine = {world.host_mac(one.host, slot): world.fabric.models[one.host].names[slot].netdev for slot in slots}
        assert names == {mac: name for mac, name in mine.items() if mac in names}
        assert set(names.values()) == set(one.names.values()) == set(one.names)
    file = tmp_path / "plan.csv"
    file.write_text(dump_csv(before.plan))
    subprocess.run(["patch", "-s", str(file)], input=repair.plan_diff, text=True, check=True)
    assert {one.rule for one in evaluate(Round(load(file), before.snapshot, None)).findings} <= {"NIC003"}

    fabric.fabric.living.alter(lambda _: world.nic_order.clear())
    fabric.fabric.living.settle()
    assert published(fabric).evaluation.findings == ()


def named_by(file: Path) -> tuple[str, str]:
    """MAC and name of a `.link` file."""
    text = configparser.ConfigParser()
    text.optionxform = str  # type: ignore[assignment,method-assign]  # as the module's documentation does
    text.read(file)
    return text["Match"]["PermanentMACAddress"], text["Link"]["Name"]


def test_gpus_in_another_order_have_no_diff() -> None:
    before = published(site(CauseKind.GPU_NIC_ORDER, "gpus"))
    assert repair_diff(before, "").summary == NOTHING_LEFT
    assert repair_diff(before, "C1").summary.startswith("no diff: Move no cable. Fix the enumeration")


def test_a_nic_whose_address_is_not_reported_has_no_link_file() -> None:
    before = published(site(CauseKind.GPU_NIC_ORDER, "names"))
    readings = [
        structs.replace(one, facts=()) if one.collector == "net_link" else one for one in before.snapshot.readings
    ]
    answer = repair_diff(publication(before.plan, Snapshot(before.snapshot.at, readings)), "")
    (host,) = answer.repairs[0].links
    assert host.diff == ""
    assert host.no_diff.startswith(f"{host.host} reports no network interface")
    assert f"No diff for {host.host}: " in answer_text(answer, Options(200))


@pytest.mark.parametrize(("kind", "variant"), [(CauseKind.HOST_SWAP, "labels"), (CauseKind.LEAF_SWAP, "labels")])
def test_the_change_of_plan_and_inventory_does_the_same(kind: CauseKind, variant: str, tmp_path: Path) -> None:
    require("patch")
    before = published(site(kind, variant))
    (repair,) = repair_diff(before, "").repairs
    names = {one.device: one.new_name for one in repair.devices}
    changed = renamed_plan(before.plan, names)
    readings = [structs.replace(one, device=names.get(one.device, one.device)) for one in before.snapshot.readings]
    snapshot = Snapshot(before.snapshot.at, readings)
    assert evaluate(Round(changed, snapshot, None)).findings == ()

    file = tmp_path / "plan.csv"
    file.write_text(dump_csv(before.plan))
    subprocess.run(["patch", "-s", str(file)], input=repair.plan_diff, text=True, check=True)
    assert evaluate(Round(load(file), snapshot, None)).findings == ()
    first = repair.inventory[0].name
    other = next(name for name in names if name != first)
    steps = [(first, f"{first}-renamed"), (other, first), (f"{first}-renamed", other)]
    assert [(one.name, one.new_name) for one in repair.inventory] == steps


@pytest.mark.parametrize("name", ["a; reboot", "$(reboot)", "a\nb", "-rf", "a b", "", "x" * 64, "ä", "a..b", "a`b`"])
def test_what_is_no_host_name_is_refused(name: str) -> None:
    assert not is_name(name)
    before = published(site(CauseKind.HOST_SWAP, "labels"))
    (repair,) = repair_diff(before, "").repairs
    old = repair.devices[0].device
    plan = renamed_plan(replace(before.plan, devices=before.plan.devices), {old: old})
    devices = {
        name if key == old else key: replace(one, name=name if key == old else key) for key, one in plan.devices.items()
    }
    cables = tuple(one._replace(a=one.a._replace(device=name)) if one.a.device == old else one for one in plan.cables)
    (cause,) = before.evaluation.causes
    renames = [Rename(*(name if word == old else word for word in (one.actual, one.planned))) for one in cause.renames]
    hostile = replace(cause, renames=tuple(renames))
    evaluation = replace(before.evaluation, plan=replace(plan, devices=devices, cables=cables), causes=(hostile,))
    shown = publication(evaluation.plan, before.snapshot)
    shown = replace(shown, evaluated=replace(shown.evaluated, evaluation=evaluation))
    (refused,) = repair_diff(shown, "C1").repairs
    assert "is no host name" in refused.refused
    assert "\n" not in refused.refused
    assert (refused.devices, refused.inventory, refused.plan_diff) == ((), (), "")


def test_other_causes_say_why_there_is_none() -> None:
    before = published(site(CauseKind.LEAF_SWAP, "labels"))
    (cause,) = before.evaluation.causes

    def refused(**change: object) -> TextRepair:
        evaluation = replace(before.evaluation, causes=(replace(cause, **change),))  # type: ignore[arg-type]  # any field
        shown = replace(before, evaluated=replace(before.evaluated, evaluation=evaluation))
        (repair,) = repair_diff(shown, "c1").repairs
        return repair

    strange = refused(renames=(Rename("leaf-0", "sw"),))
    assert strange.refused == "no diff: 'sw' is not in the plan"
    assert refused(kind=CauseKind.LINK_DOWN, renames=()).refused.startswith("no diff: Swap the names")
    with pytest.raises(NotFoundError, match="'C9'; causes repaired by text: leaf-swap leaf-1"):
        repair_diff(before, "C9")


def test_the_command_and_the_api_show_it(tmp_path: Path) -> None:
    demo = ["demo", "--once", "--hosts", "8", "--rails", "4", "--fault", "leaf-swap", "-o", str(tmp_path / "f")]
    assert CliRunner().invoke(app, demo).exit_code == 0
    given = ["--plan", str(tmp_path / "f/plan.csv"), "--from", str(tmp_path / "f/capture")]
    done = CliRunner().invoke(app, ["repair-diff", *given], env={"COLUMNS": "40"})
    assert done.exit_code == 1
    assert re.search(r"^ *the device that announces leaf-\d is leaf-\d", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) > 40, "lines to copy are never broken"
    before = published(site(CauseKind.LEAF_SWAP, "labels"))
    whole = answer_text(repair_diff(before, "C1"), Options(80, details=True))
    assert "@@" in whole
    with Api(FakeTower(before)) as api:
        answer = api.json("repair-diff", cause="C1")
        assert len(answer["repairs"][0]["devices"]) == 2
        assert api.get("repair-diff?cause=C9").status_code == 404


def test_the_page_of_the_cause_leads_to_the_names() -> None:
    before = published(site(CauseKind.HOST_SWAP, "labels"))
    (repair,) = repair_diff(before, "").repairs
    with chromium() as browser, Living(before) as served:
        watched = Watched(browser, served)
        page = watched.open(f"/causes/{repair.cause}")
        page.get_by_role("link", name="Names to change").click()
        one = repair.devices[0]
        expect(page.get_by_text(f"The device that announces {one.device} is {one.new_name}")).to_be_visible()
        links = watched.open("/punch").get_by_role("link", name="names to change")
        expect(links).to_have_count(2)
        expect(links.first).to_have_attribute("href", f"/ask?q=repair-diff&cause={repair.cause}")
        watched.close()
        assert watched.complaints == []
