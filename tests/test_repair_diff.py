"""Names that repair a cause: the commands, run against the simulated fabric, end its findings and bring none."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
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
from truerail.model import CauseKind, Device, Role, Snapshot
from truerail.outputs.options import Options
from truerail.outputs.renaming import is_name, rename_commands, renamed_plan
from truerail.plans import load
from truerail.plans.csv_write import dump_csv
from truerail.questions.answers.name_repairs import repair_diff
from truerail.questions.repair_diff import NameRepair, Rename
from truerail.questions.text import answer_text
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape

SHELLS = """
hostname() { echo "$NOW"; }
sudo() { "$@"; }
hostnamectl() { echo "named $2"; }
config() { if [ "$1" = hostname ]; then echo "named $2"; fi; }
nv() { if [ "$1 $2" = "set system" ]; then echo "named $4"; fi; }
lldpcli() { :; }
"""
"""Stand-ins for what sets a name on a device with a shell."""
IN_A_CLI = {"eos": r"hostname (\S+)", "nxos": r"hostname (\S+)", "junos": r"set system host-name (\S+)"}
SWITCHES = ("cumulus", "sonic", "eos", "nxos", "junos")


def site(kind: CauseKind, variant: str, platform: str = "cumulus") -> Site:
    """A fabric in which two names are exchanged."""
    shape = Shape(hosts=8, rails=4, spines=2, uplinks=4, gpus=4, platforms=(platform,))
    found = Site((Fault(kind, variant),), shape=shape)
    found.fabric.living.settle()
    return found


def published(fabric: Site) -> Published:
    return publication(fabric.fabric.plan, fabric.round().snapshot())


def new_name(platform: str, commands: tuple[str, ...], now: str) -> str:
    """The name that a device has after these commands: those with a shell run in one."""
    text = "\n".join(commands)
    if platform in IN_A_CLI:
        return re.search(IN_A_CLI[platform], text)[1]  # type: ignore[index] - a text without it fails the test
    done = subprocess.run(["sh", "-c", SHELLS + text], env={"NOW": now}, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("named")), now)


def applied(fabric: Site, renames: tuple[Rename, ...]) -> None:
    """Gives each machine the name that the commands give it."""
    living = fabric.fabric.living
    machines = {name: machine for machine, name in living.world.hostname.items()}

    def rename(world: object) -> None:
        for one in renames:
            ((platform, commands),) = one.commands.items()
            living.world.hostname[machines[one.device]] = new_name(platform, commands, one.device)

    living.alter(rename)
    living.settle()


@pytest.mark.parametrize(
    ("kind", "variant", "platform"),
    [(CauseKind.HOST_SWAP, "labels", "cumulus"), *((CauseKind.LEAF_SWAP, "labels", one) for one in SWITCHES)],
)  # fmt: skip
def test_the_commands_end_the_findings_and_bring_none(kind: CauseKind, variant: str, platform: str) -> None:
    fabric = site(kind, variant, platform)
    before = published(fabric)
    (cause,) = before.evaluation.causes
    (repair,) = repair_diff(before, "").repairs
    assert (repair.id, repair.kind, repair.refused) == ("C1", kind.value, "")
    assert bool(repair.confirm_first) == bool(cause.to_confirm)
    if kind is CauseKind.LEAF_SWAP:
        assert [list(one.commands) for one in repair.devices] == [[platform]] * 2
    applied(fabric, repair.devices)
    after = published(fabric)
    assert after.evaluation.findings == ()
    assert repair_diff(after, "").summary == "no open cause is repaired by names alone"


@pytest.mark.parametrize(("kind", "variant"), [(CauseKind.HOST_SWAP, "labels"), (CauseKind.LEAF_SWAP, "labels")])
def test_the_change_of_plan_and_inventory_does_the_same(kind: CauseKind, variant: str, tmp_path: Path) -> None:
    require("patch")
    before = published(site(kind, variant))
    (repair,) = repair_diff(before, "").repairs
    names = {one.device: one.new_name for one in repair.devices}
    changed = renamed_plan(before.plan, names)
    readings = [replace(one, device=names.get(one.device, one.device)) for one in before.snapshot.readings]
    snapshot = Snapshot(before.snapshot.at, readings)
    assert evaluate(Round(changed, snapshot, None)).findings == ()

    file = tmp_path / "plan.csv"
    file.write_text(dump_csv(before.plan))
    subprocess.run(["patch", "-s", str(file)], input=repair.plan_diff, text=True, check=True)
    assert evaluate(Round(load(file), snapshot, None)).findings == ()
    assert [(one.device, one.new_name) for one in repair.inventory][::2] == [
        (min(names), f"{min(names)}-renamed"),
        (f"{min(names)}-renamed", max(names)),
    ]


def test_pasted_into_another_device_or_twice_nothing_is_renamed() -> None:
    for platform in ("linux", "cumulus", "sonic"):
        role = Role.HOST if platform == "linux" else Role.LEAF
        commands = rename_commands(Device("old.dc1", role, platform=platform), "new")[platform]
        assert new_name(platform, commands, "old") == "new"
        assert new_name(platform, commands, "third") == "third"
        assert new_name(platform, commands, "new") == "new"


def test_a_switch_of_unknown_platform_has_the_commands_of_each() -> None:
    assert set(rename_commands(Device("leaf-1", Role.LEAF), "leaf-2")) == set(SWITCHES)
    assert set(rename_commands(Device("gpu-1", Role.HOST, platform="snmp"), "gpu-2")) == set(SWITCHES)
    assert set(rename_commands(Device("gpu-1"), "gpu-2")) == {"linux"}


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
    hostile = replace(cause, subjects=(name, *(one for one in cause.subjects if one != old)))
    evaluation = replace(before.evaluation, plan=replace(plan, devices=devices, cables=cables), causes=(hostile,))
    shown = publication(evaluation.plan, before.snapshot)
    shown = replace(shown, evaluated=replace(shown.evaluated, evaluation=evaluation))
    (refused,) = repair_diff(shown, "C1").repairs
    assert "is no host name" in refused.refused
    assert "\n" not in refused.refused
    assert (refused.devices, refused.inventory, refused.plan_diff) == ((), (), "")


def test_other_causes_and_longer_exchanges_say_why_there_is_none() -> None:
    before = published(site(CauseKind.LEAF_SWAP, "labels"))
    (cause,) = before.evaluation.causes

    def refused(**change: object) -> NameRepair:
        evaluation = replace(before.evaluation, causes=(replace(cause, **change),))  # type: ignore[arg-type] - any field
        shown = replace(before, evaluated=replace(before.evaluated, evaluation=evaluation))
        (repair,) = repair_diff(shown, "c1").repairs
        return repair

    three = refused(subjects=("leaf-0", "leaf-1", "leaf-2"))
    assert three.refused.startswith("3 names are exchanged")
    assert refused(subjects=("leaf-0", "sw")).refused == "'sw' is not in the plan"
    assert refused(kind=CauseKind.LINK_DOWN).refused.startswith("changed names do not repair it: ")
    with pytest.raises(NotFoundError, match="'C9'; repaired by names: C1"):
        repair_diff(before, "C9")


def test_the_command_and_the_api_show_it(tmp_path: Path) -> None:
    demo = ["demo", "--once", "--hosts", "8", "--rails", "4", "--fault", "leaf-swap", "-o", str(tmp_path / "f")]
    assert CliRunner().invoke(app, demo).exit_code == 0
    given = ["--plan", str(tmp_path / "f/plan.csv"), "--from", str(tmp_path / "f/capture")]
    done = CliRunner().invoke(app, ["repair-diff", *given], env={"COLUMNS": "40"})
    assert done.exit_code == 1
    assert re.search(
        r'^test "\$\(hostname -s\)" = leaf-\d && nv set system hostname leaf-\d', done.stdout, re.MULTILINE
    )
    assert max(map(len, done.stdout.splitlines())) > 60, "commands are never broken"
    before = published(site(CauseKind.LEAF_SWAP, "labels"))
    whole = answer_text(repair_diff(before, "C1"), Options(80, details=True))
    assert "@@" in whole
    with Api(FakeTower(before)) as api:
        answer = api.json("repair-diff", cause="C1")
        assert len(answer["repairs"][0]["devices"]) == 2
        assert api.get("repair-diff?cause=C9").status_code == 404


def test_the_page_of_the_cause_leads_to_the_commands() -> None:
    before = published(site(CauseKind.HOST_SWAP, "labels"))
    (repair,) = repair_diff(before, "").repairs
    with chromium() as browser, Living(before) as served:
        watched = Watched(browser, served)
        page = watched.open(f"/causes/{repair.cause}")
        page.get_by_role("link", name="Names to change").click()
        expect(page.locator("pre").first).to_have_text("\n".join(repair.devices[0].commands["linux"]))
        links = watched.open("/punch").get_by_role("link", name="names to change")
        expect(links).to_have_count(2)
        expect(links.first).to_have_attribute("href", f"/ask?q=repair-diff&cause={repair.cause}")
        watched.context.close()
        assert watched.complaints == []
