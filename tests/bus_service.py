"""Pollers and a judge over a real NATS server, in this process and in others, and what the judge shows."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from msgspec import structs

from tests.fake_fleet import FakeFleet
from tests.nats_bus import TIMING, Addressed, NatsServer
from tests.patience import ENOUGH, until
from tests.poller_fabric import simulation, zoned_work
from tests.watched_service import settings_for
from truerail.analysis.counters import Window
from truerail.analysis.counters.window import STEP_SECONDS
from truerail.analysis.round import Round
from truerail.link.streams import Timing
from truerail.link.subjects import Subjects
from truerail.model import Snapshot
from truerail.model.life import LifeState
from truerail.outputs.report_json import render_json
from truerail.poller.bus_poller import BusPoller
from truerail.poller.bus_polling import BusPolling
from truerail.rounds import evaluate
from truerail.service.evaluator import Evaluator
from truerail.service.plans import PlanInForce
from truerail.service.round_loop import Watch

ROOT = Path(__file__).resolve().parent.parent
MADE = simulation()


@asynccontextmanager
async def polled(
    server: Addressed, subjects: Subjects, zone: str, name: str, seconds: float = 0.5
) -> AsyncIterator[FakeFleet]:
    """A poller in this process, which knows the inventory and no plan; the fleet that it asks."""
    fleet = FakeFleet(MADE)
    poller = BusPoller(zoned_work(seconds, planned=False), fleet, server.address, subjects, zone, name, TIMING)
    stop, begun = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(poller.run(stop, begun.set))
    await until(lambda: begun.is_set() or running.done())
    try:
        yield fleet
    finally:
        stop.set()
        await asyncio.wait_for(running, ENOUGH)


@asynccontextmanager
async def process(
    server: NatsServer, subjects: Subjects, name: str, *under: str, zone: str = "pods"
) -> AsyncIterator["subprocess.Popen[bytes]"]:
    """A poller in a process of its own, started by this program."""
    command = [*under, sys.executable, "-m", "tests.bus_poller_process", server.url, subjects.fabric, zone, name]
    with subprocess.Popen(command, cwd=ROOT) as started:
        try:
            yield started
        finally:
            started.kill()


@asynccontextmanager
async def judged(
    server: Addressed, subjects: Subjects, folder: Path, timing: Timing = TIMING, step_seconds: float = STEP_SECONDS
) -> AsyncIterator[tuple[Watch, BusPolling]]:
    """A judge without pollers of its own. `step_seconds` are those between two samples of counters."""
    settings = settings_for(folder, url="")
    schedule = settings.schedule.model_copy(update={"poll_timeout": timedelta(seconds=0.5)})
    settings = settings.model_copy(update={"schedule": schedule})
    plan = PlanInForce(lambda: MADE.plan, MADE.plan)
    made = partial(BusPolling, address=server.address, subjects=subjects, timing=timing)
    evaluator = replace(Evaluator.begin(settings), window=Window(step_seconds=step_seconds))
    watch = Watch(settings, zoned_work().targets, plan, FakeFleet(MADE), evaluator, None, polling=made)
    stop = asyncio.Event()
    running = asyncio.create_task(watch.run(stop))
    assert isinstance(watch.asking, BusPolling)
    try:
        yield watch, watch.asking
    finally:
        stop.set()
        await asyncio.wait_for(running, ENOUGH)


def report(snapshot: Snapshot | None) -> str:
    """The report of the cabling, with the same time whenever it was read."""
    assert snapshot
    at = datetime.fromisoformat("2026-11-20T14:00:00+00:00")
    readings = [
        structs.replace(
            one, at=at, took_seconds=0.0, read_at=0.0, facts_at=None, facts=() if are_counts(one.facts) else one.facts
        )
        for one in sorted(snapshot.readings, key=lambda one: (one.device, one.collector))
    ]
    return render_json(evaluate(Round(MADE.plan, Snapshot(at, readings, None, snapshot.inventory), None)))


def are_counts(facts: tuple[object, ...]) -> bool:
    return bool(facts) and type(facts[0]).__name__ == "PortCounters"


def findings(watch: Watch) -> list[str]:
    published = watch.shown.publication
    return sorted(one.id for one in published.evaluation.findings) if published else []


def summary(watch: Watch) -> tuple[int, int, int]:
    """Cables that are right, missing and unknown."""
    published = watch.shown.publication
    assert published
    found = published.evaluation.summary
    return found.cables_right, found.cables_missing, found.cables_unknown


def all_seen(watch: Watch) -> bool:
    """Whether the newest evaluation has every cable's answers. On a busy machine one may be late for a round."""
    return bool(watch.evaluations) and summary(watch)[1:] == (0, 0)


def found_again(watch: Watch, known: list[str]) -> bool:
    """Whether all is seen and found as before; never has a finding been resolved or added meanwhile."""
    published = watch.shown.publication
    assert published
    assert {key for key, life in published.lives.items() if life.state is not LifeState.RESOLVED} == set(known)
    return all_seen(watch) and findings(watch) == known


def owners(asking: BusPolling) -> dict[str, str]:
    """The poller that described each device last."""
    return {name: asking._received.inbox.place_of(name)[1] for name in asking.devices}
