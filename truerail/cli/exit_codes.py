"""Errors of the command line, and their exit codes.

CommandError  2   bad usage, bad plan, nothing collected
anything else    3   a bug
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

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
