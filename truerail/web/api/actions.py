"""Actions of an operator: polling devices again, and reading the plan again. Also the caller itself."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from truerail.model.history import PlanVersion
from truerail.web.access import Caller, reader
from truerail.web.context import Newest, WithContext
from truerail.web.writing import Name, Operator, Written, done

router = APIRouter(tags=["writes"])


class Recheck(Written):
    """`devices` is a node set."""

    devices: Name


@dataclass(frozen=True, slots=True)
class Polled:
    """Number of devices polled now."""

    polled: int


@router.get("/me", response_model=Caller, tags=["service"])
async def me(caller: Annotated[Caller, Depends(reader)]) -> Response:
    """The caller, its role, and the CSRF token for writes from a page."""
    return done(caller)


@router.post("/recheck", response_model=Polled, status_code=202)
async def recheck(desk: WithContext, shown: Newest, caller: Operator, body: Recheck) -> Response:
    """Polls these devices with every collector now. Their answers are evaluated as they arrive."""
    names = [shown.view.layout.devices[code].name for code in shown.view.nodes(body.devices).tolist()]
    return done(Polled(await desk.tower.recheck(names, caller.name)), 202)


@router.post("/plan/reload", response_model=PlanVersion)
async def reload_plan(desk: WithContext, caller: Operator) -> Response:
    """Reads the plan file again. If it has problems, the plan in force stays, and the response lists them."""
    return done(await desk.tower.reload_plan(caller.name))
