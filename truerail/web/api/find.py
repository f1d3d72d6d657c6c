"""The search box."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from truerail.oncall.find import LONGEST_QUERY, Found, find
from truerail.web.answering import pondered
from truerail.web.desk import AtDesk, Newest
from truerail.web.paging import Listing

router = APIRouter(tags=["lists"])


@router.get("/find", response_model=Listing[Found])
async def search(
    request: Request,
    desk: AtDesk,
    shown: Newest,
    text: Annotated[str, Query(max_length=LONGEST_QUERY, description="some letters of a name")],
) -> Response:
    """At most 20 things whose name has these letters: hosts, switches, ports, RDMA devices, MACs, racks, findings."""

    def look() -> Listing[Found]:
        found = find(shown.publication, text)
        return Listing(found, len(found), None)

    return await pondered(request, desk, shown, look)
