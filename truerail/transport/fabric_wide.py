"""Answers beside the devices' folders: an answer about a whole fabric belongs to no device.

`ibnetdiscover` runs on any machine of an InfiniBand fabric, perhaps on one outside the plan, and its output is saved
next to the hosts' folders.
"""

from truerail.analysis.cabling.discovery import COLLECTOR
from truerail.errors import FileRefusedError
from truerail.transport import unanswered
from truerail.transport.capture_files import Questions, questions_of
from truerail.transport.dump_layouts import Gathered
from truerail.transport.folders import Folder
from truerail.transport.prefetch import Place

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
