"""Answers put before the real collectors without a file in between: a fabric is evaluated without touching the disk."""

from collections.abc import Iterator
from datetime import datetime

from collector import collectors
from truerail.errors import UnreadableError
from truerail.model import Collector, Device, Fact, Reading


class Reader:
    """Puts answers before the collectors; an answer that many devices share is read once."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._shared: dict[tuple[str, str], tuple[Fact, ...]] = {}

    def readings(self, device: Device, files: dict[str, str]) -> Iterator[Reading]:
        """A reading for each collector of the device's role that has an answer."""
        for collector in collectors().values():
            if device.role in collector.on:
                file = next((command.file for command in collector.ask if command.file in files), None)
                if file is not None:
                    yield self._reading(collector, device, file, files[file])

    def _reading(self, collector: Collector, device: Device, file: str, text: str) -> Reading:
        try:
            facts = self._facts(collector, device, text)
        except UnreadableError as error:
            return Reading(device.name, collector.name, self._at, error=str(error), source=file)
        return Reading(device.name, collector.name, self._at, facts, source=file)

    def _facts(self, collector: Collector, device: Device, text: str) -> tuple[Fact, ...]:
        if not collector.shared:
            return collector.read(text, device)
        facts = self._shared.get((collector.name, text))
        if facts is None:
            facts = self._shared[collector.name, text] = collector.read(text, device)
        return facts
