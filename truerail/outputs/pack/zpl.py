"""Labels in ZPL II, for label printers: one for each end of a cable.

Names are data and never commands: everything but letters, digits and blanks is written in hexadecimal (`^FH`), as
UTF-8 (`^CI28`). The QR code is a graphic (`^GFA`), which looks the same on every printer.
Source: ZPL II Programming Guide, Zebra P1099958.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from truerail.errors import QueryError
from truerail.model.names import printable
from truerail.outputs.pack.labels import Label
from truerail.outputs.pack.qr import QUIET, Code

_MM_AN_INCH: Final = 25.4
_CHARACTER: Final = 0.55
"""Width of a character of font 0 in its nominal width; names are of small letters and digits."""
_NARROWEST: Final = 0.6
"""Letters are at least as wide as this part of their height."""
_LEAST_DOTS: Final = 2
"""A module of less than two dots is not printed reliably."""


@dataclass(frozen=True, slots=True)
class Stock:
    """The label in the printer, in millimetres, and the dots of the printer per inch."""

    width_mm: float = 50.8
    height_mm: float = 25.4
    dpi: int = 203

    def dots(self, millimetres: float) -> int:
        """A length in dots."""
        return round(millimetres * self.dpi / _MM_AN_INCH)


def render_zpl(labels: Sequence[tuple[Label, Label]], stock: Stock) -> str:
    """All labels, both of a cable after each other. Raises QueryError for a label that is too small for its code."""
    return "".join(text for pair in labels for text in _pair(pair, stock))


def _pair(pair: tuple[Label, Label], stock: Stock) -> Iterator[str]:
    graphic, scale = _graphic(pair[0].code, stock)
    for label in pair:
        yield _label(label, graphic, scale, stock)


def _graphic(code: Code, stock: Stock) -> tuple[str, int]:
    """The code as `^GFA`, and the dots of a module."""
    scale = min(stock.dots(stock.height_mm), stock.dots(stock.width_mm) // 2) // code.across
    if scale < _LEAST_DOTS:
        size = f"{stock.width_mm:g} x {stock.height_mm:g} mm at {stock.dpi} dpi"
        raise QueryError(f"a label of {size} is too small for a code of {code.across} modules: {printable(code.text)}")
    width = len(code.rows) * scale
    each = -(-width // 8)
    lines = [_line(row, scale, each) + ":" * (scale - 1) for row in code.rows]  # `:` is the line before again
    total = each * width
    return f"^GFA,{total},{total},{each},{''.join(lines)}", scale


def _line(row: bytes, scale: int, octets: int) -> str:
    """One row of dots in hexadecimal."""
    bits = "".join("1" * scale if module else "0" * scale for module in row).ljust(8 * octets, "0")
    return f"{int(bits, 2):0{2 * octets}X}"


def _label(label: Label, graphic: str, scale: int, stock: Stock) -> str:
    height, width = stock.dots(stock.height_mm), stock.dots(stock.width_mm)
    margin, left, corner = stock.dots(1), label.code.across * scale, QUIET * scale
    lines = (
        (label.here.device, 5),
        (label.here.name, 5),
        (label.place, 3.5),
        (f"to {label.there.device}", 4),
        (f"{label.there.name}  {label.far_place}".strip(), 4),
        (label.about, 3.5),
    )
    room = width - left - margin
    out = [f"^XA^CI28^PW{width}^LL{height}^FO{corner},{corner}{graphic}^FS"]
    top = margin
    whole = sum(share for _, share in lines)
    for text, share in lines:
        size = int((height - 2 * margin) * share / whole)
        words, wide = _fitted(text, room, size - 2)
        out.append(f"^FO{left},{top}^A0N,{size - 2},{wide}^FH^FD{escaped(words)}^FS")
        top += size
    return "".join((*out, "^XZ\n"))


def _fitted(text: str, room: int, size: int) -> tuple[str, int]:
    """The text and the width of its letters, in dots: narrower where it is long, then its middle is left out."""
    clean = printable(text)
    wide = min(size, int(room / (max(len(clean), 1) * _CHARACTER)))
    narrowest = int(size * _NARROWEST)
    if wide >= narrowest:
        return clean, wide
    most = int(room / (narrowest * _CHARACTER))
    half = (most - 1) // 2
    return f"{clean[: most - 1 - half]}…{clean[len(clean) - half :]}", narrowest


def escaped(text: str) -> str:
    """Text as data of a field with `^FH`: bytes other than letters, digits, blanks and `-` as `_hh`."""
    return "".join(
        chr(octet) if (chr(octet).isalnum() and octet < 128) or octet in b" -" else f"_{octet:02X}"
        for octet in text.encode("utf-8", "replace")
    )
