"""The web application: the API, the streams, the metrics and the page, over a `ServiceAPI`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from starlette.routing import BaseRoute

from truerail import __version__
from truerail.outputs.metrics import Exposition
from truerail.service.api import ServiceAPI
from truerail.service.settings import Settings
from truerail.web import problem_json, relay
from truerail.web.access import install as install_access
from truerail.web.api import PREFIX, routes
from truerail.web.api.service_routes import router as service
from truerail.web.context import RequestContext
from truerail.web.head import Head
from truerail.web.openapi import DESCRIPTION, TAGS, completed
from truerail.web.page.routes import Pages
from truerail.web.relay import AskJudge
from truerail.web.strict import parameters_of


def create_app(
    tower: ServiceAPI,
    settings: Settings,
    *,
    ask: AskJudge | None = None,
    exposition: Exposition | None = None,
    remote: bool = False,
) -> FastAPI:
    """The application behind access control; it starts and stops no part of the service. `ask` makes it that of a
    front: what the view does not hold is asked of the judge, which is on another machine if `remote`.
    """
    app = open_app(tower, settings, exposition)
    relay.install(app, ask, remote=remote)
    app.state.desk.remote = remote
    install_access(app, settings, tower)
    app.add_middleware(Head)
    return app


def open_app(tower: ServiceAPI, settings: Settings, exposition: Exposition | None = None) -> FastAPI:
    """The application without access control: who calls it has checked the caller."""
    api = shared_api()
    app = _application(api.routes, openapi_url="/openapi.json")
    app.state.relayed = False
    app.state.desk = RequestContext(tower, settings, exposition)
    pages = Pages(tower, settings)
    problem_json.install(app, pages.lost)
    app.include_router(pages.router(), include_in_schema=False)
    document = completed(api.openapi(), open_to_all=not settings.access.required)
    # FastAPI would make a document of its own, without all this
    app.openapi = lambda: document  # type: ignore[method-assign]
    app.state.parameters = parameters_of(document)
    return app


@cache
def shared_api() -> FastAPI:
    """The endpoints of the API and their document, which are those of any service: made once, before processes that
    need it are forked. That takes 0.6 s of a processor.
    """
    app = _application()
    app.include_router(routes(), prefix=PREFIX)  # of a router's own prefix FastAPI would make all routes twice
    app.include_router(service)
    app.openapi()
    return app


def _application(routes: Sequence[BaseRoute] = (), openapi_url: str | None = None) -> FastAPI:
    return FastAPI(
        title="truerail",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        openapi_url=openapi_url,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        routes=list(routes),
        lifespan=_closing,
    )


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.desk.close()
