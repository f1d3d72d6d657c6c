"""PDF pages: paper, text that fits, and tables that go on over pages."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from truerail.extras import require
from truerail.model.names import printable

# ----------------------------------------------------------------------------------------------------------------------
# QR codes as rows of modules. Error correction M: 15 % of a label may be scratched.

QUIET = 4
"""Modules of white around a code (ISO/IEC 18004)."""


@dataclass(frozen=True, slots=True)
class Code:
    """A code: its text, and its rows without the white border; 1 is dark."""

    text: str
    rows: tuple[bytes, ...]

    @property
    def across(self) -> int:
        """Modules from side to side, with the white border."""
        return len(self.rows) + 2 * QUIET


def code_of(text: str) -> Code:
    """The code of a text, in UTF-8. Raises MissingExtraError without the packages of the extra `pack`."""
    require("pack", "a cabling pack")
    import segno

    found = segno.make_qr(text, error="m", boost_error=False, encoding="utf-8")
    return Code(text, tuple(bytes(row) for row in found.matrix))


# ----------------------------------------------------------------------------------------------------------------------
# PDF pages: paper, text that fits, and tables that go on over pages.

PAPERS: Final[dict[str, tuple[float, float]]] = {"a4": A4, "letter": LETTER}
PLAIN, BOLD = "Helvetica", "Helvetica-Bold"
MARGIN: Final = 12 * mm
_ROW: Final = 4.1 * mm
_SIZE: Final = 7.5
_SMALLEST: Final = 0.75
"""A text shrinks to this part of its size before its middle is left out."""


def shown(text: str) -> str:
    """Foreign text in the characters that the fonts of every PDF reader have (Windows-1252); others as `\\uNNNN`."""
    return printable(text).encode("cp1252", "backslashreplace").decode("cp1252")


def fitted(text: str, font: str, size: float, room: float) -> tuple[str, float]:
    """The text and a size in points at which it is at most `room` points wide; at the smallest size its middle is left
    out.
    """
    clean = shown(text)
    width = stringWidth(clean, font, size)
    if width <= room:
        return clean, size
    smallest = size * _SMALLEST
    if width * _SMALLEST <= room:
        return clean, size * room / width
    keep = max(4, int(len(clean) * room / (width * _SMALLEST)) - 1)
    while keep > 4 and stringWidth(_cut(clean, keep), font, smallest) > room:
        keep -= 1
    return _cut(clean, keep), smallest


def _cut(text: str, keep: int) -> str:
    half = keep // 2
    return f"{text[: keep - half]}…{text[len(text) - half :]}"


def put(canvas: Any, text: str, at: tuple[float, float], room: float, size: float, font: str = PLAIN) -> None:
    """Writes a text of at most `room` points; `at` is the beginning of its base line."""
    words, fits = fitted(text, font, size, room)
    canvas.setFont(font, fits)
    canvas.drawString(*at, words)


def put_name(canvas: Any, text: str, at: tuple[float, float], room: float, size: float, font: str = PLAIN) -> None:
    """Writes a name, in two smaller lines where one is too short; `at` is the beginning of the base line of one."""
    smallest = size * _SMALLEST
    if stringWidth(shown(text), font, smallest) <= room:
        put(canvas, text, at, room, size, font)
        return
    clean = shown(text)
    most = next(end for end in range(len(clean), 0, -1) if stringWidth(clean[:end], font, smallest) <= room)
    parted = max((clean.rfind(sign, most // 2, most) for sign in "-_."), default=-1) + 1 or most
    put(canvas, clean[:parted], (at[0], at[1] + size * 0.35), room, smallest, font)
    put(canvas, clean[parted:], (at[0], at[1] - size * 0.35), room, smallest, font)


Column = tuple[str, float]
"""A column of a table: its head, and its part of the width."""


class Document:
    """A PDF of tables. Each section begins on a page of its own and has its title on each of its pages."""

    def __init__(self, paper: str, title: str) -> None:
        self.width, self.height = PAPERS[paper]
        self._out = io.BytesIO()
        self.canvas = Canvas(self._out, pagesize=(self.width, self.height), pageCompression=1, invariant=1)
        self.canvas.setTitle(shown(title))
        self._title = title

    def section(
        self, title: str, columns: Sequence[Column], rows: Iterable[Sequence[str]], left: float = MARGIN
    ) -> None:
        """A table, right of `left` on its first page, which the caller may have drawn on."""
        y = self._head(title, columns, left)
        for row in rows:
            if y < MARGIN:
                self.canvas.showPage()
                left = MARGIN
                y = self._head(f"{title} (continued)", columns, left)
            self._row(row, columns, left, y)
            y -= _ROW
        self.canvas.showPage()

    def _head(self, title: str, columns: Sequence[Column], left: float) -> float:
        """Title and heads of a page; returns the base line of the first row."""
        top: float = self.height - MARGIN
        put(self.canvas, title, (MARGIN, top - 8), self.width - 2 * MARGIN - 160, 14, BOLD)
        words, size = fitted(self._title, PLAIN, 8, 150)
        self.canvas.setFont(PLAIN, size)
        self.canvas.drawRightString(self.width - MARGIN, top - 8, words)
        y: float = top - 12 * mm
        self._row([head for head, _ in columns], columns, left, y, BOLD)
        self.canvas.setLineWidth(0.7)
        self.canvas.line(left, y - 3, self.width - MARGIN, y - 3)
        return float(y - _ROW - 1)

    def _row(self, cells: Sequence[str], columns: Sequence[Column], left: float, y: float, font: str = PLAIN) -> None:
        across = self.width - MARGIN - left
        whole = sum(share for _, share in columns)
        x = left
        for cell, (_, share) in zip(cells, columns, strict=True):
            width = across * share / whole
            if cell == BOX:
                self.canvas.setLineWidth(0.5)
                self.canvas.rect(x, y - 0.5, 6, 6)
            elif cell:
                put(self.canvas, cell, (x, y), width - 4, _SIZE, font)
            x += width
        if font == PLAIN:
            self.canvas.setLineWidth(0.15)
            self.canvas.line(left, y - 3, self.width - MARGIN, y - 3)

    def data(self) -> bytes:
        """The file."""
        self.canvas.save()
        return self._out.getvalue()


BOX: Final = "\0box"
"""A cell to tick."""
