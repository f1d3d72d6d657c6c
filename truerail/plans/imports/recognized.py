"""Which format a file has, by its content; by its suffix only what can be read at all."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from truerail.errors import NodeSetError, QueryError
from truerail.files.file_text import decoded, read_bytes
from truerail.files.problems import Faults, PlanError, Problem
from truerail.model.yaml_tree import plain, read_tree
from truerail.plans.csv_columns import DELIMITERS
from truerail.plans.imports import json_plans, xml_plans, yaml_plans
from truerail.plans.imports.cable_tables import read_tables, table_of
from truerail.plans.imports.ib_topology import is_topology, read_topology
from truerail.plans.imports.import_row import Rows
from truerail.plans.imports.misspelled import check_headers
from truerail.plans.imports.workbook import is_workbook, tables_of

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
