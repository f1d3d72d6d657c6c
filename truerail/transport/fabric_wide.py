"""Answers that lie beside the devices' folders: one that tells of a whole fabric belongs to no device.

Somebody runs `ibnetdiscover` on any machine of an InfiniBand fabric, perhaps on one that no plan has, and puts what it
printed where the hosts' folders are.
"""

from dataclasses import dataclass

from truerail.analysis.cabling.discovery import COLLECTOR
from truerail.errors import FileRefusedError
from truerail.transport import unanswered
from truerail.transport.folders import Folder, Listing
from truerail.transport.prefetch import Place
from truerail.transport.questions import Questions

NAME = "fabric"
"""Whose answers they are, where nobody else's."""


@dataclass(frozen=True, slots=True)
class _Some:
    """Some files of a folder, as a folder."""

    folder: Folder
    files: frozenset[str]

    def list(self) -> Listing:
        return Listing(files=set(self.files))

    def enter(self, name: str) -> Folder:
        return self.folder.enter(name)

    def read(self, name: str) -> bytes:
        return self.folder.read(name)

    def modified(self) -> float:
        return self.folder.modified()


def fabric_wide(files: set[str], questions: Questions) -> frozenset[str]:
    """Those of these files that answer for a whole fabric."""
    return frozenset(
        file for file in files if any(claim.collector.name == COLLECTOR for claim in questions.claims(file))
    )


def place_of(folder: Folder, files: frozenset[str]) -> Place:
    """These files as a device's folder."""
    return Place(NAME, _Some(folder, files))


def tells_fabric(folder: Folder) -> bool:
    """Whether a folder is that of a machine that was asked for a whole fabric, and for nothing else."""
    try:
        listing = folder.list()
        asked = unanswered.load(folder.read(unanswered.FILE)).collectors if unanswered.FILE in listing.files else ()
    except FileRefusedError:
        return False
    files = listing.files - {unanswered.FILE}
    return bool(files or asked == (COLLECTOR,)) and fabric_wide(files, Questions()) == files and not listing.folders
