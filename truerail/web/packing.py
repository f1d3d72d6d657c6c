"""Compresses large answers with gzip (RFC 9110 section 8.4.1) if accepted: JSON of cables shrinks to a tenth.

Only answers that depend on the publication, the request and the service's metrics are compressed. They contain no
token, no cookie's value and no data of the caller, so their length reveals nothing (https://breachattack.com); all
other answers are sent uncompressed.
"""

import gzip
import re

from starlette.requests import Request
from starlette.responses import Response

from truerail.web.cached_evaluation import CachedEvaluation
from truerail.web.etag import tagged

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


def plain_or_packed(request: Request, body: bytes, headers: dict[str, str]) -> Response:
    """An answer without tag that is computed each time, compressed if that helps. Call it from a thread."""
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
