"""What `truerail probe`, or the service's background probe, found of each NIC."""

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from truerail.views.probe_matrix import ProbedNic, ProbeMatrix, probe_matrix, probed_nics
from truerail.views.probe_recordings import ProbeRecording, probe_recordings
from truerail.web.answering import pondered
from truerail.web.context import Newest, WithContext
from truerail.web.listing import AskedList
from truerail.web.pagination import Page, page
from truerail.web.params import Nodes, Rail, Words
from truerail.web.parts import Arranged, Wanted

router = APIRouter(tags=["fabric"])


@router.get("/probe", response_model=ProbeMatrix)
async def probe(request: Request, desk: WithContext, shown: Newest) -> Response:
    """Hosts by rails: one byte for each NIC, 0 none planned, 1 reached, 2 lost, 3 partly lost, 4 untried; figures by
    rail; and the hosts that took no part. What was not tried is never fine.
    """
    return await pondered(request, desk, shown, lambda: probe_matrix(shown.publication))


@router.get("/probe/nics", response_model=Page[ProbedNic])
async def probe_nics(
    request: Request,
    desk: WithContext,
    shown: Newest,
    wanted: Arranged,
    nodes: Nodes = None,
    rail: Rail = None,
    state: Words = None,
) -> Response:
    """Planned NICs with the flows that were tried, worst first. `state` is `reached`, `lost`, `partly`, `untried`."""
    lines = partial(probed_nics, shown.publication, nodes=nodes, rail=rail, state=state)
    return await AskedList(request, desk, shown, wanted).answer(lines, lambda row: row.nic)


@router.get("/probe/recordings", response_model=Page[ProbeRecording])
async def recordings(request: Request, desk: WithContext, shown: Newest, part: Wanted) -> Response:
    """What each host has recorded of the probes that count now: the file `truerail-probe` of its folder in a capture.
    `truerail capture --probes-from URL` stores them beside the polled answers.
    """
    fetch = partial(probe_recordings, shown.publication)
    return await pondered(request, desk, shown, lambda: page(fetch, lambda row: row.host, shown.serial, part))
