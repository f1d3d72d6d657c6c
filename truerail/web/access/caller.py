"""The caller of a request for the API and the page."""

from dataclasses import dataclass
from typing import Literal

from fastapi import Request

from truerail.errors import RequestRefusedError

CallerRole = Literal["reader", "operator", "metrics"]
"""`metrics` reads only `/metrics` and `/sd`."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` appears in the audit log. A page sends `csrf` as `X-CSRF-Token` with each write; empty for bearer tokens,
    which need none.
    """

    name: str
    role: CallerRole
    csrf: str = ""


async def reader(request: Request) -> Caller:
    """Dependency: a caller with read access. Raises `RequestRefusedError` (401)."""
    caller = getattr(request.state, "caller", None)
    if not isinstance(caller, Caller):
        raise RequestRefusedError(401, "log in, or send a token: Authorization: Bearer trt_...")
    return caller


async def operator(request: Request) -> Caller:
    """Dependency: a caller with write access. Raises `RequestRefusedError` (401, 403)."""
    caller = await reader(request)
    if caller.role != "operator":
        raise RequestRefusedError(403, needs_operator(caller))
    return caller


def needs_operator(caller: Caller) -> str:
    """Why the caller has no write access."""
    return f"{caller.name} is a {caller.role}: this needs the role operator"
