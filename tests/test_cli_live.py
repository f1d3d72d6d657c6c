"""The command line on a fleet that is asked: check, capture, watch and inventory, with devices in memory."""

import json
import os
import signal
import tarfile
from pathlib import Path

import pytest

from tests.live_site import Run, Site
from truerail.inventory import load_inventory
from truerail.model import CauseKind, Role
from truerail.simulator import Fault, Shape, simulate
from truerail.transport.replay import read_capture

SHAPE = Shape(hosts=8, rails=4, spines=2, uplinks=2)
SWAP = (Fault(CauseKind.CABLE_SWAP, "one-host"),)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, simulate(SHAPE, SWAP, seed=2, folders="inventory"), monkeypatch)


def test_check_finds_live_what_is_wrong(site: Site, run: Run) -> None:
    code, out, err = run("check", "--inventory", site.inventory, "--plan", site.plan, "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert [cause["kind"] for cause in found["causes"]] == ["cable-swap"]
    assert not found["collection_errors"]
    assert err == "polled 14 devices, 14 answered\n"
    assert site.fleet.closed


def test_a_right_fabric_is_exit_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    site = Site(tmp_path, simulate(SHAPE, folders="inventory"), monkeypatch)
    code, out, _ = run("check", "--inventory", site.inventory, "--plan", site.plan)
    assert code == 0
    assert "Nothing to do." in out


def test_devices_in_trouble_are_named_on_stderr_and_in_the_report(site: Site, run: Run) -> None:
    site.fleet.troubles = {"gpu-008": "locked", "gpu-007": "half"}
    code, out, err = run("check", "--inventory", site.inventory, "--plan", site.plan, "--format", "json")
    assert code == 1
    assert "gpu-008: permission denied for user truerail\n" in err
    unread = "gpu_processes, host_facts, lag_members, link_speed, lldp_host, machine_identity, net_address, net_link"
    assert f"gpu-007: answered, not readable: {unread}, nic_qos, nvlink, optics" in err
    assert "polled 14 devices, 13 answered, 1 could not be polled\n" in err
    assert {r["device"] for r in json.loads(out)["collection_errors"]} == {"gpu-007", "gpu-008"}


def test_nobody_answers_is_exit_2(site: Site, run: Run) -> None:
    site.fleet.troubles = dict.fromkeys(site.fleet.answers, "locked")
    code, _, err = run("check", "--inventory", site.inventory, "--plan", site.plan)
    assert code == 2
    assert "no device gave a readable answer, nothing was evaluated" in err


def test_only_asks_these_devices_and_the_ends_of_their_cables(site: Site, run: Run) -> None:
    code, out, _ = run(
        "check", "--inventory", site.inventory, "--plan", site.plan, "--only", "gpu-003", "--format", "json"
    )
    assert set(site.fleet.asks) == {"gpu-003", "leaf-0", "leaf-1", "leaf-2", "leaf-3"}
    found = json.loads(out)
    assert found["summary"]["hosts"] == 1
    swapped = {finding["subject"].split("/")[0] for finding in found["findings"]}
    assert code == (1 if swapped else 0)
    assert swapped <= {"gpu-003"}


@pytest.mark.parametrize(
    ("only", "summary"),
    [("gpu-099", "no device 'gpu-099'"), ("gpu-[001", "--only gpu-[001:"), ("spare", "spare is not in the inventory")],
)
def test_only_names_devices_that_are_there(site: Site, run: Run, only: str, summary: str) -> None:
    site.plan.write_text(site.plan.read_text() + "spare,host,eth0,leaf-0,leaf,swp60,0,,400" + 9 * "," + "\n")
    code, _, err = run("check", "--inventory", site.inventory, "--plan", site.plan, "--only", only)
    assert code == 2
    assert summary in err
    assert not site.fleet.asked


def test_without_a_plan_the_rails_are_inferred(site: Site, run: Run) -> None:
    code, out, _ = run("check", "--inventory", site.inventory, "--format", "json")
    assert code == 1
    assert json.loads(out)["plan_inferred"]


@pytest.mark.parametrize("words", [["check"], ["check", "--from", ".", "--inventory", "x"], ["watch"]])
def test_one_source_must_be_named(run: Run, words: list[str]) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "either --from CAPTURE or --inventory INVENTORY" in " ".join(err.replace("│", " ").split())


def test_a_bad_inventory_is_reported_with_its_line(tmp_path: Path, run: Run) -> None:
    bad = tmp_path / "inventory.yaml"
    bad.write_text(
        "devices:\n  - {name: gpu-1, role: host, address: 192.0.2.1}\n"
        "  - {name: gpu-2, role: toaster, address: 192.0.2.2}\n"
    )
    code, out, err = run("check", "--inventory", bad)
    assert (code, out) == (2, "")
    assert "inventory.yaml:3" in err
    assert "toaster" in err


def interrupting(site: Site, device: str) -> None:
    """Ctrl-C comes when this device is asked, and the device hangs."""
    hangs = site.fleet._hangs

    async def hit(target: object, commands: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return await hangs(target, commands)  # type: ignore[arg-type]

    site.fleet.troubles = {device: "hit"}
    site.fleet._hit = hit  # type: ignore[attr-defined]


def test_ctrl_c_prints_what_was_gathered(site: Site, run: Run) -> None:
    spine = list(site.simulation.plan.devices)[-1]
    interrupting(site, spine)
    code, out, err = run("check", "--inventory", site.inventory, "--plan", site.plan, "--format", "json")
    assert code == 130
    found = json.loads(out)
    assert [cause["kind"] for cause in found["causes"]] == ["cable-swap"]  # whether it would answer is not known
    unreachable = next(one for one in found["verdicts"] if one["rule"] == "TEL001")
    assert f"1 device is not polled: interrupted before it answered ({spine})" in json.dumps(unreachable)
    assert {(r["device"], r["error"]) for r in found["collection_errors"]} == {
        (spine, "interrupted before it answered")
    }
    assert f"{spine}: interrupted before it answered" in err
    assert site.fleet.closed
    assert site.fleet.open == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_capture_replayed_gives_the_same_findings(site: Site, run: Run, tmp_path: Path) -> None:
    site.fleet.troubles = {"gpu-008": "locked"}
    code, out, err = run("capture", "--inventory", site.inventory, "--out", tmp_path / "captures")
    assert code == 0
    assert "gpu-008: permission denied" in err
    made = Path(out.strip())
    assert made.parent == tmp_path / "captures"
    live_code, live_out, _ = run("check", "--inventory", site.inventory, "--plan", site.plan, "--format", "json")
    code, again, _ = run("check", "--from", tmp_path / "captures", "--plan", site.plan, "--format", "json")
    assert (code, _timeless(again)) == (live_code, _timeless(live_out))


def _timeless(text: str) -> object:
    """A report without the times of its round."""
    found = json.loads(text)
    del found["at"]
    for finding in found["findings"]:
        for evidence in finding["evidence"]:
            del evidence["at"]
    for unread in found["collection_errors"]:
        del unread["at"]
    return found


def test_capture_into_an_archive(site: Site, run: Run, tmp_path: Path) -> None:
    code, out, _ = run(
        "capture", "--inventory", site.inventory, "--out", tmp_path / "c", "--tar", "--only", "gpu-00[1-2]"
    )
    assert code == 0
    with tarfile.open(out.strip()) as tar:
        assert {name.split("/")[1] for name in tar.getnames()} == {"gpu-001", "gpu-002", "inventory.json"}


def test_a_capture_broken_off_is_gone_on_with(site: Site, run: Run, tmp_path: Path) -> None:
    interrupting(site, "gpu-004")
    out_dir = tmp_path / "c"
    code, out, err = run("capture", "--inventory", site.inventory, "--out", out_dir)
    assert (code, out) == (130, "")
    assert "run the same command to resume" in err
    site.fleet.troubles = {}
    site.fleet.asks.clear()
    code, out, err = run("capture", "--inventory", site.inventory, "--out", out_dir)
    assert code == 0
    assert "13 devices are done" in err
    assert set(site.fleet.asks) == {"gpu-004"}
    assert len(read_capture(Path(out.strip())).devices_seen) == 14
    assert len(list(out_dir.iterdir())) == 1


def test_a_capture_that_cannot_be_written_is_exit_2(site: Site, run: Run, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    code, out, err = run("capture", "--inventory", site.inventory, "--out", blocked / "sub")
    assert (code, out) == (2, "")
    assert "cannot be written" in err


def test_inventory_list_shows_how_devices_are_reached(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "inventory.yaml"
    path.write_text(
        "defaults: {user: truerail}\n"
        "devices:\n"
        '  - {name: "gpu-[001-002]", role: host, pod: p1, address: "192.0.2.[1-2]", rack: A01, unit: 3}\n'
        "  - {name: spine-1, role: spine, platform: snmp, address: 192.0.2.9,\n"
        "     snmp: {version: 2c, community: {env: C}}}\n"
        "  - {name: what, address: 192.0.2.10}\n"
    )
    code, out, err = run("inventory", "list", path)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1][:2] == ["gpu-001", "host"]
    assert lines[1][3:] == ["ssh", "truerail@192.0.2.1:22", "p1", "A01", "unit", "3"]
    assert lines[3][:6] == ["spine-1", "spine", "snmp", "snmp", "2c", "192.0.2.9:161"]
    assert lines[4][:3] == ["what", "?", "?"]
    code, out, _ = run("inventory", "list", path, "--only", "gpu-002")
    assert len(out.splitlines()) == 2


def test_inventory_probe_says_what_each_device_is_and_answers(site: Site, run: Run, tmp_path: Path) -> None:
    bare = tmp_path / "bare.yaml"
    names = list(site.simulation.plan.devices)
    bare.write_text("devices:\n" + "".join(f"  - {{name: {name}, address: 192.0.2.1}}\n" for name in names))
    site.fleet.troubles = {"gpu-002": "locked"}
    written = tmp_path / "found.yaml"
    code, out, err = run("inventory", "probe", bare, "--output", written)
    reported = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert code == 1
    assert set(reported) == set(names)
    assert "linux" in reported["gpu-001"]
    assert "lldp_host" in reported["gpu-001"]
    assert "cumulus" in reported["leaf-0"]
    assert "lldp_switch" in reported["leaf-0"]
    assert "permission denied for user truerail" in reported["gpu-002"]
    assert err.endswith(f"\npolled 14 devices, 13 answered, 1 could not be polled\nwritten: {written}\n")
    known = {target.name: target for target in load_inventory(written).targets}
    assert (known["gpu-001"].role, known["gpu-001"].platform) == (Role.HOST, "linux")
    assert (known["leaf-0"].role, known["leaf-0"].platform) == (Role.LEAF, "cumulus")
    assert (known["gpu-002"].role, known["gpu-002"].platform) == (None, "")


@pytest.mark.parametrize("tar", [False, True])
def test_a_scrubbed_capture_and_its_plan_give_the_same_causes(site: Site, run: Run, tmp_path: Path, tar: bool) -> None:
    site.fleet.troubles = {"gpu-008": "locked"}
    words = ["--inventory", site.inventory, "--plan", site.plan, "--out", tmp_path / "c", "--scrub"]
    code, out, _ = run("capture", *words, *(["--tar"] if tar else []))
    assert code == 0
    made, plan = map(Path, out.split())
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == sorted([made.name, plan.name])
    assert "gpu-008" not in plan.read_text()
    code, out, _ = run("check", "--from", made, "--plan", plan, "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert [cause["kind"] for cause in found["causes"]] == ["cable-swap", "unreachable"]
    assert "gpu-" not in out


def test_a_name_that_cannot_be_scrubbed_leaves_the_round_as_it_is(site: Site, run: Run, tmp_path: Path) -> None:
    site.fleet.answers["bridge"] = site.fleet.answers["gpu-001"]
    site.inventory.write_text(site.inventory.read_text() + "  - {name: bridge, role: host, address: 192.0.2.77}\n")
    code, out, err = run("capture", "--inventory", site.inventory, "--out", tmp_path / "c", "--scrub")
    assert (code, out) == (2, "")
    assert "device 'bridge' is called like a word of the answers" in err
    (kept,) = (tmp_path / "c").iterdir()
    assert str(kept) in err
