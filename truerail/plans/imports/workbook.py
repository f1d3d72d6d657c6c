"""The sheets of an xlsx workbook as tables: values and no formulas, within bounds."""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, time
from typing import Any

from truerail.files.problems import PlanError, Problem
from truerail.model.names import printable
from truerail.plans.imports.cable_tables import Table

MOST_BYTES, MOST_UNPACKED_BYTES = 32 << 20, 256 << 20
MOST_SHEETS, MOST_ROWS, MOST_COLUMNS = 64, 100_000, 256
_MAGIC = b"PK\x03\x04"
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell ref="([A-Z]{1,3})(\d+):([A-Z]{1,3})(\d+)"')
_NO_RESULT = re.compile(rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>")


def tables_of(raw: bytes, file: str) -> tuple[list[Table], list[str]]:
    """The sheets of a workbook, and what of them was not read. Raises `PlanError` if it is none or too large."""
    import openpyxl

    _check(raw, file)
    try:
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True, keep_links=False)
        sheets = book.worksheets
        notes = [f"only the first {MOST_SHEETS} of {len(sheets)} sheets are read"] if len(sheets) > MOST_SHEETS else []
        tables = [_table(sheet, notes) for sheet in sheets[:MOST_SHEETS] if _is_shown(sheet, notes)]
    except Exception as error:
        # openpyxl raises what its parsers meet in a broken file: KeyError, ValueError, XML errors, struct errors
        raise PlanError([Problem(file, 0, "", f"not a readable workbook: {type(error).__name__}: {error}")]) from error
    return tables, notes


def is_workbook(raw: bytes) -> bool:
    """Whether a file begins as a zip archive does, as every xlsx."""
    return raw.startswith(_MAGIC)


def _check(raw: bytes, file: str) -> None:
    """Refuses an archive that is, or unpacks to, more than a workbook of cables may hold."""
    if len(raw) > MOST_BYTES:
        raise PlanError([Problem(file, 0, f"{len(raw):,} bytes", f"a workbook larger than {MOST_BYTES:,} bytes")])
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile as error:
        raise PlanError([Problem(file, 0, "", f"not a workbook: {error}")]) from error
    if unpacked > MOST_UNPACKED_BYTES:
        too_large = f"unpacks to more than {MOST_UNPACKED_BYTES:,} bytes"
        raise PlanError([Problem(file, 0, f"{unpacked:,} bytes", too_large)])


def _is_shown(sheet: Any, notes: list[str]) -> bool:
    """Whether a sheet can be seen; others are noted."""
    if sheet.sheet_state != "visible":
        notes.append(f"sheet {printable(sheet.title, 60)!r} is hidden and not read")
    return bool(sheet.sheet_state == "visible")


def _table(sheet: Any, notes: list[str]) -> Table:
    # openpyxl reads merged cells and formulas in a mode only that takes far more memory
    raw: bytes = sheet.parent._archive.read(sheet._worksheet_path)
    if uncounted := len(_NO_RESULT.findall(raw)):
        says = f"{uncounted:,} formulas without a value: open the workbook in a spreadsheet, and save it"
        notes.append(f"sheet {printable(sheet.title, 60)!r}: {says}")
    rows = _filled(list(_rows(sheet)), raw)
    beyond = next((number for number, _ in rows if number > MOST_ROWS), 0)
    if beyond:
        notes.append(f"sheet {sheet.title!r}: rows beyond {MOST_ROWS:,} are not read; the first is row {beyond:,}")
    return Table(sheet.title, [row for row in rows if row[0] <= MOST_ROWS])


def _filled(rows: list[tuple[int, list[str]]], raw: bytes) -> list[tuple[int, list[str]]]:
    """The rows with the text of cells that are merged with those below, in each of their rows."""
    from openpyxl.utils import column_index_from_string

    at = dict(rows)
    for left, first, right, last in _MERGED.findall(raw):
        column = column_index_from_string(left.decode()) - 1
        top, bottom = int(first), min(int(last), MOST_ROWS)
        text = at[top][column] if top in at and column < len(at[top]) else ""
        for number in range(top + 1, bottom + 1) if text and left == right else ():
            cells = at.get(number, [])
            if cells and not any(cells[column : column + 1]):
                cells += [""] * (column + 1 - len(cells))
                cells[column] = text
    return rows


def _rows(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers."""
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(max_col=MOST_COLUMNS, values_only=True), 1):
        if row.count(None) == len(row):
            continue  # openpyxl counts up to a cell far below in empty rows: a million of them in an instant
        last = next(at for at in range(len(row) - 1, -1, -1) if row[at] is not None)
        cells = [_text(value) for value in row[: last + 1]]  # openpyxl fills each row up to max_col
        if any(cells):
            yield number, cells
            if number > MOST_ROWS:
                return


def _text(value: Any) -> str:
    """A cell's text: `41` for the number 41.0. A date stays one: a spreadsheet made it of a port such as 1/3."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return f"date {value.isoformat()}" if isinstance(value, date | time) else str(value).strip()
