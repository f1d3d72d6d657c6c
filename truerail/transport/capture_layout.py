"""Where the devices' folders are in a capture: at its top, in a single folder around them, or in a folder per round."""

from dataclasses import dataclass
from datetime import datetime

from truerail.errors import FileRefusedError
from truerail.transport.capture_files import Questions
from truerail.transport.dump_layouts import names_devices
from truerail.transport.folders import Folder, Listing
from truerail.transport.times import round_order, round_time
from truerail.transport.warnings import Notes


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
