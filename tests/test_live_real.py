"""The whole way with real sshd servers: hosts asked, some in trouble, captured, interrupted; nothing left open."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.live_site import Run
from tests.patience import ENOUGH, soon
from tests.sshd import Sshd, new_key, odd_server, resetting, silent, sshd
from truerail.inventory import Inventory, dump_yaml
from truerail.model import CauseKind, Role, Target
from truerail.plans import dump_csv
from truerail.simulator import Fault, Shape, Simulation, simulate

HOSTS = ("gpu-001", "gpu-002", "gpu-003")


class Hall:
    """Three hosts, each a real sshd whose programs print what the simulator says, and two servers that are no sshd."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        shape = Shape(hosts=5, rails=4, spines=0)
        self.simulation: Simulation = simulate(
            shape, (Fault(CauseKind.CABLE_SWAP, "one-host"),), seed=9, folders="inventory"
        )
        answers = dict(self.simulation.answers())
        self.servers: dict[str, Sshd] = {}
        targets: list[Target] = []
        for name in HOSTS:
            server = self.servers[name] = stack.enter_context(sshd(folder / name))
            for command, text in answers[name].items():
                _program(server, command, text)
            targets.append(replace(server.target(name), role=Role.HOST))
        for name, behave, seconds in (("gpu-004", resetting, ENOUGH), ("gpu-005", silent, 1.0)):
            port = stack.enter_context(odd_server(behave))
            ssh = replace(targets[0].ssh, port=port)
            targets.append(replace(targets[0], name=name, ssh=ssh, timeout_seconds=seconds))
        self.inventory, self.plan = folder / "inventory.yaml", folder / "plan.csv"
        self.inventory.write_text(dump_yaml(Inventory(tuple(targets))))
        self.plan.write_text(dump_csv(self.simulation.plan))


def _program(server: Sshd, command: str, text: str) -> None:
    """Puts a program into the server's path that knows this command and no other."""
    name, _, words = command.partition(" ")
    said = server.folder / f"{name}.said"
    said.write_text(text)
    old = server.folder / "bin" / name
    before = old.read_text().partition("\n")[2] if old.exists() else "echo unknown >&2; exit 1\n"
    server.program(name, f'if [ "$*" = "{words}" ]; then cat {said}; exit 0; fi\n{before}')


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with ExitStack() as stack:
        yield Hall(tmp_path, stack)


def test_hosts_are_read_and_those_in_trouble_are_named(hall: Hall, run: Run, tmp_path: Path) -> None:
    words = ("--inventory", hall.inventory, "--plan", hall.plan)
    code, out, err = run("check", *words, "--format", "json")
    found = json.loads(out)
    truth = {str(port) for port in hall.simulation.truth.wrong}
    seen = {finding["subject"] for finding in found["findings"] if finding["rule"].startswith("CAB001")}
    assert code == 1
    assert seen == {port for port in truth if port.startswith(HOSTS)}
    unread = {row["device"]: row["error"] for row in found["collection_errors"] if row["device"] not in HOSTS}
    assert "connection reset" in unread["gpu-004"].lower()
    assert "no login within 1 s" in unread["gpu-005"]
    assert "5 devices, 3 answered, 2 could not be polled" in err
    code, out, _ = run("capture", *words, "--out", tmp_path / "c")
    assert code == 0
    code, again, _ = run("check", "--from", out.strip(), "--plan", hall.plan, "--format", "json")
    replayed = json.loads(again)
    for report in (found, replayed):
        assert report["causes"]
    assert replayed["causes"] == found["causes"]
    assert replayed["summary"] == found["summary"]
    assert [(u["device"], u["collector"]) for u in replayed["collection_errors"]] == [
        (u["device"], u["collector"]) for u in found["collection_errors"]
    ]


def test_a_changed_host_key_is_said_of_its_device_alone(hall: Hall, run: Run) -> None:
    server = hall.servers["gpu-002"]
    new_key(server.folder / "other")
    other = " ".join((server.folder / "other.pub").read_text().split()[:2])
    server.known_hosts.write_text(f"[127.0.0.1]:{server.port} {other}\n")
    code, out, err = run("check", "--inventory", hall.inventory, "--plan", hall.plan, "--format", "json")
    unread = {
        row["device"]: row["error"] for row in json.loads(out)["collection_errors"] if row["collector"] == "lldp_host"
    }
    assert code == 1
    assert set(unread) == {"gpu-002", "gpu-004", "gpu-005"}
    assert "has changed: now ssh-ed25519" in unread["gpu-002"]
    assert f"gpu-002: {unread['gpu-002']}" in err


def test_ctrl_c_leaves_no_session_open(hall: Hall) -> None:
    hall.servers["gpu-001"].program("rdma", "sleep 600")
    words = [sys.executable, "-m", "truerail", "check", "--inventory", hall.inventory, "--plan", hall.plan]
    with subprocess.Popen([*map(str, words), "--format", "json"], stdout=-1, stderr=-1, text=True) as process:
        soon(lambda: "Starting session" in hall.servers["gpu-001"].log)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=ENOUGH)
    assert process.returncode == 130, err
    assert "gpu-001: interrupted before it answered" in err
    assert {row["device"] for row in json.loads(out)["collection_errors"]} >= {"gpu-001"}
    soon(lambda: not any(server.sessions() for server in hall.servers.values()))
