"""What `grep -sH . PATTERN ...; :` prints, without a process: the files stay open and are read by `pread`.

A file of sysfs gives its current value at each read from its beginning (kernel, Documentation/filesystems/sysfs.rst).
Files are looked up again when one has gone, when a folder has changed, and each minute. Where the text would not be
that of the command (a file that is no text, too many files), there is none, and the command is run.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable
from pathlib import Path

LOOK_UP_SECONDS = 60.0
MOST_FILES = 8192
_FORM = re.compile(r"grep -sH \. ((?:/[A-Za-z0-9_./*-]+ ?)+); :")
_TEXT = re.compile(rb"[\t\x20-\x7e\n]*")
_MOST_BYTES = 4096
"""Of one file: a page, as sysfs has it."""


class SysfsReader:
    """The files of one command. `clock` gives seconds."""

    def __init__(self, patterns: list[str], clock: Callable[[], float]) -> None:
        self._patterns, self._clock = patterns, clock
        self.files: list[tuple[bytes, int]] = []
        """Those that are open."""
        self._folders: dict[Path, int] = {}
        self._looked_up = -LOOK_UP_SECONDS

    def read(self) -> bytes | None:
        """The text; None where the command has to be run. Raises OSError where files cannot be opened any more."""
        if self._clock() - self._looked_up >= LOOK_UP_SECONDS or self._changed():
            self._look_up()
        text = self._text()
        if text is None:
            self._look_up()
            text = self._text()
        return text if text is not None and len(self.files) <= MOST_FILES and _TEXT.fullmatch(text) else None

    def close(self) -> None:
        """Closes all files."""
        for _, file in self.files:
            os.close(file)
        self.files = []

    def _text(self) -> bytes | None:
        """None if a file has gone, or is too large."""
        found = []
        for prefix, file in self.files:
            try:
                value = os.pread(file, _MOST_BYTES, 0)
            except OSError as error:
                if error.errno in _GONE:
                    return None
                continue  # a value that cannot be read now, such as the speed of a port without a link
            if len(value) == _MOST_BYTES:
                return None
            if value.count(b"\n") == 1 and value[-1:] == b"\n":
                if len(value) > 1:
                    found.append(prefix + value)
                continue
            found += [prefix + line + b"\n" for line in value.split(b"\n") if line]
        return b"".join(found)

    def _changed(self) -> bool:
        try:
            return any(folder.stat().st_mtime_ns != at for folder, at in self._folders.items())
        except OSError:
            return True

    def _look_up(self) -> None:
        self.close()
        self._looked_up = self._clock()
        self._folders = {}
        for pattern in self._patterns:
            paths = sorted(glob.glob(pattern))
            for path in paths:
                self._open(path)
            before = Path(pattern.partition("*")[0] + "x").parent  # the folder before the first wildcard
            for folder in {Path(path).parent for path in paths} | {before}:
                try:
                    self._folders[folder] = folder.stat().st_mtime_ns
                except OSError:
                    continue

    def _open(self, path: str) -> None:
        if len(self.files) > MOST_FILES or Path(path).is_dir():
            return
        try:
            self.files.append((path.encode() + b":", os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)))
        except OSError:
            return  # -s: what cannot be opened is left out


_GONE = (2, 19, 6, 116)
"""ENOENT, ENODEV, ENXIO, ESTALE: the file of a device that was removed."""


def reader_of(command: str, clock: Callable[[], float]) -> SysfsReader | None:
    """The reader for a command; None for one of another form."""
    found = _FORM.fullmatch(command)
    return SysfsReader(found.group(1).split(), clock) if found else None
