"""The service itself, for machines: metrics, scrape targets, health."""

import asyncio
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import PlainTextResponse, Response

from truerail.analysis.published import JournalHealth, Published
from truerail.errors import NotFoundError, NotReadyError
from truerail.model.names import printable
from truerail.outputs.metrics import CONTENT_TYPE, sd
from truerail.web.answering import reported, takes_gzip, varying
from truerail.web.context import RequestContext, WithContext
from truerail.web.openapi import PROBLEMS
from truerail.web.strict import only_known

router = APIRouter(tags=["service"], dependencies=[Depends(only_known)], responses=PROBLEMS)
_FRESH = {"Cache-Control": "no-store"}
_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> Response:
    """Whether the process is alive and responds."""
    return PlainTextResponse("alive\n", headers=_FRESH)


@router.get("/readyz", response_class=PlainTextResponse)
async def readyz(desk: WithContext) -> Response:
    """Whether an evaluation exists: 503 until then, from a judge that stands by, and from a front on another machine
    that shows no newest evaluation. A failing journal is named, but does not change the status.
    """
    publication = desk.tower.publication
    if desk.remote and desk.tower.away:
        raise NotReadyError(_away(desk, publication))
    if desk.tower.counters.get("judge_leader") == 0:
        raise NotReadyError("standby: this judge evaluates when the one that leads has ended")
    if publication is None:
        raise NotReadyError("nothing has been evaluated yet: the first round still runs")
    journal = publication.journal
    failing = ""
    if journal.health is JournalHealth.FAILING:
        failing = f"; the journal is not written: {printable(journal.error, 300)}"
    since, why = desk.tower.stale_since, printable(desk.tower.away, 300)
    stale = (
        f"; {f'{why}: not the newest' if why else 'not evaluated'} since {since:%Y-%m-%d %H:%M:%S UTC}" if since else ""
    )
    leads = "; this judge leads" if "judge_leader" in desk.tower.counters else ""
    return PlainTextResponse(f"ready{leads}{stale}{failing}\n", headers=_FRESH)


def _away(desk: RequestContext, publication: Published | None) -> str:
    """Why the newest evaluation is not shown, and how old the one that is."""
    why = printable(desk.tower.away, 300)
    if publication is None:
        return f"this front has no view yet: {why}"
    age = max((desk.tower.now() - publication.at).total_seconds(), 0.0)
    return f"this front shows an evaluation of {age:.0f} s ago, not known to be the newest: {why}"


@router.get("/metrics", response_class=Response, responses=_TEXT)
async def metrics(
    request: Request,
    desk: WithContext,
    pod: Annotated[str | None, Query(max_length=255, description="one pod; `-`: what has none")] = None,
) -> Response:
    """Prometheus metrics. Before the first evaluation only those of the service."""
    headers = {"Content-Type": CONTENT_TYPE, **_FRESH}
    return await asyncio.to_thread(lambda: _metrics(request, desk, pod, headers))


def _metrics(request: Request, desk: RequestContext, pod: str | None, headers: dict[str, str]) -> Response:
    """The text, compressed if accepted. Raises NotFoundError for a pod that the plan lacks."""
    packed = takes_gzip(request.headers.get("accept-encoding", ""))
    if packed:
        headers["Content-Encoding"] = "gzip"
    try:
        return varying(Response(_text(desk, pod, packed=packed), headers=headers))
    except LookupError as error:
        raise NotFoundError(printable(str(error.args[0]), 300)) from None


def _text(desk: RequestContext, pod: str | None, *, packed: bool) -> bytes:
    tower, page = desk.tower, desk.exposition
    publication, counters, now = tower.publication, {**tower.counters, **desk.figures}, tower.now()
    return (page.packed if packed else page.render)(publication, pod, counters, now)


@router.get("/sd", response_model=list[dict[str, Any]])
async def targets(
    request: Request,
    desk: WithContext,
    job: Annotated[str, Query(max_length=100, description="name of the job, with `port`")] = "",
    port: Annotated[int | None, Query(ge=1, le=65535, description="give the hosts at this port instead")] = None,
) -> Response:
    """Targets for Prometheus' `http_sd_configs`: this service pod by pod, or with `port` the hosts of the plan."""
    return reported(request, sd(desk.tower.publication, _reached(request, desk), job=job, port=port))


def _reached(request: Request, desk: RequestContext) -> str:
    """The address at which the client reaches this service: the public one if it asks that host, which a proxy may
    serve by another scheme, else the one that it asks.
    """
    public = desk.settings.page.url
    return public if public and urlsplit(public).hostname == request.url.hostname else str(request.base_url)
