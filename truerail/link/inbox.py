"""What a judge makes of messages: the newest answer of each device, whichever poller sent it, and each only once."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, isfinite

from msgspec import structs

from truerail.analysis.published import CollectorRun
from truerail.errors import BusMessageError, BusSchemaError
from truerail.link.codec import facts_of, opened
from truerail.link.counter_differences import Counted, CounterReader, Names
from truerail.link.messages import Beat, Counts, Entry, Envelope, Observation, RoundDone
from truerail.model import Reading
from truerail.model.steady import STEADY

# ----------------------------------------------------------------------------------------------------------------------
# How far a poller's clock is off: its times are moved by that before they count.

ALIKE_SECONDS = 0.2
"""Clocks that differ by less count as one: rates over a change of poller are then right to 2 % at 10 s."""
WARNED_SECONDS = 2.0
"""A clock that is off by more should be set."""
WINDOW_SECONDS = 60.0
"""A clock that is set right while its poller runs is believed after at most two of these."""


@dataclass(slots=True)
class Clock:
    """One run of a poller. The least time between sending and arrival is the offset: the rest is waiting."""

    _least: float = inf
    _before: float = inf
    """Of the window before."""
    _until: float = -inf

    def heard(self, sent_at: float, arrived_at: float) -> None:
        """A message that arrived without a store between."""
        if isfinite(sent_at) and isfinite(arrived_at):
            if arrived_at > self._until:
                self._before, self._least, self._until = self._least, inf, arrived_at + WINDOW_SECONDS
            self._least = min(self._least, arrived_at - sent_at)

    @property
    def offset_seconds(self) -> float:
        """What to add to a time of that clock; 0 for a clock like this one."""
        least = min(self._least, self._before)
        return least if ALIKE_SECONDS < abs(least) < inf else 0.0


# ----------------------------------------------------------------------------------------------------------------------
# What a judge makes of messages: the newest answer of each device, whichever poller sent it, and each only once.

LATE_SECONDS = 600.0
"""Older counters are dropped: a window of 10 min has no place for them."""
Place = tuple[str, str]
"""A poller: its zone and its name."""


@dataclass(slots=True)
class Sender:
    """One run of a poller."""

    place: Place
    start: str
    clock: Clock = field(default_factory=Clock)
    counters: CounterReader = field(default_factory=CounterReader)
    highest: dict[str, int] = field(default_factory=dict)
    """By kind of message, the highest number that came."""
    runs: dict[str, CollectorRun] = field(default_factory=dict)
    epoch: int = 0
    beat: Beat = field(default_factory=lambda: Beat(0))
    rounds_total: int = 0
    waiting: int = 0
    reported: bool = False
    """Whether it has said what a round found."""

    @property
    def clock_off_seconds(self) -> float:
        """How far the clock of its system is behind that of this one."""
        return self.clock.offset_seconds + STEADY.set_by() - self.beat.clock_set_by


@dataclass(frozen=True, slots=True)
class _Order:
    """The place of an answer. Numbers of two runs do not compare: of one epoch that which comes later is the newer."""

    epoch: int
    start: str
    number: int

    def after(self, other: "_Order") -> bool:
        """Whether this answer is the newer one."""
        if self.epoch != other.epoch or self.start == other.start:
            return (self.epoch, self.number) > (other.epoch, other.number)
        return True


_FIRST = _Order(0, "", 0)


@dataclass(slots=True)
class _Device:
    """One device: who described it last, by which `obs`, and the place in the order of each collector's answer."""

    name: str
    described: tuple[str, int] = ("", 0)
    order: dict[str, "_Order"] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    place: Place = ("", "")


class Inbox:
    """Takes messages of all pollers. `zones` has the zone of each device: a poller is believed on those of its own.

    `put` takes the answers that count; `lacking` is called with a poller, and with devices of which it has to send
    everything again (None: all).
    """

    def __init__(
        self,
        put: Callable[[Collection[Reading]], None],
        *,
        lacking: Callable[[Place, Collection[str] | None], None],
        now: Callable[[], float] = STEADY.seconds,
    ) -> None:
        self._put_latest, self._lacking, self._now = put, lacking, now
        self._zones: Mapping[str, str] = {}
        self._named: Mapping[str, str] = {}
        self._devices: dict[str, _Device] = {}
        self._names: dict[Names, Names] = {}
        self.senders: dict[Place, Sender] = {}
        self.counts: Counter[str] = Counter()
        self.problem = ""
        """The last message that could not be read, and why."""

    def keep(self, zones: Mapping[str, str], names: Mapping[str, str] | None = None) -> None:
        """Sets the devices and their zones. `names` has the device of each name that pollers without a plan use."""
        self._zones, self._named = dict(zones), dict(names or {})
        self._devices = {device: self._devices.get(device) or _Device(device) for device in zones}

    @property
    def highest_epoch(self) -> int:
        """Of all messages so far."""
        return max((sender.epoch for sender in self.senders.values()), default=0)

    def forget_order(self) -> None:
        """Epochs begin again: what comes next is the newest."""
        for device in self._devices.values():
            device.order.clear()
        for sender in self.senders.values():
            sender.epoch = 0

    def take(self, data: bytes, *, zone: str, poller: str = "", arrived_at: float | None = None) -> Envelope | None:
        """Takes a message that came from `zone` (and from this poller, where the connection shows which one). Returns
        its envelope if it was new, understood and in order. Never raises on what a message contains.
        """
        try:
            envelope = opened(data)
            if envelope.zone != zone or poller not in ("", envelope.poller):
                sent = f"poller {envelope.poller!r} of zone {envelope.zone!r}"
                raise BusMessageError(f"a message of {sent} came as one of zone {zone!r}, poller {poller or 'any'!r}")
            sender = self._sender(envelope)
            if sender is None:
                return None
            sender.clock.heard(envelope.sent_at, self._now() if arrived_at is None else arrived_at)
            self._take(envelope, sender)
            self._taken(envelope, sender)
        except BusSchemaError as error:
            self.counts["skipped_schema_total"] += 1
            self.problem = str(error)
            return None
        except (BusMessageError, OverflowError, ValueError, OSError) as error:
            self.counts["refused_total"] += 1
            self.problem = str(error)
            return None
        return envelope

    def devices_of(self, places: Collection[Place]) -> dict[str, dict[str, Reading]]:
        """The readings of the devices that were last described by one of these pollers."""
        return {name: of.readings for name, of in self._devices.items() if of.place in places}

    def place_of(self, device: str) -> Place:
        """The poller that described the device last."""
        return self._devices[device].place

    def described(self, device: str) -> bool:
        """Whether any poller has described it."""
        return bool(self._devices[device].readings)

    @property
    def dropped_total(self) -> int:
        """Messages, and answers in them, that did not count: repeated, too old, refused."""
        return self.counts.total()

    def put_error(self, reading: Reading) -> None:
        """A reading that replaces what a poller said, until it says more."""
        self._devices[reading.device].readings[reading.collector] = reading
        self._devices[reading.device].described = ("", 0)
        self._put_latest([reading])

    def _sender(self, envelope: Envelope) -> Sender | None:
        """The run of the poller; None for a message of an earlier run than the one known, and for a repeated one."""
        place = envelope.zone, envelope.poller
        known = self.senders.get(place)
        if known is None or known.start != envelope.start:
            if known is not None and envelope.epoch < known.epoch:
                self.counts["stale_total"] += 1
                return None
            return Sender(place, envelope.start, counters=CounterReader(self._names))
        if envelope.number <= known.highest.get(envelope.body.kind, 0):
            self.counts["duplicates_total"] += 1
            return None
        return known

    def _taken(self, envelope: Envelope, sender: Sender) -> None:
        """Only what was not refused begins a run, ends the one before it and makes what follows a repetition."""
        self.senders[sender.place] = sender
        sender.epoch = max(sender.epoch, envelope.epoch)
        sender.highest[envelope.body.kind] = envelope.number

    def _take(self, envelope: Envelope, sender: Sender) -> None:
        match envelope.body:
            case Observation() as body:
                self._observed(envelope, sender, body)
            case Counts() as body:
                self._counted(envelope, sender, body)
            case RoundDone() as body:
                self._round(envelope, sender, body)
            case Beat() as body:
                sender.beat = body

    def _observed(self, envelope: Envelope, sender: Sender, body: Observation) -> None:
        device = self._device(envelope, body.device)
        if device is None:
            return
        readings = [self._reading(device.name, entry, sender) for entry in body.entries]
        if self._put(envelope, device, readings):
            device.described = (sender.start, envelope.number)
            device.place = sender.place

    def _reading(self, device: str, entry: Entry, sender: Sender) -> Reading:
        offset = sender.clock.offset_seconds
        at, read_at = _time(entry.at + offset), entry.read_at + offset if entry.read_at else 0.0
        about = (facts_of(entry.facts), entry.error, entry.took_seconds, entry.source)
        facts_at = _time(entry.facts_at + offset) if entry.facts_at else None
        return Reading(device, entry.collector, at, *about, read_at, facts_at, entry.polled)

    def _counted(self, envelope: Envelope, sender: Sender, body: Counts) -> None:
        if not sender.counters.follows(body):
            self.counts["gaps_total"] += 1
            self._lacking(sender.place, ())
            return
        for one in sender.counters.read(body, envelope.number):
            self._count(envelope, sender, one)

    def _count(self, envelope: Envelope, sender: Sender, one: Counted) -> None:
        slot, row, facts = one
        device, offset = self._device(envelope, slot.device), sender.clock.offset_seconds
        if device is None:
            return
        if (row.read_at or row.at) + offset < self._now() - LATE_SECONDS:
            self.counts["late_total"] += 1
            return
        at, read_at = _time(row.at + offset), row.read_at + offset if row.read_at else 0.0
        reading = Reading(device.name, slot.collector, at, facts, "", row.took_seconds, slot.source, read_at)
        if self._put(envelope, device, [reading]):
            device.place = sender.place

    def _round(self, envelope: Envelope, sender: Sender, body: RoundDone) -> None:
        lacking: list[str] = []
        offset = sender.clock.offset_seconds
        for same in body.same:
            for name, number, read_at in zip(same.devices, same.numbers, same.read_at, strict=True):
                device = self._device(envelope, name)
                if device is None:
                    continue
                if device.described != (sender.start, number):
                    if all(_order(envelope).after(one) for one in device.order.values()):
                        lacking.append(name)
                    continue
                held = [device.readings[one] for one in same.collectors if one in device.readings]
                at = _time(min(body.at, read_at or body.at) + offset)  # an agent's answer is older than its round
                read_at = read_at + offset if read_at else 0.0
                held = [structs.replace(one, at=at, read_at=read_at, facts_at=one.facts_at or one.at) for one in held]
                self._put(envelope, device, held)
        sender.runs = {run.collector: run for run in body.runs}
        sender.rounds_total, sender.waiting, sender.reported = body.rounds_total, body.waiting, True
        if lacking:
            self.counts["gaps_total"] += 1
            self._lacking(sender.place, lacking)

    def _device(self, envelope: Envelope, name: str) -> _Device | None:
        """The device, if it is known and of the sender's zone."""
        device = self._devices.get(name) or self._devices.get(self._named.get(name, ""))
        if device is None:
            self.counts["unknown_devices_total"] += 1
            return None
        zone = self._zones[device.name]
        if zone != envelope.zone:
            raise BusMessageError(f"zone {envelope.zone!r} reports {name!r}, a device of zone {zone!r}")
        return device

    def _put(self, envelope: Envelope, device: _Device, readings: Collection[Reading]) -> bool:
        """Puts what is newer than what is there: an older answer is counted and dropped. Returns whether all were."""
        order = _order(envelope)
        newer = [one for one in readings if order.after(device.order.get(one.collector, _FIRST))]
        self.counts["stale_total"] += len(readings) - len(newer)
        device.order.update(dict.fromkeys((one.collector for one in newer), order))
        device.readings.update((one.collector, one) for one in newer)
        self._put_latest(newer)
        return len(newer) == len(readings)


def _order(envelope: Envelope) -> _Order:
    return _Order(envelope.epoch, envelope.start, envelope.number)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
