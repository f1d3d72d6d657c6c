"""A capture's folders on disk, opened as untrusted input: a capture may come by mail, from a shared drive or from a
stranger.

Only files inside the capture are opened, only plain files are read, and no file is read beyond a limit.
50,000 small files cost more to find and open than to parse, so a folder is listed once with `os.scandir` (which
distinguishes links from files without a stat each) and a file is read in one go.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from truerail.errors import FileRefusedError

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The largest answer that is read. An SNMP walk of a 512-port switch is 3 MB, far below this limit."""

_FIRST_READ = 32 * 1024
"""Holds nearly every answer of a host. A larger buffer is mapped each time, which costs more than a second read."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(slots=True)
class Listing:
    """What a folder holds: names of folders, of plain files, and of what is neither, with the reason it is refused."""

    folders: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return frozenset((*self.files, *self.folders, *self.refused))


class Folder(Protocol):
    """A folder of a capture, on disk or in an archive."""

    def list(self) -> Listing:
        """What is in it. Raises `FileRefusedError` where it cannot be listed."""

    def enter(self, name: str) -> "Folder":
        """The folder of this name in it."""

    def read(self, name: str) -> bytes:
        """The complete content of a file. Raises `FileRefusedError` if it cannot be read or is larger than the
        limit."""

    def modified(self) -> float:
        """When the folder last changed, in seconds since 1970; 0.0 if unknown."""


class DiskFolder:
    """A folder on disk. Links are followed only to what lies under `root`, which is free of links itself."""

    __slots__ = ("_path", "_root")

    def __init__(self, path: str, root: str | None = None) -> None:
        self._path = path
        self._root = root or os.path.realpath(path)

    def list(self) -> Listing:
        listing = Listing()
        try:
            with os.scandir(self._path) as entries:
                for entry in entries:
                    self._sort(entry, listing)
        except OSError as error:
            raise FileRefusedError(error.strerror or "cannot be listed") from error
        return listing

    def _sort(self, entry: "os.DirEntry[str]", listing: Listing) -> None:
        if entry.is_file(follow_symlinks=False):
            listing.files.add(entry.name)
        elif entry.is_dir(follow_symlinks=False):
            listing.folders.append(entry.name)
        elif not entry.is_symlink():
            listing.refused[entry.name] = "neither a file nor a folder"
        elif not self._inside(entry.path):
            listing.refused[entry.name] = "a symbolic link that leaves the capture"
        elif entry.is_dir():
            listing.folders.append(entry.name)
        elif entry.is_file():
            listing.files.add(entry.name)
        else:
            listing.refused[entry.name] = "a symbolic link to nothing that can be read"

    def _inside(self, path: str) -> bool:
        return os.path.realpath(path).startswith(self._root.rstrip(os.sep) + os.sep)

    def enter(self, name: str) -> "DiskFolder":
        return DiskFolder(f"{self._path}/{name}", self._root)

    def read(self, name: str) -> bytes:
        path = f"{self._path}/{name}"
        try:
            handle = os.open(path, _OPEN)
        except OSError:
            handle = self._open_link(path)
        try:
            return _read_all(handle)
        except OSError as error:
            raise FileRefusedError(error.strerror or "cannot be read") from error
        finally:
            os.close(handle)

    def _open_link(self, path: str) -> int:
        """Opens the target of a link inside the capture; returns the reason if that fails."""
        if not self._inside(path):
            raise FileRefusedError("a symbolic link that leaves the capture")
        try:
            return os.open(os.path.realpath(path), _OPEN)
        except OSError as error:
            raise FileRefusedError(error.strerror or "cannot be opened") from error

    def modified(self) -> float:
        try:
            return Path(self._path).stat().st_mtime
        except OSError:
            return 0.0


def _read_all(handle: int) -> bytes:
    """Reads to the end. A small file takes one read and no stat; only for a large one the size is read first."""
    first = os.read(handle, _FIRST_READ)
    if len(first) < _FIRST_READ:
        return first
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise FileRefusedError("not a plain file")
    if status.st_size > MAX_ANSWER_BYTES:
        raise too_large(status.st_size)
    parts, size = [first], len(first)
    while part := os.read(handle, min(max(status.st_size - size + 1, _FIRST_READ), MAX_ANSWER_BYTES + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise too_large(size)
    return b"".join(parts)


def too_large(size: int) -> FileRefusedError:
    """The refusal of a file of `size` bytes."""
    return FileRefusedError(f"{size:,} bytes, more than the {MAX_ANSWER_BYTES // 2**20} MiB that an answer may have")
