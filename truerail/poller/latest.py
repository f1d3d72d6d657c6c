"""The newest answer of every device to every collector: the source of snapshots between rounds."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from truerail.errors import READER_FAULT
from truerail.model import PortCounters, Reading, Snapshot
from truerail.poller.questions import neighbor_collectors

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
