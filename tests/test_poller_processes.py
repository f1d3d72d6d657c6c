"""Pollers as processes: real ones, killed with signal 9 while they work. The service finds what one process finds."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from collector import collectors
from tests.fake_fleet import FakeFleet
from tests.patience import ENOUGH, soon, until
from tests.poller_fabric import PROGRAM, QUICK, simulation, work
from tests.simulated_poller import GONE
from tests.watched_service import settings_for
from truerail.model import CauseKind, Finding
from truerail.model.life import LifeState
from truerail.poller import Poller
from truerail.poller.processes import Child, PollerProcesses, auto_pollers
from truerail.service.evaluator import Evaluator
from truerail.service.plans import PlanInForce
from truerail.service.round_loop import Watch
from truerail.service.watch_service import WatchService

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRUERAIL_TEST_FOLDER", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return tmp_path


@asynccontextmanager
async def watched(folder: Path, other_seconds: float) -> AsyncIterator[tuple[WatchService, PollerProcesses]]:
    """A service with two pollers over the simulated fabric; all but cabling is polled at this interval."""
    made = simulation()
    plan = PlanInForce(lambda: made.plan, made.plan)
    settings = settings_for(folder, url="")
    every = {name: timedelta(seconds=0.5 if name in QUICK else other_seconds) for name in collectors()}
    schedule = settings.schedule.model_copy(update={"poll_timeout": timedelta(seconds=1), "every": every})
    settings = settings.model_copy(update={"schedule": schedule})
    polling = partial(PollerProcesses, count=2, program=PROGRAM)
    watch = Watch(settings, work().targets, plan, FakeFleet(made), Evaluator.begin(settings), None, polling=polling)
    stop = asyncio.Event()
    running = asyncio.create_task(watch.run(stop))
    assert isinstance(watch.asking, PollerProcesses)
    try:
        yield WatchService(watch), watch.asking
    finally:
        stop.set()
        await asyncio.wait_for(running, ENOUGH)


def findings(front: WatchService) -> list[str]:
    return of_cables(front.publication.evaluation.findings) if front.publication else []


def of_cables(found: Iterable[Finding]) -> list[str]:
    """Ids of findings on cabling: what counters show depends on how often they were read."""
    return sorted(one.id for one in found if one.rule.startswith("CAB"))


async def test_two_pollers_find_what_one_process_finds_also_while_one_is_killed(folder: Path) -> None:
    made = simulation()

    async def alone() -> list[str]:
        from truerail.analysis.round import Round
        from truerail.rounds import evaluate

        seen = await Poller(work().targets, FakeFleet(made), devices=made.plan.devices).round()
        found = evaluate(Round(made.plan, seen.snapshot(), None))
        assert [cause.kind for cause in found.causes] == [CauseKind.CABLE_SWAP]
        return of_cables(found.findings)

    expected = await alone()
    async with watched(folder, 3600.0) as (front, asking):
        await until(lambda: findings(front) == expected and len(asking.latest.snapshot().readings) > 30)  # type: ignore[union-attr]
        assert front.publication is not None
        publication = front.publication
        life = publication.lives[expected[0]]
        await until(lambda: asking.figures["pollers_running"] == 2)
        before = asking.rounds_total
        victim = next(child for child in asking.children.values() if child.process)
        assert victim.process
        os.kill(victim.process.pid, signal.SIGKILL)
        await until(lambda: asking.figures["poller_restarts_total"] == 1 and asking.figures["pollers_running"] == 2)
        number = front.publication.number
        await until(lambda: front.publication and front.publication.number > number + 3 and before)
        assert findings(front) == expected
        assert front.publication.lives[expected[0]].first_seen == life.first_seen
        assert front.publication.lives[expected[0]].episodes == life.episodes
        assert await front.recheck({front.publication.plan.cables[0].a.device}, "op") == 1
        fewer = work()
        asking.apply(replace(fewer, targets=fewer.targets[1:]))
        gone = set(simulation().plan.devices).difference(asking.devices)
        number = asking.rounds_total
        await until(lambda: asking.rounds_total > number + 2)
        snapshot = asking.latest.snapshot()
        assert len(gone) == 1
        assert snapshot
        assert not gone.intersection(one.device for one in snapshot.readings)
        pids = [child.process.pid for child in asking.children.values() if child.process]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def verdicts(front: WatchService) -> dict[str, str]:
    """Why rules could not evaluate."""
    assert front.publication
    return {one.rule: one.why for one in front.publication.evaluation.verdicts}


async def test_without_a_poller_its_devices_become_unknown_with_the_reason_and_nothing_is_resolved(
    folder: Path,
) -> None:
    async with watched(folder, 0.5) as (front, asking):
        await until(lambda: len(findings(front)) > 1 and asking.figures["pollers_running"] == 2)
        known = findings(front)
        (folder / GONE).touch()
        for child in asking.children.values():
            assert child.process
            os.kill(child.process.pid, signal.SIGKILL)
        await until(lambda: front.publication and "are not polled" in verdicts(front)["TEL001"] and not findings(front))
        publication = front.publication
        assert publication
        summary = publication.evaluation.summary
        assert (summary.cables_unknown, summary.cables_missing) == (summary.cables_planned, 0)
        reasons = {one.error for one in publication.snapshot.readings if "poller" in one.error}
        assert reasons
        assert all(re.fullmatch(r"poller process \d has not run since \d\d:\d\d UTC", one) for one in reasons)
        assert {publication.lives[key].state for key in known} == {LifeState.UNSEEN}
        (folder / GONE).unlink()
        await until(lambda: findings(front) == known)


async def test_devices_of_a_poller_that_never_ran_are_unknown_with_the_reason(folder: Path) -> None:
    (folder / GONE).touch()
    asking = PollerProcesses(work(), int, 1, PROGRAM)
    asking.start()
    try:
        await until(lambda: asking.latest.heard == len(asking.devices))
        snapshot = asking.latest.snapshot()
        assert snapshot
        assert all(re.search(r"poller process 1 has not run since", one.error) for one in snapshot.readings)
        (folder / GONE).unlink()
        await until(lambda: not any("poller process" in one.error for one in asking.latest.snapshot().readings))  # type: ignore[union-attr]
    finally:
        await asking.stop()


@pytest.mark.usefixtures("folder")
async def test_a_poller_that_hangs_is_ended_and_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.poller.processes.SILENT_SECONDS", 8.0)
    asking = PollerProcesses(work(), int, 1, PROGRAM)
    asking.start()
    try:
        (victim,) = asking.children.values()
        await until(lambda: victim.speaks)
        assert victim.process
        pid = victim.process.pid
        os.kill(pid, signal.SIGSTOP)
        await until(lambda: victim.process and victim.process.pid != pid and victim.speaks)
    finally:
        await asking.stop()


def test_a_poller_that_is_behind_with_its_work_is_not_ended_and_one_that_does_nothing_is() -> None:
    child = Child("1", heard_at=0.0, speaks=True)
    assert not any(child.hangs(float(second), second) for second in range(1, 120))
    assert child.hangs(135.0, 119)  # nothing done for more than 15 s
    endless = Child("2", heard_at=0.0, speaks=True)
    assert next(second for second in range(1, 300) if endless.hangs(float(second), second)) == 181
    waiting = Child("3", heard_at=0.0, speaks=True)
    waiting.deaf(100.0)  # the service itself took no messages
    assert (waiting.hangs(114.0, 0), waiting.hangs(116.0, 0)) == (False, True)
    starting = Child("4")
    assert (starting.hangs(59.0, 0), starting.hangs(61.0, 0)) == (False, True)


def test_the_processes_end_with_their_parent() -> None:
    """Killed with signal 9, it has no time to end them."""
    script = (
        "import asyncio, os\n"
        "from tests.poller_fabric import work\n"
        "from truerail.poller.processes import PollerProcesses\n"
        "async def main():\n"
        "    asking = PollerProcesses(work(), int, 2)\n"
        "    asking.start()\n"
        "    while asking.figures['pollers_running'] < 2: await asyncio.sleep(0.02)\n"
        "    print(*(child.process.pid for child in asking.children.values()), flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.kill()
    soon(lambda: not any(runs(pid) for pid in pids))


def runs(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent to reap it does not."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def test_a_poller_loads_neither_rules_nor_a_web_server() -> None:
    script = "import sys, truerail.poller.child; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert not {"rules", "fastapi", "starlette", "pandas", "sqlalchemy", "duckdb", "rich"} & set(loaded.split())


def test_a_small_fabric_needs_no_further_process() -> None:
    assert auto_pollers(1999) == 0
    assert auto_pollers(2000) == len(os.sched_getaffinity(0))
