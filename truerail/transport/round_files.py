"""The files in the folder of a round or of a device that are no answers: who was asked, and who did not answer."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

import msgspec

from truerail.errors import FileRefusedError
from truerail.model import Collector, Reading
from truerail.model.names import natural_key, printable, some
from truerail.transport.folders import Folder, Listing
from truerail.transport.warnings import Notes

# ----------------------------------------------------------------------------------------------------------------------
# The devices of the inventory with which a round was captured, stored beside its folders.
#
# A replay then knows, as the live round did, which planned devices the inventory does not have: those were never
# queried, which differs from no answer. A capture made by hand has no such file: unknown.

INVENTORY = "inventory.json"
_LONGEST_NAME = 255


def dump_inventory(names: Iterable[str]) -> bytes:
    """The file's content: a JSON array of names."""
    return (json.dumps(sorted(names, key=natural_key), indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def load_inventory(content: bytes) -> frozenset[str]:
    """The names. Raises `FileRefusedError` for anything but a JSON array of names."""
    try:
        names = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileRefusedError("not JSON") from error
    if not isinstance(names, list) or not all(isinstance(one, str) and 0 < len(one) <= _LONGEST_NAME for one in names):
        raise FileRefusedError("not an array of names")
    return frozenset(names)


def inventory_of(folder: Folder, listing: Listing, notes: Notes) -> frozenset[str] | None:
    """The inventory in a round's folder; None if there is none or it cannot be read, which is noted."""
    if INVENTORY not in listing.files:
        return None
    try:
        return load_inventory(folder.read(INVENTORY))
    except FileRefusedError as refused:
        notes.add(f"refused, {refused}", INVENTORY)
        return None


# ----------------------------------------------------------------------------------------------------------------------
# The commands that a device did not answer, stored in its folder of a capture, so that a replay reports them too.

UNANSWERED = "unanswered.json"
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
                reading = msgspec.structs.replace(reading, error="; ".join(filter(None, (reading.error, reported))))
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
        reported = [f"{some(commands, 1)}: {error}" for error, commands in of.items()]
        return [*reported, self.device] if self.device else reported


def load_unanswered(content: bytes) -> Unanswered:
    """Reads the file, its text made safe to show. A file of another format counts as empty."""
    try:
        found = msgspec.json.decode(content, type=Unanswered)
    except (msgspec.MsgspecError, RecursionError):
        return Unanswered()
    commands = {command: _safe(why) for command, why in found.commands.items()}
    return Unanswered(_safe(found.device), tuple(map(_safe, found.collectors)), commands, found.asked)


def _safe(text: str) -> str:
    return printable(text, _LONGEST)
