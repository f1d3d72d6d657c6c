"""RDMA tests between idle hosts: which, when, and what the script on the host does with the programs."""

import io
import json
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from collector import collectors
from truerail.analysis.probes.round_trips import words
from truerail.analysis.rule import Case
from truerail.model import Device, ProbeEcho, Reading
from truerail.probe import heavy_script
from truerail.probe.heavy import HeavyPlan, gpus_unknown, plan_heavy
from truerail.probe.pinglists import Nic
from truerail.testing.cases import scene

AT = datetime(2026, 11, 24, tzinfo=UTC)


def nics(hosts: int, rails: int) -> list[Nic]:
    """Hosts under leaves of four."""
    return [
        Nic(f"h{host}", f"eth{rail}", f"10.{rail}.0.{host}", f"leaf-{rail}{host // 4}", (rail, 0), 100 * rail + host)
        for rail in range(rails)
        for host in range(hosts)
    ]


def ends(plan: HeavyPlan) -> list[dict[str, Any]]:
    return [{**end, "host": host} for host in plan.hosts for end in plan.tasks(host, 0.0)["tests"]]


@pytest.mark.parametrize("hosts", [2, 3, 5, 8])
def test_each_nic_sends_and_receives_once_and_a_host_has_one_test_at_a_time(hosts: int) -> None:
    plan = plan_heavy("r", nics(hosts, 2), {})
    by_role = Counter((end["host"], end["port"], end["role"]) for end in ends(plan))
    assert set(by_role.values()) == {1}
    assert len(by_role) == 2 * 2 * hosts == plan.total
    assert set(Counter((end["host"], end["at"]) for end in ends(plan)).values()) == {1}
    assert plan.slots <= 2 * 3


def test_hosts_that_are_left_out_are_passed_over_and_their_tests_recorded_as_untried() -> None:
    plan = plan_heavy("r", nics(5, 1), {"h1": "busy", "h2": "busy"})
    assert {(end["host"], end["peer"]) for end in ends(plan) if end["role"] == "client"} == {
        ("h0", "h3"),
        ("h3", "h4"),
        ("h4", "h0"),
    }
    later = plan.without({"h3": "no login"})
    assert later.hosts == ["h0", "h4"]
    recordings = {host: json.dumps({**later.recording_of(host, ""), "tests": []}) for host in later.hosts}
    read = collectors()["rdma_tests"].read
    facts = [fact for host, text in later.completed(recordings).items() for fact in read(text, Device(host))]
    assert {fact.outcome for fact in facts} == {"left out"}
    assert {fact.detail for fact in facts if fact.peer == "h3"} == {"h3: no login"}
    assert read(json.dumps(later.recording_of("h1", "busy")), Device("h1"))[0].detail == "busy"


def test_hosts_that_do_not_report_their_gpus_are_unknown() -> None:
    readings = [
        Reading("h0", "gpu_processes", AT, ()),
        Reading("h1", "gpu_processes", AT, (), error="no nvidia-smi"),
        Reading("h2", "rdma_flows", AT, ()),
    ]
    assert gpus_unknown(readings, ["h0", "h1", "h2"]) == {"h1", "h2"}


def timed(*microseconds: float | None, hosts_of_leaf: int = 8) -> str:
    """What is reported of a ring of hosts under leaves, each of which was timed to the next."""
    plan = "\n".join(f"h{n}/nic0 leaf-{n // hosts_of_leaf}/p{n} rail=0 speed=400" for n in range(len(microseconds)))
    facts = {
        f"h{n}": [ProbeEcho("nic0", f"h{(n + 1) % len(microseconds)}", "nic0", "r", n, us)]
        for n, us in enumerate(microseconds)
    }
    return words(scene(Case(facts, plan=plan)))


def test_a_round_trip_three_times_the_median_of_as_many_hops_is_reported_with_its_figures() -> None:
    times = "6 of 7 pairs measured, median 40 us"
    assert timed(40, 41, 390, 40, 39, 42, None) == (
        f"Round-trip times: {times}; slower than 3 times their median: h2/nic0 to h3/nic0 390 us instead of 40."
    )
    assert (
        timed(40, 41, 119, 40, 39, 42) == "Round-trip times: 6 of 6 pairs measured, median 40 us; no outlier among 6."
    )
    few = "4 of 4 pairs measured, median 66 us; 4 with too few of as many hops to compare"
    assert timed(40, 90, 41, 400, hosts_of_leaf=2) == f"Round-trip times: {few}."
    assert timed(None, None) == "Round-trip times: 0 of 2 pairs measured."


def test_without_tests_no_round_trip_is_reported() -> None:
    assert words(scene(Case(plan="h1/nic0 leaf-0/p1 rail=0"))) == ""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One RDMA port with a GID for 10.0.0.1, and a folder of programs; standard input stays open."""
    port = tmp_path / "mlx5_0" / "ports" / "1"
    for name, text in {
        "gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001",
        "gid_attrs/types/0": "IB/RoCE v1",
        "gid_attrs/ndevs/0": "eth0",
        "gids/2": "0000:0000:0000:0000:0000:ffff:0a00:0001",
        "gid_attrs/types/2": "IB/RoCE v1",
        "gid_attrs/ndevs/2": "eth0",
        "gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001",
        "gid_attrs/types/3": "RoCE v2",
        "gid_attrs/ndevs/3": "eth0",
        "counters/port_xmit_data": "1000",
        "counters/port_rcv_data": "7",
    }.items():
        (port / name).parent.mkdir(parents=True, exist_ok=True)
        (port / name).write_text(f"{text}\n")
    (tmp_path / "tools").mkdir()
    monkeypatch.setattr(heavy_script, "SYSFS", str(tmp_path))
    monkeypatch.setattr(heavy_script, "SAFE_PATH", f"{tmp_path}/tools:/usr/bin:/bin")
    monkeypatch.setattr(heavy_script, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(heavy_script, "RPING_AT", 0.0)
    monkeypatch.setattr(heavy_script, "WRITE_AT", 0.0)
    monkeypatch.setattr(heavy_script, "CLIENT_AFTER", 0.0)
    monkeypatch.setattr(heavy_script.select, "select", lambda read, write, error, wait: (time.sleep(0.01), [])[1:])
    return tmp_path


def end(**changed: Any) -> dict[str, Any]:
    about = {"test": 0, "role": "client", "at": 0.0, "port": "eth0", "address": "10.0.0.1"}
    return {**about, "peer": "h2", "peer_port": "eth0", "peer_address": "10.0.0.2", **changed}


def done(**changed: Any) -> dict[str, Any]:
    """The result of one test."""
    tasks = {"version": 1, "run": "r", "host": "h1", "start_at": time.time(), "seconds": 5, "tcp_port": 24793}
    (found,) = heavy_script.Tests({**tasks, "tests": [end(**changed)]}).go()["tests"]
    return dict(found)


def tool(machine: Path, name: str, script: str) -> None:
    path = machine / "tools" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(("role", "last"), [("client", "-D 5 10.0.0.2"), ("server", "-D 5")])
def test_the_programs_get_the_gid_of_the_address(machine: Path, role: str, last: str) -> None:
    for name in ("rping", "ib_write_bw"):
        tool(machine, name, 'echo "$@"')
    found = done(role=role)
    assert found["why"] is None
    near = {"client": "-c -a 10.0.0.2", "server": "-s -a 10.0.0.1"}[role]
    assert found["rping"] == {"status": 0, "output": f"{near} -C 3 -p 24793\n"}
    write = f"-d mlx5_0 -i 1 -x 3 -p 24794 -F --report_gbits -s 1048576 {last}\n"
    assert found["ib_write_bw"] == {"status": 0, "output": write}


def test_a_port_with_load_is_left_alone(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(machine, "ib_write_bw", f"touch {machine}/began")
    counts = iter([0, 10**9])
    monkeypatch.setattr(heavy_script, "words", lambda device, port: next(counts))
    assert done()["why"] == "busy"
    monkeypatch.setattr(heavy_script, "words", lambda device, port: None)
    assert done()["why"] == "unknown"
    assert not (machine / "began").exists()


def test_an_address_without_a_gid_and_a_late_test_run_nothing(machine: Path) -> None:
    assert done(address="10.0.0.9")["why"] == "no RDMA device"
    assert done(port="eth1")["why"] == "no RDMA device"
    assert done(at=-60.0)["why"] == "not in time"


def test_a_program_that_is_missing_or_does_not_end_is_reported_as_that(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_script, "WRITE_SECONDS", 0.3)
    tool(machine, "ib_write_bw", "echo begun; exec sleep 600")
    found = done()
    assert found["rping"] == {"missing": True}
    assert found["ib_write_bw"]["status"] is None


def test_tasks_that_are_not_understood_run_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"version": 1, "run": "r", "host": "h1", "start_at": 0.0, "seconds": 5, "tcp_port": 24793, "tests": []}
    for changed, why in (
        ({"version": 2}, "tests of version 2"),
        ({"seconds": 60}, "a time that no test has"),
        ({"tests": [end(peer_address="10.0.0.2; reboot")]}, "reboot"),
    ):
        text = json.dumps({**good, **changed}).encode() + b"\n"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert heavy_script.main() == 3
        out = capsys.readouterr()
        assert (out.out, why in out.err) == ("", True)
