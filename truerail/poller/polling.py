"""Where a service's answers come from: its own process, its children, or pollers on other machines."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from collector import collectors
from truerail.analysis.published import CollectorRun
from truerail.link.poller_outbox import Outbox
from truerail.model.tasks import Spawns, end
from truerail.poller.device_poller import Row
from truerail.poller.fleet import Gathered, Owed, Poller, Work
from truerail.poller.received import Latest
from truerail.transport.protocol import Transport

# ----------------------------------------------------------------------------------------------------------------------
# Polls the fleet in rounds: collectors that come due together share a round, and a slow device delays no other.
#
# A round is over for its collectors when all devices have answered or `poll_timeout` has passed. Devices that are still
# silent then stay *busy*, and late answers are added when they arrive. What a further round would ask a busy device is
# *owed*: it is asked at the device's turn, if that has not come, else in a round between rounds once the device has
# answered. One that does not answer is not asked again before the next round, but for what a host reported or somebody
# wanted meanwhile. Without that, devices that are busy whenever a collector comes due would never be asked by it.

TOGETHER_SECONDS = 0.05
"""How long a round's first collector waits for others that come due at the same time, in addition to the jitter; and a
round between rounds for other devices.
"""


class PollScheduler(Spawns):
    """One for a fleet. `heard` is called on the event loop whenever new answers need an evaluation."""

    def __init__(self, gatherer: Poller, work: Work, *, heard: Callable[[], None], into: Outbox | None = None) -> None:
        """`into` takes the answers in place of `latest`: they are evaluated by another process."""
        super().__init__()
        self._heard = heard
        self._busy: set[str] = set()
        self._owed = Owed()
        self._due: set[str] = set()
        self._next: asyncio.Task[Any] | None = None
        self._between: asyncio.Task[Any] | None = None
        self._loud = self._begun = False
        """Whether there are new answers; whether the first round is over: before that, a few answers decide nothing."""
        self.latest = Latest({})
        self._into: Latest | Outbox = into or self.latest
        self.runs: dict[str, CollectorRun] = {}
        self.rounds_total = 0
        self.use(gatherer, work)

    @property
    def devices(self) -> tuple[str, ...]:
        """All polled devices."""
        return tuple(self._names)

    @property
    def waiting(self) -> int:
        """Number of devices polled without an answer yet."""
        return len(self._busy)

    def use(self, gatherer: Poller, work: Work) -> None:
        """Uses another poller and the pace of this work from the next round on; answers are kept."""
        self._gatherer = gatherer
        self._patience = work.patience_seconds
        self._together = TOGETHER_SECONDS + work.jitter_seconds
        self.runs = {
            name: replace(self.runs.get(name) or CollectorRun(name, seconds), every_seconds=seconds)
            for name, seconds in work.every_seconds.items()
        }
        self._names = [device.name for device in gatherer.devices]
        self._into.keep(gatherer.neighbor_questions)

    async def due(self, collector: str) -> None:
        """Runs a collector that has come due. Returns when its round is over."""
        self._due.add(collector)
        if self._next is None or self._next.done():
            self._next = self.spawn(self._soon())
        await asyncio.shield(self._next)

    async def _soon(self) -> None:
        await asyncio.sleep(self._together)
        self._next = None
        asked, self._due = self._due, set()
        await self.round(asked)

    async def everything(self, only: Collection[str] | None = None) -> int:
        """Runs all collectors now, on all devices, or on these and the devices that report their fabric; on those that
        are being polled, as soon as they no longer are. Returns the number of devices.
        """
        wanted = set(self._names) if only is None else {*only, *self._gatherer.tellers}.intersection(self._names)
        later = wanted & self._busy
        for device in later:
            self.soon(device, self.runs)
        return await self.round(set(self.runs), wanted - later) + len(later)

    def soon(self, device: str, collectors: Collection[str]) -> None:
        """Runs collectors on a device as soon as it is not being polled, whatever the schedule says."""
        self._owed.want(device, collectors)
        if device not in self._busy:
            self._catch_up()

    def _catch_up(self) -> None:
        """Asks what is owed by devices that are not being polled."""
        if self._between is None or self._between.done():
            self._between = self.spawn(self._rounds_between())

    async def _rounds_between(self) -> None:
        await asyncio.sleep(TOGETHER_SECONDS)
        while alike := self._owed.take_idle(self._busy):
            await asyncio.gather(*(self.round(asked, devices) for asked, devices in alike.items()))

    def overran(self, collector: str) -> None:
        """Counts a collector that came due while its round still ran."""
        self.runs[collector] = replace(self.runs[collector], missed_total=self.runs[collector].missed_total + 1)

    async def round(self, asked: Collection[str], only: AbstractSet[str] | None = None) -> int:
        """One round of these collectors. Late answers are awaited in the background."""
        wanted = [name for name in self._names if only is None or name in only]
        for name in self._busy.intersection(wanted):
            self._owed.due(name, asked)
        wanted = [name for name in wanted if name not in self._busy]
        if not wanted:
            return 0
        self._busy.update(wanted)
        first = not self.rounds_total
        self.rounds_total += 1
        task = self.spawn(self._ask(asked, wanted))
        done, _ = await asyncio.wait({task}, timeout=self._patience)
        if done:
            await task
        else:
            self.spawn(self._wait_on(task))
        self._begun |= first
        self._tell()
        return len(wanted)

    async def _ask(self, asked: Collection[str], wanted: list[str]) -> None:
        loop = asyncio.get_running_loop()
        began, left = loop.time(), set(wanted)

        def take(row: Row, done: int, total: int) -> None:
            """Adds a device's finished row: its answers count from now on, whatever the others do."""
            self._into.put(row.readings)
            left.discard(row.device.name)
            self._over(row.device.name, answered=not row.error)
            self._loud = True

        try:
            seen = await self._gatherer.round(only=set(wanted), collectors=asked, progress=take, owed=self._owed)
            self._count(seen, asked, loop.time() - began)
        finally:
            for name in left:
                self._over(name, answered=False)

    def _over(self, device: str, *, answered: bool) -> None:
        self._busy.discard(device)
        if not answered:
            self._owed.silent(device)
        if device in self._owed:
            self._catch_up()

    async def _wait_on(self, task: "asyncio.Task[Any]") -> None:
        """Evaluates again whenever late answers came in, until the round is over."""
        while not task.done():
            await asyncio.wait({task}, timeout=self._patience)
            self._tell()
        await task

    def _tell(self) -> None:
        if self._loud and self._begun:
            self._loud = False
            self._heard()

    def _count(self, seen: Gathered, asked: Iterable[str], took_seconds: float) -> None:
        tally: dict[str, list[int]] = {name: [0, 0] for name in asked}
        for reading in seen.readings:
            counted = tally.get(reading.collector)
            if counted is not None:
                counted[0] += 1
                counted[1] += not reading.error
        for name, (total, answered) in tally.items():
            self.runs[name] = _after(self.runs[name], seen.at, took_seconds, total, answered)

    async def stop(self) -> None:
        """Stops waiting for devices without an answer."""
        await end(self._tasks)


def _after(run: CollectorRun, at: datetime, took_seconds: float, asked: int, answered: int) -> CollectorRun:
    return replace(
        run,
        last_at=at if answered else run.last_at,
        took_seconds=took_seconds,
        devices_asked=asked,
        devices_answered=answered,
        rounds_total=run.rounds_total + 1,
        failures_total=run.failures_total + asked - answered,
    )


def intervals(wanted: Mapping[str, float]) -> dict[str, float]:
    """Seconds between rounds for every collector: the wanted ones, else its own."""
    return {name: wanted.get(name, found.every_seconds) for name, found in collectors().items()}


# ----------------------------------------------------------------------------------------------------------------------
# What a service sees of its pollers, wherever they are.


class Polling(Protocol):
    """The fleet as a service sees it: the newest answers, statistics, and what it may ask for."""

    @property
    def latest(self) -> Latest:
        """The newest answers."""

    @property
    def runs(self) -> Mapping[str, CollectorRun]:
        """Statistics of each collector's rounds."""

    @property
    def rounds_total(self) -> int:
        """Rounds since the start."""

    @property
    def devices(self) -> tuple[str, ...]:
        """All polled devices."""

    @property
    def waiting(self) -> int:
        """Number of devices polled without an answer yet."""

    @property
    def scheduled(self) -> Mapping[str, float]:
        """Seconds between rounds of the collectors that the service has to call `due` for. Pollers elsewhere have a
        schedule of their own: empty.
        """

    @property
    def figures(self) -> Mapping[str, float]:
        """Metrics of the pollers, by name."""

    def start(self) -> None:
        """Begins to poll, or to receive."""

    def apply(self, work: Work) -> None:
        """Other devices, plan or pace from the next round on; answers are kept."""

    async def due(self, collector: str) -> None:
        """Runs a collector that has come due."""

    def overran(self, collector: str) -> None:
        """Counts a collector that came due while its round still ran."""

    async def everything(self, only: Collection[str] | None = None) -> int:
        """Runs all collectors now, on all devices or on these. Returns the number of devices."""

    async def stop(self) -> None:
        """Ends polling. No session is left open."""


DIFFERS = "an answer that counted as unchanged has other facts"
PollingMaker = Callable[[Work, Callable[[], None]], Polling]
"""From the work, and what to call on the event loop when new answers need an evaluation."""


class InProcess(PollScheduler):
    """Polls in this process, on its event loop."""

    def __init__(self, work: Work, heard: Callable[[], None], transport: Transport) -> None:
        self._transport = transport
        self._differences = 0
        super().__init__(work.poller(transport, self._differs), work, heard=heard)

    @property
    def scheduled(self) -> Mapping[str, float]:
        """All collectors."""
        return {name: run.every_seconds for name, run in self.runs.items()}

    @property
    def figures(self) -> Mapping[str, float]:
        """What the hourly full parse found."""
        return {"full_parse_differences_total": self._differences}

    def start(self) -> None:
        """Polls everything once; afterwards the service's schedule calls `due`."""
        self.spawn(self.everything())

    def apply(self, work: Work) -> None:
        """Uses a poller of this work from the next round on."""
        self.use(work.poller(self._transport, self._differs), work)

    def _differs(self, device: str, collector: str) -> None:
        self._differences += 1
        import structlog  # not at the top: a poller's own process loads no log

        structlog.get_logger().error(DIFFERS, device=device, collector=collector)
