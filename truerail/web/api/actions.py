"""What people write: acknowledgements, maintenance windows, actions of an operator, and steps of the punch list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field, StringConstraints
from starlette.responses import Response

from truerail.errors import NotFoundError, QueryError
from truerail.model.history import Acknowledgement, MaintenanceWindow, PlanVersion
from truerail.model.step_marks import MarkAction, StepChange, StepMark
from truerail.questions.resolve import scope_of
from truerail.web.access import Caller, reader
from truerail.web.answering import reported
from truerail.web.context import Newest, WithContext
from truerail.web.pagination import Page, whole
from truerail.web.remembering import remembered
from truerail.web.request_fields import (
    LINE,
    LONGEST_NAME,
    Moment,
    Name,
    Operator,
    Reason,
    Written,
    created,
    done,
    gone,
    says_something,
)

router = APIRouter(tags=["writes"])
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]
T = TypeVar("T", Acknowledgement, MaintenanceWindow)


def _one(rows: Sequence[T], number: int, missing: str) -> T:
    """The row of this number. Raises NotFoundError."""
    for row in rows:
        if row.id == number:
            return row
    raise NotFoundError(missing)


# ----------------------------------------------------------------------------------------------------------------------
# Acknowledgements: a known finding or cause, which does not alert until then.


class Acknowledge(Written):
    """`target` is the id of a finding or the key of a cause. Without `until` it holds until that is resolved."""

    target: Name
    reason: Reason
    until: Moment | None = Field(default=None, description="in the future")


@router.get("/acknowledgements", response_model=Page[Acknowledgement])
async def acknowledgements(request: Request) -> Response:
    """Open acknowledgements, newest first."""
    return await remembered(request, lambda history: whole(history.acknowledgements()), "acknowledgements")


@router.get("/acknowledgements/{number}", response_model=Acknowledgement)
async def acknowledgement(request: Request, number: Number) -> Response:
    """One open acknowledgement."""
    return await remembered(
        request, lambda history: _one(history.acknowledgements(), number, f"no open acknowledgement {number}")
    )


@router.post("/acknowledgements", response_model=Acknowledgement, status_code=201)
async def acknowledge(desk: WithContext, caller: Operator, body: Acknowledge) -> Response:
    """Acknowledges a finding or a cause."""
    if body.until is not None and body.until <= desk.tower.now():
        raise QueryError(f"until {body.until.isoformat()} is in the past")
    made = await desk.tower.acknowledge(body.target, caller.name, body.reason, body.until)
    return created(made, f"/api/v1/acknowledgements/{made.id}")


@router.delete("/acknowledgements/{number}", status_code=204, response_class=Response)
async def withdraw(desk: WithContext, caller: Operator, number: Number) -> Response:
    """Ends an acknowledgement: its finding or cause alerts again."""
    await desk.tower.withdraw(number, caller.name)
    return gone()


# ----------------------------------------------------------------------------------------------------------------------
# Maintenance windows: announced work whose effects do not alert.


class Announce(Written):
    """`what` is the name of a device, the number of a rail, the name of a pod, or a node set, according to `scope`.
    Without a scope it is whatever the name fits, as in `where`: `gpu-3`, `rail 3`, `pod p1`, `rack r05`, `r05 u12`.
    """

    scope: Literal["device", "rail", "pod", "nodes"] | None = None
    what: Name
    starts: Moment
    ends: Moment
    reason: Reason


@router.get("/maintenance", response_model=Page[MaintenanceWindow])
async def windows(request: Request) -> Response:
    """Open or announced windows, newest first."""
    return await remembered(request, lambda history: whole(history.windows()), "windows")


@router.get("/maintenance/{number}", response_model=MaintenanceWindow)
async def window(request: Request, number: Number) -> Response:
    """One open or announced window."""
    return await remembered(
        request, lambda history: _one(history.windows(), number, f"no maintenance window {number} is open or announced")
    )


@router.post("/maintenance", response_model=MaintenanceWindow, status_code=201)
async def announce(desk: WithContext, shown: Newest, caller: Operator, body: Announce) -> Response:
    """Announces maintenance."""
    if body.ends <= body.starts:
        raise QueryError(f"ends {body.ends.isoformat()} is not after starts {body.starts.isoformat()}")
    if body.ends <= desk.tower.now():
        raise QueryError(f"ends {body.ends.isoformat()} is in the past")
    scope, what = (body.scope, body.what) if body.scope else scope_of(shown.view, body.what)
    made = await desk.tower.open_window(scope, what, body.starts, body.ends, caller.name, body.reason)
    return created(made, f"/api/v1/maintenance/{made.id}")


@router.delete("/maintenance/{number}", status_code=204, response_class=Response)
async def end(desk: WithContext, caller: Operator, number: Number) -> Response:
    """Ends a window early."""
    await desk.tower.end_window(number, caller.name)
    return gone()


# ----------------------------------------------------------------------------------------------------------------------
# Actions of an operator: polling devices again, and reading the plan again. Also the caller itself.


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


# ----------------------------------------------------------------------------------------------------------------------
# What people write on steps of the punch list: who takes one, who ticked it, a note.

Step = Annotated[str, Path(max_length=LONGEST_NAME, description="`key` of a step")]
Person = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=LINE), says_something]
Words = Annotated[str, StringConstraints(max_length=500, pattern=LINE, strip_whitespace=True)]


class WriteOnStep(Written):
    """`name` is the person, who may share an account. `was` is what that person saw there before, the name or the note:
    if it is something else by now, nothing is written.
    """

    action: MarkAction
    name: Person
    note: Words = ""
    was: Words = ""
    at: Moment | None = Field(default=None, description="when it was done, if it is sent later")


@router.get("/steps/marks", response_model=Page[StepMark])
async def marks(request: Request, desk: WithContext, shown: Newest) -> Response:
    """Steps of the punch list that somebody has taken, ticked or noted. A ticked step is not a repaired one."""
    return reported(request, whole(desk.tower.step_marks))


@router.post("/steps/{step}/marks", response_model=StepMark)
async def mark_step(desk: WithContext, shown: Newest, caller: Operator, step: Step, body: WriteOnStep) -> Response:
    """Takes a step, ticks it, notes something on it, or takes that back."""
    at = body.at or desk.tower.now()
    change = StepChange(step, body.action, body.name, at, body.note, body.was)
    return done(await desk.tower.mark_step(change, caller.name))
