"""Asking in rounds: together what comes due together, and one slow device holds no one."""

import asyncio
from collections.abc import Awaitable

import pytest

from tests.fake_fleet import FakeFleet, ambient, targets
from tests.virtual_time import timeless
from truerail.analysis.round import Round
from truerail.poller import Limits, Poller
from truerail.poller.fleet import Work
from truerail.poller.polling import PollScheduler, intervals
from truerail.poller.received import NOT_YET
from truerail.poller.schedule import Schedule
from truerail.rounds import evaluate
from truerail.simulator import Shape, Simulation, simulate

SHAPE = Shape(hosts=4, rails=2, spines=2, uplinks=2)


RIGS: list["Rig"] = []


def in_loop(test: Awaitable[None]) -> None:
    """A test of this module, in a time of its own; what it has asked ends with it."""

    async def whole() -> None:
        await test
        while RIGS:
            await RIGS.pop().asking.stop()

    timeless(whole())


class Rig:
    """An `PollScheduler` over a fleet in memory."""

    def __init__(
        self, troubles: dict[str, str] | None = None, patience: float = 5.0, device: float = 0.4, at_once: int = 1000
    ) -> None:
        self.simulation: Simulation = simulate(SHAPE, folders="inventory")
        self.fleet = FakeFleet(self.simulation, troubles)
        limits = Limits(at_once=at_once, device_seconds=device, deadline_seconds=5.0, cancel_seconds=0.1)
        self.heard = 0
        gatherer = Poller(
            targets(self.simulation), self.fleet, devices=self.simulation.plan.devices, limits=limits, ambient=ambient()
        )
        self.asking = PollScheduler(
            gatherer, Work((), {}, intervals({}), patience, jitter_seconds=0.0), heard=self._hear
        )

        RIGS.append(self)

    def _hear(self) -> None:
        self.heard += 1


async def test_everything_is_asked_once_and_one_snapshot_holds_it() -> None:
    rig = Rig()
    assert await rig.asking.everything() == len(rig.simulation.plan.devices)
    snapshot = rig.asking.latest.snapshot()
    assert snapshot is not None
    assert {r.device for r in snapshot.readings} == set(rig.simulation.plan.devices)
    assert rig.heard == 1
    assert rig.asking.runs["lldp_host"].devices_answered == 4
    assert rig.asking.runs["lldp_host"].devices_asked == 4


async def test_questions_that_come_due_together_are_one_ask_for_each_device() -> None:
    rig = Rig()
    await rig.asking.everything()
    before = rig.fleet.asks["gpu-001"]
    await asyncio.gather(*(rig.asking.due(name) for name in ("lldp_host", "rdma_link", "net_link")))
    assert rig.fleet.asks["gpu-001"] == before + 1
    asked = [commands for name, commands in rig.fleet.asked if name == "gpu-001"][-1]
    assert not any("nvidia-smi" in command for command in asked)
    assert rig.asking.runs["lldp_host"].rounds_total == 2
    assert rig.asking.runs["gpu_nic_topology"].rounds_total == 1


async def test_a_question_for_hosts_asks_no_switch() -> None:
    rig = Rig()
    await rig.asking.everything()
    before = dict(rig.fleet.asks)
    await rig.asking.due("rdma_link")
    assert {name for name, count in rig.fleet.asks.items() if count > before[name]} == {
        f"gpu-00{n}" for n in (1, 2, 3, 4)
    }


async def test_a_hanging_device_holds_a_round_for_its_patience_only_and_is_left_out_until_it_is_done() -> None:
    rig = Rig({"gpu-002": "hangs"}, patience=0.1, device=1.0)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await rig.asking.everything()
    assert loop.time() - began == pytest.approx(0.1)
    assert rig.asking.waiting == 1
    snapshot = rig.asking.latest.snapshot()
    assert snapshot is not None
    assert {r.device for r in snapshot.readings if r.polled} == set(rig.simulation.plan.devices) - {"gpu-002"}
    assert [(r.device, r.error) for r in snapshot.readings if not r.polled] == [("gpu-002", NOT_YET)]
    assert not [one for one in evaluate(Round(rig.simulation.plan, snapshot)).findings if one.rule == "TEL001"]
    await rig.asking.everything()
    assert rig.fleet.asks["gpu-002"] == 1
    assert rig.fleet.asks["gpu-001"] > 1
    while rig.asking.waiting:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.15)
    snapshot = rig.asking.latest.snapshot()
    assert snapshot is not None
    errors = {r.error for r in snapshot.readings if r.device == "gpu-002"}
    assert errors
    assert all("within 1 s" in error for error in errors)
    assert rig.heard >= 3


async def test_a_device_that_is_being_polled_is_asked_everything_as_soon_as_it_is_idle() -> None:
    """A device that was taken over while its new poller read its neighbors is not left without the rest."""
    rig = Rig()

    def read(name: str) -> set[str]:
        snapshot = rig.asking.latest.snapshot()
        return {r.collector for r in snapshot.readings if r.device == name} if snapshot else set()

    one = asyncio.create_task(rig.asking.round({"lldp_host"}, {"gpu-001"}))
    await asyncio.sleep(0)
    assert await rig.asking.everything({"gpu-001", "gpu-002"}) == 2
    await one
    async with asyncio.timeout(60):
        while read("gpu-001") != read("gpu-002"):
            await asyncio.sleep(0.1)
    assert read("gpu-001") >= {"lldp_host", "rdma_link", "net_link"}


def collectors_of(rig: Rig, device: str) -> set[str]:
    snapshot = rig.asking.latest.snapshot()
    return {r.collector for r in snapshot.readings if r.device == device and r.facts} if snapshot else set()


async def test_a_device_that_waits_for_its_turn_is_asked_at_it_what_comes_due_meanwhile() -> None:
    """Otherwise the last devices of a round that takes long are never asked what comes due in the middle of it."""
    rig = Rig(at_once=1)
    await rig.asking.everything()  # from now on it is known which commands the devices have
    rig.fleet.asked.clear()
    one = asyncio.create_task(rig.asking.round({"lldp_host"}, {"gpu-001", "gpu-002"}))
    while not rig.fleet.open:
        await asyncio.sleep(0)
    assert await rig.asking.round({"net_link"}, {"gpu-002"}) == 0
    await one
    asked = {name: " ".join(commands) for name, commands in rig.fleet.asked}
    assert len(rig.fleet.asked) == len(asked) == 2
    assert ["ip -j" in asked[name] for name in ("gpu-001", "gpu-002")] == [False, True]
    assert all("lldp" in commands for commands in asked.values())


async def test_a_device_that_is_being_asked_is_asked_once_it_has_answered_what_came_due_meanwhile() -> None:
    rig = Rig({"gpu-001": "slow", "gpu-002": "hangs"})
    both = {"gpu-001", "gpu-002"}
    one = asyncio.create_task(rig.asking.round({"lldp_host"}, both))
    await asyncio.sleep(0.02)
    assert rig.asking.waiting
    assert await rig.asking.round({"net_link"}, both) == 0
    await one
    await asyncio.sleep(2.0)
    assert collectors_of(rig, "gpu-001") == {"lldp_host", "net_link"}
    assert rig.fleet.asks["gpu-002"] == 1, "it has not answered, and waits for its next round"


async def test_what_a_host_reports_while_it_does_not_answer_is_asked_all_the_same() -> None:
    """An agent whose answers are whole while its host refuses the login by SSH would else be read an interval later."""
    rig = Rig({"gpu-001": "hangs"})
    one = asyncio.create_task(rig.asking.round({"lldp_host"}, {"gpu-001"}))
    await asyncio.sleep(0.02)
    assert await rig.asking.round({"rdma_link"}, {"gpu-001"}) == 0
    rig.asking.soon("gpu-001", {"net_link"})
    await one
    rig.fleet.troubles.clear()
    await asyncio.sleep(2.0)
    assert collectors_of(rig, "gpu-001") == {"net_link"}
    assert rig.fleet.asks["gpu-001"] == 2


async def test_what_a_host_reports_to_have_changed_is_asked_soon_or_with_the_round_that_begins() -> None:
    rig = Rig()
    await rig.asking.everything()
    rig.fleet.asked.clear()
    rig.asking.soon("gpu-001", {"net_link"})
    rig.asking.soon("gpu-002", {"net_link"})
    rig.asking.soon("gone", {"net_link"})
    await rig.asking.round({"lldp_host"}, {"gpu-001"})
    await asyncio.sleep(0.2)
    asked = {name: " ".join(commands) for name, commands in rig.fleet.asked}
    assert len(rig.fleet.asked) == len(asked) == 2
    assert all("ip -j" in commands for commands in asked.values())
    assert ["lldp" in asked[name] for name in ("gpu-001", "gpu-002")] == [True, False]


async def test_what_is_asked_beside_the_first_round_is_not_evaluated_before_it() -> None:
    """Otherwise each start of a service would begin with links that no one has answered for yet."""
    rig = Rig({"gpu-001": "slow", "gpu-002": "hangs"})
    one = asyncio.create_task(rig.asking.everything())
    await asyncio.sleep(0.02)
    await rig.asking.round({"net_link"}, {"gpu-001"})
    while "net_link" not in collectors_of(rig, "gpu-001") or rig.asking.waiting > 1:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)
    assert (one.done(), rig.heard) == (False, 0)
    await one
    assert rig.heard == 1


async def test_a_failed_answer_takes_the_place_of_a_good_one() -> None:
    rig = Rig()
    await rig.asking.everything()
    rig.fleet.troubles["gpu-003"] = "locked"
    await rig.asking.everything()
    snapshot = rig.asking.latest.snapshot()
    assert snapshot is not None
    of = [r for r in snapshot.readings if r.device == "gpu-003"]
    assert of
    assert all("permission denied" in r.error for r in of)
    assert rig.asking.runs["lldp_host"].failures_total == 1
    assert rig.asking.runs["lldp_host"].devices_answered == 3


async def test_only_those_named_are_asked() -> None:
    rig = Rig()
    assert await rig.asking.everything({"gpu-001", "leaf-0", "nobody"}) == 2
    assert set(rig.fleet.asks) == {"gpu-001", "leaf-0"}


def test_a_job_that_still_runs_is_skipped_and_counted() -> None:
    skipped: list[str] = []
    failed: list[str] = []

    async def body() -> None:
        schedule = Schedule(overran=skipped.append, failed=lambda job, error: failed.append(f"{job}: {error}"))
        release = asyncio.Event()

        async def slow() -> None:
            await release.wait()

        async def broken() -> None:
            raise ValueError("no luck")

        schedule.every("slow", 0.1, slow)
        schedule.every("broken", 0.1, broken)
        schedule.start()
        while len(skipped) < 2 or not failed:
            await asyncio.sleep(0.02)
        release.set()
        schedule.stop()
        await asyncio.sleep(0.05)

    timeless(body())
    assert set(skipped) == {"slow"}
    assert set(failed) == {"broken: no luck"}
