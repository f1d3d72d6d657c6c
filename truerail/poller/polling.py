"""Where a service's answers come from: its own process, its children, or pollers on other machines."""

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

import structlog

from truerail.analysis.published import CollectorRun
from truerail.poller.latest import Latest
from truerail.poller.poll_scheduler import PollScheduler
from truerail.poller.work import Work
from truerail.transport.protocol import Transport


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
        structlog.get_logger().error(DIFFERS, device=device, collector=collector)
