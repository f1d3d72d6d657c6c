"""A small application behind the door of the service, and somebody to ask it: from any address, under any name."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import httpx
from fastapi import Depends, FastAPI, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from truerail.errors import JournalUnavailableError
from truerail.service.settings import Settings
from truerail.service.token_hashes import token_hash
from truerail.web.access import Caller, install, operator, reader

READER = "trt_" + "r" * 43
OPERATOR = "trt_" + "o" * 43
STRANGER = "trt_" + "x" * 43
TOKENS = [
    {"name": "rita", "hash": token_hash(READER), "role": "reader"},
    {"name": "otto", "hash": token_hash(OPERATOR), "role": "operator"},
]
WITH_TOKENS: dict[str, Any] = {"tokens": TOKENS}


def settings(access: dict[str, Any] | None = None, http: dict[str, Any] | None = None, url: str = "") -> Settings:
    """Of a service with these parts."""
    return Settings(inventory=Path("inventory.yaml"), access=access or {}, http=http or {}, page={"url": url})


class Tower:
    """Keeps the audit log in a list; `gone` is the journal's."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str, str]] = []
        self.gone = False

    async def audit(self, who: str, action: str, detail: str) -> None:
        if self.gone:
            raise JournalUnavailableError("disk full")
        self.kept.append((who, action, detail))


def application() -> FastAPI:
    """One path of each kind."""
    app = FastAPI(openapi_url=None)

    @app.get("/api/v1/me")
    @app.get("/api/v1/fabric")
    @app.get("/metrics")
    @app.get("/sd")
    @app.get("/")
    @app.get("/causes/{key}")
    async def see(caller: Annotated[Caller, Depends(reader)]) -> dict[str, str]:
        return {"name": caller.name, "role": caller.role, "csrf": caller.csrf}

    @app.post("/api/v1/recheck")
    async def write(caller: Annotated[Caller, Depends(operator)], request: Request) -> dict[str, Any]:
        return {"name": caller.name, "bytes": len(await request.body())}

    @app.get("/healthz")
    @app.get("/login")
    @app.get("/static/1/page.js")
    async def open_to_all() -> Response:
        return PlainTextResponse("open")

    @app.get("/broken")
    async def broken() -> Response:
        raise ZeroDivisionError("a bug")

    @app.get("/endless")
    async def endless() -> Response:
        async def pieces() -> AsyncIterator[str]:
            while True:
                yield "data: x\n\n"
                await asyncio.sleep(0.05)

        return StreamingResponse(pieces(), media_type="text/event-stream")

    return app


class Site:
    """The application with its door, a clock to turn, and the audit log."""

    def __init__(self, access: dict[str, Any] | None = None, http: dict[str, Any] | None = None, url: str = "") -> None:
        self.now = 1000.0
        self.tower = Tower()
        self.app = application()
        self.gate = install(self.app, settings(access, http, url), self.tower, lambda: self.now)  # type: ignore[arg-type] # a tower's audit is all that it uses

    def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str] | list[tuple[str, str | bytes]] | None = None,
        *,
        bearer: str = "",
        peer: str = "127.0.0.1",
        at: str = "http://localhost",
        **more: Any,
    ) -> httpx.Response:
        """One request, no redirect followed, no cookie kept."""
        given = [*(headers.items() if isinstance(headers, dict) else headers or [])]
        if bearer:
            given.append(("Authorization", f"Bearer {bearer}"))

        async def asking() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, client=(peer, 1234), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=at) as client:
                return await client.request(method, path, headers=given, **more)

        return asyncio.run(asking())

    def log_in(self, token: str = OPERATOR, at: str = "http://localhost", **more: Any) -> tuple[str, str]:
        """`(cookie, csrf)` of a new session."""
        answer = self.ask("POST", "/login", json={"token": token}, at=at, **more)
        assert answer.status_code == 200, answer.text
        return answer.headers["set-cookie"].partition(";")[0], answer.json()["csrf"]
