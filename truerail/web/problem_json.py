"""Every error as application/problem+json (RFC 9457): the problem and its value, without internals.

A browser that opens an unknown address gets a page instead: a GET outside the API that accepts HTML.

400   QueryError, NodeSetError, CursorError     404   NotFoundError       409   ConflictError
410   ListChangedError
422   RequestValidationError, PlanError           503   NotReadyError, JournalUnavailableError, TooManyStreamsError
503   HistoryStoreError, MissingExtraError, QueryLimitError, TooManyQueriesError
HTTPException keeps its own status; anything else is 500
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from truerail import errors
from truerail.model.names import printable
from truerail.plans import PlanError

MEDIA_TYPE = "application/problem+json"
_RETRY_SECONDS = 5
"""Of each 503."""
_MOST_FAULTS = 20
_MOST_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a request: `where` it is (`query limit`), the `value`, and a `summary`."""

    where: str
    summary: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """RFC 9457. `type` is `about:blank` if `title` is that of the status itself. `now` is what is there instead of the
    `was` of a refused write.
    """

    type: str
    title: str
    status: int
    detail: str
    errors: tuple[Fault, ...] = ()
    now: str | None = None


def problem(
    status: int,
    detail: str,
    *,
    kind: str = "",
    faults: Sequence[Fault] = (),
    headers: Mapping[str, str] | None = None,
    now: str | None = None,
) -> Response:
    """An error as a response. `kind` names it for programs: `not ready` becomes `urn:truerail:problem:not-ready`."""
    reported = asdict(
        Problem(
            type=f"urn:truerail:problem:{kind.replace(' ', '-')}" if kind else "about:blank",
            title=kind.capitalize() or HTTPStatus(status).phrase,
            status=status,
            detail=printable(detail, _MOST_TEXT),
            errors=tuple(faults[:_MOST_FAULTS]),
            now=now,
        )
    )
    if now is None:  # most have none
        del reported["now"]
    again = {"Retry-After": str(_RETRY_SECONDS)} if status == 503 else {}
    given = {"Cache-Control": "no-store", **again, **(headers or {})}
    return Response(orjson.dumps(reported), status, given, media_type=MEDIA_TYPE)


def install(app: FastAPI, lost: Callable[[str], Response]) -> None:
    """Turns every error of the application into a problem. `lost` renders the page for an unknown address."""
    for kind, status, word in _KINDS:
        app.add_exception_handler(kind, _reported(status, word))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(PlanError, _bad_plan)
    app.add_exception_handler(HTTPException, _http(lost))
    app.add_exception_handler(Exception, _broken)


_KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.CursorError, 400, "bad cursor"),
    (errors.QueryError, 400, "bad question"),
    (errors.NodeSetError, 400, "bad node set"),
    (errors.NotFoundError, 404, "not found"),
    (errors.ConflictError, 409, "conflict"),
    (errors.ListChangedError, 410, "list moved on"),
    (errors.NotReadyError, 503, "not ready"),
    (errors.JournalUnavailableError, 503, "history gone"),
    (errors.TooManyStreamsError, 503, "too many streams"),
    (errors.TooManyQueriesError, 503, "too many queries"),
    (errors.QueryLimitError, 503, "query too large"),
    (errors.HistoryStoreError, 503, "history store gone"),
    (errors.MissingExtraError, 503, "not installed"),
)


def _reported(status: int, kind: str) -> Any:
    async def handler(request: Request, error: Exception) -> Response:
        words = str(error.args[0] if error.args else error)  # a LookupError's own `str` would quote it
        return problem(status, words, kind=kind, now=getattr(error, "now", None))

    return handler


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - FastAPI calls it for nothing else
    faults = [_fault(one) for one in error.errors()[:_MOST_FAULTS]]
    detail = "; ".join(f"{fault.where}: {fault.summary}" for fault in faults)
    return problem(422, detail, kind="bad request", faults=faults)


def _fault(error: Mapping[str, Any]) -> Fault:
    place = [str(part) for part in error["loc"]]
    value = "" if error["type"] == "missing" else printable(str(error.get("input", "")), 80)
    return Fault(printable(" ".join(place), 120), printable(error["msg"], 300), value)


async def _bad_plan(request: Request, error: Exception) -> Response:
    assert isinstance(error, PlanError)  # noqa: S101 - FastAPI calls it for nothing else
    faults = [
        Fault(f"{printable(one.file)}:{one.line}", printable(one.summary, 300), printable(one.value, 80))
        for one in error.problems[:_MOST_FAULTS]
    ]
    detail = f"the plan has {len(error.problems)} problems; the plan in force stays"
    return problem(422, detail, kind="bad plan", faults=faults)


def _http(lost: Callable[[str], Response]) -> Any:
    async def handler(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - FastAPI calls it for nothing else
        if error.status_code == 404 and _is_for_eyes(request):
            return lost(request.url.path)
        detail = f"{request.method} {request.url.path}: {error.detail}"
        headers = dict(error.headers or {})
        if "Allow" in headers:
            headers["Allow"] = _allowed(request, headers["Allow"])
        return problem(error.status_code, detail, headers=headers)

    return handler


def _is_for_eyes(request: Request) -> bool:
    """Whether a browser requests a page: programs send `*/*` or JSON, and `/api` is for them."""
    named = request.headers.get("accept", "").lower()
    return request.method == "GET" and not request.url.path.startswith("/api/") and "text/html" in named


def _allowed(request: Request, first: str) -> str:
    """The methods of a path: Starlette names only those of the `first` matching route."""
    allowed = set(first.split(", "))
    for path, methods in request.app.openapi()["paths"].items():
        if compile_path(path)[0].match(request.url.path):
            allowed |= {method.upper() for method in methods}
    return ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))


async def _broken(request: Request, error: Exception) -> Response:
    return problem(500, "internal error; the log of the service has the details")
