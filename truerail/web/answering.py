"""Responses of endpoints, each with the entity tag that fits its data."""

from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from truerail.web.body import to_bytes
from truerail.web.cached_evaluation import CachedEvaluation
from truerail.web.context import RequestContext
from truerail.web.etag import has, tag_of, tagged, unchanged
from truerail.web.packing import packed
from truerail.web.pagination import Fetch, PageRequest, page

T = TypeVar("T")


def published(request: Request, shown: CachedEvaluation, make: Callable[[], Any]) -> Response:
    """An answer that depends only on the publication and the request: computed only if the client lacks it and it is
    not cached. `make` returns the answer, or its JSON as bytes.
    """
    tag = _tag(request, shown)
    if has(request, tag):
        return unchanged(tag)
    return packed(request, shown, shown.answer(tag) or shown.keep(tag, _bytes(make())), tag)


async def pondered(
    request: Request, desk: RequestContext, shown: CachedEvaluation, make: Callable[[], Any]
) -> Response:
    """The same for an expensive answer: computed in a thread, while the event loop continues."""
    tag = _tag(request, shown)
    if has(request, tag):
        return unchanged(tag)
    body = shown.answer(tag)
    if body is None:
        body = shown.keep(tag, await desk.thinking.run(request, lambda: _bytes(make())))
    return packed(request, shown, body, tag)


async def timed(request: Request, desk: RequestContext, make: Callable[[], Any]) -> Response:
    """An expensive answer that also depends on the time: computed in a thread, tagged by its content, never cached."""
    return reported(request, await desk.thinking.run(request, make))


def _tag(request: Request, shown: CachedEvaluation) -> str:
    return tag_of(shown.serial, request.url.path, request.url.query)


def listed(
    request: Request, shown: CachedEvaluation, part: PageRequest, fetch: Fetch[T], key: Callable[[T], str]
) -> Response:
    """A page of a list that depends only on the publication and the request. `key` names a row."""
    return published(request, shown, lambda: page(fetch, key, shown.serial, part))


def reported(request: Request, answer: Any) -> Response:
    """An answer that also depends on the journal or the time: tagged by its content."""
    body = _bytes(answer)
    tag = tag_of(body)
    return unchanged(tag) if has(request, tag) else tagged(body, tag)


def _bytes(answer: Any) -> bytes:
    return answer if isinstance(answer, bytes) else to_bytes(answer)
