"""Cable lists in rows and columns: P2P workbooks, NDT, Apstra, NetBox, SONiC lab graphs, SHCD."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from truerail.model.names import printable
from truerail.plans.imports.headers import Header, header_of, names_column
from truerail.plans.imports.import_row import NO_VALUE, UNNAMED, End, ImportRow, Rows, UnnamedPorts, place
from truerail.plans.numbers import MOST_PLANES, MOST_RAILS, metres, speed_gbps

UNNAMED_NOTE = "the file names no ports: each is `?1`, `?2`, ... in the order of its device; name them before `check`"
_NO_COLUMN = 1 << 20
_LEAST_NAMED = 3
"""Cells with the word of a column where a table has devices and ports, in the header of a further one."""
HEADER_ROWS = 60
"""A header is in the first rows of a sheet that are not empty."""
_UNIT = re.compile(r"[uU]?\s*(\d{1,3})(?:\.0)?")
_MBPS = re.compile(r"\d{5,7}")
_BOTH = {
    ":": re.compile(r"([^:\s]+) ?: ?(\S+)"),
    "/": re.compile(r"([^/\s]+) ?/ ?(\S+)"),
    " ": re.compile(r"(\S+) +(\S*\d\S*)"),
}
"""A cell with a device and its port, by what parts them. A port's name may have colons and slashes of its own."""
_SPAN = re.compile(r"\d ?(?:-|–|~|\.\.|to|bis|至) ?\d")
_NUMBERED = re.compile(r"(?:(?:rail|plane|[rp])[-_ ]?)?([0-9]{1,6})", re.IGNORECASE)
_ADAPTER = re.compile(r"(\S+) (mlx\d{1,2}_\d{1,3}|HCA-\d{1,3})", re.IGNORECASE)
"""InfiniBand's description of a host's node, one for each adapter (`gpu-1 mlx5_0`), in the place of the host's name."""
_ADAPTERS_PORT = re.compile(r"(?:port ?|p)?(\d{1,2})", re.IGNORECASE)
_LETTERED = re.compile(r"(?:plane[-_ ]?)?([A-H])", re.IGNORECASE)
_LENGTH = re.compile(r"([0-9]+(?:[.,][0-9]+)?)\s*([a-z]*)\.?", re.IGNORECASE)
_RATES = {"EDR": 100.0, "HDR": 200.0, "NDR": 400.0, "XDR": 800.0}
"""Gb/s of four lanes."""
_METRES = {
    **dict.fromkeys(("", "m", "meter", "meters", "metre", "metres", "mtr"), 1.0),
    **dict.fromkeys(("km", "kilometer", "kilometers"), 1000.0),
    **dict.fromkeys(("cm", "centimeter", "centimeters"), 0.01),
    **dict.fromkeys(("mi", "mile", "miles"), 1609.344),
    **dict.fromkeys(("ft", "foot", "feet"), 0.3048),
    **dict.fromkeys(("in", "inch", "inches"), 0.0254),
}
"""NetBox's units of a cable's length."""

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """One sheet, or a whole delimited file. `rows` are (number, cells), numbers counted from one as in the file."""

    sheet: str
    rows: Sequence[tuple[int, Cells]]


def header_in(table: Table, fits: Callable[[Header], bool]) -> tuple[int, Header] | None:
    """The place in `rows` of a table's header that fits, and what it says; None without one."""
    above: Cells = ()
    tried = 0
    for at, (_, cells) in enumerate(table.rows):
        if not any(cells):
            continue
        for groups in (above, ()):
            header = header_of(cells, groups)
            if fits(header):
                return at, header
        above, tried = cells, tried + 1
        if tried == HEADER_ROWS:
            break
    return None


def read_tables(tables: Sequence[Table], rows: Rows) -> set[str]:
    """Adds the cables of all tables and returns the sheets that have any. Only where none names the ports of both ends,
    the tables that name the devices alone are read.
    """
    read = {table.sheet for table in tables if _read(table, rows, lambda header: header.complete)}
    if not read:
        read = {table.sheet for table in tables if _read(table, rows, lambda header: header.lacks_ports)}
        unnamed = any(end.port.startswith(UNNAMED) for row in rows.found for end in (row.a, row.b))
        rows.notes += [UNNAMED_NOTE] if unnamed else []
    return (
        read | {table.sheet for table in tables if table.sheet not in read and _read_nodes(table, rows)}
        if read
        else read
    )


def _read(table: Table, rows: Rows, fits: Callable[[Header], bool]) -> bool:
    """Adds the cables of a table; False if it has no fitting header of a cable list."""
    found = header_in(table, fits)
    if found is None:
        return False
    at, header = found
    above = table.rows[at - 1][1] if at else ()
    first = at + 1
    for line in range(first, len(table.rows) + 1):
        cells = table.rows[line][1] if line < len(table.rows) else ()
        further = _further(header, cells, table.rows[line - 1][1])
        if further or line == len(table.rows):
            _read_part(table.rows[at:line], table.sheet, header, rows)
            if beside := _beside(header, table.rows[at][1], above):
                _read_part(table.rows[at:line], table.sheet, beside, rows)
        if further:
            at, header, above = line, further, table.rows[line - 1][1]
    return True


def _further(header: Header, cells: Cells, above: Cells) -> Header | None:
    """The header of a further table, or the same again as on each printed page, that a row is below the cables of one;
    None for other rows.
    """
    columns = [header.end[side][name] for name in ("port", "device") for side in "ab"] if header.complete else []
    named = [cell for column in columns if (cell := _cell(cells, column))]
    if len(named) < _LEAST_NAMED or not all(map(names_column, named)):
        return None
    return next((found for groups in (above, ()) if (found := header_of(cells, groups)).complete), None)


def _beside(header: Header, cells: Cells, above: Cells) -> Header | None:
    """The header of a second table in the columns beside the first one; None without."""
    last = max(at for columns in (*header.end.values(), header.cable) for at in columns.values())
    rest = ["" if at <= last else cell for at, cell in enumerate(cells)]
    found = header_of(rest, ["" if at <= last else cell for at, cell in enumerate(above)])
    return found if found.complete else None


def _read_part(part: Sequence[tuple[int, Cells]], sheet: str, header: Header, rows: Rows) -> None:
    """Adds the cables below a header, which is the first row."""
    own, unnamed = part[0][1], UnnamedPorts()
    for columns in header.end.values():
        _settle_card(columns, part[1:])
    parting = "" if header.complete else _parting(part, header)
    for cells, row in _rows(part, sheet, header):
        if own == cells:
            continue  # the header again, as on each printed page
        for name, text in _unread(row, header, cells):
            rows.leave_out(f"no {name}, because it says {printable(text, 40)!r}", place(row))
        if _cell(cells, header.cable.get("protocol", _NO_COLUMN)).lower() == "nvlink":
            rows.leave_out("NVLink, which is no cable of the fabric", place(row))
        elif _is_several(row, header, cells):
            rows.leave_out("not one cable but several", place(row))
        elif parting:
            rows.add(replace(row, a=_parted(row.a, parting), b=_parted(row.b, parting)))
        else:
            rows.add(row if header.complete else _with_ports(row, header, unnamed))


def _settle_card(columns: dict[str, int], rows: Sequence[tuple[int, Cells]]) -> None:
    """Decides what names a port where a card has a column of its own: the card alone (`mlx5_3`, port 1), the port alone
    (`ConnectX-7`, `mlx5_3`), or both (`NIC1`, port 2), as they tell the ports of a device apart.
    """
    if "card" not in columns:
        return
    named = [[_cell(cells, columns.get(name, _NO_COLUMN)) for name in ("device", "card", "port")] for _, cells in rows]
    ports = {(device, card, port) for device, card, port in named if device and card and port}
    by_card = len({(device, card) for device, card, _ in ports}) == len(ports)
    by_port = len({(device, port) for device, _, port in ports}) == len(ports)
    numbered_cards, numbered_ports = (all(one[at].isdecimal() for one in ports) for at in (1, 2))
    if by_port and not numbered_ports and (numbered_cards or not by_card):
        del columns["card"]
    elif by_card:
        columns["instead"] = columns.pop("card")


def _is_several(row: ImportRow, header: Header, cells: Cells) -> bool:
    """Whether a row has a quantity, and a range of ports at an end."""
    quantity = _cell(cells, header.cable.get("quantity", _NO_COLUMN))
    several = quantity.isdecimal() and quantity.lstrip("0") not in ("", "1")
    return several and any(_SPAN.search(end.port) for end in (row.a, row.b))


def _parting(part: Sequence[tuple[int, Cells]], header: Header) -> str:
    """What parts device and port in cells that have both, `leaf-1:swp3`: the same in every row; empty if none does."""
    if any("port" in columns for columns in header.end.values()):
        return ""
    ends = [end.device for _, row in _rows(part, "", header) for end in (row.a, row.b) if end.device]
    return next((mark for mark in (":", "/", " ") if ends and all(_BOTH[mark].fullmatch(end) for end in ends)), "")


def _parted(end: End, parting: str) -> End:
    found = _BOTH[parting].fullmatch(end.device)
    return replace(end, device=found[1], port=found[2]) if found else end


def _with_ports(row: ImportRow, header: Header, unnamed: UnnamedPorts) -> ImportRow:
    """The row with names for the ports that have no column."""
    ends = (
        end if "port" in header.end[side] or not end.device else replace(end, port=unnamed.next(end.device))
        for side, end in zip("ab", (row.a, row.b), strict=True)
    )
    a, b = ends
    return replace(row, a=a, b=b)


def _read_nodes(table: Table, rows: Rows) -> bool:
    """Takes racks, units and types from a list of devices; False if the table is none."""
    found = header_in(table, lambda header: header.of_nodes)
    for _, cells in table.rows[found[0] + 1 :] if found else ():
        end = _end(found[1].end["a"], cells) if found else End("", "")
        if end.device:
            rows.nodes.setdefault(end.device, end)
    return found is not None


def _rows(part: Sequence[tuple[int, Cells]], sheet: str, header: Header) -> Iterator[tuple[Cells, ImportRow]]:
    for number, cells in part[1:]:
        a, b = (_end(header.end[side], cells) for side in "ab")
        if any((a.device, a.port, b.device, b.port)):
            yield cells, _row(a, b, header, cells, number, sheet)


def _row(a: End, b: End, header: Header, cells: Cells, number: int, sheet: str) -> ImportRow:
    cable = {name: _cell(cells, column) for name, column in header.cable.items()}
    return ImportRow(
        a,
        b,
        number,
        sheet,
        speed_gbps=_speed(cable.get("speed", "")),
        length_m=length_m(cable.get("length ft", ""), "ft")
        if "length ft" in cable
        else length_m(cable.get("length", ""), cable.get("length unit", "")),
        label=cable.get("label", "") or cable.get("shuffle", ""),
        rail=_whole(cable.get("rail", ""), MOST_RAILS),
        plane=_plane(cable.get("plane", "")),
    )


def _unread(row: ImportRow, header: Header, cells: Cells) -> Iterator[tuple[str, str]]:
    """The cells of a cable that are no such value, with the field's name: the cable is kept without it."""
    values = {"speed": row.speed_gbps, "length": row.length_m, "rail": row.rail, "plane": row.plane}
    for name, value in values.items():
        text = _cell(cells, header.cable.get(name, header.cable.get(f"{name} ft", _NO_COLUMN)))
        if value is None and text and not NO_VALUE.fullmatch(text):
            yield name, text


def _end(columns: dict[str, int], cells: Cells) -> End:
    """One end of a row. Slot and port name a port together, as may card and port."""
    of = {name: _cell(cells, column) for name, column in columns.items()}
    device, port = of.get("device", ""), of.get("instead", "") or of.get("port", "")
    for parting in ("/", ":", " "):
        port = port.removeprefix(f"{device}{parting}") if device else port
    if slot := of.get("slot", ""):
        port = f"{slot}:{port}"
    if port and (card := of.get("card", "")):
        port = f"{card}:{port}"
    if (adapter := _ADAPTER.fullmatch(device)) and (number := _ADAPTERS_PORT.fullmatch(port)):
        device, port = adapter[1], adapter[2] if number[1] == "1" else f"{adapter[2]}:{number[1]}"
    unit = _UNIT.fullmatch(of.get("unit", ""))
    return End(
        device,
        port,
        of.get("rack", ""),
        int(unit[1]) if unit else None,
        of.get("kind", ""),
        of.get("site", ""),
        column=letters(columns["port"]) if "port" in columns else "",
    )


def letters(column: int) -> str:
    """A column's name in spreadsheets, counted from 0: `A`, `Z`, `AA`."""
    before, here = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(ord("A") + here)


def length_m(text: str, unit: str) -> float | None:
    """A length in metres, of `3`, `3,5 m`, `10 ft`; None in a unit that is unknown."""
    found = _LENGTH.fullmatch(text)
    value = metres(found[1].replace(",", ".")) if found else None
    factor = _METRES.get((unit or (found[2] if found else "")).lower())
    return None if value is None or factor is None else round(value * factor, 3)


def _cell(cells: Cells, column: int) -> str:
    return cells[column].strip() if column < len(cells) else ""


def _speed(text: str) -> float | None:
    """Gb/s. SONiC's lab graphs have Mb/s: a whole number of five digits or more; InfiniBand's have the rate's name."""
    return int(text) / 1000 if _MBPS.fullmatch(text) else _RATES.get(text.upper()) or speed_gbps(text)


def _whole(text: str, most: int) -> int | None:
    """The number of `3`, `rail 3`, `R3`, `plane-1`."""
    found = _NUMBERED.fullmatch(text)
    return int(found[1]) if found and int(found[1]) <= most else None


def _plane(text: str) -> int | None:
    """The number of a plane, which may have a letter: `A` and `plane A` are 0."""
    found = _LETTERED.fullmatch(text)
    return ord(found[1].upper()) - ord("A") if found else _whole(text, MOST_PLANES)
