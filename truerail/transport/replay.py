"""Reads a capture: what devices answered, kept in files, becomes readings as if they had just been asked.

A capture is a folder per device with a file per command, named by `names.answer_file`; or a folder per round, named by
its time, of such folders; or either in a tar archive. It may lack any file and any device, and hold things that nobody
asked for. What cannot be read becomes a reading with an error or a note, and the rest is read.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from truerail.model import Device, Plan, Reading, Snapshot
from truerail.model.index import Devices
from truerail.model.names import device_key, printable
from truerail.model.pause import garbage_collection_paused
from truerail.transport.ahead import Place, newest, opened
from truerail.transport.answers import Answers
from truerail.transport.archive import open_archive
from truerail.transport.folders import DiskFolder, Folder, Refused
from truerail.transport.layout import Layout, find_devices
from truerail.transport.notes import Notes
from truerail.transport.questions import Questions

Progress = Callable[[int, int], None]


class CaptureError(Exception):
    """There is no capture to read. The text names the path and says why."""


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

    def snapshot(self, previous: Snapshot | None = None) -> Snapshot:
        """The same as the rules want it."""
        return Snapshot(self.at, self.readings, previous)


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

    `devices` are the plan's, by name: a folder is matched to them by any spelling of the name. `only` limits what is
    read to devices of these names. `round_name` chooses one of `Capture.rounds` (default: the newest). `progress` is
    told how many of how many devices are read. Raises `CaptureError` where there is nothing to read.
    """
    notes = Notes()
    questions = Questions()
    try:
        layout = find_devices(_open(path, questions, round_name, notes), questions, round_name, notes)
    except Refused as refused:
        raise CaptureError(f"{path}: {refused}") from refused
    places = _places(layout.listing.folders, layout.folder, devices or {}, notes)
    if not places:
        raise CaptureError(f"{path}: holds no folder of a device, there is nothing to read")
    _remark(layout, places, notes)
    at = layout.at or datetime.fromtimestamp(newest(places), UTC)
    wanted = places if only is None else _only(places, {device_key(name) for name in only})
    readings = _read(wanted, devices or {}, Answers(questions, at, notes), progress)
    return Capture(path, at, readings, tuple(wanted), layout.rounds, notes.lines())


def _open(path: Path, questions: Questions, round_name: str | None, notes: Notes) -> Folder:
    if path.is_dir():
        return DiskFolder(str(path))
    if path.is_file():
        return open_archive(path, questions, round_name, notes)
    raise Refused("neither a folder nor an archive" if path.exists() else "no such folder or archive")


def _places(
    folders: Collection[str], within: Folder, devices: Mapping[str, Device], notes: Notes
) -> dict[str, list[Place]]:
    """Where each device's answers lie, by the name that the plan gives it, else the folder.

    A folder that is spelled just as in the plan comes first: its answers count where two folders disagree.
    """
    known = Devices(Plan(devices, ()))
    planned = {device_key(name) for name in devices}
    places: dict[str, list[Place]] = {}
    for folder in sorted(folders, key=lambda name: (device_key(name) not in planned, name)):
        code = known.find_or_add(folder)
        if devices and code >= known.planned:
            notes.add("folders of devices that are not in the plan, read all the same", folder)
        places.setdefault(known.names[code], []).append(Place(printable(folder, 64), within.enter(folder)))
    return places


def _remark(layout: Layout, places: Mapping[str, list[Place]], notes: Notes) -> None:
    """Notes what is odd about a round's folder."""
    for name, found in places.items():
        if len(found) > 1:
            notes.add("devices with several folders, read as one", " = ".join([name, *(place.name for place in found)]))
    for name, why in sorted(layout.listing.refused.items()):
        notes.add(f"refused, {why}", name)
    for name in sorted(layout.listing.files):
        notes.add("files beside the folders of devices ignored", name)


def _only(places: Mapping[str, list[Place]], keys: Collection[str]) -> dict[str, list[Place]]:
    """The devices that have one of these names, be it the plan's or a folder's."""
    return {
        name: found
        for name, found in places.items()
        if any(device_key(called) in keys for called in (name, *(place.name for place in found)))
    }


def _read(
    places: Mapping[str, list[Place]], devices: Mapping[str, Device], answers: Answers, progress: Progress | None
) -> list[Reading]:
    asked = {name: answers.questions(devices.get(name)) for name in places}
    readings: list[Reading] = []
    for number, (name, found) in enumerate(opened(places, asked), 1):
        readings += answers.of_device(name, devices.get(name), found)
        if progress:
            progress(number, len(places))
    return readings
