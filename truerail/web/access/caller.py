"""The one who asks, as the API and the page see them."""

from dataclasses import dataclass
from typing import Literal

from fastapi import Request

from truerail.errors import RequestRefusedError

CallerRole = Literal["reader", "operator", "metrics"]
"""`metrics` reads `/metrics` and `/sd` alone."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` stands in the audit log. `csrf` is what a page sends as `X-CSRF-Token` with each write; empty for bearer
    tokens, which need none.
    """

    name: str
    role: CallerRole
    csrf: str = ""


async def reader(request: Request) -> Caller:
    """Dependency: whoever may see. Raises `RequestRefusedError` (401)."""
    caller = getattr(request.state, "caller", None)
    if not isinstance(caller, Caller):
        raise RequestRefusedError(401, "log in, or send a token: Authorization: Bearer trt_...")
    return caller


async def operator(request: Request) -> Caller:
    """Dependency: whoever may write. Raises `RequestRefusedError` (401, 403)."""
    caller = await reader(request)
    if caller.role != "operator":
        raise RequestRefusedError(403, needs_operator(caller))
    return caller


def needs_operator(caller: Caller) -> str:
    """Why somebody may not write."""
    return f"{caller.name} is a {caller.role}: this needs the role operator"
