"""Reads a capture: turns the stored answers of devices into readings, as a live round does.

A capture is a folder per device with a file per command, named by `names.answer_file`; or a folder per round, named by
its time, of such folders; or either in a tar archive. It may lack any file and any device, and contain unrelated files.
What cannot be read becomes a reading with an error or a note, and the rest is read. Readings come from one round,
counters also from those before it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path

from collector import at_once, collectors
from truerail.analysis.cabling.discovery import COLLECTOR
from truerail.analysis.counters import CounterView, Window
from truerail.analysis.counters.window import SAMPLES
from truerail.errors import CaptureError, FileRefusedError
from truerail.model import BitErrorRate, Device, Optic, Plan, PortCounters, Reading, Snapshot
from truerail.model.index import Devices
from truerail.model.names import device_key, printable
from truerail.model.pause import garbage_collection_paused
from truerail.transport.answers import Answers
from truerail.transport.archive import open_archive
from truerail.transport.capture_files import Questions, questions_of
from truerail.transport.dump_layouts import Dumps, Gathered, gather, names_devices
from truerail.transport.folders import DiskFolder, Folder, Listing
from truerail.transport.prefetch import Place, newest, opened
from truerail.transport.reading_processes import processes, read_by_processes
from truerail.transport.round_files import INVENTORY, UNANSWERED, inventory_of, load_unanswered
from truerail.transport.times import round_order, round_time
from truerail.transport.warnings import Notes

# ----------------------------------------------------------------------------------------------------------------------
# Answers beside the devices' folders: an answer about a whole fabric belongs to no device.
#
# `ibnetdiscover` runs on any machine of an InfiniBand fabric, perhaps on one outside the plan, and its output is saved
# next to the hosts' folders.

FABRIC = "fabric"
"""The device name of answers that belong to no device."""


def fabric_wide(files: set[str], questions: Questions) -> frozenset[str]:
    """The files that contain an answer about a whole fabric."""
    return frozenset(
        file for file in files if any(claim.collector.name == COLLECTOR for claim in questions.claims(file))
    )


def tells_fabric(folder: Folder) -> bool:
    """Whether a folder is that of a machine that was queried only for a whole fabric."""
    try:
        listing = folder.list()
        asked = load_unanswered(folder.read(UNANSWERED)).collectors if UNANSWERED in listing.files else ()
    except FileRefusedError:
        return False
    files = listing.files - {UNANSWERED}
    return bool(files or asked == (COLLECTOR,)) and fabric_wide(files, questions_of()) == files and not listing.folders


# ----------------------------------------------------------------------------------------------------------------------
# Where the devices' folders are in a capture: at its top, in a single folder around them, or in a folder per round.


@dataclass(frozen=True, slots=True)
class Layout:
    """The folder that holds the devices' folders, what is in it, and the rounds beside it."""

    folder: Folder
    listing: Listing
    rounds: tuple[str, ...]
    """Names of all rounds, oldest first; empty where the capture has no rounds."""
    at: datetime | None
    """The time that names the round; None where there are no rounds."""


def find_devices(root: Folder, questions: Questions, wanted: str | None, notes: Notes) -> Layout:
    """Finds the devices' folders of the wanted round (default: the newest).

    `questions` determine which files are answers. Raises `FileRefusedError` if there is no such round, or a folder
    cannot be listed.
    """
    folder, listing = _unwrap(root, questions)
    rounds = sorted((name for name in listing.folders if round_time(name)), key=round_order)
    if wanted is not None and wanted not in rounds:
        raise FileRefusedError(f"no round named {wanted} (there are: {', '.join(rounds) or 'none'})")
    if not rounds:
        return Layout(folder, listing, (), None)
    name = wanted or rounds[-1]
    for beside in sorted(set(listing.folders) - set(rounds)):
        notes.add("folders beside the rounds ignored", beside)
    inside = folder.enter(name)
    return Layout(inside, inside.list(), tuple(rounds), round_time(name))


def _unwrap(folder: Folder, questions: Questions) -> tuple[Folder, Listing]:
    """Steps into a lone folder that holds folders and no answers: an archive's outermost one, as most tools make it."""
    listing = folder.list()
    if len(listing.folders) == 1 and not round_time(listing.folders[0]):
        inner = folder.enter(listing.folders[0])
        try:
            inside = inner.list()
        except FileRefusedError:
            return folder, listing
        devices = inside.folders or names_devices(inside.files, questions)
        if devices and not any(questions.claims(file) for file in inside.files):
            return inner, inside
    return folder, listing


# ----------------------------------------------------------------------------------------------------------------------
# Reads a capture: turns the stored answers of devices into readings, as a live round does.

MOST_APART_SECONDS = 900.0
"""Rounds further apart show what was counted in between, but not the current rate."""
_OF_THE_SYSTEM = ((), ("proc",), ("sys",))
"""First parts of paths: all files of a machine, and those that its kernel makes up."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Capture:
    """One round of a capture."""

    path: Path
    at: datetime
    """When it was taken: the time that names the round, else the newest change of any folder of a device."""
    readings: list[Reading]
    devices_seen: tuple[str, ...]
    """The devices that have a folder, as the plan names them, else as the folder does; in the order of folders."""
    rounds: tuple[str, ...]
    """Names of all rounds, oldest first; empty where the capture has no rounds."""
    notes: tuple[str, ...]
    """What a reader should know: things refused, ignored or doubtful, counted."""
    counters: CounterView | None = None
    """The counters of all rounds up to this one; None if they were not read (see `with_counters`)."""
    inventory: frozenset[str] | None = None
    """The devices of the inventory with which it was captured; None if the capture does not list them."""

    def snapshot(self, previous: Snapshot | None = None) -> Snapshot:
        """The same as the rules want it."""
        return Snapshot(self.at, self.readings, previous, self.inventory)


@garbage_collection_paused(freeze=True)
def read_capture(
    path: Path,
    *,
    devices: Mapping[str, Device] | None = None,
    only: Collection[str] | None = None,
    round_name: str | None = None,
    progress: Progress | None = None,
) -> Capture:
    """Reads one round of the capture at `path`, a folder or a tar archive (plain, gzip, xz, bzip2).

    `devices` are the plan's, by name: a folder matches any spelling of a device's name. `only` limits what is
    read to devices of these names. `round_name` chooses one of `Capture.rounds` (default: the newest). `progress`
    receives the number of devices read and their total. Raises `CaptureError` if nothing to read.
    """
    notes = Notes()
    questions = questions_of()
    root = _open(path, questions, None if round_name is None else (round_name,), notes)
    try:
        layout = find_devices(root, questions, round_name, notes)
    except FileRefusedError as refused:
        raise CaptureError(f"{path}: {refused}") from refused
    beside = fabric_wide(layout.listing.files, questions)
    places, dumps = _places(layout, devices or {}, beside, questions, notes)
    if beside:
        gathered = Gathered(layout.folder, {file: (layout.folder, file) for file in beside})
        places.setdefault(FABRIC, []).append(Place(FABRIC, gathered))
    if not places:
        answers = any(questions.claims(file) for file in layout.listing.files)
        hint = "it is a device's own folder: give its parent folder" if answers else "nothing to read"
        raise CaptureError(f"{path}: has no folder of a device, {hint}")
    _remark(layout, places, beside | dumps.taken, notes)
    at = layout.at or datetime.fromtimestamp(newest(places), UTC)
    wanted = places if only is None else _only(places, {device_key(name) for name in only})
    readings = _read(wanted, devices or {}, Answers(questions, at, notes), progress)
    inventory = inventory_of(layout.folder, layout.listing, notes)
    return Capture(path, at, readings, tuple(wanted), layout.rounds, notes.lines(), inventory=inventory)


def with_counters(
    capture: Capture, *, devices: Mapping[str, Device] | None = None, progress: Progress | None = None
) -> Capture:
    """The same with the counters of the rounds before it, and its own: one round alone gives no rates.

    Rounds are read one after the other, and only the answers that hold counters: of an archive they are all in memory
    as text, of a folder one round is. `progress` receives the number of rounds read and their total. Raises
    `CaptureError` if the capture is gone meanwhile.
    """
    names = _recent(capture)
    counting = collectors().keys() - at_once()
    if len(names) < 2 or all(reading.collector not in counting for reading in capture.readings):
        return capture
    notes, window, questions = Notes(), Window(), questions_of(only=frozenset(counting))
    root = _open(capture.path, questions, names, Notes())
    for number, name in enumerate(names, 1):
        try:
            window.put(_counters_of(root, name, questions, devices or {}, notes))
        except FileRefusedError as refused:
            notes.add("rounds whose counters were not read", f"{name}: {refused}")
        if progress:
            progress(number, len(names))
    return replace(capture, counters=window.view(), notes=(*capture.notes, *notes.lines()))


def signals_before(
    capture: Capture, since: datetime, apart_seconds: float, *, devices: Mapping[str, Device] | None = None
) -> Iterator[tuple[Snapshot, CounterView | None]]:
    """What earlier rounds of a capture show of modules and errors, oldest first: the last round in each so many seconds
    from `since` on, with the counters of it and the one before it if that is not far. Raises `CaptureError` if the
    capture is gone meanwhile.
    """
    names = [name for name in capture.rounds if since <= _time(name) <= capture.at]
    last = {int(_time(name).timestamp() // apart_seconds): number for number, name in enumerate(names)}
    kinds = {name for name, one in collectors().items() if {Optic, BitErrorRate, PortCounters} & set(one.yields)}
    questions, notes = questions_of(only=frozenset(kinds)), Notes()
    root = _open(capture.path, questions, names, notes)
    for number in last.values():
        window = Window(samples=2)
        for name in names[max(number - 1, 0) : number + 1]:
            if (_time(names[number]) - _time(name)).total_seconds() <= MOST_APART_SECONDS:
                readings = _counters_of(root, name, questions, devices or {}, notes)
                window.put(readings)
        yield Snapshot(_time(names[number]), readings), window.view()


def _recent(capture: Capture) -> tuple[str, ...]:
    """The rounds that a window holds: the newest ones up to this one that follow each other closely."""
    names = [name for name in capture.rounds if _time(name) <= capture.at][-SAMPLES - 1 :]
    gaps = [(_time(later) - _time(name)).total_seconds() for name, later in pairwise(names)]
    far = [place for place, seconds in enumerate(gaps, 1) if seconds > MOST_APART_SECONDS]
    return tuple(names[max(far, default=0) :])


def _counters_of(
    root: Folder, name: str, questions: Questions, devices: Mapping[str, Device], notes: Notes
) -> list[Reading]:
    """What the devices had counted at the time of a round."""
    quiet = Notes()  # separate: warnings about folders and files were reported for the newest round
    layout = find_devices(root, questions_of(), name, quiet)
    places, _ = _places(layout, devices, fabric_wide(layout.listing.files, questions), questions, quiet)
    readings = _read(places, devices, Answers(questions, _time(name), quiet), None)
    for reading in readings:
        if reading.error and reading.source:
            notes.add("answers with counters that could not be read", f"{name}/{reading.source}: {reading.error}")
    return readings


def _time(name: str) -> datetime:
    at = round_time(name)
    assert at is not None  # noqa: S101 - rounds are the folders that such a name has
    return at


def _open(path: Path, questions: Questions, rounds: Collection[str] | None, notes: Notes) -> Folder:
    if path.is_dir():
        if path.resolve().parts[1:2] in _OF_THE_SYSTEM:
            raise CaptureError(f"{path}: the files of this machine's system are no capture")
        return DiskFolder(str(path))
    try:
        if path.is_file():
            return open_archive(path, questions, rounds, notes)
    except FileRefusedError as refused:
        raise CaptureError(f"{path}: {refused}") from refused
    raise CaptureError(f"{path}: {'neither a folder nor an archive' if path.exists() else 'no such folder or archive'}")


def _places(
    layout: Layout, devices: Mapping[str, Device], beside: frozenset[str], questions: Questions, notes: Notes
) -> tuple[dict[str, list[Place]], Dumps]:
    """Where each device's answers lie, by the name that the plan gives it, else the folder; and what of it lies outside
    the folders of devices, where the files `beside` are a fabric's.

    A folder that is spelled just as in the plan comes first: its answers count where two folders disagree.
    """
    known = Devices(Plan(devices, ()))
    planned = {device_key(name) for name in devices}
    within, outside = layout.folder, replace(layout.listing, files=layout.listing.files - beside - {INVENTORY})
    dumps = gather(within, outside, questions, known)
    folders: dict[str, Folder] = {
        name: within.enter(name) for name in layout.listing.folders if name not in dumps.taken
    }
    places: dict[str, list[Place]] = {}
    for name, folder in sorted(
        (*folders.items(), *dumps.devices.items()), key=lambda named: (device_key(named[0]) not in planned, named[0])
    ):
        code = known.find_or_add(name)
        if devices and code >= known.planned and not tells_fabric(folder):
            notes.add("folders under names that are not in the plan, read all the same", name)
        places.setdefault(known.names[code], []).append(Place(printable(name, 64), folder))
    return places, dumps


def _remark(layout: Layout, places: Mapping[str, list[Place]], beside: frozenset[str], notes: Notes) -> None:
    """Notes what is odd about a round's folder; `beside` are files that are read though they lie in no device's."""
    for name, found in places.items():
        if len(found) > 1:
            notes.add("devices with several folders, read as one", " = ".join([name, *(place.name for place in found)]))
    for name, why in sorted(layout.listing.refused.items()):
        notes.add(f"refused, {why}", name)
    for name in sorted(layout.listing.files - beside - {INVENTORY}):
        notes.add("files beside the folders of devices ignored", name)


def _only(places: Mapping[str, list[Place]], keys: Collection[str]) -> dict[str, list[Place]]:
    """The devices that have one of these names, the plan's or a folder's."""
    return {
        name: found
        for name, found in places.items()
        if any(device_key(called) in keys for called in (name, *(place.name for place in found)))
    }


def _read(
    places: Mapping[str, list[Place]], devices: Mapping[str, Device], answers: Answers, progress: Progress | None
) -> list[Reading]:
    asked = {name: answers.questions(devices.get(name)) for name in places}

    def read(names: Iterable[str]) -> Iterator[list[Reading]]:
        for name, found in opened({name: places[name] for name in names}, asked):
            yield answers.of_device(name, devices.get(name), found)

    def apart(names: Sequence[str]) -> tuple[list[Reading], Notes]:
        answers.notes = Notes()
        return list(chain.from_iterable(read(names))), answers.notes

    readings: list[Reading] = []
    notes, number = answers.notes, processes(len(places))
    parts = read_by_processes(list(places), apart, number) if number > 1 else ((1, one, None) for one in read(places))
    done = 0
    for devices_read, found, noted in parts:
        readings += found
        done += devices_read
        if noted:
            notes.merge(noted)
        if progress:
            progress(done, len(places))
    return readings
