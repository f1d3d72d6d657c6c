"""Tables as SONiC prints them (Python's `tabulate`, style "simple"): labels, a ruler with a run for each, rows.

Two or more blanks separate cells, which contain at most one (`2000.00 MB/s`): cells are split at blanks, not by
position, since documentation and tickets skew the columns. A row with fewer cells than the header has labels is cut.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collector._answer import lines
from truerail.errors import UnreadableError

_RULER = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*")
_GAP = re.compile(r"[ \t]{2,}")
_PROMPT = re.compile(r"\S+@\S+[#$>]|\S+[#$>]$")
_LONGEST_PROMPT = 200


class Row(NamedTuple):
    """The 1-based number of a line, and its cells."""

    line: int
    cells: list[str]


class Table(NamedTuple):
    """A table: its labels in lower case, its rows, and the last line with text above it."""

    labels: tuple[str, ...]
    rows: list[Row]
    title: str

    def column(self, label: str) -> int:
        """The number of a column; -1 if the table lacks it."""
        return self.labels.index(label) if label in self.labels else -1


def tables(answer: str) -> list[Table]:
    """All tables in an answer, with any text between them. Raises `UnreadableError` if a row is cut.

    If the answer ends inside a line, its last cell may have lost digits: it is then not reported, unless it is 0.
    """
    text = lines(answer) if "--" in answer else []
    found: list[Table] = []
    table: Table | None = None
    above = ""
    for at, line in enumerate(text):
        below = text[at + 1] if at + 1 < len(text) else ""
        if _RULER.fullmatch(below):
            table = _begun(line, below, above)
            found.extend([table] if table else [])
        elif table and line.strip() and not _RULER.fullmatch(line):
            cells = _cells(table, line, at + 1)
            if cells:
                table.rows.append(Row(at + 1, cells))
            else:
                table = None
        above = line.strip() or above
    _doubt(found, text)
    return found


def rows(found: Sequence[Table], *labels: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and the cells below these labels, from each table that has all of them."""
    for table in found:
        places = [table.column(label) for label in labels]
        if -1 not in places:
            yield from ((row.line, [row.cells[place] for place in places]) for row in table.rows)


def _begun(header: str, ruler: str, above: str) -> Table | None:
    """The table below a header, whose labels documentation may set one blank apart."""
    split = (_GAP.split(header.strip().lower()), header.lower().split())
    labels = next((labels for labels in split if len(labels) == len(ruler.split())), None)
    return Table(tuple(labels), [], above) if labels else None


def _cells(table: Table, line: str, number: int) -> list[str]:
    """The cells of a row; empty for a line of text, which ends the table."""
    stripped = line.strip()
    cells = _GAP.split(stripped)
    if len(cells) == len(table.labels) and not (len(cells) == 1 and " " in stripped):
        return cells
    if _PROMPT.match(stripped[:_LONGEST_PROMPT]) or (len(cells) == 1 and " " in stripped):
        return []
    raise UnreadableError(
        f"a row of {len(cells)} of {len(table.labels)} cells: the table is cut", line=number, text=line
    )


def _doubt(found: Sequence[Table], text: Sequence[str]) -> None:
    """Marks the last cell as not reported if the answer ends inside its row."""
    last = found[-1].rows[-1] if found and found[-1].rows else None
    if last and last.line == len(text) and last.cells[-1] != "0":
        last.cells[-1] = "N/A"
