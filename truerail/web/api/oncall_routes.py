"""The on-call questions: one call each, the same answers as the command line and the page."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from truerail.errors import QueryError
from truerail.questions.blast import blast
from truerail.questions.diff import diff, diff_plan
from truerail.questions.job import job
from truerail.questions.models import Blast, Diff, Job, PathAnswer, Storm, Timeline, Where, Why
from truerail.questions.moments import span
from truerail.questions.path import path
from truerail.questions.rates import rates
from truerail.questions.storm import storm
from truerail.questions.timeline import timeline
from truerail.questions.where import where
from truerail.questions.why import why
from truerail.views.models import Rates
from truerail.views.view import LONGEST_NODESET
from truerail.web.answering import pondered
from truerail.web.context import Newest, WithContext
from truerail.web.pagination import MOST_ROWS
from truerail.web.params import LONGEST_NAME, Rail, Time
from truerail.web.remembering import remembered

router = APIRouter(tags=["on-call"])
Thing = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)]


@router.get("/where", response_model=Where)
async def the_place(
    request: Request,
    desk: WithContext,
    shown: Newest,
    port: Annotated[Thing, Query(description="gpu-012/enp26s0f0np0, gpu-012:mlx5_3, a GPU, a MAC, leaf-3/swp12")],
) -> Response:
    """The whole path of a cable, from GPU to uplinks: planned and actual, since when, and its findings."""
    return await remembered(request, desk, lambda history: where(shown.publication, port, history))


@router.get("/job", response_model=Job)
async def the_job(
    request: Request,
    desk: WithContext,
    shown: Newest,
    nodes: Annotated[str, Query(min_length=1, max_length=LONGEST_NODESET, description="hosts as a node set")],
) -> Response:
    """Which rails of these hosts are whole, which are not, and how NCCL reacts; worst first."""
    return await pondered(request, desk, shown, lambda: job(shown.publication, nodes))


@router.get("/blast", response_model=Blast)
async def the_blast(
    request: Request, desk: WithContext, shown: Newest, of: Annotated[Thing, Query(description="a device or a port")]
) -> Response:
    """The impact if it goes down, or of its being down."""
    return await pondered(request, desk, shown, lambda: blast(shown.publication, of))


@router.get("/path", response_model=PathAnswer)
async def the_path(
    request: Request,
    desk: WithContext,
    shown: Newest,
    source: Annotated[Thing, Query(alias="from", description="a host, or a GPU or NIC of one")],
    target: Annotated[Thing, Query(alias="to", description="another host, or a GPU or NIC of it")],
    rail: Rail = None,
) -> Response:
    """The actual hops from one host to another, and where the path leaves its rail."""
    return await pondered(request, desk, shown, lambda: path(shown.publication, source, target, rail))


@router.get("/diff", response_model=Diff)
async def the_diff(
    request: Request,
    desk: WithContext,
    shown: Newest,
    since: Time = None,
    start: Annotated[Time, Query(alias="from")] = None,
    end: Annotated[Time, Query(alias="to")] = None,
    plan: Annotated[bool, Query(description="against the plan instead")] = False,
) -> Response:
    """What changed in links and findings `since` a time, between two times, or against the plan."""
    if not plan:
        first, last = span(since, start, end, desk.tower.now())
        return await remembered(request, desk, lambda history: diff(shown.publication, history, first, last))
    if since or start or end:
        raise QueryError("plan=true compares with the plan now: omit since, from and to")
    return await pondered(request, desk, shown, lambda: diff_plan(shown.publication))


@router.get("/why", response_model=Why)
async def the_why(
    request: Request, desk: WithContext, shown: Newest, finding: Annotated[Thing, Query(description="id of a finding")]
) -> Response:
    """A finding's evidence, both ends, raw answers, alternatives, and what was ruled out."""
    return await remembered(request, desk, lambda history: why(shown.publication, history, finding))


@router.get("/storm", response_model=Storm)
async def the_storm(
    request: Request,
    desk: WithContext,
    shown: Newest,
    of: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_NAME, description="a device or a port that takes part")
    ] = None,
) -> Response:
    """PFC storms: the root of each, the reason, and its victims; all, or those that involve a device or port."""
    return await pondered(request, desk, shown, lambda: storm(shown.publication, of))


@router.get("/rates", response_model=Rates)
async def the_rates(
    request: Request, desk: WithContext, shown: Newest, of: Annotated[Thing, Query(description="a device or a port")]
) -> Response:
    """Traffic, pause time and errors of its ports, sample by sample."""
    return await pondered(request, desk, shown, lambda: rates(shown.publication, of))


@router.get("/timeline", response_model=Timeline)
async def the_timeline(
    request: Request,
    desk: WithContext,
    shown: Newest,
    of: Annotated[Thing, Query(description="a device or a port")],
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100,
) -> Response:
    """All its events, newest first."""
    return await remembered(request, desk, lambda history: timeline(shown.publication, history, of, limit))
