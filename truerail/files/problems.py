"""Problems of a file, and the exception that carries them.

`FileError` is raised once per file, with everything that was found, so that one run shows all problems.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from truerail.errors import TruerailError
from truerail.model import Severity
from truerail.model.names import printable

MOST_PROBLEMS = 100
"""Maximum problems of one file that are listed; the rest is only counted."""


class Problem(NamedTuple):
    """One problem of a file and its position. `line` counts from 1; 0 means the whole file. `place` says it better than
    the line where the file is a table: `sheet 'IB' row 12, column E`.
    """

    file: str
    line: int
    value: str
    summary: str
    severity: Severity = Severity.CRITICAL
    place: str = ""

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        where = f"{printable(self.file)}: {self.place}" if self.place else f"{printable(self.file)}{line}"
        shown = f" (value {printable(self.value, 80)!r})" if self.value else ""
        return f"{where}: {self.summary}{shown}"


class FileError(TruerailError):
    """A file that cannot be used. `str()` has one line for each of `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class PlanError(FileError):
    """A plan file that cannot be used. `str()` has one line for each of `problems`."""


class Faults:
    """Collects the problems of one file while it is read, to be raised as `error`."""

    def __init__(self, file: str, error: type[FileError]) -> None:
        self.file = file
        self.error = error
        self.found: list[Problem] = []
        self.unreported = 0

    def add(self, line: int, value: str, summary: str) -> None:
        """Records a fault that makes the file unusable, and continues."""
        if len(self.found) < MOST_PROBLEMS:
            self.found.append(Problem(self.file, line, value, summary))
        else:
            self.unreported += 1

    def raise_any(self) -> None:
        """Raises the error with all recorded problems, in the order of the lines, if there are any."""
        problems = sorted(self.found, key=lambda problem: problem.line)
        if self.unreported:
            problems.append(Problem(self.file, 0, "", f"{self.unreported} more problems are not shown"))
        if problems:
            raise self.error(problems)


def hint(word: str, known: Iterable[str]) -> str:
    """`, did you mean 'nodes'?` if a known word is close, else empty."""
    close = get_close_matches(word.lower(), known, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """The hint if a known word is close, else the list of known words."""
    return hint(word, known) or f"; known are {', '.join(known)}"
