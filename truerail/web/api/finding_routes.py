"""Findings and their causes."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from truerail.questions.why import cause_then, not_then, past_cause, why, why_then
from truerail.questions.why_answer import Why
from truerail.views.fault_alert import Elsewhere, FaultAlert, fault_alerts
from truerail.views.lines import cause_line
from truerail.views.lists import cause_rows, finding_lines
from truerail.views.pieces import CauseLine, FindingLine
from truerail.web.answering import pondered, published
from truerail.web.context import Newest, NewestOrPast, RequestContext, WithContext
from truerail.web.listing import Listed
from truerail.web.pagination import Page
from truerail.web.params import LONGEST_NAME, Nodes, Rail, Words
from truerail.web.remembering import remembered

router = APIRouter(tags=["lists"])
Key = Annotated[str, Path(max_length=LONGEST_NAME)]
_Cause = Annotated[str | None, Query(max_length=LONGEST_NAME, description="key of the cause that explains it")]


@router.get("/findings", response_model=Page[FindingLine])
async def findings(
    asked: Listed,
    nodes: Nodes = None,
    rule: Words = None,
    severity: Words = None,
    rail: Rail = None,
    state: Words = None,
    muted: bool | None = None,
    cause: _Cause = None,
) -> Response:
    """Open findings, most severe first. `nodes` matches either end of a finding's cable."""
    lines = partial(finding_lines, asked.shown.publication, nodes=nodes, rule=rule, severity=severity, rail=rail)
    lines = partial(lines, state=state, muted=muted, cause=cause)
    return await asked.answer(lines, lambda row: row.id)


@router.get("/findings/{finding}", response_model=Why)
async def finding(request: Request, desk: WithContext, shown: NewestOrPast, finding: Key) -> Response:
    """One finding: its evidence, alternatives, and what was ruled out; of a resolved one also what ended it."""
    if shown.publication.hindsight is not None:
        return await pondered(request, desk, shown, lambda: why_then(shown.publication, finding))
    return await remembered(request, desk, lambda history: why(shown.publication, history, finding))


@router.get("/causes", response_model=Page[CauseLine])
async def causes(
    asked: Listed, kind: Words = None, severity: Words = None, state: Words = None, muted: bool | None = None
) -> Response:
    """Causes, by impact."""
    lines = partial(cause_rows, asked.shown.view, kind=kind, severity=severity, state=state, muted=muted)
    return await asked.answer(lines, lambda row: row.key)


@router.get("/causes/{key}", response_model=CauseLine)
async def cause(request: Request, desk: WithContext, shown: NewestOrPast, key: Key) -> Response:
    """One cause, also a resolved one: without an action, and with what ended it."""
    found = shown.view.cause(key)
    if found is not None and shown.publication.hindsight is not None:
        return await remembered(request, desk, lambda history: cause_then(shown.view, history, found))
    if found is not None:
        return published(request, shown, lambda: cause_line(shown.view, found))
    if shown.publication.hindsight is not None:
        raise not_then(shown.publication, key)
    return await remembered(request, desk, lambda history: past_cause(history, key))


@router.get("/causes/{key}/alerts", response_model=list[FaultAlert])
async def cause_alerts(request: Request, desk: WithContext, shown: Newest, key: Key) -> Response:
    """The alert that an open cause fires, or why none; empty for one that is resolved or is not known."""
    return published(request, shown, lambda: fault_alerts(shown.publication, key, _elsewhere(desk)))


@router.get("/findings/{finding}/alerts", response_model=list[FaultAlert])
async def finding_alerts(request: Request, desk: WithContext, shown: Newest, finding: Key) -> Response:
    """The alert that an open finding fires; empty where a cause explains it: that one has the alert."""
    return published(request, shown, lambda: fault_alerts(shown.publication, finding, _elsewhere(desk)))


def _elsewhere(desk: RequestContext) -> Elsewhere:
    page = desk.settings.page
    return Elsewhere(page.runbooks, page.grafana)
