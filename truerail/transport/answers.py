"""From the files of a device's folder to readings: the best answer to each question that can be read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from operator import itemgetter
from typing import NamedTuple

from collector import collectors
from truerail.errors import FileRefusedError, UnreadableError
from truerail.files.file_text import text_of, utf16_text
from truerail.model import Collector, Device, Fact, Reading, Role, session_log
from truerail.model.answer_limits import refuse_large
from truerail.model.terminal import untouched
from truerail.transport.capture_files import ByQuestion, Questions, without_ending
from truerail.transport.folders import Listing
from truerail.transport.kept_answers import KeptAnswers
from truerail.transport.prefetch import Opened
from truerail.transport.round_files import UNANSWERED, load_unanswered
from truerail.transport.warnings import Notes

# ----------------------------------------------------------------------------------------------------------------------
# Files whose names are no command's: which question one answers is what can read it.
#
# A collector refuses what is the answer to another question, so that nearly all files have one reading, and one that
# answers two questions has both.

LARGEST_BYTES = 4 * 1024 * 1024
"""A larger file is tried with no collector: forty would read it."""
_IN_VAIN = 8
"""So many files of one name that nothing reads, and no further one of this name is tried."""


class ByContent:
    """Remembers what a name turned out to be: in a capture, `topo.txt` is the same on all hosts."""

    def __init__(self) -> None:
        self._before: dict[str, Sequence[Collector]] = {}
        self._in_vain: Counter[str] = Counter()

    def readers(self, file: str, answer: str, questions: Questions, device: Device) -> Sequence[Collector]:
        """The collectors that find facts in this answer; none if nothing can be said."""
        name = without_ending(file)
        if "\0" in answer[:1024] or self._in_vain[name] >= _IN_VAIN:
            return ()
        before = [collector for collector in self._before.get(name, ()) if _reads(collector, answer, device)]
        if before:
            return before
        found = [collector for collector in questions.collectors if _reads(collector, answer, device)]
        if found:
            self._before[name] = found
        else:
            self._in_vain[name] += 1
        return found


def _reads(collector: Collector, answer: str, device: Device) -> bool:
    try:
        return bool(collector.read(answer, device))
    except UnreadableError:
        return False


# ----------------------------------------------------------------------------------------------------------------------
# From the files of a device's folder to readings: the best answer to each question that can be read.

_BOM = "\ufeff"
_PACKED = (".gz", ".xz", ".bz2", ".zst", ".zip")
_BY_CONTENT = 1_000
"""The rank of a file whose name is no command: behind all that have one."""


class _Hit(NamedTuple):
    """Files of one place that together hold one answer: one, or one for each port."""

    rank: int
    place: Opened
    files: list[tuple[str, str]]
    """Name, and the command where the answer does not name its port."""

    @property
    def source(self) -> str:
        return f"{self.place.name}/{self.files[0][0]}" + (" ..." if len(self.files) > 1 else "")


_Hits = tuple[Collector, list[_Hit]]


class Answers:
    """Reads devices' answers. One instance per capture: equal answers to a shared question are read once.

    `questions` is the complete set; `at` is the time of the readings; `kept` are the answers of earlier rounds, if any.
    """

    def __init__(self, questions: Questions, at: datetime, notes: Notes, kept: KeptAnswers | None = None) -> None:
        self._at = at
        self._kept = kept
        self.notes = notes
        """Where remarks go."""
        self._all = questions
        self._of_role = {role: questions.on(role) for role in Role}
        self._by_content = ByContent()
        self._shared: dict[tuple[str, bytes], tuple[Fact, ...] | UnreadableError] = {}
        """By collector and the answer's digest: the answers themselves would stay in memory."""

    def questions(self, device: Device | None) -> Questions:
        """The questions for a device: all of them for an unknown device."""
        return self._of_role[device.role] if device else self._all

    def of_device(self, name: str, device: Device | None, places: Sequence[Opened]) -> list[Reading]:
        """What one device answered: a reading for each question that has a file, readable or not."""
        questions = self.questions(device)
        listed = [place for place in places if not place.refused]
        for place in places:
            if place.refused:
                self.notes.add(f"folders not read, {place.refused}", place.name)
        if not listed:
            why = "; ".join(f"{place.name}: {place.refused}" for place in places)
            return [Reading(name, asked.name, self._at, error=why) for asked in questions.collectors]
        asked = device or Device(name)
        readings = [
            self._answer(collector, hits, name, asked) for collector, hits in self._hits(questions, listed, device)
        ]
        for place in listed:
            if UNANSWERED in place.listing.files:
                reported = load_unanswered(_held(place))
                readings = reported.complete(readings, questions.collectors, name, self._at)
        return readings if device else _likely(readings)

    def _hits(self, questions: Questions, places: Sequence[Opened], device: Device | None) -> Iterable[_Hits]:
        """The answers of each collector in order of rank, the collectors in their order."""
        hits: dict[str, _Hits] = {}
        in_order = len(places) == 1
        for place in places:
            found = questions.by_question(place.listing.names)
            _take(hits, found, place)
            for file in found.unclaimed:
                if file == UNANSWERED:
                    continue
                if self._unnamed(hits, questions, file, place, device):
                    in_order = False
                else:
                    self._ignore(file, place, device)
        if in_order:
            return hits.values()
        for _, of_name in hits.values():
            of_name.sort(key=itemgetter(0))
        return [hits[one.name] for one in questions.collectors if one.name in hits]

    def _unnamed(
        self, hits: dict[str, _Hits], questions: Questions, file: str, place: Opened, device: Device | None
    ) -> bool:
        """Takes the answers in a file whose name is no command's; False if there are none."""
        if file.endswith(_PACKED) or self._all.claims(file):
            return False
        try:
            content = place.read(file)
        except FileRefusedError:
            return False
        if len(content) > session_log.LARGEST_BYTES:
            return False
        source = f"{place.name}/{file}"
        text = text_of(content)
        names = (device.name, *device.aliases) if device else (place.name,)
        try:
            log = session_log.part_of(untouched(text), questions.file_of, *names)
        except UnreadableError as error:
            self.notes.add("session logs of other devices than their folder's, not read", f"{source}: {error}")
            return True
        answers = session_log.session(log, questions.file_of)
        if answers:
            self._text(content, source)  # for its remark: in most other files no text is wanted
            self.notes.add("session logs, read by the commands in them", f"{source}: {len(answers)} answers")
            held: dict[str, bytes | FileRefusedError] = {name: answer.encode() for name, answer in answers.items()}
            opened = Opened(source, place.folder, Listing(files=set(answers)), held=held)
            _take(hits, questions.by_question(opened.listing.names), opened)
            return True
        if len(content) > LARGEST_BYTES:
            return False
        readers = self._by_content.readers(file, text, questions, device or Device(place.name))
        for collector in readers:
            hits.setdefault(collector.name, (collector, []))[1].append(_Hit(_BY_CONTENT, place, [(file, "")]))
        if readers:
            as_what = ", ".join(collector.name for collector in readers)
            self.notes.add("files whose names are no command, read by their content", f"{source}: {as_what}")
        return bool(readers)

    def _ignore(self, file: str, place: Opened, device: Device | None) -> None:
        if device and self._all.claims(file):
            self.notes.add(
                "answers ignored, because the plan gives the device a role that is not asked for them",
                f"{place.name}/{file}: planned as {device.role}",
            )
        elif file.endswith(_PACKED):
            self.notes.add(
                "packed files ignored: unpack them, or pack the whole capture as one .tar.gz", f"{place.name}/{file}"
            )
        else:
            self.notes.add("unknown files ignored", f"{place.name}/{file}")

    def _answer(self, collector: Collector, hits: list[_Hit], name: str, device: Device) -> Reading:
        errors: list[str] = []
        for hit in hits:
            source = hit.source
            try:
                content = _content(hit)
                facts, facts_at = self._known(collector, content, device, source)
            except (FileRefusedError, UnreadableError) as error:
                errors.append(f"{source}: {error}")
                continue
            if len(hits) > 1:
                self._compare(hit, content, hits)
            return Reading(name, collector.name, self._at, facts, source=source, facts_at=facts_at)
        return Reading(name, collector.name, self._at, error="; ".join(errors), source=hits[0].source)

    def _known(
        self, collector: Collector, content: bytes, device: Device, source: str
    ) -> tuple[tuple[Fact, ...], datetime | None]:
        """The facts, and when the answer came that they were parsed from, if that is an earlier one."""
        refuse_large(len(content), collector.megabytes)
        if self._kept is None:
            return self._facts(collector, content, device, source), None

        def parse(answer: bytes) -> tuple[Fact, ...]:
            return self._facts(collector, answer, device, source)

        facts, at = self._kept.facts(collector, device, source, content, self._at, parse)
        return facts, None if at == self._at else at

    def _facts(self, collector: Collector, content: bytes, device: Device, source: str) -> tuple[Fact, ...]:
        text = self._text(content, source)
        if not collector.shared:
            return collector.read(text, device)
        key = (collector.name, sha256(content).digest())
        known = self._shared.get(key)
        if known is None:
            try:
                known = collector.read(text, device)
            except UnreadableError as error:
                known = error.to_keep()
            self._shared[key] = known
        if isinstance(known, UnreadableError):
            raise known.to_keep()  # each raise would add its frames to those of the others
        return known

    def _text(self, content: bytes, source: str) -> str:
        """An answer as text. Bytes that are not UTF-8 become U+FFFD: one strange name must not cost all other ports.

        A parser refuses what is then not in its format. (Surrogates would pass every parser and break every output.)
        """
        text = utf16_text(content)
        if text is not None:
            return text
        try:
            text = content.decode()
        except UnicodeDecodeError:
            self.notes.add("answers with bytes that are not UTF-8, read as \ufffd", source)
            text = content.decode(errors="replace")
        return text.removeprefix(_BOM)

    def _compare(self, used: _Hit, content: bytes, hits: list[_Hit]) -> None:
        """Notes where two folders of one device hold different answers to one command."""
        for other in hits:
            if other.rank == used.rank and other is not used and _differs(other, content):
                self.notes.add(
                    "answers that differ between two folders of one device, the first is used",
                    f"{used.source}, {other.source}",
                )


def _held(place: Opened) -> bytes:
    try:
        return place.read(UNANSWERED)
    except FileRefusedError:
        return b""


def _take(hits: dict[str, _Hits], found: ByQuestion, place: Opened) -> None:
    for collector, answers in found.answers:
        of_name = hits.setdefault(collector.name, (collector, []))[1]
        of_name += [_Hit(rank, place, names) for rank, names in answers]


def _content(hit: _Hit) -> bytes:
    """The answer's bytes; where there is one answer a port, all of them, each below the command that names the port."""
    file, command = hit.files[0]
    if not command:
        return hit.place.read(file)
    return b"\n".join(command.encode() + b"\n" + hit.place.read(file) for file, command in hit.files)


def _differs(hit: _Hit, content: bytes) -> bool:
    try:
        return _content(hit) != content
    except FileRefusedError:
        return True


def _likely(readings: Sequence[Reading]) -> list[Reading]:
    """For an unknown device: no file counts twice, and no failure counts if another reader found an answer.

    A host's and a Cumulus switch's lldpd answer under one name; which of the two answered is unknown here.
    """
    yields = {name: found.yields for name, found in collectors().items()}
    answered = {yields[reading.collector] for reading in readings if not reading.error}
    kept: dict[object, Reading] = {}
    for reading in readings:
        kinds = yields[reading.collector]
        if not reading.error:
            kept.setdefault((reading.source, kinds), reading)
        elif kinds not in answered:
            kept[reading.collector] = reading
    return list(kept.values())
