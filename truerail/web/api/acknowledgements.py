"""Acknowledgements: a known finding or cause, which does not alert until then."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import Field
from starlette.responses import Response

from truerail.errors import NotFoundError, QueryError
from truerail.model.history import Acknowledgement, History
from truerail.web.context import WithContext
from truerail.web.pagination import Page, whole
from truerail.web.remembering import remembered
from truerail.web.writing import Moment, Name, Operator, Reason, Written, created, gone

router = APIRouter(prefix="/acknowledgements", tags=["writes"])
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]


class Acknowledge(Written):
    """`target` is the id of a finding or the key of a cause. Without `until` it holds until that is resolved."""

    target: Name
    reason: Reason
    until: Moment | None = Field(default=None, description="in the future")


@router.get("", response_model=Page[Acknowledgement])
async def acknowledgements(request: Request, desk: WithContext) -> Response:
    """Open acknowledgements, newest first."""
    return await remembered(request, desk, lambda history: whole(history.acknowledgements()), "acknowledgements")


@router.get("/{number}", response_model=Acknowledgement)
async def acknowledgement(request: Request, desk: WithContext, number: Number) -> Response:
    """One open acknowledgement."""
    return await remembered(request, desk, lambda history: _one(history, number))


@router.post("", response_model=Acknowledgement, status_code=201)
async def acknowledge(desk: WithContext, caller: Operator, body: Acknowledge) -> Response:
    """Acknowledges a finding or a cause."""
    if body.until is not None and body.until <= desk.tower.now():
        raise QueryError(f"until {body.until.isoformat()} is in the past")
    made = await desk.tower.acknowledge(body.target, caller.name, body.reason, body.until)
    return created(made, f"/api/v1/acknowledgements/{made.id}")


@router.delete("/{number}", status_code=204, response_class=Response)
async def withdraw(desk: WithContext, caller: Operator, number: Number) -> Response:
    """Ends an acknowledgement: its finding or cause alerts again."""
    await desk.tower.withdraw(number, caller.name)
    return gone()


def _one(history: History, number: int) -> Acknowledgement:
    for row in history.acknowledgements():
        if row.id == number:
            return row
    raise NotFoundError(f"no open acknowledgement {number}")
