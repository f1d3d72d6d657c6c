"""The commands that a device did not answer, stored in its folder of a capture, so that a replay reports them too."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from msgspec import structs

from truerail.model import Collector, Reading
from truerail.model.names import printable

FILE = "unanswered.json"
_LONGEST = 1000


@dataclass(slots=True)
class Unanswered:
    """`device` is why the device could not be queried at all, or not to the end, and `collectors` the planned ones;
    `commands` maps single commands to why there is no complete answer. `asked` is false if the round
    ended before the device had its time, which is no fault of the device.
    """

    device: str = ""
    collectors: tuple[str, ...] = ()
    commands: dict[str, str] = field(default_factory=dict)
    asked: bool = True

    def __bool__(self) -> bool:
        return bool(self.device or self.commands)

    def dump(self) -> bytes:
        """The file's content: a JSON object of these fields."""
        return (json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")

    def complete(
        self, readings: Sequence[Reading], asked: Sequence[Collector], device: str, at: datetime
    ) -> list[Reading]:
        """The readings in the order of `asked`, and the reason for each question without a readable answer."""
        known = {reading.collector: reading for reading in readings}
        made = []
        for collector in asked:
            reading, reported = known.get(collector.name), "; ".join(self._reasons(collector))
            if reported and (reading is None or reading.error):
                reading = reading or Reading(device, collector.name, at, polled=self.asked)
                reading = structs.replace(reading, error="; ".join(filter(None, (reading.error, reported))))
            if reading:
                made.append(reading)
        return made

    def _reasons(self, collector: Collector) -> list[str]:
        """Why a collector has no answer: each command's error, equal ones once, and the device's own."""
        if self.collectors and collector.name not in self.collectors:
            return []
        of: dict[str, list[str]] = {}
        for command in collector.ask:
            if command.text in self.commands:
                of.setdefault(self.commands[command.text], []).append(command.text)
        reported = [f"{commands[0]}{_others(commands)}: {error}" for error, commands in of.items()]
        return [*reported, self.device] if self.device else reported


def load(content: bytes) -> Unanswered:
    """Reads the file, its text made safe to show. A file of another format counts as empty."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return Unanswered()
    if not isinstance(found, dict):
        return Unanswered()
    names, commands = found.get("collectors"), found.get("commands")
    return Unanswered(
        _safe(found.get("device")),
        tuple(map(_safe, names)) if isinstance(names, list) else (),
        {command: _safe(why) for command, why in commands.items()} if isinstance(commands, Mapping) else {},
        found.get("asked") is not False,
    )


def _safe(text: Any) -> str:
    return printable(text, _LONGEST) if isinstance(text, str) else ""


def _others(commands: Sequence[str]) -> str:
    return f" and {len(commands) - 1} more" if len(commands) > 1 else ""
