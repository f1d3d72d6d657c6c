"""What people write on steps of the punch list: who takes one, who ticked it, a note."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import Field, StringConstraints
from starlette.responses import Response

from truerail.model.step_marks import MarkAction, StepChange, StepMark
from truerail.web.answering import reported
from truerail.web.context import Newest, WithContext
from truerail.web.pagination import Page, whole
from truerail.web.params import LONGEST_NAME
from truerail.web.writing import LINE, Moment, Operator, Written, done, says_something

router = APIRouter(prefix="/steps", tags=["writes"])
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


@router.get("/marks", response_model=Page[StepMark])
async def marks(request: Request, desk: WithContext, shown: Newest) -> Response:
    """Steps of the punch list that somebody has taken, ticked or noted. A ticked step is not a repaired one."""
    return reported(request, whole(desk.tower.step_marks))


@router.post("/{step}/marks", response_model=StepMark)
async def mark_step(desk: WithContext, shown: Newest, caller: Operator, step: Step, body: WriteOnStep) -> Response:
    """Takes a step, ticks it, notes something on it, or takes that back."""
    at = body.at or desk.tower.now()
    change = StepChange(step, body.action, body.name, at, body.note, body.was)
    return done(await desk.tower.mark_step(change, caller.name))
