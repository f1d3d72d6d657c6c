"""The event stream."""

from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response

from truerail.web.context import WithContext
from truerail.web.stream import EventStream

router = APIRouter(tags=["service"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`state` (the fabric map), `round`, `mutes`, `steps`, `journal`, `stale`, `stop`, by `id`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/events", response_class=Response, responses=_STREAM)
async def events(desk: WithContext, last_event_id: Annotated[str | None, Header(max_length=40)] = None) -> Response:
    """Live changes as server-sent events. The whole state comes first, and again after a gap; with `Last-Event-ID`
    only newer events. Before the first evaluation the stream waits for it.
    """
    known = int(last_event_id) if last_event_id and last_event_id.isascii() and last_event_id.isdigit() else None
    return EventStream(desk, known)
