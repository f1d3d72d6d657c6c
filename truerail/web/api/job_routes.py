"""Running jobs: one by its key, and those that a scheduler's hooks report by themselves."""

import asyncio
from base64 import b64decode
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body, Path, Request
from pydantic import AwareDatetime, BeforeValidator, Discriminator, Field, StrictBool, StringConstraints, Tag
from starlette.responses import Response

from collector.reported_jobs import MOST_JOBS, MOST_NODES
from truerail.errors import BusMessageError, QueryError
from truerail.link.codec import Room, unpacked
from truerail.model import Fact
from truerail.model.nccl_facts import NCCL_FACTS
from truerail.questions.job import job_asked
from truerail.questions.job_answer import Job
from truerail.questions.nccl import nccl_asked
from truerail.questions.nccl_answer import NcclAnswer
from truerail.service.hook_jobs import JobsTaken
from truerail.web.context import Newest, WithContext
from truerail.web.remembering import running_or_ended
from truerail.web.request_fields import LINE, LONGEST_NAME, Operator, Written, done

router = APIRouter(tags=["on-call"])
_Text = Annotated[str, StringConstraints(max_length=1024, pattern=r"^[^\x00]*$")]
"""What users write: escaped wherever it is shown, so that the name of one job does not cost the report of all."""
_Node = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, pattern=LINE)]
_NodeSet = Annotated[str, StringConstraints(max_length=1 << 16, pattern=LINE)]
_Seconds = Annotated[int, Field(ge=0, lt=2**40, strict=True)]


def _written(value: object) -> object:
    """A time as text: a number that is no second since 1970 is no moment either."""
    if not isinstance(value, str) or "-" not in value[1:]:
        raise ValueError("is no time")
    return value


_Moment = Annotated[AwareDatetime, BeforeValidator(_written)]
_Count = Annotated[int, Field(ge=0, le=2**24, strict=True)]


class JobReport(Written):
    """One job. `nodes` is a list of names or a node set, and may be left out of a job that does not run. Times are
    seconds since 1970, or ISO 8601 with a zone. `state` is `RUNNING` without one; with another the job has ended.
    """

    job: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, pattern=LINE)] | _Seconds
    nodes: _NodeSet | Annotated[list[_Node], Field(max_length=MOST_NODES)] | None = None
    name: _Text | None = None
    user: _Text | None = None
    gpus: _Count | None = None
    start_at: _Seconds | _Moment | None = None
    end_at: _Seconds | _Moment | None = None
    state: Annotated[str, StringConstraints(max_length=100, pattern=LINE)] | None = None


class JobReports(Written):
    """Several jobs. `complete`: these are all that run, those reported before have ended."""

    jobs: Annotated[list[JobReport], Field(max_length=MOST_JOBS)]
    complete: StrictBool = False


def _form(body: Any) -> str:
    return "many" if isinstance(body, JobReports) or (isinstance(body, dict) and "jobs" in body) else "one"


Report = Annotated[Annotated[JobReport, Tag("one")] | Annotated[JobReports, Tag("many")], Discriminator(_form)]


@router.post("/jobs", response_model=JobsTaken, status_code=202, tags=["writes"])
async def report_jobs(desk: WithContext, caller: Operator, body: Annotated[Report, Body()]) -> Response:
    """Takes jobs that begin, run or end, as a scheduler's hooks report them. They are evaluated at once, and
    stored with that evaluation.
    """
    jobs = body.jobs if isinstance(body, JobReports) else [body]
    complete = isinstance(body, JobReports) and body.complete
    fields = [one.model_dump(mode="json", exclude_none=True) for one in jobs]
    answer = await asyncio.to_thread(lambda: orjson.dumps(fields).decode())
    return done(await desk.tower.report_jobs(answer, complete), 202)


@router.get("/jobs/{key:path}", response_model=Job, name="one_job")
async def one_job(
    request: Request,
    shown: Newest,
    key: str = Path(max_length=LONGEST_NAME, description="a job's id or name: 1234, 324_5, ml/llama"),
) -> Response:
    """A job: whether the network slows it, by what and since when; of one that has ended, what was wrong when it did.
    The same answer as `/job?nodes=KEY`.
    """
    return await running_or_ended(request, shown, key, lambda: job_asked(shown.publication, key))


# ----------------------------------------------------------------------------------------------------------------------
# A job's NCCL log on the rails: a question whose input is too large for an address.

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
