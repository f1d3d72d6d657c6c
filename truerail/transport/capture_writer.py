"""Writes a round as a capture: device by device while it is polled, and visible only when complete.

A round lies in `.TIME.partial` until it is finished and is then renamed to `TIME`; a device's folder likewise. So a
reader finds no partial capture and no partial device, and an interrupted round can be continued.
"""

import errno
import fcntl
import io
import os
import shutil
import socket
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from truerail.errors import FolderBusyError
from truerail.model.names import printable
from truerail.transport.round_files import INVENTORY, UNANSWERED, dump_inventory, load_unanswered
from truerail.transport.times import round_name, round_time

PARTIAL = ".partial"


class CaptureWriter:
    """One round of a capture under `root`. Continues the newest unfinished round there, if there is one and no other
    writer can use it: `alone` is the result of `alone_in`.
    """

    def __init__(self, root: Path, at: datetime, *, alone: bool = True) -> None:
        """Makes the folder. Raises OSError; if another writer is possible, also for a round of the same name."""
        unfinished = sorted(found.name for found in root.glob(f".*{PARTIAL}") if _round_of(found.name))
        self.name = _round_of(unfinished[-1]) if alone and unfinished else round_name(at)
        self.root = root
        self.folder = root / f".{self.name}{PARTIAL}"
        self.folder.mkdir(parents=True, exist_ok=alone)

    @property
    def at(self) -> datetime:
        """The time of the round: when its gathering began."""
        return round_time(self.name) or datetime.now(UTC)

    def answered(self) -> set[str]:
        """The complete folders of devices; devices that could not be queried are queried again."""
        return {found.name for found in self.folder.iterdir() if not found.name.startswith(".") and _whole(found)}

    def add(self, device: str, files: Mapping[str, bytes]) -> None:
        """Writes a device's folder. Raises OSError."""
        place = self.folder / folder_name(device)
        draft = self.folder / f".{folder_name(device)}{PARTIAL}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        for name, content in files.items():
            with open(f"{draft}/{name}", "wb") as file:
                file.write(content)
        if place.exists():
            shutil.rmtree(place)
        draft.rename(place)

    def add_file(self, device: str, name: str, content: bytes) -> bool:
        """Adds a file to a device's folder; whether the round has one. Raises OSError."""
        place = self.folder / folder_name(device)
        if place.is_dir():
            (place / name).write_bytes(content)
        return place.is_dir()

    def list_inventory(self, names: Iterable[str]) -> None:
        """Writes the names of the inventory's devices beside their folders. Raises OSError."""
        (self.folder / INVENTORY).write_bytes(dump_inventory(names))

    def finish(self) -> Path:
        """Gives the round its name, and the path. Raises OSError, FileExistsError where there is one of that name."""
        for draft in self.folder.glob(f".*{PARTIAL}"):
            shutil.rmtree(draft)
        done = self.root / self.name
        if done.exists():
            raise FileExistsError(17, "there is a round of this time already", str(done))
        self.folder.rename(done)
        return done


def pack(folder: Path) -> Path:
    """Packs a finished round into `TIME.tar.gz` beside it and removes the folder. The same files give the same bytes
    of tar.
    """
    archive = folder.with_name(f"{folder.name}.tar.gz")
    draft = folder.with_name(f".{folder.name}.tar.gz{PARTIAL}")
    at = round_time(folder.name)
    with tarfile.open(draft, "w:gz", compresslevel=6) as tar:
        for path in sorted(found for found in folder.rglob("*") if found.is_file()):
            content = path.read_bytes()
            member = tarfile.TarInfo(str(path.relative_to(folder.parent)))
            member.size, member.mtime, member.mode = len(content), int(at.timestamp()) if at else 0, 0o644
            tar.addfile(member, io.BytesIO(content))
    draft.rename(archive)
    shutil.rmtree(folder)
    return archive


def folder_name(device: str) -> str:
    """A device's name as the name of one folder, never of a hidden one or of one elsewhere."""
    safe = device.replace("/", "_").replace("\0", "_")
    return f"_{safe[1:]}" if safe.startswith(".") else safe


def _round_of(name: str) -> str:
    """The round that an unfinished folder belongs to; empty for any other name."""
    inner = name.removeprefix(".").removesuffix(PARTIAL)
    return inner if round_time(inner) else ""


def _whole(folder: Path) -> bool:
    reported = folder / UNANSWERED
    return folder.is_dir() and not (reported.is_file() and load_unanswered(reported.read_bytes()).device)


# ----------------------------------------------------------------------------------------------------------------------
# One writer in a folder of captures at a time: two would continue the same unfinished round and remove each other's
# files.
#
# The lock is `flock(2)` on a file in the folder. The kernel releases it when its holder ends, for any reason, so a
# leftover file is no lock: the next writer takes it over.

LOCK_FILE = ".capturing"
_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}
"""What a file system without locks answers, such as Lustre mounted without `flock`."""
_LONGEST = 200


@contextmanager
def alone_in(root: Path, at: datetime) -> Iterator[bool]:
    """Makes the folder and keeps it for this process while the body runs; False where its file system has no locks.

    Raises FolderBusyError, OSError.
    """
    root.mkdir(parents=True, exist_ok=True)
    path = root / LOCK_FILE
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        locked = _locked(handle)
        try:
            if locked:
                _sign(handle, at)
            yield locked
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderBusyError(_holder(handle)) from None
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        raise
    if not os.fstat(handle).st_nlink:
        raise FolderBusyError("another capture has just ended: run the command again")
    return True


def _holder(handle: int) -> str:
    who = printable(os.pread(handle, _LONGEST, 0).decode("utf-8", "replace").strip())
    return f"another capture is writing there: {who}" if who else "another capture is writing there"


def _sign(handle: int, at: datetime) -> None:
    """Writes the holder's name over that of an earlier holder."""
    line = f"process {os.getpid()} on {socket.gethostname()}, since {round_name(at)}\n".encode()
    os.pwrite(handle, line, 0)
    os.ftruncate(handle, len(line))
