"""The system's clock is set while truerail runs: by an hour, to 1970, to 2038; and a machine that was suspended.

Polls go on at their intervals, nothing is older, newer or longer than it was, and the times that people read are those
of the system's clock.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.patience import until
from tests.poller_readings import counters, reading
from tests.virtual_time import timeless
from tests.watched_service import fabric_of, kinds, run, settings_for, steady, watched
from truerail.analysis.counters import Window
from truerail.model import CauseKind, NetLink
from truerail.model.steady import SteadyClock
from truerail.poller.received import Latest
from truerail.poller.schedule import Schedule

HOUR = 3600.0
_NOW = datetime(2026, 11, 20, 14, tzinfo=UTC)
STEPS = {
    "an hour back": -HOUR,
    "an hour ahead": HOUR,
    "1970": -_NOW.timestamp(),
    "2038": datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC).timestamp() - _NOW.timestamp(),
}


class Clocks:
    """Those of a machine: `wall` can be set, `elapsed` only passes."""

    def __init__(self) -> None:
        self.elapsed, self.wall = 500.0, _NOW.timestamp()
        self.steady = SteadyClock(lambda: self.wall, lambda: self.elapsed)

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.elapsed += seconds
        self.wall += seconds


@pytest.fixture(params=STEPS.values(), ids=STEPS.keys())
def step(request: pytest.FixtureRequest) -> float:
    seconds: float = request.param
    return seconds


def test_a_steady_clock_goes_on_where_the_systems_is_set(step: float) -> None:
    clocks = Clocks()
    for seconds in (10.0, 0.4, 3600.0):
        clocks.wait(seconds)
        clocks.wall += 0.3  # slewed, not set
    assert clocks.steady.now() == _NOW + timedelta(seconds=3610.4)
    assert clocks.steady.set_by() == 0.0
    clocks.wall += step
    assert clocks.steady.now() == _NOW + timedelta(seconds=3610.4)
    assert clocks.steady.set_by() == pytest.approx(step, abs=1.0)
    clocks.wall -= step
    assert abs(clocks.steady.set_by()) <= 1.0


def test_a_suspended_machine_is_time_that_has_passed() -> None:
    """CLOCK_BOOTTIME counts it, CLOCK_MONOTONIC does not: the steady clock is the former."""
    clocks = Clocks()
    clocks.wait(HOUR)
    assert (clocks.steady.seconds() - _NOW.timestamp(), clocks.steady.set_by()) == (HOUR, 0.0)
    real = SteadyClock()
    before = time.clock_gettime(time.CLOCK_BOOTTIME) - real.seconds()
    assert before == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME) - real.seconds(), abs=1.0)
    assert before == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME) - time.time(), abs=1.0)


def test_a_job_runs_at_its_interval_by_the_clock_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour passes on it while the system's clock stands still, is behind and is ahead."""
    ran: list[float] = []

    async def body() -> None:
        loop = asyncio.get_running_loop()

        async def job() -> None:
            ran.append(loop.time())
            monkeypatch.setattr(time, "time", lambda: _NOW.timestamp() + (-1) ** len(ran) * HOUR)

        schedule = Schedule(overran=lambda name: None, failed=lambda name, error: None)
        schedule.every("steady", 60.0, job)
        schedule.start()
        await asyncio.sleep(HOUR + 1)
        schedule.stop()
        await asyncio.sleep(HOUR)

    timeless(body())
    assert ran == [60.0 * number for number in range(1, 61)]


def test_jitter_moves_each_run_and_not_the_next_ones() -> None:
    ran: list[float] = []

    async def body() -> None:
        async def job() -> None:
            ran.append(asyncio.get_running_loop().time())

        schedule = Schedule(overran=lambda name: None, failed=lambda name, error: None)
        schedule.start()
        schedule.every("moved", 10.0, job, jitter_seconds=2.0)
        await asyncio.sleep(1000.0)
        schedule.drop("moved")
        schedule.drop("moved")
        await asyncio.sleep(1000.0)

    timeless(body())
    off = [at - 10.0 * number for number, at in enumerate(ran, 1)]
    assert len(ran) >= 99
    assert max(map(abs, off)) <= 2.0
    assert len(set(off)) > 50


def test_answers_are_as_old_after_a_step_as_before(step: float) -> None:
    latest = Latest({"gpu-1": "", "gpu-2": ""})
    latest.put([reading("gpu-1", NetLink("eth0"), read_at=_NOW.timestamp() - 100), *counters("gpu-2", 1)])
    latest.put([reading("gpu-2", NetLink("eth0"), read_at=_NOW.timestamp())])
    latest.follow(step)
    latest.put([reading("gpu-2", NetLink("eth0"), read_at=_NOW.timestamp() + 10)])
    snapshot = latest.snapshot()
    assert snapshot is not None
    ages = {
        one.device: (snapshot.at - one.at).total_seconds() for one in snapshot.readings if one.collector == "net_link"
    }
    assert ages == {"gpu-1": 110.0, "gpu-2": 0.0}
    assert snapshot.at == _NOW + timedelta(seconds=10 + step)
    (counted,) = latest.counted()
    assert (counted.read_at, counted.at.timestamp()) == (100.0 + step, 100.0 + step)
    latest.follow(0.0)
    snapshot = latest.snapshot()
    assert snapshot is not None
    assert snapshot.at == _NOW + timedelta(seconds=10)


def test_a_step_costs_no_sample_of_the_counters(step: float) -> None:
    window, moved = Window(), 0.0
    for number in range(12):
        if number == 6:
            window.view()
            window.move(step)
            moved = step
        window.put(counters("leaf-0", number * 10_000, read_at=_NOW.timestamp() + moved + 10 * number))
    spans = window.sources["nic_counters"].span
    assert [float(spans[sample][0]) for sample in window.order.tolist()[1:]] == pytest.approx([10.0] * 11, abs=1e-3)


def test_a_service_goes_on_and_ends_a_fault_when_its_clock_is_set(tmp_path: Path, step: float) -> None:
    """A real service: nothing is called old, the swap stays what it was, and is resolved once it is repaired."""
    moved = 0.0

    def wall() -> float:
        return time.time() + moved

    async def body() -> None:
        nonlocal moved
        fabric = fabric_of()
        clocks = (lambda: datetime.fromtimestamp(wall(), UTC), SteadyClock(wall))
        async with watched(settings_for(tmp_path), fabric, clocks=clocks) as front:
            await until(lambda: steady(front))
            known = front.publication
            assert known is not None
            for set_by in (step, 0.0, step):
                moved = set_by
                number = known.number + 4
                await until(lambda: front.publication and front.publication.number > number, "it goes on")  # noqa: B023 - awaited at once
                shown = front.publication
                assert shown is not None
                assert (kinds(front), shown.pending_resolution) == ([CauseKind.CABLE_SWAP], ())
                assert {one.rule for one in shown.evaluation.findings} == {
                    one.rule for one in known.evaluation.findings
                }
                assert abs((front.now() - shown.at).total_seconds()) < HOUR / 2
                lasted = [(shown.at - one.since).total_seconds() for one in shown.cause_lives.values()]
                assert len(lasted) == 1
                assert all(0 <= one < HOUR / 2 for one in lasted)
                ages = [
                    front.now() - run.last_at for run in shown.runs.values() if run.last_at and run.rounds_total > 1
                ]
                assert ages
                assert all(abs(age.total_seconds()) < HOUR / 2 for age in ages)
                known = shown
            fabric.director.fix(1)
            fabric.living.settle()
            await until(lambda: not kinds(front) and not front.publication.pending_resolution, "resolved")  # type: ignore[union-attr]
            since = front.now() - timedelta(hours=1)
            await until(lambda: front.history.findings(resolved_since=since), "the journal has it")
            assert front.counters["evaluations_failed_total"] == 0

    run(body)
