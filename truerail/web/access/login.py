"""`POST /login` turns a token into a session cookie, `POST /logout` ends it. Both are forms or JSON.

form   token, next    303 to next, or to /login?failed=1 for a wrong token
JSON   token          200 {"name", "role", "csrf"}, or the problem
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from truerail.errors import RequestRefusedError
from truerail.service.settings import Token
from truerail.web.access.authenticator import Authenticator
from truerail.web.access.caller import Caller
from truerail.web.access.refusal import LOGIN, safe_next
from truerail.web.access.request import header, peer_name

MOST_BYTES = 4096
"""Limit of a log-in's body."""
_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"


async def log_in(request: Request) -> Response:
    """Raises RequestRefusedError: 400 and 415 for an invalid body, 401 and 429 for a wrong token."""
    gate: Authenticator = request.app.state.gate
    kind = _kind(request)
    fields = _fields(kind, await request.body())
    if not gate.access.required:
        return _welcome(kind, gate.local(), fields)
    try:
        token = await gate.token(request, fields.get("token", "").strip())
    except RequestRefusedError as refused:
        if kind != _FORM:
            raise
        if refused.status == 401:
            return RedirectResponse(f"{LOGIN}?failed=1&next={quote(safe_next(fields.get('next', '')), safe='/')}", 303)
        return PlainTextResponse(refused.detail, refused.status, refused.headers)
    await gate.tell(token.name, "log-in", f"from {peer_name(request)}")
    return _begin(gate, request, token, kind, fields)


async def log_out(request: Request) -> Response:
    """Ends the session and clears the cookie. Bearer tokens and proxies have no session to end."""
    gate: Authenticator = request.app.state.gate
    gate.sessions.end(request.cookies.get(gate.cookie_name(request), ""))
    await gate.tell(request.state.caller.name, "log-out", f"from {peer_name(request)}")
    response = RedirectResponse(LOGIN, 303) if _kind(request) == _FORM else Response(status_code=204)
    response.headers["Set-Cookie"] = _cookie(gate, request, "", 0)
    return response


def _kind(request: Request) -> str:
    return header(request, "content-type").partition(";")[0].strip().lower()


def _fields(kind: str, body: bytes) -> Mapping[str, str]:
    try:
        if kind == _FORM:
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=8))
        if kind == _JSON:
            found = orjson.loads(body)
            return {key: value for key, value in found.items() if isinstance(value, str)}
    except (ValueError, AttributeError):
        raise RequestRefusedError(400, f"the body of a log-in is not {kind} with a token") from None
    raise RequestRefusedError(415, f"a log-in is {_FORM} or {_JSON}")


def _begin(gate: Authenticator, request: Request, token: Token, kind: str, fields: Mapping[str, str]) -> Response:
    """A new session; one sent with the request ends, so that none can be planted beforehand (session fixation)."""
    gate.sessions.end(request.cookies.get(gate.cookie_name(request), ""))
    seconds = gate.access.session.total_seconds()
    number, session = gate.sessions.begin(token, seconds)
    response = _welcome(kind, Caller(token.name, token.role, session.csrf), fields)
    response.headers["Set-Cookie"] = _cookie(gate, request, number, int(seconds))
    return response


def _welcome(kind: str, caller: Caller, fields: Mapping[str, str]) -> Response:
    if kind == _JSON:
        return Response(orjson.dumps(caller), media_type=_JSON)
    return RedirectResponse(safe_next(fields.get("next", "")), 303)


def _cookie(gate: Authenticator, request: Request, number: str, seconds: int) -> str:
    secure = "; Secure" if gate.secure(request) else ""
    return f"{gate.cookie_name(request)}={number}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
