"""The machine that tells an InfiniBand fabric, asked by SSH: a real sshd whose `ibnetdiscover` prints a listing."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.live_site import Run
from tests.ports import free_port
from tests.sshd import Sshd, sshd
from truerail.inventory import Inventory, dump_yaml, load_inventory
from truerail.model import CauseKind, Target
from truerail.plans import dump_csv
from truerail.simulator import Fault, Shape, simulate
from truerail.transport.framing import script

SHAPE = Shape(hosts=8, rails=4, spines=0, platforms=("infiniband",), host_ports="rdma")
FORCED = Path(__file__).resolve().parent.parent / "deploy/ansible/roles/truerail_device/files/truerail-only.infiniband"
REFUSED = "can't open UMAD port ((null):0)"


class Manager:
    """The machine, a fabric in which two cables are swapped, and the files of both."""

    def __init__(self, folder: Path, server: Sshd) -> None:
        simulation = simulate(SHAPE, (Fault(CauseKind.CABLE_SWAP, "across"),), seed=2)
        self.truth = {str(port) for port in simulation.truth.wrong}
        self.listing = next(found["ibnetdiscover"] for _, found in simulation.answers() if "ibnetdiscover" in found)
        self.folder, self.server = folder, server
        self.inventory, self.plan, self.said = folder / "inventory.yaml", folder / "plan.csv", folder / "said"
        self.plan.write_text(dump_csv(simulation.plan))
        self.target = replace(server.target("ufm-1"), platform="infiniband")
        self.names(self.target)
        self.prints(self.listing)

    def names(self, *targets: Target) -> None:
        """The inventory holds these."""
        self.inventory.write_text(dump_yaml(Inventory(targets)))

    def prints(self, text: str, after: str = "exit 0") -> None:
        """What `ibnetdiscover` does from now on."""
        self.said.write_text(text)
        self.server.program("ibnetdiscover", f"cat {self.said}; {after}")

    def checked(self, run: Run, *more: object) -> tuple[int, dict[str, Any], str]:
        """The exit code, the report, and what was said besides."""
        code, out, err = run("check", "--inventory", self.inventory, "--plan", self.plan, "--format", "json", *more)
        return code, json.loads(out), err


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with sshd(tmp_path / "sshd") as server:
        yield Manager(tmp_path, server)


def unread(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(row["device"], row["collector"]): row["error"] for row in report["collection_errors"]}


def without_evidence(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings, but for the times at which they were seen."""
    return [{**finding, "evidence": len(finding["evidence"])} for finding in report["findings"]]


def reported(report: dict[str, Any]) -> dict[str, Any]:
    """What TEL001 says of the machine."""
    found = [finding for finding in report["findings"] if finding["subject"] == "ufm-1"]
    assert [finding["rule"] for finding in found] == ["TEL001"]
    return dict(found[0])


def test_one_machine_tells_the_fabric_and_is_no_host_of_it(manager: Manager, run: Run) -> None:
    code, report, err = manager.checked(run)
    assert code == 1
    assert [cause["kind"] for cause in report["causes"]] == ["cable-swap"]
    assert {f["subject"] for f in report["findings"] if f["rule"].startswith("CAB")} == manager.truth
    assert report["summary"]["hosts"] == 8
    assert not report["collection_errors"]
    assert "ufm-1" not in {finding["subject"] for finding in report["findings"]}
    assert {row["device"] for finding in report["findings"] for row in finding["evidence"]} == {"ufm-1"}
    assert "ufm-1" not in json.dumps({key: report[key] for key in ("causes", "summary", "notes")})
    assert err == "polled 1 device, 1 answered\n"


def test_a_capture_of_it_is_one_file_and_says_the_same(manager: Manager, run: Run) -> None:
    _, live, _ = manager.checked(run)
    code, out, _ = run("capture", "--inventory", manager.inventory, "--out", manager.folder / "captures")
    assert code == 0
    held = sorted(path.relative_to(out.strip()) for path in Path(out.strip()).rglob("*") if path.is_file())
    assert held == [Path("inventory.json"), Path("ufm-1/ibnetdiscover")]
    _, again, _ = run("check", "--from", out.strip(), "--plan", manager.plan, "--format", "json")
    replayed = json.loads(again)
    for key in ("causes", "summary", "collection_errors", "notes"):
        assert replayed[key] == live[key], key
    assert without_evidence(replayed) == without_evidence(live)


def test_a_scrubbed_capture_of_it_has_the_same_cause_under_other_names(manager: Manager, run: Run) -> None:
    words = ("--inventory", manager.inventory, "--plan", manager.plan, "--out", manager.folder / "captures", "--scrub")
    _, out, _ = run("capture", *words)
    folder, plan = out.split()
    (held,) = Path(folder).rglob("ibnetdiscover")
    assert not any(name in held.read_text() for name in ("gpu-", "leaf-1:", "ufm"))
    code, report, _ = run("check", "--from", folder, "--plan", plan, "--format", "json")
    assert code == 1
    assert [cause["kind"] for cause in json.loads(report)["causes"]] == ["cable-swap"]


def test_list_and_probe_show_it(manager: Manager, run: Run) -> None:
    _, listed, _ = run("inventory", "list", manager.inventory)
    assert listed.splitlines()[1].split()[:4] == ["ufm-1", "-", "infiniband", "ssh"]
    found = manager.folder / "found.yaml"
    code, probed, _ = run("inventory", "probe", manager.inventory, "--output", found)
    assert code == 0
    words = probed.splitlines()[1].split()
    assert (words[:3], words[4:]) == (["ufm-1", "-", "infiniband"], ["ib_fabric"])
    assert replace(load_inventory(found).targets[0], file="", line=0) == manager.target


def test_it_is_sent_one_command_then_one_other_and_its_forced_command_allows_no_more(tmp_path: Path, run: Run) -> None:
    seen, recorder = tmp_path / "seen", tmp_path / "recorder"
    recorder.write_text(f'#!/bin/sh\nprintf "%s\\n" "$SSH_ORIGINAL_COMMAND" >>{seen}\nexec /bin/sh {FORCED}\n')
    recorder.chmod(0o755)
    with sshd(tmp_path / "sshd", extra=f"ForceCommand {recorder}") as server:
        manager = Manager(tmp_path, server)
        assert manager.checked(run)[0] == 1
        assert seen.read_text().splitlines() == [script(["ibnetdiscover"])]
        manager.prints("half of it", "exit 1")
        server.program("iblinkinfo", f'echo "{REFUSED}" >&2; exit 1')
        _, report, _ = manager.checked(run)
        assert seen.read_text().splitlines()[1:] == [script(["ibnetdiscover"]), script(["iblinkinfo -l"])]
        assert REFUSED in unread(report)["ufm-1", "ib_fabric"]


def test_one_that_may_not_send_packets_says_so(manager: Manager, run: Run) -> None:
    manager.server.program("ibnetdiscover", f'echo "ibwarn: [7] mad_rpc_open_port: {REFUSED}" >&2; exit 1')
    code, report, err = manager.checked(run)
    assert code == 2
    assert list(unread(report)) == [("ufm-1", "ib_fabric")]
    assert REFUSED in unread(report)["ufm-1", "ib_fabric"]
    found = reported(report)
    assert found["severity"] == "warning"
    assert REFUSED in found["summary"]
    assert found["summary"].endswith("; 32 cables stay unknown")
    assert report["summary"]["cables_unknown"] == 32
    assert "ufm-1: answered, not readable: ib_fabric\n" in err


@pytest.mark.parametrize(
    ("keep", "after", "summary"),
    [(0.5, "exit 0", "ufm-1/ibnetdiscover: line "), (0.5, "kill -9 $$", "ibnetdiscover: exit status 137")],
)
def test_an_answer_that_breaks_off_is_none(manager: Manager, run: Run, keep: float, after: str, summary: str) -> None:
    manager.prints(manager.listing[: int(len(manager.listing) * keep)], after)
    code, report, _ = manager.checked(run)
    assert code == 2
    assert summary in unread(report)["ufm-1", "ib_fabric"]
    assert report["summary"]["cables_unknown"] == 32
    assert "32 cables stay unknown" in reported(report)["summary"]


def test_what_cannot_be_reached_is_reported_and_kept_in_a_capture(manager: Manager, run: Run) -> None:
    """Beside it stands one that does answer: alone, nothing would be captured."""
    down = replace(manager.target, ssh=replace(manager.target.ssh, port=free_port()))
    with ExitStack() as stack:
        host = stack.enter_context(sshd(manager.folder / "gpu-001"))
        host.program("nvidia-smi", "echo nothing")
        manager.names(down, host.target("gpu-001"))
        _, live, err = manager.checked(run)
        _, out, _ = run("capture", "--inventory", manager.inventory, "--out", manager.folder / "captures")
    assert {collector for device, collector in unread(live) if device == "ufm-1"} == {"ib_fabric"}
    assert "Connection refused" in reported(live)["summary"]
    assert "1 could not be polled" in err
    assert "ufm-1 does not report the InfiniBand fabric" in {cause["summary"] for cause in live["causes"]}
    _, again, _ = run("check", "--from", out.strip(), "--plan", manager.plan, "--format", "json")
    replayed = json.loads(again)
    assert reported(replayed) == reported(live)
    assert not any("ufm-1" in note for note in replayed["notes"])


def test_of_two_one_may_be_down(manager: Manager, run: Run) -> None:
    down = replace(manager.target, ssh=replace(manager.target.ssh, port=free_port()))
    manager.names(down, replace(manager.target, name="ufm-2"))
    code, report, _ = manager.checked(run)
    assert code == 1
    assert report["summary"]["cables_unknown"] == 0
    assert reported(report)["severity"] == "info"
    assert reported(report)["summary"].endswith("; another machine reported it")


def test_a_name_of_the_plan_is_refused(manager: Manager, run: Run) -> None:
    manager.names(replace(manager.target, name="gpu-001"))
    _, report, _ = manager.checked(run)
    summary = "platform infiniband is for an entry under a name that no plan has: in the plan it is a host"
    assert summary in unread(report)["gpu-001", "ib_fabric"]
