"""Where the devices' folders are in a capture: at its top, in a single folder around them, or in a folder per round."""

from dataclasses import dataclass
from datetime import datetime

from truerail.analysis.cabling.discovery import COLLECTOR
from truerail.errors import FileRefusedError
from truerail.transport import unanswered
from truerail.transport.capture_files import Questions, questions_of
from truerail.transport.dump_layouts import Gathered, names_devices
from truerail.transport.folders import Folder, Listing
from truerail.transport.prefetch import Place
from truerail.transport.times import round_order, round_time
from truerail.transport.warnings import Notes

# ----------------------------------------------------------------------------------------------------------------------
# Answers beside the devices' folders: an answer about a whole fabric belongs to no device.
#
# `ibnetdiscover` runs on any machine of an InfiniBand fabric, perhaps on one outside the plan, and its output is saved
# next to the hosts' folders.

NAME = "fabric"
"""The device name of answers that belong to no device."""


def fabric_wide(files: set[str], questions: Questions) -> frozenset[str]:
    """The files that contain an answer about a whole fabric."""
    return frozenset(
        file for file in files if any(claim.collector.name == COLLECTOR for claim in questions.claims(file))
    )


def place_of(folder: Folder, files: frozenset[str]) -> Place:
    """These files as a device's folder."""
    return Place(NAME, Gathered(folder, {file: (folder, file) for file in files}))


def tells_fabric(folder: Folder) -> bool:
    """Whether a folder is that of a machine that was queried only for a whole fabric."""
    try:
        listing = folder.list()
        asked = unanswered.load(folder.read(unanswered.FILE)).collectors if unanswered.FILE in listing.files else ()
    except FileRefusedError:
        return False
    files = listing.files - {unanswered.FILE}
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
