"""The service's access check: each request is limited, identified, and admitted or refused here.

Plain ASGI: Starlette's BaseHTTPMiddleware would hold back event streams.
"""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from truerail.errors import RequestRefusedError
from truerail.service.logs import logger
from truerail.web.access.authenticator import Authenticator, is_open
from truerail.web.access.headers import with_headers
from truerail.web.access.login import MOST_BYTES
from truerail.web.access.refusal import answer
from truerail.web.access.request import asks, peer_name, writes
from truerail.web.access.sizes import check_head, whole_body
from truerail.web.problem_json import problem


class AuthMiddleware:
    """ASGI middleware. Sets `request.state.caller` to the `Caller`; None on public paths."""

    def __init__(self, app: ASGIApp, gate: Authenticator, body_bytes: int) -> None:
        self._app = app
        self._gate = gate
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request. Web sockets are not supported and closed."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        sent = _Sent(with_headers(send, request))
        try:
            receive = await self._let_in(scope, request, receive)
            await self._app(scope, receive, sent)
        except RequestRefusedError as refused:
            await answer(refused, request)(scope, receive, sent)
        except Exception:
            if not sent.status:  # a response from outside of this middleware would lack the headers
                await problem(500, "internal error; the log of the service has the details")(scope, receive, sent)
            raise
        finally:
            if writes(request) and not asks(request):
                _log(scope, request, sent.status)

    async def _let_in(self, scope: Scope, request: Request, receive: Receive) -> Receive:
        check_head(request)
        known = await self._gate.identify(request)
        scope.setdefault("state", {})["caller"] = known.caller if known else None
        self._gate.allow(request, known)
        most = min(MOST_BYTES, self._body_bytes) if is_open(request["path"]) else self._body_bytes
        return await whole_body(request, receive, most)


class _Sent:
    """Sends, and records the status; 0 while nothing was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


def _log(scope: Scope, request: Request, status: int) -> None:
    """One line for each write of a known caller, refused or not; unknown ones could fill the disk."""
    caller = scope.get("state", {}).get("caller")
    if caller:
        say = {"method": request.method, "path": request["path"], "status": status, "peer": peer_name(request)}
        logger().info("write", who=caller.name, **say)
