"""A service over a living fabric with a swap, and a real journal."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from truerail.journal import Journal, open_journal
from truerail.model import CauseKind
from truerail.model.steady import STEADY, SteadyClock
from truerail.service.evaluator import Evaluator
from truerail.service.plans import PlanInForce
from truerail.service.round_loop import Watch, utc_now
from truerail.service.settings import Journal as Kept
from truerail.service.settings import Recovery, Schedule, Settings
from truerail.service.watch_service import WatchService
from truerail.simulator import Fault, Shape
from truerail.simulator.live import LivingFabric, Pace, living_fabric

SHAPE = Shape(hosts=6, rails=4, spines=2, uplinks=2)
SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")
NEVER = Pace(fault_seconds=(1e6, 1e6), repair_seconds=(1e6, 1e6))
PATIENCE_SECONDS = 60.0
Clocks = tuple[Callable[[], datetime], SteadyClock]
"""The system's, and the steady one that it is compared with."""


def settings_for(folder: Path, url: str | None = None) -> Settings:
    quick = dict.fromkeys(("lldp_host", "lldp_switch", "lldp_snmp", "net_link", "rdma_link"), timedelta(seconds=0.3))
    return Settings(
        fabric="test",
        inventory=folder / "inventory.yaml",
        journal=Kept(url=f"sqlite:///{folder}/journal.db" if url is None else url),
        schedule=Schedule(every=quick, jitter=timedelta(0), poll_timeout=timedelta(seconds=PATIENCE_SECONDS)),
        recovery=Recovery(resolve_after=timedelta(seconds=1)),
    )


def fabric_of(*faults: Fault) -> LivingFabric:
    return living_fabric(faults=faults or (SWAP,), seed=4, shape=SHAPE, pace=NEVER)


@asynccontextmanager
async def watched(
    settings: Settings, fabric: LivingFabric, *, planned: bool = True, clocks: Clocks = (utc_now, STEADY)
) -> AsyncIterator[WatchService]:
    journal: Journal | None = open_journal(settings.journal) if settings.journal.url else None
    plan = PlanInForce(lambda: fabric.plan, fabric.plan) if planned else PlanInForce(lambda: None)
    clock, steady = clocks
    evaluator = Evaluator.begin(settings)
    watch = Watch(settings, fabric.targets, plan, fabric.transport, evaluator, journal, clock, steady=steady)
    stop = asyncio.Event()
    running = asyncio.create_task(watch.run(stop))
    try:
        yield WatchService(watch)
    finally:
        stop.set()
        await asyncio.wait_for(running, PATIENCE_SECONDS)


def run(body: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(body())  # type: ignore[arg-type]


def steady(front: WatchService) -> bool:
    """Whether every device was heard, the swap is all that is wrong, and nothing of what was thought before is left.

    A first evaluation may be of a part of the devices: a quick device is asked, and evaluated, again already.
    """
    shown = front.publication
    if shown is None or shown.pending_resolution or kinds(front) != [CauseKind.CABLE_SWAP]:
        return False
    heard = {reading.device for reading in shown.snapshot.readings}
    found = {finding.id for finding in shown.evaluation.findings}
    return heard == set(shown.plan.devices) and found == set(shown.lives)


def kinds(front: WatchService) -> Collection[CauseKind]:
    return [] if front.publication is None else [cause.kind for cause in front.publication.evaluation.causes]
