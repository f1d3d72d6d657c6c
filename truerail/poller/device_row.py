"""One device's row of a round: its answers as bytes for a capture and as readings for rules."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from msgspec import structs

from truerail.errors import SlowDeviceError
from truerail.model import Device, Reading
from truerail.model.answer_limits import TimeSpent
from truerail.model.names import answer_file, printable
from truerail.model.pause import garbage_collection_paused
from truerail.transport.answers import Answers
from truerail.transport.archive import ArchiveFolder
from truerail.transport.prefetch import Opened
from truerail.transport.protocol import Answer
from truerail.transport.turns import clocks_stopped
from truerail.transport.unanswered import FILE, Unanswered

QUICK_SECONDS = 0.5
"""Of processor time, for all answers of a device: the most that others wait for it. A busy switch takes 0.2 s."""


@dataclass(slots=True)
class Row:
    """Answers of one device in one round. `name` is the inventory's, `device` the plan's where it is `planned`.

    `answers` holds complete answers by command, `unanswered` the reasons for missing ones.
    """

    name: str
    device: Device
    planned: bool
    answers: dict[str, Answer] = field(default_factory=dict)
    unanswered: Unanswered = field(default_factory=Unanswered)
    readings: list[Reading] = field(default_factory=list)
    took_seconds: float = 0.0
    read_at: float = 0.0
    """The middle of its poll, in Unix seconds."""
    reading: TimeSpent = field(default_factory=TimeSpent)
    """On reading its answers."""
    platform: str = ""
    """As given by the inventory, else as detected on the device."""

    @property
    def error(self) -> str:
        """Why the device was not polled, or not completely; empty if it was."""
        return self.unanswered.device

    def add(self, answers: Sequence[Answer]) -> None:
        """Adds answers. An incomplete one counts as none."""
        for answer in answers:
            if answer.error:
                self.unanswered.commands[answer.command] = _why(answer)
            else:
                self.answers[answer.command] = answer

    @property
    def commands(self) -> list[str]:
        """Every command that was sent, answered or not."""
        return [*self.answers, *self.unanswered.commands]

    def drop(self, commands: Collection[str], asked: Collection[str]) -> None:
        """Removes commands, as if they had not been sent; `asked` are the questions that remain."""
        for text in commands:
            self.answers.pop(text, None)
            self.unanswered.commands.pop(text, None)
        self.unanswered.collectors = tuple(asked)

    def files(self) -> dict[str, bytes]:
        """The device's folder of a capture: file name to content."""
        found = {answer_file(a.command): a.text.encode("utf-8", "replace") for a in self.answers.values()}
        if self.unanswered:
            found[FILE] = self.unanswered.dump()
        return found

    def read(self, reader: Answers, seconds: float) -> None:
        """Parses the answers into `readings`, exactly as a capture is read, in any thread. Raises `SlowDeviceError`
        once all readings of the row have taken so many seconds of processor time.
        """
        folder = ArchiveFolder()
        folder.files = self.files()
        place = Opened(printable(self.name, 64), folder, folder.list(), held=dict(folder.files))
        answers = {f"{place.name}/{answer_file(a.command)}": a for a in self.answers.values()}
        with garbage_collection_paused(), self.reading.within(seconds):
            readings = reader.of_device(self.device.name, self.device, [place])
        self.readings = [_timed(reading, answers.get(reading.source), self.read_at) for reading in readings]

    @clocks_stopped()
    def read_here(self, reader: Answers) -> None:
        """Reads them on the event loop, which waits for it. Raises `SlowDeviceError` if that would take long."""
        self.read(reader, QUICK_SECONDS)

    def end(self, why: str, reader: Answers) -> None:
        """Completes a row whose device did not answer, or not to the end; what it did answer counts if it is quick to
        read.
        """
        self.unanswered.device = why
        try:
            self.read_here(reader)
        except SlowDeviceError:
            self.answers.clear()
            self.read_here(reader)

    def keep(self, needed: Collection[str]) -> None:
        """Removes the answers of all other commands."""
        self.answers = {text: answer for text, answer in self.answers.items() if text in needed}
        self.unanswered.commands = {text: why for text, why in self.unanswered.commands.items() if text in needed}


def _timed(reading: Reading, answer: Answer | None, read_at: float) -> Reading:
    """The reading with its times: those of an answer that was there before it was asked for are its own."""
    took = answer.took_seconds if answer else 0.0
    if answer is None or not answer.read_at:
        return structs.replace(reading, took_seconds=took, read_at=read_at)
    at = datetime.fromtimestamp(answer.read_at, UTC)
    facts_at = min(reading.facts_at, at) if reading.facts_at else None
    return structs.replace(reading, at=at, took_seconds=took, read_at=answer.read_at, facts_at=facts_at)


def _why(answer: Answer) -> str:
    """The error, and the device's own message if that is one short line."""
    said = answer.text.strip()
    if said and len(said) < 200 and "\n" not in said and said not in answer.error:
        return f"{answer.error}: {printable(said)}"
    return answer.error
