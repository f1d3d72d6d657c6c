"""The fleet of a judge whose pollers are elsewhere: messages become the newest answers, silence becomes unknown."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from msgspec import structs

from truerail.analysis.published import CollectorRun
from truerail.errors import READER_FAULT
from truerail.link.inbox import Inbox, Place, Sender
from truerail.link.messages import ROUND
from truerail.model import PortCounters, Reading, Snapshot, Target
from truerail.model.steady import STEADY
from truerail.model.tasks import Spawns
from truerail.poller.fleet import Work
from truerail.poller.questions import neighbor_collectors, neighbor_question

# ----------------------------------------------------------------------------------------------------------------------
# The newest answer of every device to every collector: the source of snapshots between rounds.

NOT_YET = "no answer yet, the first round has not ended"


class Latest:
    """Readings by device and collector. A failed answer replaces a good one: the snapshot shows the current state.

    `devices` are the polled ones, in their order, each with the collector of its neighbors; "" where it has none.
    Answers come with times of the steady clock, and are held with those of the system's.
    """

    def __init__(self, devices: Mapping[str, str]) -> None:
        self._devices = devices
        self._of: dict[str, dict[str, Reading]] = {device: {} for device in devices}
        self._at: datetime | None = None
        self._counted: list[Reading] = []
        self.set_by = 0.0
        """Seconds by which the system's clock is ahead of the steady one, as of the last `follow`."""
        self.reader_faults_total = 0
        """Answers that a reader broke on."""

    def follow(self, set_by: float) -> None:
        """The system's clock was set: what is held moves with it, so that no answer is older or newer than it was."""
        seconds, self.set_by = set_by - self.set_by, set_by
        if seconds:
            for of in self._of.values():
                of.update({name: one.moved(seconds) for name, one in of.items()})
            self._counted = [one.moved(seconds) for one in self._counted]
            self._at = self._at and self._at + timedelta(seconds=seconds)

    def put(self, readings: Iterable[Reading]) -> None:
        """Adds answers. Those of devices that are no longer polled are ignored."""
        for reading in readings:
            of = self._of.get(reading.device)
            if of is not None:
                if self.set_by:
                    reading = reading.moved(self.set_by)
                of[reading.collector] = reading
                self.reader_faults_total += READER_FAULT in reading.error
                if reading.facts and type(reading.facts[0]) is PortCounters:
                    self._counted.append(reading)
                self._at = reading.at if self._at is None else max(self._at, reading.at)

    def keep(self, devices: Mapping[str, str]) -> None:
        """Sets the polled devices; answers of the others are dropped."""
        self._devices = devices
        self._of = {device: self._of.get(device, {}) for device in devices}

    @property
    def heard(self) -> int:
        """Number of devices with an answer, even a failure."""
        return sum(bool(of) for of in self._of.values())

    def counted(self) -> list[Reading]:
        """Every reading of counters since the last call: a window needs them all, a snapshot only the newest."""
        counted, self._counted = self._counted, []
        return counted

    def snapshot(self) -> Snapshot | None:
        """All readings, in the order of devices and then of collectors' names; None if no device has been polled.

        A device that has not answered yet what its neighbors are is not one that has none: a reading has that reason.
        """
        if self._at is None:
            return None
        about_neighbors, readings = neighbor_collectors(), list[Reading]()
        for device, asked in self._devices.items():
            of = self._of[device]
            if asked and of.keys().isdisjoint(about_neighbors):
                readings.append(Reading(device, asked, self._at, error=NOT_YET, polled=False))
            readings += [of[name] for name in sorted(of)]
        return Snapshot(self._at, readings, inventory=frozenset(self._of))


# ----------------------------------------------------------------------------------------------------------------------
# The fleet of a judge whose pollers are elsewhere: messages become the newest answers, silence becomes unknown.

TOGETHER_SECONDS = 1.0
"""How long an evaluation waits for the other pollers after the first one's round."""
EXPIRY_INTERVALS = 3
"""After so many of its intervals an answer is unknown, if no poller asks for a newer one."""


class Received:
    """Takes messages of pollers. `silent` are those that do not run, since when, and how to say so."""

    def __init__(
        self,
        work: Work,
        heard: Callable[[], None],
        *,
        zone_of: Callable[[Target], str],
        lacking: Callable[[Place, Collection[str] | None], None],
    ) -> None:
        self._heard, self._zone_of, self._now = heard, zone_of, STEADY.seconds
        self.latest = Latest({})
        self.inbox = Inbox(self.latest.put, lacking=lacking)
        self._reported: set[Place] = set()
        self._later: asyncio.TimerHandle | None = None
        self.apply(work)

    def apply(self, work: Work) -> None:
        """Other devices or another pace; answers of the devices that stay are kept."""
        self.work = work
        self.named = work.named()
        self.latest.keep({name: neighbor_question(target, device) for name, (target, device) in self.named.items()})
        zones = {name: self._zone_of(target) for name, (target, _) in self.named.items()}
        self.inbox.keep(zones, {target.name: name for name, (target, _) in self.named.items()})

    def take(self, data: bytes, *, zone: str, poller: str = "", arrived_at: float | None = None) -> None:
        """Takes a message; an evaluation follows a round, soon after it or once all pollers have said theirs."""
        envelope = self.inbox.take(data, zone=zone, poller=poller, arrived_at=arrived_at)
        if envelope is not None and envelope.body.kind == ROUND:
            self._reported.add((zone, envelope.poller))
            if self._later is None:
                self._later = asyncio.get_running_loop().call_later(TOGETHER_SECONDS, self.evaluate)

    def all_reported(self, running: Iterable[Place]) -> bool:
        """Whether all of these pollers have said a round since the last evaluation."""
        return self._reported.issuperset(running)

    def evaluate(self) -> None:
        """New answers are to be evaluated now."""
        if self._later is not None:
            self._later.cancel()
        self._later = None
        self._reported.clear()
        self._heard()

    def senders(self, running: Collection[Place]) -> list[Sender]:
        """The pollers that run and have said something."""
        return [sender for place, sender in self.inbox.senders.items() if place in running]

    def runs(self, running: Collection[Place]) -> Mapping[str, CollectorRun]:
        """Statistics of each collector over all pollers."""
        runs = {name: CollectorRun(name, seconds) for name, seconds in self.work.every_seconds.items()}
        for sender in self.senders(running):
            for run in sender.runs.values():
                if run.collector in runs:
                    runs[run.collector] = _joined(runs[run.collector], run, sender.clock.offset_seconds)
        return runs

    def expire(self, silent: Mapping[Place, str]) -> None:
        """Turns answers into unknown that none of the pollers keeps up to date: `silent` has the reason by poller."""
        expired = False
        for readings in self.inbox.devices_of(silent).values():
            for reading in list(readings.values()):
                if not reading.error and self._is_old(reading):
                    self._forget(reading, silent[self.inbox.place_of(reading.device)])
                    expired = True
        if expired:
            self._heard()

    def never_polled(self, names: Iterable[str], why: str) -> None:
        """Gives the devices among these that no poller has described a reason why they are unknown."""
        read_at, at = self._times()
        missing = [name for name in names if not self.inbox.described(name)]
        for name in missing:
            if collector := neighbor_question(*self.named[name]):
                self.inbox.put_error(Reading(name, collector, at, error=why, read_at=read_at, polled=False))
        if missing:
            self._heard()

    def _is_old(self, reading: Reading) -> bool:
        lasts = EXPIRY_INTERVALS * self.work.every_seconds.get(reading.collector, 60.0) + self.work.patience_seconds
        return self._now() - (reading.read_at or reading.at.timestamp()) > lasts

    def _forget(self, reading: Reading, why: str) -> None:
        read_at, at = self._times()
        unknown = structs.replace(reading, at=at, facts=(), error=why, took_seconds=0.0, read_at=read_at, polled=False)
        self.inbox.put_error(unknown)

    def _times(self) -> tuple[float, datetime]:
        """Now, as readings have it."""
        now = self._now()
        return now, datetime.fromtimestamp(now, UTC).replace(microsecond=0)


def _joined(known: CollectorRun, run: CollectorRun, offset_seconds: float) -> CollectorRun:
    at = run.last_at + timedelta(seconds=offset_seconds) if run.last_at else None
    return replace(
        known,
        last_at=max(filter(None, (known.last_at, at)), default=None),
        took_seconds=max(known.took_seconds, run.took_seconds),
        devices_asked=known.devices_asked + run.devices_asked,
        devices_answered=known.devices_answered + run.devices_answered,
        rounds_total=max(known.rounds_total, run.rounds_total),
        failures_total=known.failures_total + run.failures_total,
        missed_total=known.missed_total + run.missed_total,
    )


class PollersElsewhere(Spawns, ABC):
    """Polling by other processes, of this service or on other machines: the part of `Polling` that follows from what
    was received, and from which pollers run.
    """

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
