"""Cable lists in rows and columns: P2P workbooks, NDT, Apstra, NetBox, SONiC lab graphs, SHCD."""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from truerail.files.problems import PlanError, Problem
from truerail.model.names import printable
from truerail.plans.csv_plans import cells_of, unguarded
from truerail.plans.imports.headers import FIELDS, Header, end_of, header_of, is_name, names_column, spelled, words
from truerail.plans.imports.import_row import NO_VALUE, UNNAMED, End, ImportRow, Rows, UnnamedPorts, why_no_cable
from truerail.plans.imports.table_places import column_in, letters, place_in
from truerail.plans.imports.translated import meanings
from truerail.plans.numbers import MOST_PLANES, MOST_RAILS, metres, speed_gbps

UNNAMED_NOTE = "the file names no ports: each is `?1`, `?2`, ... in the order of its device; name them before `check`"
_NO_COLUMN = 1 << 20
_LEAST_NAMED = 3
"""Cells with the word of a column where a table has devices and ports, in the header of a further one."""
HEADER_ROWS = 60
"""A header is in the first rows of a sheet that are not empty."""
_FRACTION = re.compile(r"(\d+)\.(\d+)")
_HOSTNAME = re.compile(r"(?=[^a-z]*[a-z])[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
"""In lower case; a number or an address is none."""
_UNIT = re.compile(r"[uU]?\s*(\d{1,3})(?:\.0)?")
_MBPS = re.compile(r"\d{5,7}")
_BOTH = {
    ":": re.compile(r"([^:\s]+) ?: ?(\S+)"),
    "/": re.compile(r"([^/\s]+) ?/ ?(\S+)"),
    " ": re.compile(r"(\S+) +(\S*\d\S*)"),
}
"""A cell with a device and its port, by what parts them. A port's name may have colons and slashes of its own."""
_LAST_NUMBER = re.compile(r"(\d+)\D*$")
_SPAN = re.compile(r"\d ?(?:-|–|~|\.\.|to|bis|至) ?\d")
_NUMBERED = re.compile(r"(?:(?:rail|plane|[rp])[-_ ]?)?([0-9]{1,6})", re.IGNORECASE)
_ADAPTER = re.compile(r"(\S+) (mlx\d{1,2}_\d{1,3}|HCA-\d{1,3})", re.IGNORECASE)
"""InfiniBand's description of a host's node, one for each adapter (`gpu-1 mlx5_0`), in the place of the host's name."""
_ADAPTERS_PORT = re.compile(r"(?:port ?|p)?(\d{1,2})", re.IGNORECASE)
_LETTERED = re.compile(r"(?:plane[-_ ]?)?([A-H])", re.IGNORECASE)
_LENGTH = re.compile(r"([0-9]+(?:[.,][0-9]+)?)\s*([a-z]*)\.?", re.IGNORECASE)
_RATES = {"EDR": 100.0, "HDR": 200.0, "NDR": 400.0, "XDR": 800.0}
"""Gb/s of four lanes."""
_METRES = {word: float(factor) for word, factor in meanings("metres").items()}
"""NetBox's units of a cable's length."""

Cells = Sequence[str]


class Table(NamedTuple):
    """One sheet, or a whole delimited file. `rows` are (number, cells), numbers counted from one as in the file."""

    sheet: str
    rows: Sequence[tuple[int, Cells]]


def table_of(text: str, file: str) -> Table:
    """The lines of delimited text: comma, semicolon or tab. Raises `PlanError` with the line that is not CSV."""
    lines = cells_of(text)
    try:
        rows = [(lines.line_num, [unguarded(cell.strip()) for cell in cells]) for cells in lines]
    except csv.Error as error:
        raise PlanError([Problem(file, lines.line_num, "", f"not CSV: {error}")]) from error
    return Table("", rows)


def header_in(table: Table, fits: Callable[[Header], bool]) -> tuple[int, Header] | None:
    """The place in `rows` of a table's header that fits, and what it says; None without one."""
    above: Cells = ()
    filled = ((at, cells) for at, (_, cells) in enumerate(table.rows) if any(cells))
    for at, cells in islice(filled, HEADER_ROWS):
        for groups in (above, ()):
            if fits(header := header_of(cells, groups)):
                return at, header
        above = cells
    return None


def read_tables(tables: Sequence[Table], rows: Rows) -> set[str]:
    """Adds the cables of all tables and returns the sheets that have any. Only where none names the ports of both ends,
    the tables that name the devices alone are read.
    """
    tables = [_with_whole_numbers(table) for table in tables]
    read = {table.sheet for table in tables if _read(table, rows, lambda header: header.complete)}
    if not read:
        read = {table.sheet for table in tables if _read(table, rows, lambda header: header.lacks_ports)}
        unnamed = any(end.port.startswith(UNNAMED) for row in rows.found for end in (row.a, row.b))
        rows.notes += [UNNAMED_NOTE] if unnamed else []
    known = {end.device.lower() for row in rows.found for end in (row.a, row.b)}
    for table in (table for table in tables if read and table.rows and table.sheet not in read):
        if not _read_nodes(table, known, rows):
            named = sum(any(cell.lower() in known for cell in cells) for _, cells in table.rows)
            reason = "names devices of the cables, but is not read" if 2 * named > len(table.rows) else "no cable list"
            rows.leave_out(reason, f"sheet {printable(table.sheet, 60)!r}")
    return read


def _with_whole_numbers(table: Table) -> Table:
    """The table with `1` in the place of `1.0` in the columns whose numbers have no other fraction."""
    fractions: defaultdict[int, set[str]] = defaultdict(set)
    for _, cells in table.rows:
        for column, cell in enumerate(cells):
            if "." in cell and (found := _FRACTION.fullmatch(cell)):
                fractions[column].add(found[2])
    whole = {column for column, found in fractions.items() if found == {"0"}}
    rows = (
        (number, [_FRACTION.sub(r"\1", cell) if at in whole else cell for at, cell in enumerate(cells)])
        for number, cells in table.rows
    )
    return Table(table.sheet, [*rows]) if whole else table


def _read(table: Table, rows: Rows, fits: Callable[[Header], bool]) -> bool:
    """Adds the cables of a table; False if it has no fitting header of a cable list."""
    if (found := header_in(table, fits)) is None:
        return False
    at, header = found
    above = table.rows[at - 1][1] if at else ()
    for number, cells in table.rows[: max(at - 1, 0)]:
        if sum(map(bool, cells)) >= _LEAST_NAMED:
            rows.leave_out("above the header, not read", place_in(table.sheet, number))
    for line in range(at + 1, len(table.rows) + 1):
        cells = table.rows[line][1] if line < len(table.rows) else ()
        further = _further(header, cells, table.rows[line - 1][1])
        if further or line == len(table.rows):
            part, beside = Table(table.sheet, table.rows[at:line]), _beside(header, table.rows[at][1], above)
            used = _read_part(part, header, rows)
            used |= _read_part(part, beside, rows) if beside else set()
            _list_unread(part, above, used, rows)
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
    last = max(header.columns)
    rest = ["" if at <= last else cell for at, cell in enumerate(cells)]
    found = header_of(rest, ["" if at <= last else cell for at, cell in enumerate(above)])
    return found if found.complete else None


def _read_part(part: Table, header: Header, rows: Rows) -> set[int]:
    """Adds the cables below a header, which is the first row. Returns the columns that are used."""
    own, unnamed = part.rows[0][1], UnnamedPorts()
    for columns in header.end.values():
        _settle_card(columns, part.rows[1:])
    used, ends = header.columns, {side: columns["device"] for side, columns in header.end.items()}
    found = list(cables_below(part, header))
    lines = (cells for cells, row in found if not why_no_cable(row))
    taken = _take_names(part, lines, ends, used - {header.cable.get("label", _NO_COLUMN)}, rows)
    if header.cable.get("label") in taken:
        found = [(cells, replace(row, label="")) for cells, row in found]
    parting = "" if header.complete else _parting(part, header)
    for cells, row in found:
        if own == cells:
            continue  # the header again, as on each printed page
        for name, text in _unread(row, header, cells):
            rows.leave_out(f"no {name}, because it says {printable(text, 40)!r}", row.place)
        if why := _why_aside(row, header, cells):
            rows.leave_out(why, row.place)
        elif parting:
            rows.add(row.with_ends(lambda end: _parted(end, parting)))
        else:
            rows.add(row if header.complete else _with_ports(row, header, unnamed))
    return used | taken


def _list_unread(part: Table, above: Cells, used: set[int], rows: Rows) -> None:
    """Lists the columns that have a value below the header and are not used."""
    (_, own), *below = part.rows
    for column in sorted({*range(max(len(cells) for _, cells in part.rows))} - used):
        if any(_cell(cells, column) not in ("", _cell(own, column)) for _, cells in below):
            name = _cell(own, column) or _cell(above, column)
            meant = f" (did you mean {spelled(name)!r}?)" if spelled(name) else ""
            rows.leave_out("not read", f"{column_in(part.sheet, column, name)}{meant}")


def _take_names(part: Table, lines: Iterable[Cells], ends: dict[str, int], used: set[int], rows: Rows) -> set[int]:
    """Takes further names of devices from columns, one for each device and no two the same, and returns these columns.
    Beside cables a label repeats itself as its device does, else it is the cable's. `ends` are columns of devices.
    """
    taken: set[int] = set()
    own, known = part.rows[0][1], None
    for column in (column for column, cell in enumerate(own) if column not in used and is_name(cell)):
        known = known or list(lines)
        mine = {ends.get(end_of(own[column]), at) for at in ends.values()}
        nearest = sorted(mine, key=lambda at: (at > column, abs(at - column)))
        names = next(filter(None, (_further_names(known, at, column) for at in nearest)), [])
        if names and (len(ends) == 1 or "label" not in words(own[column]) or len(names) < len(known)):
            rows.names += names
            rows.leave_out("further names of the devices", column_in(part.sheet, column, own[column]))
            taken.add(column)
    return taken


def _further_names(lines: Sequence[Cells], device: int, column: int) -> list[tuple[str, str]]:
    """Device and name, each once; none where a device has several names, or one that is no hostname or another's."""
    pairs = ((_cell(cells, device), _cell(cells, column)) for cells in lines)
    once = {(device.lower(), name.lower()): (device, name) for device, name in pairs}
    devices, names = {device for device, _ in once}, {name for _, name in once}
    alone = len(devices) == len(once) == len(names) and all(name == of or name not in devices for of, name in once)
    return list(once.values()) if alone and all(map(_HOSTNAME.fullmatch, names)) else []


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


def _why_aside(row: ImportRow, header: Header, cells: Cells) -> str:
    """Why a row is no cable, whatever it names: NVLink, words of columns, or a quantity and a range of ports."""
    if _cell(cells, header.cable.get("protocol", _NO_COLUMN)).lower() == "nvlink":
        return "NVLink, which is no cable of the fabric"
    ends, quantity = (row.a, row.b), _cell(cells, header.cable.get("quantity", _NO_COLUMN))
    names = [end.port for end in ends if end.port[-1:].isalpha() and is_name(end.device)]
    if len(names) == 2 and {FIELDS.get(words(name).rpartition(" ")[2]) for name in names} <= {"port", "card"}:
        return "a header in other words, below which columns are read as above it"
    several = quantity.isdecimal() and quantity.lstrip("0") not in ("", "1")
    return "not one cable but several" if several and any(_SPAN.search(end.port) for end in ends) else ""


def _parting(part: Table, header: Header) -> str:
    """What parts device and port in cells that have both, `leaf-1:swp3`: the same in every row; empty if none does."""
    if any("port" in columns for columns in header.end.values()):
        return ""
    ends = [end.device for _, row in cables_below(part, header) for end in (row.a, row.b) if end.device]
    return next((mark for mark in (":", "/", " ") if ends and all(_BOTH[mark].fullmatch(end) for end in ends)), "")


def _parted(end: End, parting: str) -> End:
    found = _BOTH[parting].fullmatch(end.device)
    return replace(end, device=found[1], port=found[2]) if found else end


def _with_ports(row: ImportRow, header: Header, unnamed: UnnamedPorts) -> ImportRow:
    """The row with names for the ports that have no column."""
    a, b = (
        end if "port" in header.end[side] or not end.device else replace(end, port=unnamed.next(end.device))
        for side, end in zip("ab", (row.a, row.b), strict=True)
    )
    return replace(row, a=a, b=b)


def _read_nodes(table: Table, known: set[str], rows: Rows) -> bool:
    """Takes racks, units, types and further names of known devices from a list of devices; False if it is none."""
    for at, (_, own) in enumerate(table.rows[:HEADER_ROWS]):
        part = Table(table.sheet, table.rows[at:])
        named = [column for column, cell in enumerate(own) if is_name(cell)]
        count = {column: sum(_cell(cells, column).lower() in known for _, cells in part.rows) for column in named}
        device = max(named, key=count.__getitem__, default=_NO_COLUMN)
        columns = {"device": device}
        for column, cell in enumerate(own):
            if (what := FIELDS.get(words(cell), "")) in ("rack", "unit", "kind"):
                columns.setdefault(what, column)
        lines = [cells for _, cells in part.rows if _cell(cells, device).lower() in known]
        used = {*columns.values()}
        used |= _take_names(part, lines, {"": device}, used, rows) if lines else set()
        if lines and len(used) > 1:
            rows.nodes = {**{_cell(cells, device): _end(columns, cells) for cells in reversed(lines)}, **rows.nodes}
            for number, cells in part.rows[1:]:
                if any(cells) and _cell(cells, device).lower() not in known:
                    rows.leave_out("names no device of the cables", place_in(table.sheet, number))
            _list_unread(part, (), used, rows)
            return True
    return False


def cables_below(part: Table, header: Header) -> Iterator[tuple[Cells, ImportRow]]:
    """The rows below a header, which is the first one, and their cells; also rows that are no cables."""
    columns = header.columns
    for number, cells in part.rows[1:]:
        if any(_cell(cells, column) for column in columns):
            a, b = (_end(header.end[side], cells) for side in "ab")
            yield cells, _row(a, b, header, cells, number, part.sheet)


def _row(a: End, b: End, header: Header, cells: Cells, number: int, sheet: str) -> ImportRow:
    of = {name: _cell(cells, column) for name, column in header.cable.items()}
    rail, plane = _whole(of.get("rail", ""), MOST_RAILS), _plane(of.get("plane", ""))
    length = length_m(of.get("length", ""), of.get("length unit", ""))
    length = length_m(of["length ft"], "ft") if "length ft" in of else length
    label = of.get("label", "") or of.get("shuffle", "")
    via = tuple(_via([{name: _cell(cells, column) for name, column in one.items()} for one in header.via]))
    return ImportRow(a, b, number, sheet, _speed(of.get("speed", "")), length, label, rail, plane, via=via)


def _via(panels: Sequence[dict[str, str]]) -> Iterator[End]:
    """The panel ports of a row, and between two of them the position in the trunk that it names."""
    passed = [(of, end) for of in panels if (end := _panel_end(of)).port and not NO_VALUE.fullmatch(end.device)]
    for at, (of, end) in enumerate(passed):
        yield end
        if at + 1 < len(passed) and (trunk := of.get("trunk", "")):
            number = _LAST_NUMBER.search(of.get("position", "") or end.port)
            position = f"{trunk}:{number[1] if number else 1}"
            yield from (replace(one, port=position) for one in (end, passed[at + 1][1]))


def _panel_end(of: dict[str, str]) -> End:
    """A panel's port; both may be in one cell, `PP-1/3`."""
    unit = _UNIT.fullmatch(of.get("unit", ""))
    end = End(of.get("device", ""), of.get("port", ""), of.get("rack", ""), int(unit[1]) if unit else None)
    if end.device and end.port:
        return end
    both = replace(end, device=end.device or end.port, port="")
    return next((one for mark in _BOTH if (one := _parted(both, mark)).port), both)


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
    column = letters(columns["port"]) if "port" in columns else ""
    place = (of.get("rack", ""), int(unit[1]) if unit else None)
    return End(device, port, *place, of.get("kind", ""), of.get("site", ""), column=column)


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
