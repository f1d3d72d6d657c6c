"""A plan from a cable list of another tool: its devices with roles, its cables each once, with rails and planes."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from truerail.errors import NodeSetError, QueryError
from truerail.files.file_text import decoded, read_bytes
from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults, PlanError, Problem
from truerail.model import Cable, Device, Plan, Port, Rail, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key, port_key, some
from truerail.model.yaml_tree import plain, read_tree
from truerail.plans.csv_plans import DELIMITERS
from truerail.plans.imports import json_plans, xml_plans, yaml_plans
from truerail.plans.imports.cable_tables import read_tables, table_of
from truerail.plans.imports.ib_topology import is_topology, read_topology
from truerail.plans.imports.implied import first_ports, is_out_of_band, roles_of, with_names, with_rails
from truerail.plans.imports.import_row import End, ImportRow, Rows
from truerail.plans.imports.misspelled import check_headers
from truerail.plans.imports.panels import joined
from truerail.plans.imports.translated import pattern
from truerail.plans.imports.workbook import is_workbook, tables_of
from truerail.plans.orient import oriented

# ----------------------------------------------------------------------------------------------------------------------
# Which format a file has, by its content; by its suffix only what can be read at all.

DRAWINGS: Final = (".drawio", ".xml", ".svg", ".vsdx", ".vsd", ".pdf", ".png", ".jpg", ".jpeg")
OTHER_BOOKS: Final = (".xls", ".xlsb", ".ods", ".numbers")
"""Workbooks that are not read."""
SUFFIXES: Final = (".xlsx", ".xlsm", ".ndt", ".topo", ".ibnl", ".json", ".tsv", ".txt", *OTHER_BOOKS, *DRAWINGS)
"""Of files that are always cable lists; `.csv`, `.yaml` and `.yml` may be."""
NAMES: Final = (
    *("workbook", "cable list", "cable records", "InfiniBand topology"),
    *xml_plans.READERS,
    *json_plans.READERS,
    *yaml_plans.READERS,
)
"""Every format."""
_OLD_BOOK: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""Begins an OLE file: Excel before 2007, and any encrypted workbook (MS-OFFCRYPTO)."""
_DOCUMENT: Final = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)
_COMMENT: Final = re.compile(r"[ \t]*#")
_MOST_BYTES: Final = 64 << 20
_TITLE_LINES: Final = 3
"""Lines above a header that may have no delimiter."""
_NOTHING: Final = (
    "no cable list is recognized: expected columns for the device and the port of both ends (names such as "
    "A-Node Name, Source, StartDevice, Endpoint 1 Name), or one of the formats of docs/cable-lists.md"
)


def recognized(path: Path) -> tuple[str, Rows] | None:
    """The format's name and its rows; None for text that is of no format here. Raises `PlanError` for a file that is of
    one and cannot be used.
    """
    file = str(path)
    if path.suffix.lower() in DRAWINGS and path.suffix.lower() != ".xml":
        raise PlanError([Problem(file, 0, "", "a drawing has no ports: expected a cable list")])
    raw = read_bytes(path, _MOST_BYTES, PlanError)
    if path.suffix.lower() in OTHER_BOOKS or raw.startswith(_OLD_BOOK):
        how = "an old Excel workbook, or one with a password" if raw.startswith(_OLD_BOOK) else "a workbook"
        raise PlanError([Problem(file, 0, path.suffix, f"{how}: save it as .xlsx without a password, or as CSV")])
    if is_workbook(raw):
        return "workbook", _workbook(raw, file)
    return recognized_text(decoded(raw, file, PlanError), file)


def recognized_text(text: str, file: str) -> tuple[str, Rows] | None:
    """The same for the text of a file."""
    start = text.lstrip()[:200]
    try:
        for name, (element, read) in xml_plans.READERS.items():
            if element in text[:2000]:
                return name, read(text)
        if start.startswith("<"):
            inner = "<system" in start
            what = "a topology of NCCL describes the inside of one host" if inner else "a drawing has no ports"
            raise QueryError(f"{what}: expected a cable list")
        if start.startswith(("{", "[")):
            return _of_json(text, file)
        if is_topology(text):
            return "InfiniBand topology", read_topology(text)
        if (found := _table(text, file)) or not (documents := _documents(text)):
            return found
        found = _first(yaml_plans.READERS, documents)
        return found or (_records(documents[0], file) if len(documents) == 1 else None)
    except (NodeSetError, QueryError) as error:
        raise PlanError([Problem(file, 0, "", str(error))]) from error


def _of_json(text: str, file: str) -> tuple[str, Rows] | None:
    data = _json(text, file)
    found = _first(json_plans.READERS, data) or _records(data, file)
    if found is None and json_plans.CLOUD.search(text):
        raise QueryError("a cloud's topology lists hosts by their place in its network, and no ports: expected cables")
    return found


def _records(data: Any, file: str) -> tuple[str, Rows] | None:
    rows = json_plans.records(data, file)
    return None if rows is None else ("cable records", rows)


def unrecognized(file: str, notes: Sequence[str] = ()) -> PlanError:
    """The error for a file of no known format; `notes` are what was not read of it."""
    return PlanError([Problem(file, 0, "", "; ".join((_NOTHING, *notes)))])


def _first(readers: Any, data: Any) -> tuple[str, Rows] | None:
    found = [(name, rows) for name, reader in readers.items() if data and (rows := reader(data)) is not None]
    if len(found) > 1:
        raise QueryError(f"fits two formats: {' and '.join(name for name, _ in found)}")
    return found[0] if found else None


def _json(text: str, file: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        raise PlanError([Problem(file, line, "", f"not JSON: {error}")]) from error


def _documents(text: str) -> list[Any]:
    """The YAML documents of a text; none where it is no YAML, which the reader of plans then says with its lines."""
    faults = Faults("", PlanError)
    trees = [read_tree(part, faults) for part in _DOCUMENT.split(text) if part.strip()]
    values = [plain(tree, faults) for tree in trees if tree is not None]
    return [] if faults.found else values


def _table(text: str, file: str) -> tuple[str, Rows] | None:
    head = text[:4096].split("\n")
    above = [line for line in head if line.strip() and not _COMMENT.match(line)][:_TITLE_LINES]
    if not any(delimiter in line for line in (head[0], *above) for delimiter in DELIMITERS):
        return None
    rows = Rows()
    try:
        tables = [table_of(text, file)]
    except PlanError:
        if any(delimiter in head[0] for delimiter in DELIMITERS):
            raise
        return None
    check_headers(tables, file)
    return ("cable list", rows) if read_tables(tables, rows) else None


def _workbook(raw: bytes, file: str) -> Rows:
    """The cables of all sheets that have any."""
    tables, notes = tables_of(raw, file)
    check_headers(tables, file)
    rows = Rows(notes=notes)
    if not read_tables(tables, rows):
        raise unrecognized(file, notes)
    return rows


# ----------------------------------------------------------------------------------------------------------------------
# The plan of its rows.


class Imported(NamedTuple):
    """A plan, and the format that it was read as."""

    plan: Plan
    format: str


def import_plan(path: Path, *, out_of_band: bool = False) -> Imported:
    """The plan in a cable list of any known format. `out_of_band` keeps the cables of the management network. Raises
    `PlanError` for a file of no known format, without cables, or with names that no device can have.
    """
    found = recognized(path)
    if found is None:
        raise unrecognized(str(path))
    return plan_of(*found, str(path), out_of_band=out_of_band)


def import_text(text: str, file: str, *, out_of_band: bool = False) -> Imported | None:
    """The same for a text; None if it is of no known format, as the project's own formats are."""
    found = recognized_text(text, file)
    return None if found is None else plan_of(*found, file, out_of_band=out_of_band)


def plan_of(form: str, rows: Rows, file: str, *, out_of_band: bool) -> Imported:
    """The plan of rows."""
    faults = Faults(file, PlanError)
    rows.without_ranges()
    segments = _once(_with_nodes(_with_sites(_spelled_once(rows)), rows.nodes), rows)
    _check(segments, rows, faults)
    found, gaps, panels = joined(segments, rows)
    roles = roles_of(gaps) | roles_of(found)
    in_band = [*found, *gaps] if out_of_band else _in_band([*found, *gaps], rows)
    kept, gaps = ([row for row in in_band if (row.b.device in panels) is gap] for gap in (False, True))
    devices = with_names(_devices(in_band, roles, panels), rows, kept)
    cables = with_rails([_cable(row, devices) for row in kept], roles, rows)
    cables = (*cables, *(_cable(row, devices) for row in gaps))
    rails = {rail: Rail(rail) for rail in sorted({cable.rail for cable in cables if cable.rail is not None})}
    places = dict(
        _places(row, cable) for row, cable in zip([*kept, *gaps], cables, strict=True) if row.a.column and row.b.column
    )
    plan = Plan(devices, cables, rails=rails, source=file, notes=tuple(rows.reported()), panels=panels, places=places)
    return Imported(plan, form)


def _places(row: ImportRow, cable: Cable) -> tuple[tuple[Port, Port], tuple[str, str]]:
    """The ends of a cable, and the cells of its row that name them."""
    ends = (row.a, row.b) if cable.a == (row.a.device, row.a.port) else (row.b, row.a)
    a, b = (f"{row.place}, column {end.column}" for end in ends)
    return (cable.a, cable.b), (a, b)


def _with_nodes(found: Sequence[ImportRow], nodes: Mapping[str, End]) -> list[ImportRow]:
    """The rows with what the file says of their devices beside the cables."""
    known = {name.lower(): end for name, end in nodes.items()}
    return [row.with_ends(lambda end: _of_node(end, known)) for row in found] if known else [*found]


def _of_node(end: End, nodes: Mapping[str, End]) -> End:
    node = nodes.get(end.device.lower())
    if node is None:
        return end
    rack, unit = (end.rack, end.unit) if end.rack else (node.rack, node.unit)
    return replace(end, rack=rack, unit=unit, kind=end.kind or node.kind)


def _check(found: Sequence[ImportRow], rows: Rows, faults: Faults) -> None:
    """Refuses names that cannot be a device's, cells that a spreadsheet turned into dates, and files without cables."""
    for row in found:
        for word in (row.a.device, row.a.port, row.b.device, row.b.port):
            if fault := name_fault(word):
                faults.add(row.line, word, fault)
            elif word.startswith("date ") or (word in (row.a.port, row.b.port) and _DATE.fullmatch(word)):
                faults.add(row.line, word, f"{row.place}: a date, made of a port by the spreadsheet; use text cells")
    if not found:
        faults.add(0, "", "; ".join(["no cable", *rows.reported()[:3]]))
    faults.raise_any()


def _spelled_once(rows: Rows) -> list[ImportRow]:
    """The rows with each device as it is spelled first: `GPU-1` and `gpu-1` are one, as they are where devices report
    their names.
    """
    first: dict[str, str] = {}
    for end in (end for row in rows.found for end in (row.a, row.b)):
        first.setdefault(end.device.lower(), end.device)
    other = {end.device for row in rows.found for end in (row.a, row.b)} - set(first.values())
    if not other:
        return rows.found
    shown = some([f"{name} as {first[name.lower()]}" for name in sorted(other)], _MOST_SPELLED)
    rows.notes.append(f"read as one device, because names differ in upper and lower case alone: {shown}")
    return [row.with_ends(lambda end: replace(end, device=first[end.device.lower()])) for row in rows.found]


_MOST_SPELLED: Final = 6
"""Listed in a note."""


_DATE: Final = pattern("date")
"""What a spreadsheet writes into CSV in the place of a port such as `1/3`: `3-Jan`, `03.01.2026`."""


def _with_sites(found: Sequence[ImportRow]) -> list[ImportRow]:
    """Devices that have one name in several sites get the site's name too."""
    sites = grouped({(end.device, end.site) for row in found for end in (row.a, row.b)})
    several = {device for device, known in sites.items() if len(known) > 1}

    def sited(end: End) -> End:
        return replace(end, device=f"{end.device} ({end.site})") if end.device in several else end

    return [row.with_ends(sited) for row in found]


def _once(found: Sequence[ImportRow], rows: Rows) -> list[ImportRow]:
    """Each cable once, also where both of its ends list it, and spell a port in two ways: `Ethernet1/1`, `Eth1/1`."""
    known: dict[frozenset[tuple[str, str]], ImportRow] = {}
    for row in found:
        ends = frozenset(((row.a.device, port_key(row.a.port)), (row.b.device, port_key(row.b.port))))
        known.setdefault(ends, row)
    if again := len(found) - len(known):
        listed = "1 row lists" if again == 1 else f"{again:,} rows list"
        rows.notes.append(f"{listed} a cable again, as its other end does")
    return list(known.values())


def _devices(found: Sequence[ImportRow], roles: Mapping[str, Role], panels: Collection[str]) -> dict[str, Device]:
    """Devices in natural order, as their lists read best, with the first rack and unit that the file gives each."""
    devices: dict[str, Device] = {}
    for end in (end for row in found for end in (row.a, row.b) if end.device not in panels):
        known = devices.setdefault(end.device, Device(end.device, roles[end.device]))
        if not known.rack and end.rack:
            devices[end.device] = replace(known, rack=end.rack, unit=end.unit)
    return {name: devices[name] for name in sorted(devices, key=natural_key)}


def _cable(row: ImportRow, devices: Mapping[str, Device]) -> Cable:
    ends = Port(row.a.device, row.a.port), Port(row.b.device, row.b.port)
    via = tuple(Port(end.device, end.port) for end in row.via)
    return oriented(Cable(*ends, row.rail, row.plane, row.speed_gbps, row.label, row.length_m, row.line, via), devices)


def _in_band(found: list[ImportRow], rows: Rows) -> list[ImportRow]:
    """Without the cables of the management network and of power, which are listed. A file that has no others is a plan
    of that network.
    """
    of_fabric = first_ports((Port(row.a.device, row.a.port), Port(row.b.device, row.b.port)) for row in found)

    def apart(end: End) -> bool:
        return is_out_of_band(Port(end.device, end.port), end.kind, alone=(end.device, end.port) in of_fabric)

    aside = [apart(row.a) or apart(row.b) for row in found]
    if all(aside):
        rows.notes.append("every cable is of the management network or of power: none has a rail")
        return found
    for row in (row for row, apart in zip(found, aside, strict=True) if apart):
        rows.leave_out("management network or power, not evaluated", row.place)
    return [row for row, apart in zip(found, aside, strict=True) if not apart]
