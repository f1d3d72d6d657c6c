"""Glyphs and colours of the text report. All glyphs differ even without colour."""

from dataclasses import dataclass

from truerail.model import CableState, Severity
from truerail.outputs.report_words import Tone

GLYPHS = {CableState.RIGHT: "·", CableState.WRONG: "✗", CableState.MISSING: "○", CableState.UNKNOWN: "?"}
ASCII_GLYPHS = {CableState.RIGHT: ".", CableState.WRONG: "x", CableState.MISSING: "o", CableState.UNKNOWN: "?"}
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

_PLAIN = str.maketrans({"→": "->", "·": ".", "✗": "x", "○": "o", "✓": "ok", "…": "...", "─": "-", "–": "-"})


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The cell glyphs of one report, in full or in ASCII."""

    ascii: bool

    def of(self, state: CableState) -> str:
        """The one-column glyph of a cable's state."""
        return (ASCII_GLYPHS if self.ascii else GLYPHS)[state]


def in_ascii(text: str) -> str:
    """The report for a terminal or file that takes ASCII only; characters without an equivalent become `?`."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")
