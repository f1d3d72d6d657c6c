"""Puts the access middleware before an application."""

import time
from collections.abc import Callable

from fastapi import FastAPI, Request
from starlette.responses import Response

from truerail.errors import RequestRefusedError
from truerail.service.api import ServiceAPI
from truerail.service.settings import Settings
from truerail.web.access.authenticator import LOGOUT, Authenticator
from truerail.web.access.login import log_in, log_out
from truerail.web.access.middleware import AuthMiddleware
from truerail.web.access.refusal import LOGIN, answer


def install(
    app: FastAPI, settings: Settings, tower: ServiceAPI, clock: Callable[[], float] = time.monotonic
) -> Authenticator:
    """Protects every path of the application, and adds the log-in. Call before it serves.

    The authenticator is `app.state.gate`, whose `renew(settings)` applies changed settings. Raises AccessError where
    they cannot be used (a metrics token that is missing).
    """
    gate = Authenticator(settings, tower.audit, clock)
    app.state.gate = gate
    app.add_middleware(AuthMiddleware, gate=gate, body_bytes=settings.http.body_bytes)
    app.add_exception_handler(RequestRefusedError, _refused)
    app.router.add_route(LOGIN, log_in, methods=["POST"], include_in_schema=False)
    app.router.add_route(LOGOUT, log_out, methods=["POST"], include_in_schema=False)
    return gate


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefusedError)  # noqa: S101 - Starlette calls it for nothing else
    return answer(error, request)
