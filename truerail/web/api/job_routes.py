"""One running job by its key."""

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from truerail.questions.answers.jobs import job_asked
from truerail.questions.job import Job
from truerail.web.answering import pondered
from truerail.web.context import Newest, WithContext
from truerail.web.params import LONGEST_NAME

router = APIRouter(tags=["on-call"])


@router.get("/jobs/{key:path}", response_model=Job, name="one_job")
async def one_job(
    request: Request,
    desk: WithContext,
    shown: Newest,
    key: str = Path(max_length=LONGEST_NAME, description="a running job's id or name: 1234, 324_5, ml/llama"),
) -> Response:
    """A running job: whether the network slows it, by what and since when. The same answer as `/job?nodes=KEY`."""
    return await pondered(request, desk, shown, lambda: job_asked(shown.publication, key))
