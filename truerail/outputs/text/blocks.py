"""Building blocks of the text report: headings, and lines with a hanging indent."""

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from truerail.model import CableState, Severity
from truerail.model.names import printable
from truerail.outputs.report_words import Tone

# ----------------------------------------------------------------------------------------------------------------------
# Glyphs and colours of the text report. All glyphs differ even without colour, and in ASCII.

GLYPHS = {CableState.RIGHT: "·", CableState.WRONG: "✗", CableState.MISSING: "○", CableState.UNKNOWN: "?"}
STATE_STYLES = {
    CableState.RIGHT: "green",
    CableState.WRONG: "bold red",
    CableState.MISSING: "bold yellow",
    CableState.UNKNOWN: "bold magenta",
}
SEVERITY_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "cyan"}
TONE_MARKS = {Tone.GOOD: ("✓", "bold green"), Tone.DOUBT: ("?", "bold magenta"), Tone.BAD: ("✗", "bold red")}

HEADING = "bold"
QUIET = "dim"
PORT = "cyan"

# ----------------------------------------------------------------------------------------------------------------------
# Building blocks of the text report: headings, and lines with a hanging indent.


class Verbatim(Text):
    """A line to copy, such as a command: `drawn` never breaks it, however narrow the terminal."""


def heading(words: str, aside: str = "") -> Padding:
    """A section's title with a blank line above; it may have foreign names."""
    line = Text().append(printable(words), style=HEADING)
    if aside:
        line.append(f"  {printable(aside)}", style=QUIET)
    return Padding(line, (1, 0, 0, 0))


def located(words: str, place: str) -> Text:
    """The name of a port or device, and where it is."""
    line = Text().append(words, style=PORT)
    return line.append(f" ({place})", style=QUIET) if place else line


def hanging(mark: Text | str, body: Text, *, indent: int = 2, width: int = 0) -> Padding:
    """`mark` and `body` side by side: wrapped lines of the body start under its first word."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True, min_width=width or None)
    grid.add_column(overflow="fold")
    grid.add_row(mark, body)
    return Padding(grid, (0, 0, 0, indent))


def left_out(number: int, what: str, how: str) -> Text:
    """Reports that something was left out, and how to see it."""
    return Text(f"  … and {number:,} more {what}{f': {how}' if how else ''}", style=QUIET)
