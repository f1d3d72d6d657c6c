"""Errors of the command line, and their exit codes.

CommandError  2   bad usage, bad plan, nothing collected
anything else    3   a bug
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

from truerail.errors import CommandError


class ExitCode(IntEnum):
    """The exit codes, stable."""

    GOOD = 0
    """Nothing at or above --fail-on."""
    FOUND = 1
    """Findings."""
    CANNOT_EVALUATE = 2
    """Bad usage, bad plan, nothing collected."""
    BUG = 3
    INTERRUPTED = 130
    """Ctrl-C, as in shells."""


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Raises what these errors say as a CommandError."""
    try:
        yield
    except kinds as error:
        raise CommandError(str(error)) from error


@contextmanager
def refused_by_system(
    place: Path | str, words: str = "cannot be written: ", *, by_file: bool = False
) -> Iterator[None]:
    """Raises an OSError as a CommandError: the place, or `by_file` the file of the error if it names one, these words,
    and those of the system.
    """
    try:
        yield
    except OSError as error:
        where = (error.filename if by_file else None) or place
        raise CommandError(f"{where}: {words}{error.strerror or error}") from error
