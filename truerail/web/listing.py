"""Lists that can be sorted, searched and downloaded: a page as JSON, or all rows as CSV."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.names import printable
from truerail.outputs.report_csv import inert
from truerail.views.pieces import MoveLine
from truerail.web.answering import listed, pondered
from truerail.web.context import NewestOrPast, WithContext
from truerail.web.packing import plain_or_packed
from truerail.web.pagination import Fetch, page
from truerail.web.parts import Arranged, Arrangement

T = TypeVar("T")
_ALL = 100_000_000


@dataclass(frozen=True, slots=True)
class AskedList:
    """A request for a list: the evaluation that it is about, and the wanted form."""

    request: Request
    desk: WithContext
    shown: NewestOrPast
    wanted: Arranged

    async def answer(self, lines: Callable[..., tuple[Sequence[T], int]], key: Callable[[T], str]) -> Response:
        """The list in the wanted form. `lines` takes `text`, `sort`, `offset` and `limit`, and returns these rows and
        the total; `key` names a row. What reads all rows runs in a thread, while the event loop continues.
        """
        request, desk, shown, wanted = self.request, self.desk, self.shown, self.wanted

        def fetch(offset: int, limit: int) -> tuple[Sequence[T], int]:
            return lines(text=wanted.text, sort=wanted.sort, offset=offset, limit=limit)

        if wanted.csv:
            return await desk.large.run(request, lambda: _download(request, wanted, fetch))
        if wanted.sort or wanted.text:
            return await pondered(request, desk, shown, lambda: page(fetch, key, shown.serial, wanted.part))
        return listed(request, shown, wanted.part, fetch, key)


Listed = Annotated[AskedList, Depends()]


def _download(request: Request, wanted: Arrangement, fetch: Fetch[Any]) -> Response:
    rows, _ = fetch(0, _ALL)
    name = request.url.path.rpartition("/")[2]
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"}
    headers |= {"Content-Type": "text/csv; charset=utf-8"}
    return plain_or_packed(request, to_csv(rows, wanted.columns), headers)


def to_csv(rows: Sequence[Any], columns: tuple[str, ...] | None) -> bytes:
    """Rows as CSV (RFC 4180, UTF-8) with a header line; by default all columns. No cell starts a formula in any
    spreadsheet. Raises `QueryError` for a column that the rows do not have.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    known = dict(_columns(rows[0])) if rows else {}
    chosen = columns or tuple(known)
    for name in chosen if rows else ():
        if name not in known:
            raise QueryError(f"column {printable(name, 80)!r} is not known{nearest(name, list(known))}")
    writer.writerow(chosen)
    takes = [attrgetter(known.get(name, name)) for name in chosen]
    writer.writerows([_cell(take(row)) for take in takes] for row in rows)
    return out.getvalue().encode()


def _columns(row: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """The columns of a row, and where each is in it: the counts of states are columns of their own."""
    for field in fields(row):
        value = getattr(row, field.name)
        if is_dataclass(value):
            yield from _columns(value, f"{before}{field.name}.")
        else:
            yield field.name, f"{before}{field.name}"


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        moves = any(isinstance(one, MoveLine) for one in value)
        return inert("; ".join(f"{one.source} -> {one.target}" for one in value) if moves else " ".join(value))
    return value
