"""How an endpoint answers: with the tag that fits what the answer depends on."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from truerail.web.body import to_bytes
from truerail.web.context import CachedEvaluation, RequestContext
from truerail.web.etag import has, tag_of, tagged, unchanged
from truerail.web.packing import packed
from truerail.web.pagination import Fetch, PageRequest, page

T = TypeVar("T")


def published(request: Request, shown: CachedEvaluation, make: Callable[[], Any]) -> Response:
    """An answer that depends on nothing but the publication and the question: made only where the client lacks it and
    nobody asked before. `make` gives the answer, or its JSON as bytes.
    """
    tag = _tag(request, shown)
    if has(request, tag):
        return unchanged(tag)
    return packed(request, shown, shown.answer(tag) or shown.keep(tag, _bytes(make())), tag)


async def pondered(
    request: Request, desk: RequestContext, shown: CachedEvaluation, make: Callable[[], Any]
) -> Response:
    """The same for an answer that takes thought: made in a thread, while the event loop goes on."""
    tag = _tag(request, shown)
    if has(request, tag):
        return unchanged(tag)
    body = shown.answer(tag)
    if body is None:
        loop = asyncio.get_running_loop()
        body = shown.keep(tag, await loop.run_in_executor(desk.thinking, lambda: _bytes(make())))
    return packed(request, shown, body, tag)


def _tag(request: Request, shown: CachedEvaluation) -> str:
    return tag_of(shown.serial, request.url.path, request.url.query)


def listed(
    request: Request, shown: CachedEvaluation, part: PageRequest, fetch: Fetch[T], key: Callable[[T], str]
) -> Response:
    """A part of a list that depends on nothing but the publication and the question. `key` names a row."""
    return published(request, shown, lambda: page(fetch, key, shown.serial, part))


def reported(request: Request, answer: Any) -> Response:
    """An answer that depends on the journal or the time too: tagged by its content."""
    body = _bytes(answer)
    tag = tag_of(body)
    return unchanged(tag) if has(request, tag) else tagged(body, tag)


def _bytes(answer: Any) -> bytes:
    return answer if isinstance(answer, bytes) else to_bytes(answer)
