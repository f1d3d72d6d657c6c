"""LLDP neighbours in a table with drawn borders: Nokia SR Linux' `show system lldp neighbor`, DriveNets' `show lldp
neighbors`.

The labels stand between `+---+` and `+===+`, on one or two lines; columns differ between releases. Text that does not
fit into a cell continues on the next line, even inside MACs and names, with an empty port cell. A table without its
lower border is cut. DriveNets draws no outer borders, breaks no cell, and lists ports without a neighbour. Sources:
answers in containerlab's and clabernetes' documentation and in public notes of labs.
"""

import re
from collections.abc import Iterator, Sequence

from collector._lldp_words import identified, local_port, reported, seconds
from truerail.errors import UnreadableError
from truerail.model import Neighbor

_BORDER = re.compile(r"[ \t]*\+(?:-+\+)+[ \t]*")
_BELOW_LABELS = re.compile(r"[ \t]*\+(?:=+\+)+[ \t]*")
_OPEN_LABELS = re.compile(
    r"[ \t]*\|[ \t]*interface[ \t]*\|[ \t]*neighbor system name[ \t]*\|[ \t]*neighbor interface[ \t]*\|.*",
    re.IGNORECASE,
)
"""DriveNets' labels."""
_OPEN_RULER = re.compile(r"[ \t]*\|-[-+|]*[ \t]*")
_FIELDS = {
    "name": "port",
    "interface": "port",
    "neighborsystemname": "name",
    "neighborchassisid": "chassis_id",
    "neighborport": "port_id",
}
"""Labels without blanks, since a line break may replace a blank."""
_PORT = re.compile(r"[a-z][a-z-]*\d+(?:/\d+)*")
Row = dict[str, str]


def is_table(rows: Sequence[str]) -> bool:
    """Whether these lines contain the labels of such a table."""
    return any(_BELOW_LABELS.fullmatch(line) or _OPEN_LABELS.fullmatch(line) for line in rows)


def neighbors(rows: Sequence[str]) -> Iterator[Neighbor]:
    """The neighbours in all such tables. Raises `UnreadableError` with the line if a table is cut or shows something
    else."""
    for at, line in enumerate(rows):
        if _BELOW_LABELS.fullmatch(line):
            for row, number in _table(rows, at):
                yield _neighbor(row, number)
        elif _OPEN_LABELS.fullmatch(line):
            yield from _open_table(rows, at)


def _open_table(rows: Sequence[str], labels: int) -> Iterator[Neighbor]:
    """The neighbours in DriveNets' table, of which nothing shows the end."""
    count = len(_cells(rows[labels], labels + 1))
    for number, line in enumerate(rows[labels + 1 :], labels + 2):
        if not line.lstrip().startswith("|"):
            return
        if not _OPEN_RULER.fullmatch(line):
            port, name, port_id, *rest = _cells(line, number, count)
            if name or port_id:
                kind = identified(port_id)
                yield Neighbor(local_port(port), None, None, reported(name), *kind, None, seconds(*rest[:1]))


def _table(rows: Sequence[str], ruler: int) -> Iterator[tuple[Row, int]]:
    """The rows of the table whose labels end at this line, and the lines where they begin."""
    above = next((at for at in range(ruler - 1, -1, -1) if _BORDER.fullmatch(rows[at])), 0)
    labels = _joined([_cells(line, at) for at, line in enumerate(rows[above + 1 : ruler], above + 2)])
    fields = [_FIELDS.get(label.replace(" ", "").lower(), "") for label in labels]
    if not {"port", "chassis_id", "port_id"}.issubset(fields):
        raise UnreadableError("a table of something else than LLDP neighbours", line=above + 2, text=rows[above + 1])
    row: Row = {}
    begun = 0
    for number, line in enumerate(rows[ruler + 1 :], ruler + 2):
        if not line.strip():
            continue
        if _BORDER.fullmatch(line):
            if row:
                yield row, begun
            return
        cells = dict(zip(fields, _cells(line, number, len(fields)), strict=True))
        if cells["port"]:
            if row:
                yield row, begun
            row, begun = cells, number
        else:
            row = {field: row.get(field, "") + cell for field, cell in cells.items()}
    raise UnreadableError("the table's lower border is missing: the answer is cut", line=len(rows), text=rows[-1])


def _cells(line: str, number: int, count: int = 0) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.strip().startswith("|") or not line.strip().endswith("|") or (count and len(cells) != count):
        raise UnreadableError("a row that does not fit the table's labels: the answer is cut", line=number, text=line)
    return cells


def _joined(lines: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(parts) for parts in zip(*lines, strict=False)]


def _neighbor(row: Row, number: int) -> Neighbor:
    if not _PORT.fullmatch(row.get("port", "")):
        text = row.get("port", "")
        raise UnreadableError(
            "a port's name that is broken over lines: the table is too narrow", line=number, text=text
        )
    return Neighbor(row["port"], *identified(row["chassis_id"]), reported(row.get("name")), *identified(row["port_id"]))
