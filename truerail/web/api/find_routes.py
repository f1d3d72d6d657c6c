"""The search box."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from truerail.questions.find import LONGEST_QUERY, Found, find
from truerail.web.answering import pondered
from truerail.web.context import Newest, WithContext
from truerail.web.pagination import Page, whole

router = APIRouter(tags=["lists"])


@router.get("/find", response_model=Page[Found])
async def search(
    request: Request,
    desk: WithContext,
    shown: Newest,
    text: Annotated[str, Query(max_length=LONGEST_QUERY, description="some letters of a name")],
) -> Response:
    """At most 20 matches whose name contains the text: hosts, switches, ports, RDMA devices, MACs, racks, findings."""

    return await pondered(request, desk, shown, lambda: whole(find(shown.publication, text)))
