"""Responses to refused requests: a problem for programs, the way to the log-in for people."""

from html import escape
from math import ceil
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from truerail.errors import RequestRefusedError
from truerail.web.access.request import came_from_elsewhere, has_body, quoted_address, wants_page
from truerail.web.problem_json import problem

LOGIN = "/login"
_LONGEST_NEXT = 2000
_KINDS = {401: "log in first", 403: "not allowed", 421: "not this service", 429: "too many failed log-ins"}
_CHALLENGE = 'Bearer realm="truerail"'


def slow_down(seconds: float) -> RequestRefusedError:
    """429, with Retry-After."""
    wait = max(1, ceil(seconds))
    return RequestRefusedError(429, f"too many wrong tokens: try again in {wait} s", {"Retry-After": str(wait)})


def answer(refused: RequestRefusedError, request: Request) -> Response:
    """The response to a request that is turned away."""
    if refused.status == 401 and wants_page(request):
        return _to_login(request)
    headers = dict(refused.headers)
    if refused.status == 401:
        headers["WWW-Authenticate"] = _CHALLENGE
    if has_body(request):  # the rest of it is not read
        headers["Connection"] = "close"
    return problem(refused.status, refused.detail, kind=_KINDS.get(refused.status, ""), headers=headers)


def safe_next(text: str) -> str:
    """A path of this service to redirect to; `/` for anything that a browser could interpret as another site's address
    (`//host`, `/\\host`, control characters, which browsers drop) and for the log-in itself.
    """
    local = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if local and len(text) <= _LONGEST_NEXT and not text.startswith(LOGIN) else "/"


def _to_login(request: Request) -> Response:
    here = safe_next(quoted_address(request))
    if came_from_elsewhere(request):
        return _once_more(here)
    way = f"{LOGIN}?next={quote(here, safe='/')}" if here != "/" else LOGIN
    return RedirectResponse(way, 303, {"Cache-Control": "no-store"})


def _once_more(here: str) -> Response:
    """A link in an alert or a chat leads here without the SameSite=Strict cookie. The same request from a page of this
    service has it, so a page repeats the request; there is no loop, since the second one comes from here.
    """
    page = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(here)}">'
    link = f'<title>truerail</title><a href="{escape(here)}">Go on</a>'
    return HTMLResponse(page + link, headers={"Cache-Control": "no-store"})
