"""A round over a fleet: what is asked, what troubles cost, and that a replay of it says the same."""

import asyncio
import itertools
import threading
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from collector import collectors
from tests.fake_fleet import NOW, FakeFleet, ambient, targets
from tests.virtual_time import timeless
from truerail.analysis.round import Round
from truerail.model import Neighbor, Role
from truerail.model.platforms import SHOW_VERSION
from truerail.poller import Gathered, Limits, Poller
from truerail.poller.device_poller import Row
from truerail.poller.questions import applicable, optional
from truerail.rounds import evaluate
from truerail.simulator import Shape, Simulation, simulate
from truerail.transport.answers import Answers
from truerail.transport.capture_writer import CaptureWriter
from truerail.transport.command_gate import platform_of
from truerail.transport.protocol import Answer
from truerail.transport.replay import read_capture
from truerail.transport.turns import clocks_stopped, timed_by

SHAPE = Shape(hosts=8, rails=4, spines=2, uplinks=2)
QUICK = Limits(device_seconds=0.4, deadline_seconds=5.0, cancel_seconds=0.1)

EVERYBODYS = set(collectors()) - optional()
"""The questions that every device has an answer to."""


def gathered(fleet: FakeFleet, simulation: object, limits: Limits = QUICK, **more: object) -> Gathered:
    sim = simulation
    gatherer = Poller(targets(sim), fleet, devices=sim.plan.devices, limits=limits, ambient=ambient())  # type: ignore[attr-defined,arg-type]
    return timeless(gatherer.round(**more))  # type: ignore[arg-type]


def site(troubles: dict[str, str] | None = None) -> tuple[Simulation, FakeFleet]:
    """A fabric, and its devices with these troubles."""
    simulation = simulate(SHAPE, folders="inventory")
    return simulation, FakeFleet(simulation, troubles)


def poller_of(simulation: Simulation, fleet: FakeFleet) -> Poller:
    return Poller(targets(simulation), fleet, devices=simulation.plan.devices, ambient=ambient())


def asked_of(fleet: FakeFleet, device: str = "gpu-001") -> list[tuple[str, ...]]:
    """What this device was asked, each time."""
    return [commands for name, commands in fleet.asked if name == device]


def two_rounds(poller: Poller, only: Collection[str] | None = None) -> tuple[Gathered, Gathered]:
    async def rounds() -> tuple[Gathered, Gathered]:
        return await poller.round(only=only), await poller.round(only=only)

    return timeless(rounds())


def test_a_healthy_fleet_gives_what_the_simulator_says() -> None:
    simulation = simulate(SHAPE, 2, seed=3, folders="inventory")
    found = gathered(FakeFleet(simulation), simulation)
    live, direct = (
        evaluate(Round(simulation.plan, found.snapshot())),
        evaluate(Round(simulation.plan, simulation.snapshot())),
    )
    assert {f.id for f in live.findings} == {f.id for f in direct.findings} != set()
    assert not live.collection_errors
    assert found.at == NOW.replace(microsecond=0)
    assert not found.unreached


def test_all_collectors_that_apply_are_asked_in_one_ask() -> None:
    simulation, fleet = site()
    gathered(fleet, simulation, collectors=EVERYBODYS)
    assert set(fleet.asks.values()) == {1}
    of_host = dict(fleet.asked)["gpu-001"]
    assert of_host == ("nvidia-smi topo -m", "lldpctl -f json0", "ip -j addr", "ip -j -d link", "rdma link")


def test_an_unreadable_answer_leads_to_one_further_ask_and_is_remembered() -> None:
    simulation, fleet = site()
    for answers in fleet.answers.values():  # an lldpd that knows no json0
        if "lldpctl -f json0" in answers:
            answers["lldpctl -f keyvalue"] = answers.pop("lldpctl -f json0")
    first, second = two_rounds(poller_of(simulation, fleet))
    asked = asked_of(fleet)
    assert "lldpctl -f json0" in asked[0]
    assert "lldpctl -f keyvalue" in asked[1]
    assert "lldpctl -f keyvalue" in asked[2]
    assert "lldpctl -f json0" not in asked[2]
    assert [r.error for r in first.readings] == [r.error for r in second.readings]
    assert {r.device for r in second.readings if r.collector == "lldp_host" and not r.error} == {
        name for name in simulation.plan.devices if name.startswith("gpu-")
    }


def test_a_host_that_has_no_lldpd_is_asked_once_a_round_and_its_reason_stays() -> None:
    simulation, fleet = site()
    answers = fleet.answers["gpu-001"]
    json0 = answers.pop("lldpctl -f json0")
    poller = poller_of(simulation, fleet)

    async def rounds() -> list[Gathered]:
        without = [await poller.round() for _ in range(3)]
        answers["lldpctl -f json0"] = json0
        return [*without, await poller.round()]

    *without, installed = timeless(rounds())
    asked = list(itertools.chain(*asked_of(fleet)))
    counted = [asked.count(command) for command in applicable(Role.HOST, "linux")["lldp_host"]]
    assert counted == [4, 1, 1]
    reasons = {r.error for one in without for r in one.readings if (r.device, r.collector) == ("gpu-001", "lldp_host")}
    lldpd = "lldpctl -f json0 and 1 more: exit status 127: lldpctl: not found"
    assert reasons == {f"{lldpd}; networkctl lldp --full: exit status 127: networkctl: not found"}
    assert not [r for r in installed.readings if (r.device, r.collector) == ("gpu-001", "lldp_host") and r.error]


@pytest.mark.parametrize(
    ("trouble", "summary"),
    [
        ("hangs", "no answer within 0.4 s"),
        ("resets", "connection reset by peer"),
        ("locked", "permission denied for user truerail"),
        ("buggy", "failed inside: IndexError: pop from an empty deque"),
    ],
)
def test_a_device_in_trouble_costs_its_own_row_only(trouble: str, summary: str) -> None:
    simulation, fleet = site({"gpu-003": trouble})
    found = gathered(fleet, simulation)
    assert [row.name for row in found.unreached] == ["gpu-003"]
    broken = [r for r in found.readings if r.device == "gpu-003"]
    assert {r.collector for r in broken} == set(applicable(Role.HOST, "linux"))
    assert {r.error for r in broken} == {summary}
    evaluation = evaluate(Round(simulation.plan, found.snapshot()))
    assert not [f for f in evaluation.findings if f.device != "gpu-003"]


def test_what_a_device_has_no_tool_for_is_asked_once_and_not_reported_as_unread() -> None:
    simulation, fleet = site()
    first, second = two_rounds(poller_of(simulation, fleet))
    assert {r.collector for r in first.readings} == {r.collector for r in second.readings}
    assert {r.collector for r in first.readings} & optional() == {"link_speed"}  # of these all have the tool
    assert not [row for row in first.rows if row.error]
    asked = asked_of(fleet)
    assert any("ethtool -S" in command for command in asked[0])
    assert not any("ethtool -S" in command for command in asked[-1])


def test_an_answer_that_takes_too_long_to_read_rests_and_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.model.answer_limits.MOST_SECONDS", 0.05)
    simulation, fleet = site()
    fleet.answers["gpu-001"]["nvidia-smi topo -m"] = "GPU0 NIC0 CPU Affinity\n" + "GPU1 NIC1\n" * 300_000
    first, second = two_rounds(poller_of(simulation, fleet))
    late = [reading for reading in first.readings if "it took more than 0.05 s to read" in reading.error]
    assert [(reading.device, reading.collector) for reading in late] == [("gpu-001", "gpu_nic_topology")]
    whole = {(reading.device, reading.collector): reading.facts for reading in second.readings}
    assert ("gpu-001", "gpu_nic_topology") not in whole
    assert whole["gpu-001", "lldp_host"]
    assert whole["gpu-002", "gpu_nic_topology"]
    asked = list(itertools.chain(*asked_of(fleet)))
    assert [command for command in asked if "nvidia-smi topo" in command] == ["nvidia-smi topo -m"]


def test_a_device_that_takes_long_to_read_is_read_last_and_rests_longer_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The event loop does not wait for it: a thread reads it."""
    monkeypatch.setattr("truerail.poller.device_poller.QUICK_SECONDS", 0.05)
    monkeypatch.setattr("truerail.poller.device_poller.DEVICE_SECONDS", 0.1)
    whole, on_loop = Row.read, set[tuple[float, bool]]()

    def seen(row: Row, reader: Answers, seconds: float) -> None:
        on_loop.add((seconds, threading.current_thread() is threading.main_thread()))
        whole(row, reader, seconds)

    monkeypatch.setattr(Row, "read", seen)
    (simulation, fleet), at, read = site(), [0.0], list[str]()
    good = fleet.answers["gpu-001"]
    fleet.answers["gpu-001"] = good | {"nvidia-smi topo -m": "GPU0 NIC0 CPU Affinity\n" + "GPU1 NIC1\n" * 300_000}
    still = replace(ambient(), clock=lambda: at[0], sleep=asyncio.sleep)
    poller = Poller(targets(simulation), fleet, devices=simulation.plan.devices, ambient=still)

    async def errors(seconds: float) -> dict[str, str]:
        at[0] = seconds
        found = await poller.round(progress=lambda row, *_: read.append(row.name))
        return {row.name: row.error for row in found.rows if row.error}

    async def rounds() -> None:
        slow = {"gpu-001": "it took more than 0.1 s to read its answers: it is asked again after a while"}
        assert await errors(0.0) == slow
        assert read[-1] == "gpu-001"
        for seconds, asks in ((59.0, 1), (60.0, 2), (179.0, 2), (180.0, 3)):
            assert await errors(seconds) == slow
            assert fleet.asks["gpu-001"] == asks
        fleet.answers["gpu-001"] = good
        assert await errors(420.0) == {}

    timeless(rounds())
    assert on_loop == {(0.05, True), (0.1, False)}


def test_an_answer_that_none_reads_is_dropped_before_it_is_kept_and_nothing_else_is_asked() -> None:
    simulation, fleet = site()
    fleet.answers["gpu-001"]["nvidia-smi topo -m"] = "x: 1\n" * 900_000
    row = next(row for row in gathered(fleet, simulation).rows if row.name == "gpu-001")
    assert "nvidia-smi topo -m" not in row.files()
    why = next(reading.error for reading in row.readings if reading.collector == "gpu_nic_topology")
    assert why == "nvidia-smi topo -m: an answer of 4.3 MB, not read: 4 MB are the most"
    asked = list(itertools.chain(*asked_of(fleet)))
    assert [command for command in asked if "topo" in command] == ["nvidia-smi topo -m"]


def test_the_clock_of_a_device_stands_still_while_another_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked() -> float:
        loop, times = asyncio.get_running_loop(), itertools.count(100.0, 7.0)
        async with asyncio.timeout(5.0) as limit:
            with timed_by(limit), monkeypatch.context() as patched:
                patched.setattr("truerail.transport.turns.monotonic", lambda: next(times))
                with clocks_stopped():
                    pass
            return (limit.when() or 0.0) - loop.time()

    assert timeless(asked()) == 12.0


def test_a_transport_that_does_not_let_go_cannot_hold_the_round() -> None:
    simulation, fleet = site({"gpu-003": "stubborn"})
    found = gathered(fleet, simulation, Limits(device_seconds=0.1, deadline_seconds=0.6, cancel_seconds=0.1))
    assert [row.error for row in found.unreached] == ["no answer before the round's deadline of 0.6 s"]


def test_a_device_whose_turn_never_came_is_not_polled_and_comes_first_in_the_next_round(tmp_path: Path) -> None:
    simulation = simulate(SHAPE, folders="inventory")
    hosts = [name for name, device in simulation.plan.devices.items() if device.role == Role.HOST]
    fleet = FakeFleet(simulation, {hosts[0]: "hangs"})
    limits = Limits(at_once=1, deadline_seconds=0.6, cancel_seconds=0.1)
    poller = Poller(targets(simulation), fleet, devices=simulation.plan.devices, limits=limits)

    first, second = two_rounds(poller, only=hosts)
    late = "not asked: its turn had not come at the round's deadline of 0.6 s"
    waited = "no answer before the round's deadline of 0.6 s"
    assert [row.error for row in first.rows] == [waited, *[late] * (len(hosts) - 1)]
    assert {(reading.device == hosts[0]) == reading.polled for reading in first.readings} == {True}
    found = evaluate(Round(simulation.plan, first.snapshot()))
    assert [one.device for one in found.findings if one.rule == "TEL001"] == [hosts[0]]
    unreachable = next(one for one in found.verdicts if one.rule == "TEL001")
    assert [one.count for one in unreachable.not_evaluated if late in one.why] == [len(hosts) - 1]
    capture = CaptureWriter(tmp_path, first.at)
    for row in first.rows:
        capture.add(row.name, row.files())
    replayed = read_capture(capture.finish(), devices=simulation.plan.devices).readings
    assert [(one.error, one.polled) for one in replayed] == [(one.error, one.polled) for one in first.readings]
    assert [row.error for row in second.rows if row.error] == [waited]


def test_a_device_is_not_blamed_for_a_round_that_leaves_it_too_little_time() -> None:
    simulation = simulate(SHAPE, folders="inventory")
    first, second, *others = [name for name, device in simulation.plan.devices.items() if device.role == Role.HOST]
    fleet = FakeFleet(simulation, {first: "hangs", second: "hangs"})
    limits = Limits(at_once=1, device_seconds=0.4, deadline_seconds=0.6, cancel_seconds=0.1)
    found = gathered(fleet, simulation, limits, only=[first, second, *others])
    assert [row.error for row in found.rows[:3]] == [
        "no answer within 0.4 s",
        "not asked to the end: the round's deadline of 0.6 s came too early for it",
        "not asked: its turn had not come at the round's deadline of 0.6 s",
    ]
    evaluated = evaluate(Round(simulation.plan, found.snapshot()))
    assert [one.device for one in evaluated.findings if one.rule == "TEL001"] == [first]


def test_what_came_too_late_is_not_asked_in_other_words() -> None:
    simulation, fleet = site({"gpu-003": "cut", "gpu-004": "endless"})
    gathered(fleet, simulation)
    assert (len(asked_of(fleet, "gpu-003")), fleet.asks["gpu-004"]) == (1, 1)


@pytest.mark.parametrize("trouble", ["endless", "half", "cut", "dies"])
def test_a_device_that_answers_in_part_gives_what_it_gave(trouble: str) -> None:
    simulation, fleet = site({"gpu-003": trouble})
    found = gathered(fleet, simulation)
    rows = {r.collector: r for r in found.readings if r.device == "gpu-003"}
    assert rows["lldp_host"].error
    assert not rows["lldp_host"].facts
    assert bool(rows["gpu_nic_topology"].facts) == (trouble != "endless")
    assert bool(rows["rdma_link"].error) == (trouble in ("endless", "cut"))
    assert [row.error for row in found.unreached] == (["connection reset by peer"] if trouble == "dies" else [])
    assert all(not r.error for r in found.readings if r.device != "gpu-003" and r.collector != "net_address")


def test_only_connections_are_tried_again() -> None:
    simulation, fleet = site({"gpu-001": "shy", "gpu-002": "resets", "gpu-003": "locked", "gpu-004": "half"})
    found = gathered(fleet, simulation)
    assert [row.name for row in found.unreached] == ["gpu-002", "gpu-003"]
    assert fleet.asks["gpu-002"] == 3
    assert fleet.asks["gpu-003"] == 1
    assert fleet.asks["gpu-004"] == 2


def test_pauses_grow_and_differ() -> None:
    simulation, fleet = site({"gpu-001": "resets"})
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    chances = iter([0.0, 0.9])
    mine = replace(ambient(), sleep=sleep, random=lambda: next(chances))
    gatherer = Poller(targets(simulation), fleet, devices=simulation.plan.devices, ambient=mine)
    timeless(gatherer.round(only={"gpu-001"}))
    assert slept == pytest.approx([0.25, 1.4])


def test_a_fifth_of_the_fleet_dead_ends_within_the_deadline_and_is_named() -> None:
    simulation = simulate(Shape(hosts=50, rails=2, spines=0), folders="inventory")
    dead = {f"gpu-{number:03}": "hangs" for number in range(1, 11)}
    limits = Limits(device_seconds=60.0, deadline_seconds=0.8, cancel_seconds=0.2)

    async def timed() -> tuple[Gathered, float]:
        loop = asyncio.get_running_loop()
        fleet = FakeFleet(simulation, dead)
        gatherer = Poller(targets(simulation), fleet, devices=simulation.plan.devices, limits=limits)
        began = loop.time()
        found = await gatherer.round()
        took = loop.time() - began
        assert fleet.open == 0
        return found, took

    found, took = timeless(timed())
    assert took == pytest.approx(0.8)
    assert {row.name for row in found.unreached} == set(dead)
    assert {row.error for row in found.unreached} == {"no answer before the round's deadline of 0.8 s"}
    answered = {r.device for r in found.readings if r.collector == "lldp_host" and not r.error}
    assert len(answered) == 40


def test_not_more_than_so_many_at_once() -> None:
    simulation, fleet = site(dict.fromkeys(simulate(SHAPE).plan.devices, "slow"))
    gathered(fleet, simulation, Limits(at_once=3))
    assert fleet.most_open == 3


def test_platform_and_role_are_asked_once_where_nobody_knows_them() -> None:
    platforms = ("cumulus", "eos", "nxos", "junos", "sonic")
    simulation = simulate(Shape(hosts=4, rails=5, spines=0, platforms=platforms), folders="inventory")
    fleet = FakeFleet(simulation)
    _, found = two_rounds(Poller(targets(simulation, roles=False), fleet, ambient=ambient()))
    heard = {r.device: r.collector for r in found.readings if r.facts and isinstance(r.facts[0], Neighbor)}
    assert heard == {
        name: "lldp_host" if device.role is Role.HOST else "lldp_switch"
        for name, device in simulation.plan.devices.items()
    }
    assert sum("show version" in commands for _, commands in fleet.asked) == len(simulation.plan.devices)


def test_the_plan_knows_roles_and_platforms_that_the_inventory_does_not() -> None:
    simulation = simulate(Shape(hosts=4, rails=2, spines=0, platforms=("eos", "nxos")), folders="inventory")
    fleet = FakeFleet(simulation)
    gatherer = Poller(targets(simulation, roles=False), fleet, devices=simulation.plan.devices, ambient=ambient())
    found = timeless(gatherer.round())
    assert not any("show version" in commands for _, commands in fleet.asked)
    assert {row.name: row.platform for row in found.rows if row.device.role is Role.LEAF} == {
        "leaf-0": "eos",
        "leaf-1": "nxos",
    }


def test_an_unknown_platform_is_said() -> None:
    simulation, fleet = site()
    fleet.answers["gpu-001"] = {"show version": "Toaster 1.0"}
    gatherer = Poller(targets(simulation, roles=False), fleet, ambient=ambient())
    found = timeless(gatherer.round(only={"gpu-001"}))
    assert "platform is not recognised, name it in the inventory" in found.rows[0].error


SHOW_VERSIONS = {
    "srlinux": "Hostname             : leaf-0\nChassis Type         : 7220 IXR-H4\nSoftware Version     : v24.10.1\n",
    "iosxr": "Cisco IOS XR Software, Version 24.2.1 LNT\nCopyright (c) 2013-2024 by Cisco Systems, Inc.\n",
    "os10": "Dell SmartFabric OS10 Enterprise\nOS Version: 10.6.0.5\nSystem Type: Z9664F-ON\n",
    "aoscx": "-----\nArubaOS-CX\n(c) Copyright 2017-2023 Hewlett Packard Enterprise Development LP\n-----\n",
    "junos": "Hostname: leaf-0\nModel: qfx5240-64od\nJunos: 23.4X100-D20.7-EVO\n",
}


def test_switches_are_identified_by_their_show_version() -> None:
    for name, text in SHOW_VERSIONS.items():
        assert platform_of([Answer(SHOW_VERSION, text)]) == name


@pytest.mark.parametrize("platform", ["srlinux", "iosxr", "os10", "aoscx", "comware", "vrp", "sonic_cli"])
def test_each_switch_is_asked_first_for_what_it_understands(platform: str) -> None:
    first = {name: commands[0] for name, commands in applicable(Role.LEAF, platform).items()}
    word = {"comware": "display", "vrp": "display", "srlinux": "info from state"}.get(platform, "show")
    assert {name for name, command in first.items() if not command.startswith(word)} == set()
    assert {"lldp_switch", "port_state", "link_speed", "port_counters"} <= first.keys()


def test_only_some_devices() -> None:
    simulation, fleet = site()
    found = gathered(fleet, simulation, only={"GPU-002", "leaf-1"})
    assert [row.name for row in found.rows] == ["gpu-002", "leaf-1"]
    assert set(fleet.asks) == {"gpu-002", "leaf-1"}


def test_a_wish_to_stop_ends_the_round_with_what_is_there() -> None:
    simulation, fleet = site({"gpu-003": "hangs"})
    gatherer = poller_of(simulation, fleet)

    async def stopped() -> Gathered:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.2, stop.set)
        return await gatherer.round(stop=stop)

    found = timeless(stopped())
    assert found.interrupted
    assert [(row.name, row.error) for row in found.unreached] == [("gpu-003", "interrupted before it answered")]
    assert fleet.open == 0


def test_progress_tells_of_every_row_once() -> None:
    simulation, fleet = site({"gpu-002": "locked"})
    reported: list[tuple[str, int, int, bool]] = []
    gathered(
        fleet, simulation, progress=lambda row, done, total: reported.append((row.name, done, total, bool(row.files())))
    )
    assert sorted(name for name, *_ in reported) == sorted(simulation.plan.devices)
    assert [done for _, done, _, _ in reported] == list(range(1, len(reported) + 1))
    assert {total for *_, total, _ in reported} == {len(simulation.plan.devices)}


def test_a_failing_progress_ends_the_round() -> None:
    simulation, fleet = site()

    def full(row: object, done: int, total: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        gathered(fleet, simulation, progress=full)
