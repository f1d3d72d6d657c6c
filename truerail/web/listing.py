"""Lists that can be sorted, searched and downloaded: a page as JSON, or all rows as CSV."""

import asyncio
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.names import printable
from truerail.outputs.report_csv import inert
from truerail.views.plain import as_json
from truerail.web.answering import listed, pondered
from truerail.web.context import CachedEvaluation, RequestContext
from truerail.web.packing import plain_or_packed
from truerail.web.pagination import Fetch, page
from truerail.web.parts import Arrangement

T = TypeVar("T")
_ALL = 100_000_000


async def arranged_list(
    request: Request,
    desk: RequestContext,
    shown: CachedEvaluation,
    wanted: Arrangement,
    fetch: Fetch[T],
    key: Callable[[T], str],
) -> Response:
    """A list in the wanted form. `key` names a row. What reads all rows runs in a thread, while the event loop
    continues.
    """
    if wanted.csv:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(desk.thinking, lambda: _download(request, wanted, fetch))
    if wanted.sort or wanted.text:
        return await pondered(request, desk, shown, lambda: page(fetch, key, shown.serial, wanted.part))
    return listed(request, shown, wanted.part, fetch, key)


def _download(request: Request, wanted: Arrangement, fetch: Fetch[Any]) -> Response:
    rows, _ = fetch(0, _ALL)
    name = request.url.path.rpartition("/")[2]
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"}
    return plain_or_packed(
        request, to_csv(rows, wanted.columns), {**headers, "Content-Type": "text/csv; charset=utf-8"}
    )


def to_csv(rows: Iterable[Any], columns: tuple[str, ...] | None) -> bytes:
    """Rows as CSV (RFC 4180, UTF-8) with a header line; by default all columns. No cell starts a formula in any
    spreadsheet. Raises `QueryError` for a column that the rows do not have.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for number, row in enumerate(flat(as_json(one)) for one in rows):
        if number == 0:
            columns = columns or tuple(row)
            _check(columns, row)
            writer.writerow(columns)
        writer.writerow([row[name] for name in columns or ()])
    if out.tell() == 0 and columns:
        writer.writerow(columns)
    return out.getvalue().encode()


def _check(columns: Iterable[str], row: Mapping[str, Any]) -> None:
    for name in columns:
        if name not in row:
            raise QueryError(f"column {printable(name, 80)!r} is not known{nearest(name, list(row))}")


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of JSON as cells: the counts of states are columns of their own, lists are joined."""
    return dict(_cells(row))


def _cells(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _cells(value)
        else:
            yield name, inert(_words(value)) if isinstance(value, list | str) else value


def _words(value: Any) -> str:
    """Ids and names with blanks between, moves as `from -> to`."""
    if isinstance(value, list):
        return (
            "; ".join(map(_words, value)) if any(isinstance(one, dict) for one in value) else " ".join(map(str, value))
        )
    if isinstance(value, dict):
        return f"{value['source']} -> {value['target']}"
    return str(value)
