"""Headers of cable lists with misspelled words: `A-Nod Name`, `Z-Prot`."""

import re
from collections.abc import Sequence
from typing import Final

from truerail.files.problems import Faults, PlanError
from truerail.plans.imports.cable_tables import HEADER_ROWS, Table, cables_below
from truerail.plans.imports.headers import Header, has_ids, header_of, spelled, words
from truerail.plans.imports.import_row import why_no_cable
from truerail.plans.imports.table_places import column_in, place_in

_NUMBERS: Final = re.compile(r"\d.*\d")
"""In cells of data more than in those of headers."""
_NAME: Final = re.compile(r"(?=.*[^\W\d])\S+(?: \S+){0,2}")
"""What may be a device's name: with a letter, of few words."""
_IDS: Final = (
    "the ends of cables are ids, as in a NetBox export: expected the names of their devices and ports, such as "
    "Device A, Termination A, Device B, Termination B"
)
_LOOKED_AT: Final = 20
"""Rows below a header."""


def check_headers(tables: Sequence[Table], file: str) -> None:
    """Raises `PlanError` for the rows that are headers of cable lists if a few of their words are spelled right."""
    faults = Faults(file, PlanError)
    for table in tables:
        for at, (number, cells) in enumerate(table.rows):
            for column, right in _corrected(table, at).items():
                where = f"{place_in(table.sheet, number)}, {column_in('', column)}"
                faults.add(number, cells[column], f"{where}: an unknown column, did you mean {right!r}?")
            if at < HEADER_ROWS and has_ids(cells):
                faults.add(number, "", f"{place_in(table.sheet, number)}: {_IDS}")
    faults.raise_any()


def _corrected(table: Table, at: int) -> dict[int, str]:
    """The words for the misspelled cells of a row as a header, by column; empty for a row that is right, or that does
    not become a header: at least half of the words are right, and half of the rows below are cables then.
    """
    cells, above = table.rows[at][1], table.rows[max(at - 1, 0)][1]
    named = [column for column, cell in enumerate(cells) if cell and not _NUMBERS.search(cell)]
    wrong = {column: right for column in named if (right := spelled(cells[column]))}
    if not wrong or header_of(cells).complete or header_of(cells, above).complete:
        return {}
    header = header_of([wrong.get(column, cell) for column, cell in enumerate(cells)])
    found = {column: right for column, right in wrong.items() if column in header.columns}
    before, after = ([{*words(of.get(at, cells[at])).split()} for at in header.columns] for of in ({}, found))
    kept = sum(len(old & new) for old, new in zip(before, after, strict=True))
    fits = header.complete and 2 * kept >= sum(map(len, after))
    return found if fits and _has_cables(Table("", table.rows[at : at + _LOOKED_AT]), header) else {}


def _has_cables(part: Table, header: Header) -> bool:
    rows = [row for _, row in cables_below(part, header)]
    like = [row for row in rows if all(map(_NAME.fullmatch, (row.a.device, row.b.device))) and not why_no_cable(row)]
    return bool(like) and 2 * len(like) >= len(rows)
