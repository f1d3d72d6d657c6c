"""A job's NCCL log on the rails: a question whose input is too large for an address."""

from base64 import b64decode
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field, StrictBool, StringConstraints
from starlette.responses import Response

from truerail.errors import BusMessageError, QueryError
from truerail.link.fact_columns import Room, unpacked
from truerail.model import Fact
from truerail.model.nccl_facts import NCCL_FACTS
from truerail.questions.nccl import nccl_asked
from truerail.questions.nccl_answer import NcclAnswer
from truerail.web.context import Newest, WithContext
from truerail.web.params import LONGEST_NAME
from truerail.web.writing import LINE, Written, done

router = APIRouter(tags=["on-call"])
_MOST_LOGS = 10_000


class JobLog(Written):
    """What one log shows. `facts` is made by `truerail nccl`, for services of the same version."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, pattern=LINE)]
    facts: str


class JobLogs(Written):
    """The logs of one job. `hops`: whether the answer lists every end of every connection."""

    logs: Annotated[list[JobLog], Field(min_length=1, max_length=_MOST_LOGS)]
    hops: StrictBool = False


@router.post("/nccl", response_model=NcclAnswer, name="the_nccl_job")
async def nccl(request: Request, desk: WithContext, shown: Newest, body: JobLogs) -> Response:
    """Which cable and rail each connection of a job uses, and the findings on its path. Nothing is stored: readers may
    ask it.
    """

    def answer() -> NcclAnswer:
        room = Room()
        return nccl_asked(shown.publication, [(one.name, _facts(one, room)) for one in body.logs], hops=body.hops)

    return done(await desk.large.run(request, answer))


def _facts(log: JobLog, room: Room) -> tuple[Fact, ...]:
    try:
        return unpacked(b64decode(log.facts, validate=True), NCCL_FACTS, room)
    except (BusMessageError, ValueError) as error:
        raise QueryError(f"the facts of log {log.name!r}: {error}") from None
