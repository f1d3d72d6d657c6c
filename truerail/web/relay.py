"""Passes on what a front does not hold: the judge answers it, and the front sends that answer.

`ON_VIEW` names the endpoints that a front answers from the view and the journal. One of them that meets something the
view does not hold raises NotInViewError before it has sent anything, and the judge answers it as well: an answer is
always that of one process, and complete.
"""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from truerail.errors import JudgeUnavailableError, NotInViewError
from truerail.link.messages import Answer, Ask
from truerail.web.problem_json import problem

ON_VIEW = frozenset((
    *("fabric", "the_map", "the_maps_causes", "the_topology", "verdicts", "unread"),
    *("devices", "device", "ports", "cables", "racks", "steps"),
    *("findings", "finding", "causes", "cause", "cause_alerts", "finding_alerts"),
    *("the_place", "the_why", "the_gate"),
    *("me", "events", "marks", "acknowledgements", "acknowledgement", "windows", "window"),
    *("journal", "rounds", "history", "plans", "audit", "history_questions", "history_answer"),
))  # fmt: skip
OF_STORED_HISTORY = frozenset(("history_questions", "history_answer"))
"""Those of `ON_VIEW` that read the folder of the history: only a front on the judge's machine has it."""
STALE = "Truerail-Stale-Since"
"""The header of each answer from such a view: when it was last known to be the newest."""
AskJudge = Callable[[Ask], Awaitable[Answer]]
"""Raises JudgeUnavailableError."""
_PASSED_HEADERS = ("accept-encoding", "if-none-match", "content-type")


async def on_view(request: Request) -> None:
    """Dependency of every endpoint of the API. Raises NotInViewError in a front for one that only the judge answers."""
    if request.app.state.relayed:
        name = request.scope["route"].name
        if request.method != "GET" or name not in request.app.state.on_view or "at" in request.query_params:
            raise NotInViewError(name)


class Relay:
    """ASGI middleware of a front, behind access control."""

    def __init__(self, app: ASGIApp, ask: AskJudge) -> None:
        self._app, self._ask = app, ask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        first = await receive()  # access control has read the whole body
        unread, since = [first], scope["app"].state.desk.tower.stale_since

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        async def dated(message: Message) -> None:
            if since and message["type"] == "http.response.start":
                MutableHeaders(scope=message)[STALE] = since.isoformat(timespec="seconds")
            await send(message)

        try:
            await self._app(scope, again, dated)
        except NotInViewError:
            await self._pass_on(scope, first.get("body", b""), receive, send)

    async def _pass_on(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        caller = scope["state"].get("caller")
        headers, query = Headers(scope=scope), scope["query_string"].decode("latin-1")
        passed = [(name, headers[name]) for name in _PASSED_HEADERS if name in headers]
        who = None if caller is None else {"name": caller.name, "role": caller.role}
        request = Ask(scope["method"], scope["path"], query, passed, who, body)
        try:
            answer = await self._ask(request)
        except JudgeUnavailableError as error:
            await problem(503, str(error), kind="judge away")(scope, receive, send)
            return
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.body})


def install(app: FastAPI, ask: AskJudge | None, *, remote: bool = False) -> None:
    """Makes an application a front's, where there is a judge to ask; `remote`: on another machine. Call before access
    control is installed.
    """
    app.state.relayed = ask is not None
    app.state.on_view = ON_VIEW - OF_STORED_HISTORY if remote else ON_VIEW
    if ask is not None:
        app.add_middleware(Relay, ask=ask)
