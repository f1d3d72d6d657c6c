"""The requested page of a list and its form, from the query."""

from dataclasses import dataclass, replace
from hashlib import blake2s
from typing import Annotated, Literal

from fastapi import Depends, Query, Request

from truerail.web.pagination import MOST_ROWS, PageRequest

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

    part: PageRequest
    text: str | None
    sort: str | None
    csv: bool
    columns: tuple[str, ...] | None


async def arrangement_of(
    part: Wanted,
    text: Annotated[str | None, Query(max_length=300, description="rows that contain all of these words")] = None,
    sort: Annotated[str | None, Query(max_length=40, description="a column; -column begins with the highest")] = None,
    offset: Annotated[int, Query(ge=0, le=10_000_000, description="first row, without a cursor")] = 0,
    form: Annotated[Literal["json", "csv"], Query(alias="format", description="csv has all rows")] = "json",
    columns: Annotated[
        str | None, Query(max_length=1000, description="columns of the csv, in this order, with commas between")
    ] = None,
) -> Arrangement:
    """The form of a list that can be sorted and searched."""
    chosen = None if columns is None else tuple(name.strip() for name in columns.split(","))
    return Arrangement(replace(part, offset=offset), text, sort, form == "csv", chosen)


Arranged = Annotated[Arrangement, Depends(arrangement_of)]
