"""Lists that can be sorted, searched and downloaded: a page as JSON, or all rows as CSV."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from hashlib import blake2s
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Depends, Query, Request
from starlette.responses import Response

from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.names import printable
from truerail.outputs.report_csv import inert
from truerail.views.pieces import MoveLine
from truerail.web.answering import downloaded, listed, pondered
from truerail.web.context import NewestOrPast, context_of
from truerail.web.pagination import MOST_ROWS, Fetch, PageRequest, page

# ----------------------------------------------------------------------------------------------------------------------
# The requested page of a list and its form, from the query.

_LIMIT = 100
_PLACE = ("limit", "cursor", "offset")


async def part_of(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="rows in one answer")] = _LIMIT,
    cursor: Annotated[str | None, Query(max_length=2000, description="`next` of the answer before")] = None,
) -> PageRequest:
    """`limit` and `cursor` of a list, and its identity: path and filters."""
    filters = sorted((name, value) for name, value in request.query_params.items() if name not in _PLACE)
    question = blake2s(repr((request.url.path, filters)).encode(), digest_size=4).hexdigest()
    return PageRequest(limit, cursor, question)


Wanted = Annotated[PageRequest, Depends(part_of)]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a list is wanted: the rows that contain `text`, in the order of the column `sort`; a page of them as JSON, or
    all of them as CSV with these columns (None: every one).
    """

    part: Wanted
    text: Annotated[str | None, Query(max_length=300, description="rows that contain all of these words")] = None
    sort: Annotated[str | None, Query(max_length=40, description="a column; -column begins with the highest")] = None
    offset: Annotated[int, Query(ge=0, le=10_000_000, description="first row, without a cursor")] = 0
    form: Annotated[Literal["json", "csv"], Query(alias="format", description="csv has all rows")] = "json"
    columns: Annotated[
        str | None, Query(max_length=1000, description="columns of the csv, in this order, with commas between")
    ] = None


Arranged = Annotated[Arrangement, Depends()]


# ----------------------------------------------------------------------------------------------------------------------
# Lists that can be sorted, searched and downloaded: a page as JSON, or all rows as CSV.

T = TypeVar("T")
_ALL = 100_000_000


@dataclass(frozen=True, slots=True)
class AskedList:
    """A request for a list: the evaluation that it is about, and the wanted form."""

    request: Request
    shown: NewestOrPast
    wanted: Arranged

    async def answer(self, lines: Callable[..., tuple[Sequence[T], int]], key: Callable[[T], str]) -> Response:
        """The list in the wanted form. `lines` takes `text`, `sort`, `offset` and `limit`, and returns these rows and
        the total; `key` names a row. What reads all rows runs in a thread, while the event loop continues.
        """
        request, shown, wanted = self.request, self.shown, self.wanted

        def fetch(offset: int, limit: int) -> tuple[Sequence[T], int]:
            return lines(text=wanted.text, sort=wanted.sort, offset=offset, limit=limit)

        part = replace(wanted.part, offset=wanted.offset)
        if wanted.form == "csv":
            return await context_of(request).large.run(request, lambda: _download(request, wanted, fetch))
        if wanted.sort or wanted.text:
            return await pondered(request, shown, lambda: page(fetch, key, shown.serial, part))
        return listed(request, shown, part, fetch, key)


Listed = Annotated[AskedList, Depends()]


def _download(request: Request, wanted: Arrangement, fetch: Fetch[Any]) -> Response:
    rows, _ = fetch(0, _ALL)
    columns = None if wanted.columns is None else tuple(name.strip() for name in wanted.columns.split(","))
    return downloaded(request, request.url.path.rpartition("/")[2], to_csv(rows, columns))


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
