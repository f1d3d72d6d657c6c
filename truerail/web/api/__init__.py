"""The API, version 1. One module for each group of endpoints; each has a `router`."""

from fastapi import APIRouter, Depends

from truerail.web.access import reader
from truerail.web.api import (
    actions,
    event_routes,
    fabric_routes,
    history_routes,
    job_routes,
    list_routes,
    oncall_routes,
    past,
)
from truerail.web.openapi import PROBLEMS
from truerail.web.relay import on_view
from truerail.web.strict import only_known

PREFIX = "/api/v1"


def routes() -> APIRouter:
    """All routes below `PREFIX`, for callers with read access. Each write requires an operator."""
    router = APIRouter(dependencies=[Depends(reader), Depends(only_known), Depends(on_view)], responses=PROBLEMS)
    for part in (fabric_routes, list_routes, oncall_routes, job_routes, past, history_routes, actions, event_routes):
        router.include_router(part.router)
    return router
