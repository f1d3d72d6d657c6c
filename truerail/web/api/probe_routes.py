"""What `truerail probe`, or the service's background probe, found of each NIC."""

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from truerail.views.probe_matrix import ProbedNic, ProbeMatrix, probe_matrix, probed_nics
from truerail.web.answering import pondered
from truerail.web.context import Newest, WithContext
from truerail.web.listing import arranged_list
from truerail.web.pagination import Page
from truerail.web.params import Nodes, Rail, Words
from truerail.web.parts import Arranged

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
    return await arranged_list(request, desk, shown, wanted, lines, lambda row: row.nic)
