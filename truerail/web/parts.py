"""The requested page of a list, from the query."""

from hashlib import blake2s
from typing import Annotated

from fastapi import Depends, Query, Request

from truerail.web.pagination import MOST_ROWS, PageRequest

_LIMIT = 100


async def part_of(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="rows in one answer")] = _LIMIT,
    cursor: Annotated[str | None, Query(max_length=2000, description="`next` of the answer before")] = None,
) -> PageRequest:
    """`limit` and `cursor` of a list, and its identity: path and filters."""
    filters = sorted((name, value) for name, value in request.query_params.items() if name not in ("limit", "cursor"))
    question = blake2s(repr((request.url.path, filters)).encode(), digest_size=4).hexdigest()
    return PageRequest(limit, cursor, question)


Wanted = Annotated[PageRequest, Depends(part_of)]
