"""Workbooks for Excel: sheets with a frozen header and filters. No string is a formula, link, number or error."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Row = Sequence[str | int | float | None]
Colors = tuple[str, str]
"""Background and text, as RRGGBB."""
MOST_ROWS: Final = 1_048_000
"""A little below the limit of a sheet (1,048,576); the sheet's last row reports that rows are left out."""
_HEADER: Final = ("24415E", "FFFFFF")
_NO_TEXT: Final = ("=", "#")
"""Openpyxl makes a formula or an error value of a string that begins so."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: `widths` in characters; `marks` has the colors of a column's cells by their text, or by "> 0"."""

    name: str
    columns: Sequence[str]
    widths: Sequence[float]
    rows: Iterable[Row]
    marks: Mapping[int, Mapping[str, Colors]] = field(default_factory=dict)


def workbook(sheets: Iterable[Sheet], title: str = "", comments: str = "") -> bytes:
    """The bytes of an .xlsx file, landscape and as wide as a page when printed."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    book.properties.title, book.properties.description = title, comments
    for sheet in sheets:
        _write(book, sheet)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _write(book: Any, sheet: Sheet) -> None:
    from openpyxl.utils import get_column_letter

    page = book.create_sheet(sheet.name)
    page.freeze_panes = "B2"
    page.page_setup.orientation, page.page_setup.fitToHeight = "landscape", 0
    page.sheet_properties.pageSetUpPr.fitToPage = True
    page.print_title_rows = "1:1"
    letters = [get_column_letter(number) for number in range(1, len(sheet.columns) + 1)]
    for letter, width in zip(letters, sheet.widths, strict=True):
        page.column_dimensions[letter].width = width
    page.append([_header(page, words) for words in sheet.columns])
    last = 1
    for last, row in enumerate(sheet.rows, 2):
        if last > MOST_ROWS:
            page.append(["further rows do not fit into a sheet: use --format csv"])
            break
        page.append([_text(page, cell) if isinstance(cell, str) and cell[:1] in _NO_TEXT else cell for cell in row])
    end = max(last, 2)
    page.auto_filter.ref = f"A1:{letters[-1]}{end}"
    for column, marks in sheet.marks.items():
        for wanted, colors in marks.items():
            page.conditional_formatting.add(f"{letters[column]}2:{letters[column]}{end}", _rule(wanted, colors))


def _text(page: Any, text: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(page, text)
    cell.data_type = "s"
    return cell


def _header(page: Any, text: str) -> Any:
    from openpyxl.styles import Font, PatternFill

    cell = _text(page, text)
    cell.fill, cell.font = PatternFill("solid", fgColor=_HEADER[0]), Font(bold=True, color=_HEADER[1])
    return cell


def _rule(wanted: str, colors: Colors) -> Any:
    from openpyxl.formatting.rule import CellIsRule
    from openpyxl.styles import Font, PatternFill

    operator, value = ("greaterThan", "0") if wanted == "> 0" else ("equal", f'"{wanted}"')
    fill, font = PatternFill("solid", bgColor=colors[0]), Font(color=colors[1])
    return CellIsRule(operator=operator, formula=[value], fill=fill, font=font)  # type: ignore[no-untyped-call]
