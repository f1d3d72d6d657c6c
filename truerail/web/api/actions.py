"""What an operator may set off: asking devices again, and reading the plan again. And who the caller is."""

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
    """How many devices are asked now."""

    polled: int


@router.get("/me", response_model=Caller, tags=["service"])
async def me(caller: Annotated[Caller, Depends(reader)]) -> Response:
    """Who asks, what they may do, and the token that writes from a page carry."""
    return done(caller)


@router.post("/recheck", response_model=Polled, status_code=202)
async def recheck(desk: WithContext, shown: Newest, caller: Operator, body: Recheck) -> Response:
    """Asks these devices everything, now. Their answers are evaluated as soon as they come."""
    names = [shown.view.layout.devices[code].name for code in shown.view.nodes(body.devices).tolist()]
    return done(Polled(await desk.tower.recheck(names, caller.name)), 202)


@router.post("/plan/reload", response_model=PlanVersion)
async def reload_plan(desk: WithContext, caller: Operator) -> Response:
    """Reads the plan file again. With problems in it the plan in force stays, and the answer names them."""
    return done(await desk.tower.reload_plan(caller.name))
