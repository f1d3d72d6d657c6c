"""Responses of endpoints, each with the entity tag that fits its data."""

import gzip
import re
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from truerail.web.context import CachedEvaluation, context_of
from truerail.web.etag import has, tag_of, tagged, to_bytes, unchanged
from truerail.web.pagination import Fetch, PageRequest, page

# ----------------------------------------------------------------------------------------------------------------------
# Compresses large answers with gzip (RFC 9110 section 8.4.1) if accepted: JSON of cables shrinks to a tenth.
#
# Only answers that depend on the publication, the request and the service's metrics are compressed. They contain no
# token, no cookie's value and no data of the caller, so their length reveals nothing (https://breachattack.com); all
# other answers are sent uncompressed.

LEAST_BYTES = 4096
"""Least size to compress: less fits into three Ethernet packets."""
_LEVEL = 3
_NONE = re.compile(r"q=0(\.0*)?")


def packed(request: Request, shown: CachedEvaluation, body: bytes, tag: str) -> Response:
    """The answer with its tag, compressed if that helps. The tag is weak, hence the same for both forms."""
    if len(body) < LEAST_BYTES or not takes_gzip(request.headers.get("accept-encoding", "")):
        return varying(tagged(body, tag))
    key = f"{tag} gzip"
    small = shown.answer(key) or shown.keep(key, gzip.compress(body, _LEVEL, mtime=0))
    response = varying(tagged(small, tag))
    response.headers["Content-Encoding"] = "gzip"
    return response


def downloaded(request: Request, name: str, body: bytes) -> Response:
    """A file of CSV, which is computed each time and has no tag, compressed if that helps. Call it from a thread."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"}
    headers |= {"Content-Type": "text/csv; charset=utf-8"}
    response = Response(body, headers=headers)
    if len(body) >= LEAST_BYTES and takes_gzip(request.headers.get("accept-encoding", "")):
        response = Response(gzip.compress(body, _LEVEL, mtime=0), headers={**headers, "Content-Encoding": "gzip"})
    return varying(response)


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding accepts gzip: by name, else by `*`, with a weight that is not 0."""
    weights = {}
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        weights[name.strip()] = weight.replace(" ", "")
    weight = weights.get("gzip", weights.get("*", "q=0"))
    return not _NONE.fullmatch(weight)


def varying(response: Response) -> Response:
    """The answer, marked as one of several forms."""
    response.headers.add_vary_header("Accept-Encoding")
    return response


# ----------------------------------------------------------------------------------------------------------------------
# Responses of endpoints, each with the entity tag that fits its data.

T = TypeVar("T")


def published(request: Request, shown: CachedEvaluation, make: Callable[[], Any]) -> Response:
    """An answer that depends only on the publication and the request: computed only if the client lacks it and it is
    not cached. `make` returns the answer, or its JSON as bytes.
    """
    tag = _tag(request, shown)
    if has(request, tag):
        return unchanged(tag)
    return packed(request, shown, shown.answer(tag) or shown.keep(tag, _bytes(make())), tag)


async def pondered(request: Request, shown: CachedEvaluation, make: Callable[[], Any]) -> Response:
    """The same for an expensive answer: computed in a thread, while the event loop continues."""
    tag = _tag(request, shown)
    if has(request, tag):
        return unchanged(tag)
    body = shown.answer(tag)
    if body is None:
        body = shown.keep(tag, await context_of(request).thinking.run(request, lambda: _bytes(make())))
    return packed(request, shown, body, tag)


async def timed(request: Request, make: Callable[[], Any]) -> Response:
    """An expensive answer that also depends on the time: computed in a thread, tagged by its content, never cached."""
    return reported(request, await context_of(request).thinking.run(request, make))


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
