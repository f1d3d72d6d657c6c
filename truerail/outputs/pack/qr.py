"""QR codes as rows of modules. Error correction M: 15 % of a label may be scratched."""

from dataclasses import dataclass

from truerail.extras import require

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
