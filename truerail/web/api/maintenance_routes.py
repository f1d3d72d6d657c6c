"""Maintenance windows: announced work whose effects do not alert."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from truerail.errors import NotFoundError, QueryError
from truerail.model.history import History, MaintenanceWindow
from truerail.questions.subjects import scope_of
from truerail.web.context import Newest, WithContext
from truerail.web.pagination import Page, whole
from truerail.web.remembering import remembered
from truerail.web.writing import Moment, Name, Operator, Reason, Written, created, gone

router = APIRouter(prefix="/maintenance", tags=["writes"])
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]


class Announce(Written):
    """`what` is the name of a device, the number of a rail, the name of a pod, or a node set, according to `scope`.
    Without a scope it is whatever the name fits, as in `where`: `gpu-3`, `rail 3`, `pod p1`, `rack r05`, `r05 u12`.
    """

    scope: Literal["device", "rail", "pod", "nodes"] | None = None
    what: Name
    starts: Moment
    ends: Moment
    reason: Reason


@router.get("", response_model=Page[MaintenanceWindow])
async def windows(request: Request, desk: WithContext) -> Response:
    """Open or announced windows, newest first."""
    return await remembered(request, desk, lambda history: whole(history.windows()), "windows")


@router.get("/{number}", response_model=MaintenanceWindow)
async def window(request: Request, desk: WithContext, number: Number) -> Response:
    """One open or announced window."""
    return await remembered(request, desk, lambda history: _one(history, number))


@router.post("", response_model=MaintenanceWindow, status_code=201)
async def announce(desk: WithContext, shown: Newest, caller: Operator, body: Announce) -> Response:
    """Announces maintenance."""
    if body.ends <= body.starts:
        raise QueryError(f"ends {body.ends.isoformat()} is not after starts {body.starts.isoformat()}")
    if body.ends <= desk.tower.now():
        raise QueryError(f"ends {body.ends.isoformat()} is in the past")
    scope, what = (body.scope, body.what) if body.scope else scope_of(shown.view, body.what)
    made = await desk.tower.open_window(scope, what, body.starts, body.ends, caller.name, body.reason)
    return created(made, f"/api/v1/maintenance/{made.id}")


@router.delete("/{number}", status_code=204, response_class=Response)
async def end(desk: WithContext, caller: Operator, number: Number) -> Response:
    """Ends a window early."""
    await desk.tower.end_window(number, caller.name)
    return gone()


def _one(history: History, number: int) -> MaintenanceWindow:
    for row in history.windows():
        if row.id == number:
            return row
    raise NotFoundError(f"no maintenance window {number} is open or announced")
