"""Cable lists in rows and columns: P2P workbooks, NDT, Apstra, NetBox, SONiC lab graphs, SHCD."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from truerail.plans.imports.headers import Header, header_of, words
from truerail.plans.imports.import_row import End, ImportRow, Rows
from truerail.plans.numbers import MOST_PLANES, MOST_RAILS, metres, speed_gbps

HEADER_ROWS = 60
"""A header stands in the first rows of a sheet that are not empty."""
_UNIT = re.compile(r"[uU]?\s*(\d{1,3})(?:\.0)?")
_MBPS = re.compile(r"\d{5,7}")

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """One sheet, or a whole delimited file. `rows` are (number, cells), numbers counted from one as in the file."""

    sheet: str
    rows: Sequence[tuple[int, Cells]]


def header_in(table: Table) -> tuple[int, Header] | None:
    """The place in `rows` of a table's header and what it says; None without one."""
    above: Cells = ()
    tried = 0
    for at, (_, cells) in enumerate(table.rows):
        if not any(cells):
            continue
        for groups in (above, ()):
            header = header_of(cells, groups)
            if header.complete:
                return at, header
        above, tried = cells, tried + 1
        if tried == HEADER_ROWS:
            break
    return None


def names_only_devices(table: Table) -> bool:
    """Whether a table has a header with the devices of both ends, and not their ports."""
    return any(header_of(cells).lacks_ports for _, cells in table.rows[:HEADER_ROWS] if any(cells))


def read_table(table: Table, rows: Rows) -> bool:
    """Adds the cables of a table; False if it has no header of a cable list."""
    found = header_in(table)
    if found is None:
        return False
    at, header = found
    own = [words(cell) for cell in table.rows[at][1]]
    for line, row in _rows(table, at + 1, header):
        if own == [words(cell) for cell in table.rows[line][1]]:
            continue  # the header again, as on each printed page
        rows.add(row)
    return True


def _rows(table: Table, first: int, header: Header) -> Iterator[tuple[int, ImportRow]]:
    for place in range(first, len(table.rows)):
        number, cells = table.rows[place]
        a, b = (_end(header.end[side], cells) for side in "ab")
        if not any((a.device, a.port, b.device, b.port)):
            continue
        yield place, _row(a, b, header, cells, number, table.sheet)


def _row(a: End, b: End, header: Header, cells: Cells, number: int, sheet: str) -> ImportRow:
    cable = {name: _cell(cells, column) for name, column in header.cable.items()}
    return ImportRow(
        a,
        b,
        number,
        sheet,
        speed_gbps=_speed(cable.get("speed", "")),
        length_m=metres(cable.get("length", "").removesuffix("m").strip()),
        label=cable.get("label", ""),
        rail=_whole(cable.get("rail", ""), MOST_RAILS),
        plane=_whole(cable.get("plane", ""), MOST_PLANES),
    )


def _end(columns: dict[str, int], cells: Cells) -> End:
    """One end of a row. Slot and port name a port together."""
    of = {name: _cell(cells, column) for name, column in columns.items()}
    device, port = of.get("device", ""), of.get("port", "")
    for parting in ("/", ":", " "):
        port = port.removeprefix(f"{device}{parting}") if device else port
    if slot := of.get("slot", ""):
        port = f"{slot}:{port}"
    unit = _UNIT.fullmatch(of.get("unit", ""))
    return End(device, port, of.get("rack", ""), int(unit[1]) if unit else None, of.get("kind", ""), of.get("site", ""))


def _cell(cells: Cells, column: int) -> str:
    return cells[column].strip() if column < len(cells) else ""


def _speed(text: str) -> float | None:
    """Gb/s. SONiC's lab graphs have Mb/s: a whole number of five digits or more."""
    return int(text) / 1000 if _MBPS.fullmatch(text) else speed_gbps(text)


def _whole(text: str, most: int) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) <= most else None
