"""Rows of words in columns, as plain text."""

from collections.abc import Iterator, Sequence

from truerail.model.names import printable

_LONGEST = 300


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """One line per row, columns two blanks apart; foreign text is made safe to show. The last column may be long."""
    safe = [[printable(cell, _LONGEST) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    for row in safe:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
