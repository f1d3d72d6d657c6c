"""Polling by other processes, of this service or on other machines: what a service reads of both alike."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from truerail.analysis.published import CollectorRun
from truerail.link.inbox import Place
from truerail.model.tasks import Spawns
from truerail.poller.latest import Latest
from truerail.poller.received import Received


class PollersElsewhere(Spawns, ABC):
    """The part of `Polling` that follows from what was received, and from which pollers run."""

    _received: Received

    @property
    @abstractmethod
    def _running(self) -> Collection[Place]:
        """The pollers that run."""

    @property
    def latest(self) -> Latest:
        """The newest answers."""
        return self._received.latest

    @property
    def runs(self) -> Mapping[str, CollectorRun]:
        """Statistics of each collector, over all pollers."""
        return self._received.runs(self._running)

    @property
    def rounds_total(self) -> int:
        """Rounds of the poller with the most."""
        return max((one.rounds_total for one in self._received.senders(self._running)), default=0)

    @property
    def devices(self) -> tuple[str, ...]:
        """All polled devices."""
        return tuple(self._received.named)

    @property
    def waiting(self) -> int:
        """Devices that had not answered when their round was reported."""
        return sum(one.waiting for one in self._received.senders(self._running))

    @property
    def scheduled(self) -> Mapping[str, float]:
        """None: each poller has a schedule of its own."""
        return {}

    async def due(self, collector: str) -> None:
        """Pollers run collectors on their own."""

    def overran(self, collector: str) -> None:
        """Pollers count that themselves."""

    def _wanted(self, only: Collection[str] | None) -> set[str]:
        """All devices, or these, and those that report their fabric."""
        named = self._received.named
        tellers = {name for name, (target, _) in named.items() if target.apart}
        return set(named) if only is None else set(named).intersection({*only, *tellers})
