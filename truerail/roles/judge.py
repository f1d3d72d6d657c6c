"""The judge: polls, evaluates, writes journal and view. It serves no HTTP."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.errors import CommandError, HistoryStoreError, JournalUnusableError
from truerail.extras import require
from truerail.journal import Journal, open_journal
from truerail.model import Target
from truerail.model.pause import garbage_of_the_young_only
from truerail.model.tasks import end
from truerail.outputs.metrics import Exposition
from truerail.poller.polling import PollingMaker
from truerail.roles.judge_link import JudgeLink
from truerail.roles.post import Post, signals
from truerail.service.api import Outlet
from truerail.service.evaluator import Evaluator
from truerail.service.logs import logger
from truerail.service.plans import PlanInForce
from truerail.service.round_loop import Watch, utc_now
from truerail.service.settings import Settings
from truerail.service.watch_service import WatchService
from truerail.transport.protocol import Transport
from truerail.viewfile.publishing import PublicationWriter
from truerail.web.application import open_app

if TYPE_CHECKING:
    from truerail.service.history_writer import HistoryWriter
    from truerail.service.leadership import Leadership

LOST_LEASE = 75
"""Exit code of a judge that leads no more: a failure of the moment, EX_TEMPFAIL of sysexits.h."""
SWITCH_SECONDS = 0.00005
"""Python's switch interval between threads: a question waits for its turn about ten times on its way."""


async def judge(
    settings: Settings,
    targets: Sequence[Target],
    plan: PlanInForce,
    transport: Transport,
    post: Post,
    *,
    ready: Callable[[str], None],
    stop: asyncio.Event,
    reload: Callable[[Watch], None] | None = None,
    polling: PollingMaker | None = None,
    leading: "Callable[[], Leadership] | None" = None,
) -> None:
    """Monitors until `stop` is set or a signal comes. `ready` is called with the service's address, once it responds;
    `polling` makes what polls, in place of this process; `leading` the part in who leads of several judges. Raises
    CommandError if it cannot start.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    garbage_of_the_young_only()
    journal = await asyncio.to_thread(journal_of, settings)
    writer = PublicationWriter(post.view)
    evaluator, exposition = Evaluator.begin(settings, last=writer.published), Exposition()
    evaluator.prepare.append(exposition.page_of)
    recording = await asyncio.to_thread(_recording, settings)
    leadership = leading() if leading else None
    watch = Watch(
        settings, targets, plan, transport, evaluator, journal,
        recording=recording, polling=polling, leadership=leadership,
    )  # fmt: skip
    service = WatchService(watch)
    watch.outlets += _outlets(settings, watch, exposition, lambda: service.counters)
    link = JudgeLink(service, lambda: open_app(service, settings, exposition), writer, exposition)
    fronts = None
    if leadership:
        from truerail.roles.front_bus import BusFronts

        fronts = BusFronts(leadership, link, post.view)
    post.started()
    with signals(stop, (lambda: reload(watch)) if reload else None):
        linked = asyncio.create_task(link.run(post.link, lambda: ready(post.url)))
        serving = asyncio.create_task(fronts.run()) if fronts else None
        ending = asyncio.create_task(_end_without_lease(leadership)) if leadership else None
        waiting = asyncio.create_task(_give_way(post.nice, watch))
        try:
            await watch.run(stop)
        finally:
            if leadership and ending:
                await end([ending])
                await leadership.end()
            await end([task for task in (linked, serving, waiting) if task], failed=True)
            await transport.close()
            writer.close()


async def _give_way(nice: int, watch: Watch) -> None:
    """Readers wait for no round but a judge's first, before which they have an old view or none. A standby has none."""
    if watch.leadership is None:
        async with aclosing(watch.shown.events.follow(watch.shown.events.last)) as events:
            await anext(events)
    for thread in Path("/proc/self/task").glob("*"):
        with suppress(OSError):  # it has ended, or a sandbox forbids it
            os.setpriority(os.PRIO_PROCESS, int(thread.name), nice)


async def _end_without_lease(leadership: "Leadership") -> None:
    """Ends this process at once when another judge may lead: nothing of it may be written or sent any more. The
    service starts it again, as a standby.
    """
    logger().error("this judge ends, and stands by", why=await leadership.lost(), epoch=leadership.epoch)
    os._exit(LOST_LEASE)


def journal_of(settings: Settings) -> Journal | None:
    """The journal; None without one. Raises CommandError if it cannot be used."""
    try:
        return open_journal(settings.journal) if settings.journal.url else None
    except JournalUnusableError as error:
        raise CommandError(str(error)) from error


def _recording(settings: Settings) -> "HistoryWriter | None":
    if settings.history is None:
        return None
    try:
        from truerail.service.history_writer import HistoryWriter

        return HistoryWriter(settings.history, settings.fabric, utc_now)
    except HistoryStoreError as error:
        raise CommandError(f"history: {error}") from error


def _outlets(
    settings: Settings, watch: Watch, exposition: Exposition, counters: Callable[[], Mapping[str, float]]
) -> Iterator[Outlet]:
    """What the settings send to others, and write for them. Raises CommandError if its packages are missing."""
    if settings.gate:
        from truerail.service.gate_files import GateFiles

        yield GateFiles(settings.gate)
    if settings.otlp:
        from truerail.service.otlp_metrics import OtlpMetrics

        require("otlp", "otlp")
        yield OtlpMetrics(settings.otlp, settings.fabric, exposition, counters, watch.clock)
    if settings.notify or (settings.otlp and settings.otlp.logs):
        from truerail.service.notify.notifier import Notifier

        yield Notifier(settings, watch.journal, watch.clock)
