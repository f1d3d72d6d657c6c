"""Rows and columns of tables, as messages name them."""

from truerail.model.names import printable


def place_in(sheet: str, line: int) -> str:
    """A row of a sheet, or of a file of one table. Row 0 has the keys of records."""
    row = f"row {line}" if line else "keys"
    return f"sheet {printable(sheet, 60)!r} {row}" if sheet else row


def letters(column: int) -> str:
    """A column's name in spreadsheets, counted from 0: `A`, `Z`, `AA`."""
    before, here = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(ord("A") + here)


def column_in(sheet: str, column: int, name: str = "") -> str:
    """A column of a sheet, or of a file of one table: `sheet 'IB' column C 'Vendor'`."""
    named = f"column {letters(column)} {printable(name, 40)!r}" if name else f"column {letters(column)}"
    return f"sheet {printable(sheet, 60)!r} {named}" if sheet else named
