"""Labels on sheets for office printers: 21 of 63.5 x 38.1 mm on A4 (Avery L7160), 30 of 66.7 x 25.4 mm on Letter
(Avery 5160). Both labels of a cable follow each other.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from PIL import Image
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from truerail.outputs.pack.labels import Label
from truerail.outputs.pack.paper import BOLD, PAPERS, PLAIN, put, put_name
from truerail.outputs.pack.qr import QUIET, Code


@dataclass(frozen=True, slots=True)
class Grid:
    """A sheet of labels: their number, size, first corner from the left and the top, and distance; in millimetres."""

    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    across: float
    down: float


GRIDS: Final = {
    "a4": Grid(3, 7, 63.5, 38.1, 7.2, 15.15, 66.04, 38.1),
    "letter": Grid(3, 10, 66.675, 25.4, 4.76, 12.7, 69.85, 25.4),
}
"""By paper. Sizes as printed on the packs of Avery L7160 and 5160."""
_PADDING_MM: Final = 1.5
_MODULE_MM: Final = 0.78
"""From side to side of a module, where the label is high enough: of codes of 0.62 mm, zbar overlooked 1 in 170."""
_DOTS: Final = 6
"""Of a module from side to side."""


def render_labels(labels: Sequence[tuple[Label, Label]], paper: str) -> bytes:
    """The sheets as PDF."""
    grid, (_, height), out = GRIDS[paper], PAPERS[paper], io.BytesIO()
    canvas = Canvas(out, pagesize=PAPERS[paper], pageCompression=1, invariant=1)
    canvas.setTitle("Cable labels")
    each = grid.columns * grid.rows
    image: tuple[Code | None, Any] = (None, None)
    for number, label in enumerate(chain.from_iterable(labels)):
        if number and number % each == 0:
            canvas.showPage()
        row, column = divmod(number % each, grid.columns)
        x = (grid.left + column * grid.across) * mm
        y = height - (grid.top + row * grid.down + grid.height) * mm
        if image[0] is not label.code:
            image = (label.code, _picture(label.code))
        _draw(canvas, label, image[1], x, y, grid)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _picture(code: Code) -> Any:
    """A code with its white border as a picture, with as many dots as office printers print."""
    size = (code.across, code.across)
    picture = Image.frombytes("L", size, b"".join(_bordered(code.rows, code.across)))
    return ImageReader(picture.resize((_DOTS * code.across, _DOTS * code.across), Image.Resampling.NEAREST))


def _bordered(rows: Sequence[bytes], across: int) -> list[bytes]:
    white, side = bytes([255]) * across, bytes([255]) * QUIET
    inner = [side + bytes(0 if module else 255 for module in row) + side for row in rows]
    return [white] * QUIET + inner + [white] * QUIET


def _draw(canvas: Any, label: Label, image: Any, x: float, y: float, grid: Grid) -> None:
    """One label: the code at the left, this end above, the other end below a line."""
    pad, height, width = _PADDING_MM * mm, grid.height * mm, grid.width * mm
    code = min(height - 2 * pad, label.code.across * _MODULE_MM * mm)
    canvas.drawImage(image, x + pad, y + (height - code) / 2, code, code)
    left, room = x + pad + code, width - code - 2 * pad  # the code has a white border
    size = height / 9.5
    put_name(canvas, label.here.device, (left, y + height * 0.81), room, size, BOLD)
    put(canvas, label.here.name, (left, y + height * 0.67), room, size, BOLD)
    put(canvas, label.place, (left, y + height * 0.565), room, size * 0.72, PLAIN)
    canvas.setLineWidth(0.4)
    canvas.line(left, y + height * 0.525, left + room, y + height * 0.525)
    put_name(canvas, f"to {label.there.device}", (left, y + height * 0.405), room, size * 0.86, PLAIN)
    put(canvas, label.there.name, (left, y + height * 0.295), room, size * 0.86, PLAIN)
    put(canvas, label.far_place, (left, y + height * 0.195), room, size * 0.72, PLAIN)
    put(canvas, label.about, (left, y + height * 0.09), room, size * 0.72, PLAIN)
