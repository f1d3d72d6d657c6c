"""The terminal of the command line: results on stdout, progress and remarks on stderr.

Every command imports it to be listed, so that it imports in its functions what costs time.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.cli.exit_codes import refused_by_system

if TYPE_CHECKING:
    from rich.console import Console

# ----------------------------------------------------------------------------------------------------------------------
# Rows of words in columns, as plain text.


_LONGEST = 300


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """One line per row, columns two blanks apart; foreign text is made safe to show. The last column may be long."""
    from truerail.model.names import printable

    safe = [[printable(cell, _LONGEST) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    for row in safe:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


# ----------------------------------------------------------------------------------------------------------------------
# The terminal of the command line: results on stdout, progress and remarks on stderr.


PIPED_WIDTH = 100
"""Columns if stdout is not a terminal and COLUMNS is not set."""


def width() -> int:
    """Columns of stdout."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else PIPED_WIDTH


def colorful() -> bool:
    """True on a terminal that supports and permits colour (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def ascii_only() -> bool:
    """True if stdout cannot encode the characters of the text report."""
    try:
        "→✗○·✓…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def interactive() -> "Console | None":
    """The terminal, to be drawn on again and again; None elsewhere."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    console = Console(no_color=not colorful(), highlight=False)
    return console if console.is_interactive else None


def drawn_beside() -> "Console":
    """stderr, for what Rich draws there. It hides no cursor: a signal may end the program before it is back."""
    from rich.console import Console

    console = Console(stderr=True)
    console.show_cursor = lambda show=True: False  # type: ignore[method-assign]
    return console


def say_rows(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows to stdout, as `aligned`."""
    say("\n".join(aligned(rows)))


def say(text: str) -> None:
    """Prints a result to stdout. A closed pipe (`| head`) is no error and changes no exit code."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def remark(*texts: str) -> None:
    """Prints remarks to stderr. A terminal that has ended is no error: results may be stored behind it."""
    from truerail.model.names import printable

    for text in texts:
        with suppress(OSError):
            print(printable(text, 1000), file=sys.stderr)  # noqa: T201 - this is the command line


def write(path: Path, content: str | bytes) -> None:
    """Writes a result to a file. Raises CommandError if it cannot be written."""
    with refused_by_system(path):
        path.write_bytes(content.encode("utf-8", "replace") if isinstance(content, str) else content)


@contextmanager
def progress(words: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr while the body runs, called with done and total; None if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=drawn_beside(), transient=True) as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def working(words: str) -> Iterator[None]:
    """A spinner on stderr while the body runs; nothing if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with drawn_beside().status(words):
        yield
