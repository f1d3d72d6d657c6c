"""Which format a file has, by its content; by its suffix only what can be read at all."""

import json
import re
from pathlib import Path
from typing import Any, Final

from truerail.errors import QueryError
from truerail.files.file_text import read_text
from truerail.files.problems import Faults, Problem
from truerail.files.yaml_plain import plain
from truerail.files.yaml_tree import read_tree
from truerail.plans.imports import json_plans, yaml_plans
from truerail.plans.imports.delimited import table_of
from truerail.plans.imports.ib_topology import is_topology, read_topology
from truerail.plans.imports.import_row import Rows
from truerail.plans.imports.tables import Table, names_only_devices, read_table
from truerail.plans.imports.workbook import MOST_BYTES, is_workbook, tables_of
from truerail.plans.plan_error import PlanError

SUFFIXES: Final = (".xlsx", ".xlsm", ".ndt", ".topo", ".ibnl", ".json", ".tsv", ".txt", ".drawio", ".xml")
"""Of files that are always cable lists; `.csv`, `.yaml` and `.yml` may be."""
_DOCUMENT: Final = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)
_MOST_TEXT_BYTES: Final = 64 << 20
_NOTHING: Final = (
    "no cable list is recognized: expected columns for the device and the port of both ends (names such as "
    "A-Node Name, Source, StartDevice, Endpoint 1 Name), or one of the formats of docs/plan.md"
)


def recognized(path: Path) -> tuple[str, Rows] | None:
    """The format's name and its rows; None for text that is of no format here. Raises `PlanError` for a file that is of
    one and cannot be used.
    """
    file = str(path)
    try:
        if is_workbook(path):
            return "workbook", _workbook(path)
    except OSError as error:
        raise PlanError([Problem(file, 0, "", f"cannot be read: {error.strerror or error}")]) from error
    return recognized_text(read_text(path, _MOST_TEXT_BYTES, PlanError), file)


def recognized_text(text: str, file: str) -> tuple[str, Rows] | None:
    """The same for the text of a file."""
    start = text.lstrip()[:200]
    try:
        if start.startswith("<"):
            raise QueryError("a drawing has no ports: expected a cable list")
        if start.startswith(("{", "[")):
            return _first(json_plans.READERS, _json(text, file))
        if is_topology(text):
            return "InfiniBand topology", read_topology(text)
        return _table(text, file) or _first(yaml_plans.READERS, _documents(text))
    except QueryError as error:
        raise PlanError([Problem(file, 0, "", str(error))]) from error


def unrecognized(file: str) -> PlanError:
    """The error for a file of no known format."""
    return PlanError([Problem(file, 0, "", _NOTHING)])


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
    head = text[:4096].partition("\n")[0]
    if not any(delimiter in head for delimiter in ",;\t"):
        return None
    table, rows = table_of(text, file), Rows()
    if read_table(table, rows):
        return "cable list", rows
    if names_only_devices(table):
        raise QueryError("the columns name the devices of both ends, but not their ports")
    return None


def _workbook(path: Path) -> Rows:
    """The cables of all sheets that have any."""
    file = str(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PlanError([Problem(file, 0, "", f"larger than {MOST_BYTES:,} bytes")])
        raw = path.read_bytes()
    except OSError as error:
        raise PlanError([Problem(file, 0, "", f"cannot be read: {error.strerror or error}")]) from error
    tables, notes = tables_of(raw, file)
    rows = Rows(notes=notes)
    read = {table.sheet for table in tables if read_table(table, rows)}
    if not read:
        raise _without_cables(tables, file)
    others = [table.sheet for table in tables if table.sheet not in read and table.rows]
    rows.notes += [f"sheet {sheet!r} is no cable list" for sheet in others]
    return rows


def _without_cables(tables: list[Table], file: str) -> PlanError:
    lacking = next((table.sheet for table in tables if names_only_devices(table)), "")
    if lacking:
        summary = f"sheet {lacking!r} names the devices of both ends, but not their ports"
        return PlanError([Problem(file, 0, "", summary)])
    return unrecognized(file)
