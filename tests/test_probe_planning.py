"""What `truerail probe` plans to send: pairs, flows, times; which hosts it leaves out; what a host refuses."""

import ast
import fcntl
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.probe.cost import rendered
from collector import collectors
from rules._examples import heard, sent
from tests.ports import free_port
from truerail.analysis.probes.reached import reached
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.errors import CommandError
from truerail.model import Counter as Named
from truerail.model import (
    Device,
    GpuProcess,
    NetAddress,
    NetLink,
    PortCounters,
    ProbeReach,
    ProbeTrouble,
    Reading,
    Snapshot,
)
from truerail.model.probe_facts import FULL_TTL
from truerail.probe import host_script
from truerail.probe.host_tasks import ProbePlan, Settings, plan_run
from truerail.probe.idle import activity
from truerail.probe.pinglists import LISTS, Nics, nics_of, pairs_of
from truerail.probe.summary import summary
from truerail.simulator import Shape
from truerail.simulator.fabric.builder import build
from truerail.testing.cases import plan_of

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
PLAN = build(Shape(hosts=16, rails=2, pods=2, spines=2, uplinks=2, spare_ports=0)).plan


def _round(without: str = "") -> Round:
    """The addresses of all NICs, IPv4 and IPv6, beside one that belongs to no rail."""
    readings = []
    for number, host in enumerate(PLAN.of_role(next(iter(PLAN.devices.values())).role), 1):
        cables = [cable for cable in PLAN.cables if cable.a.device == host.name]
        facts = [
            fact
            for cable in cables
            for fact in (
                NetAddress(cable.a.name, "not an address", 24),
                NetAddress(cable.a.name, f"10.{cable.rail}.0.{number}", 24),
                NetAddress(cable.a.name, f"fd00:{cable.rail}::{number}", 64),
            )
        ]
        readings.append(Reading(host.name, "net_address", AT, () if host.name == without else tuple(facts)))
    return Round(PLAN, Snapshot(AT, readings))


NICS = nics_of(_round(), 4)


def _plan(*lists: str, left_out: Mapping[str, str] | None = None, **settings: Any) -> ProbePlan:
    return plan_run(pairs_of(PLAN, NICS.nics, lists), Settings(**settings), AT, left_out or {})


def test_each_list_has_the_pairs_that_it_is_for() -> None:
    assert (len(NICS.nics), NICS.without_address) == (32, ())
    of = {name: [(pair.source, pair.to) for pair in pairs_of(PLAN, NICS.nics, (name,))] for name in LISTS}
    assert {name: len(pairs) for name, pairs in of.items()} == {"A": 96, "B": 8, "C": 32, "D": 480, "E": 4}
    for name, pairs in of.items():
        assert len(set(pairs)) == len(pairs)
        assert all(a.host != b.host for a, b in pairs)
        assert all((a.group == b.group) is (name != "E") for a, b in pairs)
    assert all(a.leaf == b.leaf for a, b in of["A"])
    assert all(a.leaf != b.leaf for name in "BCE" for a, b in of[name])
    assert {a for a, _ in of["C"]} == set(NICS.nics)
    assert Counter(a for a, _ in of["A"]) == Counter(dict.fromkeys(NICS.nics, 3))
    together = pairs_of(PLAN, NICS.nics, LISTS)
    assert len({(pair.source, pair.to) for pair in together}) == len(together) == 484


def test_addresses_of_the_wanted_version_are_probed_and_missing_ones_are_named() -> None:
    assert {nic.address for nic in nics_of(_round(), 6).nics} >= {"fd00:0::1", "fd00:1::16"}
    some = nics_of(_round(without="gpu-001"), 4)
    assert (len(some.nics), len(some.without_address)) == (30, 2)
    lines = list(summary(_plan("A"), Nics(some.nics, some.without_address)))
    assert any(line.startswith("untried, 2 NICs without an address: gpu-001/") for line in lines)


def test_flows_do_not_share_source_ports_and_ask_each_switch_for_little() -> None:
    plan = _plan("A", "B", "C", "E")
    ports = [(flow["address"], flow["source_port"]) for _, flow in rendered(plan.flows)]
    assert len(set(ports)) == len(ports)
    tasks = {host: plan.tasks(host, 1000.0) for host in plan.hosts}
    assert set(tasks) == set(plan.hosts)
    begin = {one["start_at"] for one in tasks.values()}
    assert (min(begin), {one["stop_at"] for one in tasks.values()}) == (1000.0, {1000.0 + plan.seconds})
    asked = plan.answers_asked()
    assert max(asked.values()) <= 50 * plan.spread_seconds + 1e-9
    assert all(max(begin) - 1000.0 < plan.spread_seconds for _ in begin)
    heard = {flow["flow"] for one in tasks.values() for flow in one["hears"]}
    assert heard == {flow["flow"] for _, flow in rendered(plan.flows)}
    modes = {(pair.pinglist, flow["mode"]) for pair, flow in rendered(plan.flows)}
    assert modes == {("A", "routed"), ("A", "wired"), ("B", "routed"), ("C", "routed"), ("E", "wired")}
    sizes = {size for _, flow in rendered(plan.flows) for size, ttl, _ in flow["rounds"] if ttl == FULL_TTL}
    assert sizes == {64, 9000}
    assert {flow["tos"] for _, flow in rendered(plan.flows)} == {104, 192}
    assert {
        size for _, flow in rendered(_plan("A", version=6, what=("reach",)).flows) for size, _, _ in flow["rounds"]
    } == {96}


def test_each_nic_sends_echoes_to_its_first_peer_unless_hosts_may_be_busy() -> None:
    plan = _plan("A", "B", "C", "E")
    for host in plan.hosts:
        tasks = plan.tasks(host, 0.0)
        timed = [flow for flow in tasks["sends"] if flow["flow"] in tasks["echoes"]]
        assert sorted(flow["port"] for flow in timed) == sorted({flow["port"] for flow in tasks["sends"]})
        assert {(flow["pinglist"], flow["mode"]) for flow in timed} == {("A", "routed")}
        packets = sum(row[3] for flow in tasks["sends"] for row in flow["packets"])
        assert plan.limits(host)["packets"] == packets + 3 * len(timed)
    assert "echoes" in next(line for line in summary(plan, NICS) if line.startswith("round trips: "))
    busy = _plan("A", echoes=False)
    assert all(busy.tasks(host, 0.0)["echoes"] == [] for host in busy.hosts)
    assert not any(line.startswith("round trips: ") for line in summary(busy, NICS))


def test_a_host_that_is_left_out_is_neither_asked_nor_fine() -> None:
    plan = _plan("A", left_out={"gpu-001": "busy: 4 connected queue pairs on mlx5_0/1"})
    assert "gpu-001" not in plan.hosts
    tasks = {host: plan.tasks(host, 0.0) for host in plan.hosts}
    untried = [flow for one in tasks.values() for flow in one["untried"]]
    assert {flow["peer"] for flow in untried} == {"gpu-001"}
    assert any("left out, 1 hosts: gpu-001 (busy: 4" in line for line in summary(plan, NICS))
    read = collectors()["probe_results"].read(json.dumps(plan.recording_of("gpu-001", "busy")), Device("gpu-001"))
    assert {fact.sent for fact in read if isinstance(fact, ProbeReach)} == {0}
    assert [fact.detail for fact in read if isinstance(fact, ProbeTrouble)] == ["busy"]
    assert plan.without({"gpu-002": "no login"}).left_out.keys() == {"gpu-001", "gpu-002"}


def test_more_flows_than_source_ports_are_refused() -> None:
    pair = pairs_of(PLAN, NICS.nics, ("C",))[0]
    with pytest.raises(CommandError, match="more flows than source ports"):
        plan_run([pair] * 20_000, Settings(what=("reach",)), AT, {})


def _counted(at: datetime, values: Mapping[str, tuple[str, int]]) -> Snapshot:
    readings = [
        Reading(
            host, "nic_counters", at, (PortCounters("eth0", (Named(name), Named("rx_prio3_bytes", 3)), (value, 9)),)
        )
        for host, (name, value) in values.items()
    ]
    return Snapshot(at, readings)


def test_a_host_is_idle_only_if_it_shows_so() -> None:
    first = _counted(AT, {"a": ("rx_bytes_phy", 0), "b": ("port_xmit_data", 0), "c": ("flows", 2), "d": ("drops", 1)})
    later = _counted(AT + timedelta(seconds=2), {"a": ("rx_bytes_phy", 1000), "b": ("port_xmit_data", 10**8)})
    found = activity(first, later, {"a", "b", "c", "d"})
    assert found.busy == {"b": "eth0 carries 1.6 Gbit/s", "c": "2 connected queue pairs on eth0"}
    assert found.unknown == {"d"}
    assert activity(later, first, {"a"}).unknown == {"a"}
    computing = [Reading("d", "gpu_processes", AT, (GpuProcess("GPU-1", 7), GpuProcess("GPU-2", None)))]
    found = activity(Snapshot(AT, computing), Snapshot(AT, ()), {"d", "e"})
    assert found.busy == {"d": "2 processes on its GPUs"}
    assert found.unknown == {"d", "e"}, "that GPUs are idle says nothing of NICs"


def test_the_script_is_one_file_of_an_old_python() -> None:
    source = Path(host_script.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names
    assert source.startswith("#!/usr/bin/python3 -I\n")


def _tasks(**changed: Any) -> dict[str, Any]:
    plan = _plan("A", what=("reach",))
    tasks = plan.tasks("gpu-001", time.time())
    return {**tasks, "listen": [], "hears": [], "limits": plan.limits("gpu-001"), **changed}


REFUSED = [
    ({"version": 2}, "tasks of version 2"),
    ({"packets_per_second": 5000}, "packets_per_second of 5000, at most 100 are allowed"),
    ({"packets_per_second": float("nan")}, "packets_per_second of nan, at most 100 are allowed"),
    ({"packets_per_second": -1}, "a rate or a start that no run has"),
    ({"stop_at": 1e12}, "seconds of "),
    ({"stop_at": float("nan")}, "seconds of nan, at most "),
    ({"start_at": 1e12}, "a rate or a start that no run has"),
    ({"port": 53}, "port 53 is not allowed"),
    ({"listen": [["10.0.0.1", 22]]}, "port 22 is not allowed"),
    ({"sends": 5}, "not understood (TypeError"),
    ({"limits": {}}, "not understood (KeyError"),
]


@pytest.mark.parametrize(("changed", "why"), REFUSED, ids=lambda value: str(value)[:30])
def test_a_host_refuses_what_its_limits_do_not_allow(
    changed: dict[str, Any], why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = _refusal(_tasks(**changed), capsys, monkeypatch)
    assert code == 3
    assert why in said


FLOWS = [
    ({"peer_address": "192.0.2.1"}, "192.0.2.1 is in no network"),
    ({"peer_address": "fe80::1%x\nroute flush table main"}, "not understood (ValueError: an address with a zone"),
    ({"address": "fe80::1%x\nroute flush table main"}, "not understood (ValueError: an address with a zone"),
    ({"address": "10.0.0.1\nlink set eth0 down"}, "not understood (ValueError"),
    ({"address": 1}, "not understood (TypeError"),
    *(({"peer_address": one}, f"{one} is in no network") for one in ("10.99.0.255", "224.0.0.1", "ff02::1")),
    ({"packets": [[22, 64, 64, 1, 0.0, 0.0]]}, "source port 22"),
    ({"tos": 105}, "a TOS that no probe has"),
    ({"packets": [[50000, 0, 64, 1, 0.0, 0.0]]}, "a size, TTL, count or time"),
    ({"packets": [[50000, 64, 64, 1, -1.0, 0.0]]}, "a size, TTL, count or time"),
    ({"packets": [[50000, 64, 64, 10**9, 0.0, 0.0]]}, "packets of "),
    ({"packets": [[50000, 64, 64, 1e-9, 0.0, 0.0]] * 9}, "a size, TTL, count or time"),
    ({"packets": [[50000, 64, 64, 1, float("nan"), 0.0]]}, "a size, TTL, count or time"),
]


@pytest.mark.parametrize(("changed", "why"), FLOWS, ids=lambda value: str(value)[:30])
def test_a_host_refuses_flows_that_its_limits_do_not_allow(
    changed: dict[str, Any], why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = _tasks()
    tasks["limits"]["networks"] += ["10.99.0.0/24", "224.0.0.0/4", "::/0"]
    tasks["sends"][0] = {**tasks["sends"][0], **changed}
    code, said = _refusal(tasks, capsys, monkeypatch)
    assert code == 3
    assert why in said


def _refusal(
    tasks: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str]:
    """Exit status and words of the script."""
    from io import BytesIO, TextIOWrapper

    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(json.dumps(tasks).encode() + b"\n")))
    return host_script.main([]), capsys.readouterr().err


def test_a_host_without_its_file_of_limits_sends_nothing() -> None:
    command = ["/usr/bin/python3", "-I", host_script.__file__, "/nowhere/probe.json"]
    done = subprocess.run(command, input=json.dumps(_tasks()) + "\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "refused: [Errno 2] No such file or directory: '/nowhere/probe.json'" in done.stderr


def test_the_limits_of_a_host_are_those_of_all_runs_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = tmp_path / "probe.json"
    limits.write_text(json.dumps(_tasks()["limits"]))
    command = ["/usr/bin/python3", "-I", host_script.__file__, str(limits)]
    with limits.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        given = json.dumps(_tasks(sends=[], stop_at=0.0, start_at=0.0)) + "\n"
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "refused: another run is under way on this host" in done.stderr
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("step", [3600, -3600])
def test_a_clock_that_is_set_during_a_run_neither_ends_nor_delays_it(step: int) -> None:
    flow = {"flow": 0, "port": "lo", "peer": "h1", "peer_port": "lo", "mode": "routed", "tos": 0, "pinglist": "A",
            "address": "127.0.0.1", "peer_address": "127.0.0.1"}  # fmt: skip
    port, now = free_port(), time.time()
    sends = [{**flow, "packets": [[free_port(), 64, 64, 3, 0.0, 0.1]]}]
    tasks = _tasks(sends=sends, hears=[flow], listen=[["127.0.0.1", port]], port=port, untried=[], start_at=now + 0.5)
    limits = {"networks": ["127.0.0.0/8"], "packets_per_second": 100, "packets": 9, "seconds": 9, "ports": [port],
              "source_ports": [1, 65535]}  # fmt: skip
    stepping = (
        "import runpy, sys, time; first, real = [time.time()], time.time\n"
        f"time.time = lambda: first.pop() if first else real() + {step}\n"
        "runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    )
    given = json.dumps({**tasks, "stop_at": now + 1.5, "limits": limits}) + "\n"
    command = ["/usr/bin/python3", "-I", "-c", stepping, host_script.__file__]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(given)
        process.stdin.flush()
        found = json.loads(process.stdout.readline())
    assert [row[-1] for row in found["heard"]] == [3], found
    late = [milliseconds for what, _, _, milliseconds, _ in found["trouble"] if what == "started late"]
    assert len(late) == len(found["trouble"])
    assert all(milliseconds < 60_000 for milliseconds in late), "a busy machine starts it late, but not by the step"


def _upper(*links: NetLink, addresses: Mapping[str, str]) -> Nics:
    """The NICs of a host with two planned ones, eth0 and eth1, beside a plain peer."""
    plan = plan_of(Case(plan="h1/eth0 leaf-0/p1 rail=0\nh1/eth1 leaf-1/p1 rail=1\nh2/eth0 leaf-0/p2 rail=0"))
    facts = tuple(NetAddress(netdev, address, 24) for netdev, address in addresses.items())
    readings = [Reading("h1", "net_link", AT, links), Reading("h1", "net_address", AT, facts)]
    readings.append(Reading("h2", "net_address", AT, (NetAddress("eth0", "10.0.0.2", 24),)))
    return nics_of(Round(plan, Snapshot(AT, readings)), 4)


def _found(nics: Nics) -> set[tuple[str, str, int]]:
    return {(nic.netdev, nic.address, nic.cable) for nic in nics.nics if nic.host == "h1"}


def test_addresses_of_bonds_and_vlans_belong_to_the_nics_below_them() -> None:
    eth0, eth1 = NetLink("eth0", master="bond0", flags=("SLAVE",)), NetLink("eth1")
    bond, vlan = NetLink("bond0", flags=("MASTER",)), NetLink("eth1.100")
    nics = _upper(eth0, eth1, bond, vlan, addresses={"bond0": "10.0.0.1", "eth1.100": "10.1.0.1"})
    assert _found(nics) == {("bond0", "10.0.0.1", 0), ("eth1.100", "10.1.0.1", 1)}
    assert nics.without_address == ()
    tagged = NetLink("bond0.7", kind="vlan")
    nics = _upper(eth0, eth1, _detailed(bond), tagged, addresses={"bond0.7": "10.0.0.1", "eth1": "10.1.0.1"})
    assert _found(nics) == {("bond0.7", "10.0.0.1", 0), ("eth1", "10.1.0.1", 1)}


def _detailed(bond: NetLink) -> NetLink:
    """As `ip -d` reports it."""
    return bond._replace(kind="bond", flags=())


def test_what_a_host_says_of_a_vlan_comes_before_its_name() -> None:
    eth0, eth1 = NetLink("eth0"), NetLink("eth1")
    storage = NetLink("storage", kind="vlan", below="eth0")
    misnamed = NetLink("eth0.100", kind="vlan", below="eth1")
    nics = _upper(eth0, eth1, storage, misnamed, addresses={"storage": "10.0.0.1", "eth0.100": "10.1.0.1"})
    assert _found(nics) == {("storage", "10.0.0.1", 0), ("eth0.100", "10.1.0.1", 1)}
    inner, pod = NetLink("q", kind="vlan", below="storage"), NetLink("pod", kind="macvlan", below="q")
    assert _found(_upper(pod, inner, storage, eth0, addresses={"pod": "10.0.0.1"})) == {("pod", "10.0.0.1", 0)}
    rings = NetLink("a", kind="vlan", below="b"), NetLink("b", kind="vlan", below="a")
    away = NetLink("c", kind="vlan", below="not reported")
    assert _found(_upper(eth0, *rings, away, addresses={"a": "10.0.0.1", "c": "10.0.0.3"})) == set()


def test_a_bond_of_two_nics_stands_for_the_first_and_a_nics_own_address_comes_first() -> None:
    members = [NetLink(name, master="bond0") for name in ("eth1", "eth0")]
    nics = _upper(*members, NetLink("bond0", kind="bond"), addresses={"bond0": "10.0.0.1"})
    assert _found(nics) == {("bond0", "10.0.0.1", 0)}
    assert nics.without_address == ("h1/eth1",), "it is untried, and named"
    nics = _upper(*members, NetLink("bond0", kind="bond"), addresses={"bond0": "10.0.0.1", "eth0": "10.0.0.9"})
    assert _found(nics) == {("eth0", "10.0.0.9", 0)}


@pytest.mark.parametrize("upper", [NetLink("br0", kind="bridge"), NetLink("vrf-0", kind="vrf"), NetLink("eth0.lan")])
def test_other_interfaces_above_a_nic_lend_it_no_address(upper: NetLink) -> None:
    eth0 = NetLink("eth0", master=upper.netdev)
    assert _found(_upper(eth0, upper, addresses={upper.netdev: "10.0.0.1"})) == set()


@pytest.mark.parametrize(
    "vrf", [NetLink("rail0", kind="vrf"), NetLink("rail0", flags=("NOARP", "MASTER", "UP", "LOWER_UP"))]
)
def test_nics_in_a_vrf_are_named_and_not_probed(vrf: NetLink) -> None:
    addresses = {"eth0": "10.0.0.1", "eth1": "10.1.0.1", "rail0": "10.0.0.3"}
    nics = _upper(NetLink("eth0", master="rail0"), NetLink("eth1"), vrf, addresses=addresses)
    assert _found(nics) == {("eth1", "10.1.0.1", 1)}
    assert (nics.in_vrf, nics.without_address) == (("h1/eth0",), ())
    words = list(summary(_plan("A"), nics))
    assert "untried, 1 NICs in a VRF, which probes do not enter: h1/eth0" in words
    assert "large packets: 9,000 bytes" in words


def test_probes_by_a_bond_are_those_of_its_nic() -> None:
    plan = plan_of(Case(plan="h1/eth0 leaf-0/p1 rail=0\nh2/eth0 leaf-0/p2 rail=0"))
    links = (NetLink("eth0", master="bond0"), NetLink("bond0", kind="bond"))
    readings = [
        Reading("h1", "net_link", AT, links),
        Reading("h1", "probe_results", AT, (sent(0, "bond0", "h2", "eth0"),)),
        Reading("h2", "probe_results", AT, (heard(0, "eth0", "h1", "bond0"),)),
    ]
    flows = reached(Round(plan, Snapshot(AT, readings)))
    assert (flows.cable.tolist(), flows.peer_cable.tolist(), flows.lost.tolist()) == ([0], [1], [False])
