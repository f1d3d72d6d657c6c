"""Devices, ports, cables, the punch list, findings and their causes: filtered by node sets and words, in pages."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from truerail.questions.find import LONGEST_QUERY, Found, find
from truerail.questions.why import cause_then, not_then, past_cause, why, why_then
from truerail.questions.why_answer import Why
from truerail.views.device import DeviceView, PortLine, device_view, port_lines
from truerail.views.faults import Elsewhere, FaultAlert, fault_alerts
from truerail.views.lines import CableLine, cause_line
from truerail.views.link_health import LinkHealth, link_health
from truerail.views.lists import DeviceLine, cable_lines, cause_rows, device_lines, filter_steps, finding_lines
from truerail.views.pieces import CauseLine, FindingLine, StepLine
from truerail.views.racks import RackLine, rack_lines
from truerail.web.answering import listed, pondered, published
from truerail.web.context import Newest, NewestOrPast, RequestContext, WithContext
from truerail.web.listing import Listed, Wanted
from truerail.web.pagination import Page, fetch_from, page, whole
from truerail.web.remembering import remembered
from truerail.web.request_fields import LONGEST_NAME, Nodes, Rail, Words

router = APIRouter(tags=["lists"])

# ----------------------------------------------------------------------------------------------------------------------
# Devices, ports, cables and the punch list: filtered by node sets and words, in pages.


@router.get("/devices", response_model=Page[DeviceLine])
async def devices(
    asked: Listed,
    nodes: Nodes = None,
    role: Words = None,
    pod: Words = None,
    rack: Words = None,
    severity: Words = None,
    read: bool | None = None,
) -> Response:
    """Devices of the plan: hosts, then switches tier by tier."""
    lines = partial(
        device_lines, asked.shown.publication, nodes=nodes, role=role, pod=pod, rack=rack, severity=severity, read=read
    )
    return await asked.answer(lines, lambda row: row.device)


@router.get("/devices/{name:path}", response_model=DeviceView)
async def device(
    request: Request, shown: NewestOrPast, name: Annotated[str, Path(max_length=LONGEST_NAME)]
) -> Response:
    """One device: a host with its rails from GPU to uplinks, or a switch with its front panel."""
    return await remembered(request, lambda history: device_view(shown.publication, name, shown.history or history))


@router.get("/ports", response_model=Page[PortLine])
async def ports(asked: Listed, nodes: Nodes = None, facing: Words = None, state: Words = None) -> Response:
    """Ports of switches, switch by switch. `facing` is `down`, `up` or `free`, `state` that of the planned cable."""
    lines = partial(port_lines, asked.shown.publication, nodes=nodes, facing=facing, state=state)
    return await asked.answer(lines, lambda row: f"{row.device}/{row.port}")


@router.get("/cables", response_model=Page[CableLine])
async def cables(
    asked: Listed,
    nodes: Nodes = None,
    rail: Rail = None,
    pod: Words = None,
    state: Words = None,
    verified: Words = None,
) -> Response:
    """Planned cables: those of hosts, then uplinks. `nodes` matches either end."""
    lines = partial(
        cable_lines, asked.shown.publication, nodes=nodes, rail=rail, pod=pod, state=state, verified=verified
    )
    return await asked.answer(lines, lambda row: row.subject)


@router.get("/racks", response_model=Page[RackLine])
async def racks(request: Request, desk: WithContext, shown: NewestOrPast, part: Wanted) -> Response:
    """The racks of the plan, row by row; what has no rack comes last, under an empty name."""
    rows = rack_lines(shown.publication, None if shown.publication.hindsight else desk.tower.steps)
    return listed(request, shown, part, fetch_from(rows), lambda row: row.rack)


@router.get("/link-health", response_model=Page[LinkHealth])
async def health_of_links(
    request: Request,
    shown: Newest,
    part: Wanted,
    nodes: Nodes = None,
    rail: Rail = None,
    severity: Words = None,
    reported: bool | None = None,
) -> Response:
    """Light, temperature, errors, falls and speed at both ends of each planned cable, worst first. `severity` is that
    of its findings of links; `reported=true` leaves out cables of which no end reports modules or errors.
    """

    def fetch(offset: int, limit: int) -> tuple[tuple[LinkHealth, ...], int]:
        return link_health(
            shown.publication, nodes=nodes, rail=rail, severity=severity, reported=reported, offset=offset, limit=limit
        )

    return await pondered(request, shown, lambda: page(fetch, lambda row: row.subject, shown.serial, part))


@router.get("/steps", response_model=Page[StepLine])
async def steps(
    request: Request, desk: WithContext, shown: Newest, part: Wanted, rack: Words = None, nodes: Nodes = None
) -> Response:
    """The punch list with its ticks, in walking order."""
    rows = filter_steps(desk.tower.steps, shown.publication, rack=rack, nodes=nodes)
    return listed(request, shown, part, fetch_from(rows), lambda row: row.key)


# ----------------------------------------------------------------------------------------------------------------------
# Findings and their causes.

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
async def finding(request: Request, shown: NewestOrPast, finding: Key) -> Response:
    """One finding: its evidence, alternatives, and what was ruled out; of a resolved one also what ended it."""
    if shown.publication.hindsight is not None:
        return await pondered(request, shown, lambda: why_then(shown.publication, finding))
    return await remembered(request, lambda history: why(shown.publication, history, finding))


@router.get("/causes", response_model=Page[CauseLine])
async def causes(
    asked: Listed, kind: Words = None, severity: Words = None, state: Words = None, muted: bool | None = None
) -> Response:
    """Causes, by impact."""
    lines = partial(cause_rows, asked.shown.publication, kind=kind, severity=severity, state=state, muted=muted)
    return await asked.answer(lines, lambda row: row.key)


@router.get("/causes/{key}", response_model=CauseLine)
async def cause(request: Request, shown: NewestOrPast, key: Key) -> Response:
    """One cause, also a resolved one: without an action, and with what ended it."""
    found = shown.view.cause(key)
    if found is not None and shown.publication.hindsight is not None:
        return await remembered(request, lambda history: cause_then(shown.view, history, found))
    if found is not None:
        return published(request, shown, lambda: cause_line(shown.view, found))
    if shown.publication.hindsight is not None:
        raise not_then(shown.publication, key)
    return await remembered(request, lambda history: past_cause(history, key))


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


# ----------------------------------------------------------------------------------------------------------------------
# The search box.


@router.get("/find", response_model=Page[Found])
async def search(
    request: Request,
    shown: Newest,
    text: Annotated[str, Query(max_length=LONGEST_QUERY, description="some letters of a name")],
) -> Response:
    """At most 20 matches whose name contains the text: hosts, switches, ports, RDMA devices, MACs, racks, jobs, causes,
    findings.
    """

    return await pondered(request, shown, lambda: whole(find(shown.publication, text)))
