"""A round's progress on stderr: a bar on a terminal, a line for each failing device, a line at the end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from truerail.cli import terminal_output
from truerail.model.names import printable
from truerail.poller import Progress, Row


class RoundReported:
    """Counts rows and reports failing devices."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self.asked = 0
        self.reached = 0

    def line(self, row: Row) -> str:
        """Adds a finished row; returns its message, empty if all is well."""
        self.asked += 1
        self.reached += not row.error
        if self._quiet:
            return ""
        if row.error:
            return f"{row.name}: {row.error}"
        unread = [reading.collector for reading in row.readings if reading.error]
        return f"{row.name}: answered, not readable: {', '.join(unread)}" if unread else ""

    def sum(self) -> str:
        """The line at the end."""
        missing = self.asked - self.reached
        tail = f", {missing:,} could not be polled" if missing else ""
        return f"polled {self.asked:,} device{'' if self.asked == 1 else 's'}, {self.reached:,} answered{tail}"


@contextmanager
def reported(*, quiet: bool = False) -> Iterator[Progress]:
    """Reports a round while the body runs; `quiet` leaves failing devices to the later report."""
    state = RoundReported(quiet)
    with _bar(state) if sys.stderr.isatty() else _lines(state) as progress:
        yield progress
    terminal_output.remark(state.sum())


@contextmanager
def _lines(state: RoundReported) -> Iterator[Progress]:
    def progress(row: Row, done: int, total: int) -> None:
        if line := state.line(row):
            terminal_output.remark(line)

    yield progress


@contextmanager
def _bar(state: RoundReported) -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=terminal_output.drawn_beside(), transient=True) as bar:
        task = bar.add_task("polling devices", total=None)

        def progress(row: Row, done: int, total: int) -> None:
            if line := state.line(row):
                bar.console.print(Text(printable(line, 1000)))
            bar.update(task, completed=done, total=total, description=printable(row.name, 40))

        yield progress
