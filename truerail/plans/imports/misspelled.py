"""Headers of cable lists with misspelled words: `A-Nod Name`, `Z-Prot`."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import product
from typing import Final

from truerail.files.problems import Faults
from truerail.plans.imports.headers import Header, header_of, is_known, words
from truerail.plans.imports.import_row import place_in
from truerail.plans.imports.tables import HEADER_ROWS, Table, letters
from truerail.plans.plan_error import PlanError

_ENDS: Final = ("a", "z", "b", "source", "src", "dest", "destination", "dst", "start", "end", "from", "to")
_WORDS: Final = ("node name", "hostname", "host", "device", "device name", "name", "port", "port name", "interface")
_WORDS_AFTER: Final = ("device", "port", "interface", "node", "hostname")
_VOCABULARY: Final = (
    *(f"{end} {word}" for end, word in product((*_ENDS, "local", "remote", "side a", "side b"), _WORDS)),
    *(f"{word} {end}" for word, end in product(_WORDS_AFTER, ("a", "b", "z", "1", "2"))),
)
_ALIKE: Final = 0.75
_MOST_WRONG: Final = 4
"""Cells of a header."""


def check_headers(tables: Sequence[Table], file: str) -> None:
    """Raises `PlanError` for a table whose header would be one if a few of its words were spelled right, with each."""
    faults = Faults(file, PlanError)
    for table in tables:
        known = [header_of(cells) for _, cells in table.rows[:HEADER_ROWS]]
        if any(header.complete for header in known):
            return
        for (number, cells), header in zip(table.rows, known, strict=False):
            for column, right in _corrected(cells, header).items():
                where = f"{place_in(table.sheet, number)}, column {letters(column)}"
                faults.add(number, cells[column], f"{where}: an unknown column, did you mean {right!r}?")
    faults.raise_any()


def _corrected(cells: Sequence[str], header: Header) -> dict[int, str]:
    """The words for the misspelled cells of a header, by column; empty where that makes no header of both ends."""
    if not any(cells) or (not any(map(is_known, cells)) and not any(header.end.values())):
        return {}
    found = {
        column: close[0]
        for column, cell in enumerate(cells)
        if cell and not is_known(cell) and (close := get_close_matches(words(cell), _VOCABULARY, 1, _ALIKE))
    }
    if not 0 < len(found) <= _MOST_WRONG:
        return {}
    return found if header_of([found.get(column, cell) for column, cell in enumerate(cells)]).complete else {}
