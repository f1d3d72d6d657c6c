"""The whole application behind the door: no path that it has, now or later, is open by oversight."""

import asyncio
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml
from fastapi import FastAPI

from tests.access_site import READER, TOKENS, WITH_TOKENS, Tower, settings
from truerail.service.events import EventLog
from truerail.web.application import create_app

OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/login"), ("POST", "/login")}
STATIC = "/static/"
SECURITY = Path(__file__).parent.parent / "docs" / "security.md"


def application() -> FastAPI:
    tower = SimpleNamespace(audit=Tower().audit, publication=None, events=EventLog(1), counters={}, steps=())
    return create_app(tower, settings(WITH_TOKENS))  # type: ignore[arg-type] # nothing gets as far as the rest of it


def endpoints(app: FastAPI) -> set[tuple[str, str]]:
    """Method and a path of each endpoint: what the OpenAPI document has, and the pages, which it has not."""
    reported = {(how.upper(), path) for path, hows in app.openapi()["paths"].items() for how in hows}
    return {(how, re.sub(r"{[^}]*}", "x", path)) for how, path in reported | _pages(app.routes)}


def _pages(routes: Any) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for route in routes:
        if router := getattr(route, "original_router", None):
            found |= _pages(router.routes)
        else:
            found |= set(product(route.methods or {"GET"}, [route.path]))
    return found


def ask_all(asked: set[tuple[str, str]], bearer: str = "") -> dict[tuple[str, str], int]:
    async def asking() -> dict[tuple[str, str], int]:
        transport = httpx.ASGITransport(application())
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            return {one: (await client.request(*one)).status_code for one in sorted(asked)}

    return asyncio.run(asking())


def test_nobody_sees_anything_without_a_log_in() -> None:
    guarded = {(how, path) for how, path in endpoints(application()) - OPEN if not path.startswith(STATIC)}
    assert {("GET", "/api/v1/fabric"), ("GET", "/metrics"), ("GET", "/sd"), ("GET", "/")} <= guarded
    assert {one: status for one, status in ask_all(guarded).items() if status != 401} == {}


def test_a_reader_writes_nothing() -> None:
    writes = {(how, path) for how, path in endpoints(application()) - OPEN if how not in ("GET", "HEAD")}
    questions = {("POST", f"/api/v1/{name}") for name in ("lint-topology", "nccl")}  # they store nothing
    assert ask_all(questions, READER) == dict.fromkeys(questions, 503)
    writes -= {("POST", "/logout"), *questions}
    assert ("POST", "/api/v1/recheck") in writes
    assert len(writes) >= 6
    assert {one: status for one, status in ask_all(writes, READER).items() if status != 403} == {}


def test_the_log_in_page_is_shown_to_everybody() -> None:
    assert ask_all({("GET", "/login"), ("HEAD", "/login"), ("GET", "/healthz")}) == {
        ("GET", "/login"): 200,
        ("HEAD", "/login"): 200,
        ("GET", "/healthz"): 200,
    }


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", SECURITY.read_text(encoding="utf-8"), re.DOTALL))
def test_the_examples_in_the_documentation_are_settings(block: str) -> None:
    parts = yaml.safe_load(block)
    read = settings({"tokens": TOKENS, **parts.get("access", {})}, parts.get("http"))
    assert read.access.required
