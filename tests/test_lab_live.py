"""The whole of truerail against running devices: real lldpd, snmpd and sshd, cables that are really swapped."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab import cables, devices, fabric, files, hearing
from tests.lab.commands import truerail
from tests.lab.layout import Layout
from tests.lab.registry import remove_leftovers
from tests.lab.serving import standing
from tests.lab.system import ip_batch, namespaces, run
from tests.patience import soon
from tests.real import give_up
from truerail.model import Port

BY_SSH, BY_SNMP, BY_SNMPV3 = "inventory.yaml", "inventory-snmp.yaml", "inventory-snmpv3.yaml"
_RESETS = """
import socket, struct
server = socket.create_server(("{address}", 22), reuse_port=True)
print("listening", flush=True)
while True:
    caller, _ = server.accept()
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    caller.close()
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    layout = Layout(f"t{os.getpid()}", 4, 4, 2, tmp_path_factory.mktemp("lab") / "user")
    with standing(layout):
        yield layout


def check(layout: Layout, inventory: str = BY_SSH, *args: str) -> dict[str, Any]:
    site = ("--plan", str(layout.folder / "plan.csv"), "--inventory", str(layout.folder / inventory))
    done = truerail(layout, "check", *site, "--format", "json", *args)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def reported(evaluation: dict[str, Any]) -> list[tuple[str, list[str], int]]:
    return [(cause["kind"], cause["subjects"], len(cause["moves"])) for cause in evaluation["causes"]]


def unread(evaluation: dict[str, Any]) -> dict[str, str]:
    rows: dict[str, str] = {}
    for row in evaluation["collection_errors"]:
        rows[row["device"]] = f"{rows.get(row['device'], '')} {row['collector']}: {row['error']}"
    return rows


@contextmanager
def swapped(layout: Layout, one: str, other: str) -> Iterator[None]:
    a, b = layout.jack(one), layout.jack(other)
    cables.swap(layout, a, b)
    hearing.settle(layout)
    try:
        yield
    finally:
        cables.swap(layout, a, b)
        hearing.settle(layout)


@pytest.mark.parametrize("inventory", [BY_SSH, BY_SNMP, BY_SNMPV3])
def test_a_right_fabric_gives_no_finding(lab: Layout, inventory: str) -> None:
    evaluation = check(lab, inventory)
    assert (evaluation["findings"], evaluation["causes"], evaluation["collection_errors"]) == ([], [], [])
    assert evaluation["summary"]["cables_right"] == evaluation["summary"]["cables_planned"] == 24


@pytest.mark.parametrize("inventory", [BY_SSH, BY_SNMP])
def test_two_cables_swapped_live_are_one_cause_and_gone_when_put_right(lab: Layout, inventory: str) -> None:
    one, other = "gpu-002/enp26s0f0np0", "gpu-002/enp77s0f0np0"
    with swapped(lab, one, other):
        evaluation = check(lab, inventory)
        assert reported(evaluation) == [("cable-swap", [one, other], 2)]
        assert {f["rule"] for f in evaluation["findings"]} == {"CAB001"}
        again = check(lab, inventory, "--only", "gpu-002")
        assert reported(again) == reported(evaluation)
    assert reported(check(lab, inventory)) == []


@pytest.mark.parametrize("inventory", [BY_SSH, BY_SNMP])
def test_swapped_hostnames_of_two_leaves_are_a_leaf_swap(lab: Layout, inventory: str) -> None:
    fabric.exchange_names(lab, "leaf-1", "leaf-3")
    try:
        hearing.settle(lab)
        assert reported(check(lab, inventory)) == [("leaf-swap", ["leaf-1", "leaf-3"], 0)]
    finally:
        fabric.exchange_names(lab, "leaf-1", "leaf-3")
        hearing.settle(lab)


def test_a_pulled_cable_is_a_link_down(lab: Layout) -> None:
    port = lab.jack("gpu-003/enp94s0f0np0")
    far = cables.wiring(lab)[port]
    cables.pull(lab, [port])
    try:
        hearing.settle(lab)
        assert reported(check(lab)) == [("link-down", [str(port)], 0)]
    finally:
        cables.plug(lab, port, far)
        hearing.settle(lab)


@contextmanager
def _switching(layout: Layout) -> Iterator[None]:
    """Every leaf switches frames between its hosts with a kernel bridge, which learns MACs as a switch's chip does."""
    down: dict[str, list[str]] = {}
    for cable in layout.fabric.plan.host_cables:
        down.setdefault(cable.b.device, []).append(cable.b.name)
    for leaf, ports in down.items():
        members = [f"link set {port} master bridge" for port in ports]
        ip_batch(["link add bridge type bridge", *members, "link set bridge up"], layout.namespace(leaf))
    try:
        yield
    finally:
        for leaf in down:
            ip_batch(["link del bridge"], layout.namespace(leaf))


@contextmanager
def _without_lldpd(layout: Layout, *names: str) -> Iterator[None]:
    """Devices whose lldpd has ended, and of which their neighbours remember nothing."""
    for name in names:
        devices.stop(layout, name, "lldpd")
    try:
        soon(lambda: not any(far.device in names for heard in hearing.heard(layout).values() for far in heard))
        yield
    finally:
        for name in names:  # an agent that lost its lldpd for long serves none of its tables again
            if name in layout.switches:
                devices.restart(layout, name, "snmpd")
            devices.restart(layout, name, "lldpd")
        hearing.settle(layout)


def _learned(layout: Layout) -> set[Port]:
    """The switch ports that have learned the MAC of the NIC that is cabled there."""
    found = set()
    for nic, port in cables.wiring(layout).items():
        if nic.device not in layout.switches:
            table = run("bridge", "-n", layout.namespace(port.device), "fdb", "show", "dev", port.name)
            found |= {port} if f"{layout.mac(nic)} master bridge" in table else set()
    return found


def test_swapped_cables_of_a_host_and_a_switch_without_lldp_are_found_by_mac_tables(lab: Layout) -> None:
    one, other = "gpu-002/enp26s0f0np0", "gpu-002/enp60s0f0np0"
    nics = [lab.jack(one), lab.jack(other)]
    with _switching(lab), _without_lldpd(lab, "gpu-002", "leaf-1"):
        cables.swap(lab, *nics)
        try:
            soon(lambda: len(_learned(lab)) == 16)
            evaluation = check(lab)
        finally:
            cables.swap(lab, *nics)
    (swap,) = evaluation["causes"]
    assert (swap["kind"], swap["subjects"], swap["moves"]) == ("cable-swap", [one, other], [])  # one source: no order
    assert f"confirm before moving: {one} is in leaf-1/swp2, {other} is in leaf-0/swp2" in swap["to_confirm"]
    evidence = {one["collector"] for finding in evaluation["findings"] for one in finding["evidence"]}
    assert "mac_table" in evidence
    counts = {state: evaluation["summary"][f"cables_{state}"] for state in ("right", "wrong", "unknown")}
    assert counts == {"right": 20, "wrong": 2, "unknown": 2}  # unknown: the uplinks of leaf-1, which no bridge switches


def _timeless(value: Any) -> Any:
    """An evaluation without what no second round can repeat: times, ages, and where an answer was kept."""
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k not in ("at", "age_seconds", "ttl_seconds", "notes")}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def test_live_captured_and_replayed_the_same_fabric_gives_the_same_json(lab: Layout, tmp_path: Path) -> None:
    with swapped(lab, "gpu-001/enp26s0f0np0", "gpu-004/enp26s0f0np0"):
        live = check(lab)
        for kind in ((), ("--tar",)):
            folder = tmp_path / f"captures{len(kind)}"
            done = truerail(lab, "capture", "--inventory", str(lab.folder / BY_SSH), "--out", str(folder), *kind)
            assert done.returncode == 0, done.stderr
            rounds = list(folder.iterdir())
            source = rounds[0] if kind else folder
            plan = ("--plan", str(lab.folder / "plan.csv"))
            replayed = truerail(lab, "check", *plan, "--from", str(source), "--format", "json")
            assert replayed.returncode == 1, replayed.stderr
            assert _timeless(json.loads(replayed.stdout)) == _timeless(live)
        by_snmp = check(lab, BY_SNMP)
    assert reported(by_snmp) == reported(live)
    assert [f["id"] for f in by_snmp["findings"]] == [f["id"] for f in live["findings"]]


@contextmanager
def _stopped(layout: Layout, device: str, daemon: str) -> Iterator[None]:
    devices.signal_daemon(layout, device, daemon, signal.SIGSTOP)
    try:
        yield
    finally:
        devices.signal_daemon(layout, device, daemon, signal.SIGCONT)


@contextmanager
def _resetting(layout: Layout, device: str) -> Iterator[None]:
    devices.stop(layout, device, "sshd")
    code = _RESETS.format(address=layout.address(device))
    stand_in = subprocess.Popen(
        ["ip", "netns", "exec", layout.namespace(device), sys.executable, "-c", code], stdout=subprocess.PIPE
    )
    try:
        assert stand_in.stdout
        assert stand_in.stdout.readline() == b"listening\n"
        yield
    finally:
        stand_in.kill()
        stand_in.communicate()
        devices.restart(layout, device, "sshd")


@contextmanager
def _another_key(layout: Layout, device: str) -> Iterator[None]:
    lab = layout.home(device) / "lab"
    kept = [(path, path.read_bytes()) for path in (lab / "host_key", lab / "host_key.pub")]
    files.make_host_key(layout, device)
    devices.restart(layout, device, "sshd")
    try:
        yield
    finally:
        for path, text in kept:
            path.write_bytes(text)
        devices.restart(layout, device, "sshd")


@contextmanager
def _endless(layout: Layout, device: str) -> Iterator[None]:
    files.set_program(layout, device, "nvidia-smi", "#!/bin/sh\nyes 'GPU0 X' | head -c 1000000000\n")
    try:
        yield
    finally:
        files.restore_programs(layout, device)


@pytest.mark.parametrize(
    ("trouble", "device", "word"),
    [
        (lambda lab: _stopped(lab, "gpu-002", "sshd"), "gpu-002", "within"),
        (lambda lab: _resetting(lab, "gpu-003"), "gpu-003", "connection"),
        (lambda lab: _another_key(lab, "leaf-2"), "leaf-2", "changed"),
        (lambda lab: _endless(lab, "gpu-004"), "gpu-004", "bytes"),
    ],
    ids=["an sshd that hangs", "one that resets", "a changed host key", "a gigabyte of output"],
)
def test_one_device_in_trouble_costs_its_own_row_only(lab: Layout, trouble: Any, device: str, word: str) -> None:
    with trouble(lab):
        evaluation = check(lab)
    assert set(unread(evaluation)) == {device}
    assert word in unread(evaluation)[device]
    assert evaluation["summary"]["cables_right"] == 24  # the other ends know
    assert not any(f["severity"] == "critical" for f in evaluation["findings"])


def test_a_switch_whose_snmpd_stops_costs_its_own_row_only(lab: Layout) -> None:
    soon(lambda: check(lab, BY_SNMP)["summary"]["cables_right"] == 24, "every snmpd has its neighbours")
    with _stopped(lab, "leaf-1", "snmpd"):
        evaluation = check(lab, BY_SNMP)
    assert set(unread(evaluation)) == {"leaf-1"}
    assert evaluation["summary"]["cables_right"] == 24


def test_a_lab_that_was_killed_is_found_and_removed(tmp_path: Path) -> None:
    name = f"k{os.getpid()}"
    layout = Layout(name, 1, 2, 0, tmp_path / "user")
    up = [sys.executable, "-m", "tests.lab", "--name", name, "up", "--hosts", "1", "--rails", "2", "--spines", "0",
          "--pods", "1"]  # fmt: skip
    done = subprocess.run(
        [*up, "--folder", str(layout.folder)], capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        give_up(f"no lab here: {done.stderr}")
    try:
        assert namespaces(layout.prefix)
        for device in layout.devices:
            holder = int((layout.root / f"{device}.pid").read_text(encoding="ascii"))
            os.kill(holder, signal.SIGKILL)

        def removed() -> bool:
            """A lab that is started beside this test is removed too."""
            remove_leftovers()
            return not layout.root.exists()

        soon(removed)
        assert namespaces(layout.prefix) == []
    finally:
        fabric.stop(layout)
