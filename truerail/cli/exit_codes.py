"""Errors of the command line, and their exit codes.

CommandError  2   bad usage, bad plan, nothing collected
anything else    3   a bug
"""

from enum import IntEnum


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
