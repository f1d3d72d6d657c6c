"""What a poller has to send: the newest of each device, counters in order, and what a round found unchanged.

Nothing is encoded before it can be sent. While there is no connection, observations are bounded by the devices,
counters by their age; afterwards both are sent, with whole values.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from uuid import uuid4

from truerail.analysis.published import CollectorRun
from truerail.link.codec import pack, rows_of
from truerail.link.counter_differences import CounterWriter, is_counters
from truerail.link.messages import SCHEMA, Beat, Counts, Entry, Envelope, Observation, RoundDone, Same
from truerail.model import Neighbor, Reading
from truerail.model.steady import STEADY

SPOOL_SECONDS = 60.0
"""How long counters wait for a connection: about 10 MB for 1,300 hosts."""
WHOLE_SECONDS = 300.0
"""Counters begin again with whole values after this time: what was lost without a trace is right again by then."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message. `key` is the device of an observation; `id` is unique over all pollers and their runs."""

    kind: str
    key: str
    id: str
    data: bytes


@dataclass(slots=True)
class _Known:
    """One device: its newest readings, their digests, and the `obs` that was sent of it."""

    readings: dict[str, Reading] = field(default_factory=dict)
    digests: dict[str, bytes] = field(default_factory=dict)
    number: int = 0
    counted_at: dict[str, float] = field(default_factory=dict)
    """When the newest counters of each collector were read."""


class Outbox:
    """One run of one poller. `put` and `keep` are those of `Latest`: a schedule of rounds fills it."""

    def __init__(self, zone: str, poller: str, *, epoch: int = 1, now: Callable[[], float] = STEADY.seconds) -> None:
        self.zone, self.poller, self.start, self.epoch = zone, poller, uuid4().hex, epoch
        self.dropped_total = self.differences_total = 0
        self.problem = ""
        """The last thing that went wrong inside."""
        self.agents: Callable[[], tuple[int, int, int]] = lambda: (0, 0, 0)
        """The last fields of a `Beat`: agents that run, that are silent, and what was dropped of them."""
        self._now = now
        self._number = self._counts_number = 0
        self._known: dict[str, _Known] = {}
        self._changed: dict[str, None] = {}
        self._same: dict[str, dict[str, Reading]] = {}
        self._counted: deque[Reading] = deque()
        self._writer = CounterWriter()
        self._whole_at = 0.0
        self._round: tuple[Mapping[str, CollectorRun], int, int] | None = None

    def keep(self, devices: Collection[str]) -> None:
        """Sets the polled devices; what was known of others is dropped."""
        self._known = {device: self._known.get(device) or _Known() for device in devices}
        self._changed = {device: None for device in self._changed if device in self._known}
        self._same = {device: same for device, same in self._same.items() if device in self._known}

    def put(self, readings: Iterable[Reading]) -> None:
        """Adds the answers of one device or more."""
        for reading in readings:
            known = self._known.get(reading.device)
            if known is None:
                continue
            if is_counters(reading):
                self._count(reading, known)
            elif self._differs(reading, known):
                self._changed[reading.device] = None
            else:
                self._same.setdefault(reading.device, {})[reading.collector] = reading

    def round_done(self, runs: Mapping[str, CollectorRun], rounds_total: int, waiting: int) -> None:
        """A round has ended, or goes on without its slow devices: what was found is to be sent."""
        self._round = runs, rounds_total, waiting

    def resend(self, devices: Collection[str] | None = None) -> None:
        """The receiver lacks these devices: sends all that is known of them, and counters as whole values."""
        self._changed.update(dict.fromkeys(self._known if devices is None else self._known.keys() & set(devices)))
        self._changed = {device: None for device in self._changed if self._known[device].readings}
        self._writer.begin_again()

    def report(self) -> None:
        """The receiver has what the bus stored, which is as old as its last change: the next round says of all answers
        when they were read.
        """
        self._same = {device: dict(known.readings) for device, known in self._known.items() if known.readings}

    def moved(self, epoch: int) -> None:
        """The devices of this poller are others from now on: its messages come after all with a lower epoch."""
        self.epoch = epoch

    def beat(self) -> Outgoing:
        """The sign of life."""
        counts = (len(self._known), self.dropped_total, self.problem, self.differences_total)
        return self._sealed(Beat(*counts, *self.agents(), STEADY.set_by()))

    def messages(self) -> Iterator[Outgoing]:
        """All that is to be sent now, oldest first. A message that is taken from here counts as sent."""
        for device in list(self._changed):
            self._changed.pop(device, None)
            known = self._known[device]
            known.number = self._number + 1
            yield self._sealed(Observation(device, [_entry(one) for one in known.readings.values()]), device)
        yield from self._counts()
        if self._round is not None:
            done, self._round = self._round, None
            yield self._sealed(self._round_body(*done))

    def _count(self, reading: Reading, known: _Known) -> None:
        """An answer of an agent may be asked for twice: counters without an interval between them have no rate."""
        if known.counted_at.get(reading.collector) == _read_at(reading) and not self._writer.fresh:
            return
        known.counted_at[reading.collector] = _read_at(reading)
        self._counted.append(reading)
        while _read_at(self._counted[0]) < _read_at(reading) - SPOOL_SECONDS:
            self._counted.popleft()
            self.dropped_total += 1
        if known.readings.pop(reading.collector, None) is not None:  # it failed before, and works now
            known.digests.pop(reading.collector, None)
            self._changed[reading.device] = None

    def _counts(self) -> Iterator[Outgoing]:
        if not self._counted:
            return
        counted, self._counted = list(self._counted), deque()
        if self._now() - self._whole_at > WHOLE_SECONDS:
            self._writer.begin_again()
        if self._writer.fresh:
            self._whole_at = self._now()
        for batch in self._writer.batches(counted):
            body = self._writer.written(batch, self._counts_number)
            message = self._sealed(body)
            self._counts_number = self._number
            yield message

    def _round_body(self, runs: Mapping[str, CollectorRun], rounds_total: int, waiting: int) -> RoundDone:
        same, self._same = self._same, {}
        groups: dict[tuple[str, ...], Same] = {}
        at = max((one.at.timestamp() for of in same.values() for one in of.values()), default=self._now())
        for device, of in same.items():
            read: dict[float, list[str]] = {}
            for name, reading in of.items():
                read_at = 0.0 if reading.at.timestamp() == at else reading.at.timestamp()
                read.setdefault(reading.read_at or read_at, []).append(name)
            for read_at, names in read.items():
                group = groups.setdefault(tuple(names), Same(names, [], [], []))
                group.devices.append(device)
                group.numbers.append(self._known[device].number)
                group.read_at.append(read_at)
        return RoundDone(at, list(groups.values()), list(runs.values()), rounds_total, waiting)

    def _differs(self, reading: Reading, known: _Known) -> bool:
        former, known.readings[reading.collector] = known.readings.get(reading.collector), reading
        if former is not None and former.facts is reading.facts and former.error == reading.error:
            return False
        found = _digest(reading)
        if known.digests.get(reading.collector) == found:
            return False
        known.digests[reading.collector] = found
        return True

    def _sealed(self, body: Observation | Counts | RoundDone | Beat, key: str = "") -> Outgoing:
        self._number += 1
        sent = (self.zone, self.poller, self.start, self.epoch, self._number, self._now())
        return Outgoing(body.kind, key, f"{self.start}-{self._number}", pack(Envelope(SCHEMA, *sent, body)))


def _read_at(reading: Reading) -> float:
    return reading.read_at or reading.at.timestamp()


def _digest(reading: Reading) -> bytes:
    """Of what an answer says, without the time since a neighbour was first heard: that differs in each answer."""
    facts = [one._replace(age_seconds=None) if type(one) is Neighbor else one for one in reading.facts]
    kinds = [type(fact).__name__ for fact in facts[:1]]
    return blake2b(pack([reading.error, reading.source, kinds, facts]), digest_size=16).digest()


def _entry(reading: Reading) -> Entry:
    about = (reading.collector, reading.source, reading.error)
    times = (reading.at.timestamp(), reading.read_at, reading.took_seconds)
    facts_at = reading.facts_at.timestamp() if reading.facts_at else 0.0
    return Entry(*about, *times, rows_of(reading.facts), facts_at, reading.polled)
