"""New names of devices and ports as bulk updates of NetBox and Nautobot. Nothing here is applied.

Both take `PATCH /api/dcim/devices/` (or `/interfaces/`) with a list of objects, each with its `id` (their REST API
guides, "Updating Multiple Objects"). A name is unique there and the order within one request is the server's, so names
that are exchanged need two requests: the first gives all of them names for the time between.

Ids come from an export: CSV with `id`, `name` and for ports `device`, or the API's own JSON.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from typing import Any

from truerail.errors import QueryError
from truerail.model.names import printable
from truerail.plans.csv_columns import cells_of

BETWEEN = "-renamed"


def bulk_updates(names: Mapping[str, str], ids: Mapping[str, str]) -> tuple[str, ...]:
    """The bodies of the requests, one after the other, as JSON. `names` are new names by present ones, of devices or
    of ports as `device/port`. None unless each has an id: half an exchange is none.
    """
    if not all(old in ids for old in names):
        return ()
    exchanged = {old: f"{new}{BETWEEN}" for old, new in names.items() if new in names}
    return tuple(_body(request, ids) for request in (exchanged, names) if request)


def _body(names: Mapping[str, str], ids: Mapping[str, str]) -> str:
    rows = [{"id": int(ids[old]) if ids[old].isdigit() else ids[old], "name": _last(new)} for old, new in names.items()]
    return "[\n" + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n]"


def _last(name: str) -> str:
    """The name alone of a `device/port`."""
    return name.partition("/")[2] or name


def read_ids(text: str) -> dict[str, str]:
    """Ids by name, or by `device/port`, from an export. Raises QueryError for a text that is none."""
    rows = _json(text) if text.lstrip()[:1] in ("{", "[") else _csv(text)
    ids: dict[str, str] = {}
    for row in rows:
        name, number, device = (str(row.get(key) or "").strip() for key in ("name", "id", "device"))
        key = f"{device}/{name}" if device else name
        if name and number and ids.setdefault(key, number) != number:
            raise QueryError(f"the export has two ids of {printable(key, 80)!r}: export one site")
    if not ids:
        raise QueryError(
            "the export has no row with an id and a name: expected columns id, name and, for ports, device"
        )
    return ids


def _csv(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        lines = list(cells_of(text))
    except csv.Error as error:
        raise QueryError(f"the export is neither JSON nor CSV: {error}") from error
    header = [cell.strip().lower() for cell in lines[0]] if lines else []
    yield from (dict(zip(header, cells, strict=False)) for cells in lines[1:])


def _json(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"the export is not JSON: {error}") from error
    rows = found.get("results", []) if isinstance(found, dict) else found
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            device = row.get("device")
            yield {**row, "device": device.get("name") if isinstance(device, dict) else device}
