"""A capture in a tar archive, read in one pass and in memory, never unpacked to disk.

Only files whose names answer a question are stored, small others up to a limit, and of several rounds only the wanted
ones. Archives are untrusted: names with path traversal, links and devices are refused; the sizes of a member, a header,
the stored files and the total unpacked data are limited, so that a decompression bomb ends in an error message, not in
a dead machine.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, Final

from truerail.errors import FileRefusedError
from truerail.transport.capture_files import Questions
from truerail.transport.folders import MAX_ANSWER_BYTES, Listing, too_large
from truerail.transport.round_files import INVENTORY, UNANSWERED
from truerail.transport.times import round_order, round_time
from truerail.transport.warnings import Notes

MAX_UNPACKED_BYTES = 4 * 1024**3
"""A round of a hundred thousand GPUs unpacks to about 0.5 GB."""
MAX_KEPT_BYTES = 1024**3
MAX_MEMBERS = 1_000_000
MAX_OTHER_BYTES = 4 * 1024**2
"""The largest file that is kept though its name is no command's: a session log, or an answer by any name."""
MAX_OTHERS_BYTES = 128 * 1024**2
"""What all of these take at most: behind it they are counted, as larger ones are."""


_MAGIC: Final[dict[bytes, Callable[[IO[bytes]], io.BufferedIOBase]]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ": lzma.open,
    b"BZh": bz2.open,
}
_BROKEN = (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error, ValueError)
_CHUNK = 1024 * 1024


class _Bounded:
    """A decompressed stream that tarfile reads forwards only, with limits per read and in total."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream = stream
        self._position = 0

    def read(self, size: int) -> bytes:
        if size > MAX_ANSWER_BYTES:
            raise tarfile.ReadError(f"a header claims {size:,} bytes")
        data = self._stream.read(size)
        self._position += len(data)
        if self._position > MAX_UNPACKED_BYTES:
            raise tarfile.ReadError(f"it unpacks to more than {MAX_UNPACKED_BYTES / 2**30:.3g} GiB")
        return data

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        if position < self._position:
            raise tarfile.ReadError("a member's data lies before its header")
        while self._position < position and self.read(min(_CHUNK, position - self._position)):
            pass


class ArchiveFolder:
    """A folder of an archive, held in memory: its folders, its stored files, and the names of all other entries."""

    def __init__(self) -> None:
        self.folders: dict[str, ArchiveFolder] = {}
        self.files: dict[str, bytes] = {}
        self.others: set[str] = set()
        self.refused: dict[str, str] = {}
        self.changed = 0.0

    def list(self) -> Listing:
        return Listing(list(self.folders), {*self.files, *self.others}, dict(self.refused))

    def enter(self, name: str) -> "ArchiveFolder":
        return self.folders[name]

    def make(self, name: str) -> "ArchiveFolder":
        """The folder of this name, made where it is missing."""
        return self.folders.setdefault(name, ArchiveFolder())

    def read(self, name: str) -> bytes:
        try:
            return self.files[name]
        except KeyError:
            raise FileRefusedError("not kept of the archive") from None

    def modified(self) -> float:
        return self.changed


class _Shelf:
    """Sorts the members of one archive into folders."""

    def __init__(self, questions: Questions, wanted: Collection[str] | None, notes: Notes) -> None:
        self.root = ArchiveFolder()
        self._questions = questions
        self._wanted = wanted
        self._notes = notes
        self._newest: tuple[ArchiveFolder, str] | None = None
        self._kept = self._others_kept = 0

    def put(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Keeps, counts or refuses one member."""
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if member.name.startswith("/") or ".." in parts:
            self._notes.add("archive members refused, because their names lead out of the archive", member.name)
        elif parts:
            self._place(tar, member, parts)

    def _place(self, tar: tarfile.TarFile, member: tarfile.TarInfo, parts: list[str]) -> None:
        folder = self.root
        for part in parts[:-1]:
            if round_time(part) and not self._is_wanted(folder, part):
                folder.make(part)
                return
            folder = folder.make(part)
        folder.changed = max(folder.changed, float(member.mtime))
        name = parts[-1]
        if member.isdir():
            folder.make(name)
        elif not member.isreg():
            folder.refused[name] = "a link or a device in the archive"
        elif self._questions.claims(name) or name in (UNANSWERED, INVENTORY):
            self._store(tar, member, folder, name)
        elif member.size <= min(MAX_OTHER_BYTES, MAX_OTHERS_BYTES - self._others_kept):
            self._others_kept += member.size
            folder.files[name] = _content(tar, member)
        else:
            folder.others.add(name)

    def _is_wanted(self, parent: ArchiveFolder, name: str) -> bool:
        """Whether a round is the one to read. A newer one replaces the one stored so far: which is the newest is known
        only at the archive's end."""
        if self._wanted is not None:
            return name in self._wanted
        if self._newest is None:
            self._newest = parent, name
        elif round_order(name) > round_order(self._newest[1]):
            self._newest[0].folders[self._newest[1]] = ArchiveFolder()
            self._newest = parent, name
            self._kept = 0
        return self._newest[1] == name

    def _store(self, tar: tarfile.TarFile, member: tarfile.TarInfo, folder: ArchiveFolder, name: str) -> None:
        if member.size > MAX_ANSWER_BYTES:
            folder.refused[name] = str(too_large(member.size))
            return
        self._kept += member.size
        if self._kept > MAX_KEPT_BYTES:
            raise tarfile.ReadError(f"its answers take more than {MAX_KEPT_BYTES / 2**30:.3g} GiB")
        folder.files[name] = _content(tar, member)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = tar.extractfile(member)
    return content.read() if content else b""


def open_archive(path: Path, questions: Questions, wanted: Collection[str] | None, notes: Notes) -> ArchiveFolder:
    """The archive's root folder. Stores the files that answer one of `questions`, of the rounds of these names
    (default: of the newest).

    Plain, gzip, xz and bzip2 are detected by their content. A truncated archive is read up to its end, with a note.
    Raises `FileRefusedError` for a file that is no archive.
    """
    shelf = _Shelf(questions, wanted, notes)
    members = 0
    try:
        with path.open("rb") as raw:
            head = raw.read(6)
            raw.seek(0)
            unpack = next((make for magic, make in _MAGIC.items() if head.startswith(magic)), None)
            stream = unpack(raw) if unpack else raw
            # tarfile asks its source for read, seek and tell only
            with tarfile.open(fileobj=_Bounded(stream), mode="r:") as tar:  # type: ignore[call-overload]
                while (member := tar.next()) is not None:
                    members += 1
                    if members > MAX_MEMBERS:
                        raise tarfile.ReadError(f"it has more than {MAX_MEMBERS:,} members")
                    shelf.put(tar, member)
                    tar.members = []  # tarfile would keep every header for a second pass, which never happens
    except _BROKEN as error:
        if not members:
            raise FileRefusedError(f"not a readable tar archive ({error or type(error).__name__})") from error
        notes.add(f"the archive was read only in part: {error or type(error).__name__}", f"after {members:,} members")
    return shelf.root
