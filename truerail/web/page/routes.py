"""The routes of the page: each answers with its frame, and the browser fetches what stands in it from the API."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

import truerail
from truerail.history.ready import ready_questions
from truerail.model.names import printable
from truerail.questions import questions
from truerail.service.api import ServiceAPI
from truerail.service.settings import Settings
from truerail.views.view import view_of
from truerail.web.page.alerted import alerted
from truerail.web.page.assets import MEDIA, load, suffix

FOREVER = "public, max-age=31536000, immutable"
LONGEST_NAME = 300
LISTS = (
    ("/causes", "Causes", "list_causes"),
    ("/findings", "Findings", "list_findings"),
    ("/cables", "Cables", "list_cables"),
    ("/devices", "Devices", "list_devices"),
    ("/switch-ports", "Switch ports", "list_ports"),
    ("/probed-nics", "Probed NICs", "list_nics"),
)
"""Pages of one template, each with its own module."""
NAVIGATION = (
    ("/", "Overview", "overview"),
    ("", "Lists", (*LISTS, ("/ports", "Ports", "ports"))),
    ("/punch", "Punch list", "punch"),
    ("/racks", "Racks", "racks"),
    ("/topology", "Topology", "topology"),
    ("/jobs", "Jobs", "jobs"),
    ("/probes", "Probes", "probes"),
    ("/changes", "Changes", "changes"),
    ("/storm", "Storms", "storm"),
    ("/ask", "Ask", "ask"),
    ("/maintenance", "Maintenance", "maintenance"),
)


class Pages:
    """Page routes, and the static files behind them. None of them asks a device or reads the journal."""

    def __init__(self, tower: ServiceAPI, settings: Settings) -> None:
        self._tower, self._settings, self._assets = tower, settings, load()
        self._templates = Environment(
            loader=PackageLoader("truerail.web.page", "templates"),
            autoescape=True,
            finalize=lambda value: printable(value, 4000) if type(value) is str else value,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            static=f"/static/{self._assets.version}",
            navigation=NAVIGATION,
            lists=LISTS,
            version=truerail.__version__,
            questions=[question for question in questions() if question.text],
            history_questions=tuple(ready_questions().values()),
            history_stored=settings.history is not None,
        )

    def router(self) -> APIRouter:
        """All of it."""
        router = APIRouter(include_in_schema=False)
        for path, name, title in (
            ("/", "overview", "Overview"),
            ("/punch", "punch", "Punch list"),
            ("/racks", "racks", "Racks"),
            ("/topology", "topology", "Topology"),
            ("/ports", "ports", "Ports"),
            ("/probes", "probes", "Probes"),
            ("/jobs", "jobs", "Jobs"),
            ("/changes", "changes", "Changes"),
            ("/storm", "storm", "PFC storms"),
            ("/timeline", "timeline", "Timeline"),
            ("/ask", "ask", "Ask"),
            ("/ask/history", "ask_history", "Ask the history"),
            ("/find", "find", "Find"),
            ("/maintenance", "maintenance", "Maintenance"),
        ):
            router.add_api_route(path, self._fixed(name, title), response_class=HTMLResponse)
        for path, title, name in LISTS:
            router.add_api_route(path, self._fixed(name, title, "list"), response_class=HTMLResponse)
        for path, name in (
            ("/hosts/{thing:path}", "device"),
            ("/switches/{thing:path}", "device"),
            ("/causes/{thing:path}", "cause"),
            ("/findings/{thing:path}", "finding"),
            ("/jobs/{thing:path}", "job"),
        ):
            router.add_api_route(path, self._named(name), response_class=HTMLResponse)
        router.add_api_route("/alert", self.alert, response_class=RedirectResponse)
        router.add_api_route("/login", self.login, response_class=HTMLResponse)
        router.add_api_route("/favicon.ico", self.icon, response_class=RedirectResponse)
        router.add_api_route("/punch-worker.js", self.worker, response_class=Response)
        router.add_api_route("/static/{version}/{name}", self.static, response_class=Response)
        return router

    def _fixed(self, name: str, title: str, template: str = "") -> Any:
        def page(request: Request) -> HTMLResponse:
            return self._page(name, title, template=template, past="at" in request.query_params)

        return page

    def _named(self, name: str) -> Any:
        def page(thing: str) -> HTMLResponse:
            if len(thing) > LONGEST_NAME:
                raise HTTPException(404, f"no name is {len(thing)} characters long")
            return self._page(name, thing, thing)

        return page

    def lost(self, address: str) -> HTMLResponse:
        """The answer where there is no page: a reader gets links, not a problem document."""
        return self._page("lost", "Page not found", printable(address, LONGEST_NAME), status=404)

    def _page(
        self, name: str, title: str, thing: str = "", status: int = 200, template: str = "", *, past: bool = False
    ) -> HTMLResponse:
        """The frame; `past`: it shows an earlier time, so nothing of now is loaded ahead."""
        published = self._tower.publication
        modules = self._assets.imports(f"{name}.js")
        fabric = published.fabric if published else self._settings.fabric
        html = self._templates.get_template(f"{template or name}.html.j2").render(
            page=name,
            title=title,
            thing=thing,
            past=past,
            fabric=fabric,
            grafana=self._settings.page.grafana,
            module=modules[0],
            needed=modules[1:],
            later=self._assets.later(modules[0]),
        )
        return HTMLResponse(html, status, headers={"Cache-Control": "no-store" if status == 404 else "no-cache"})

    def login(self, request: Request) -> HTMLResponse:
        """The log-in form; its answer goes to `POST /login`. `failed` says that the last try was refused."""
        template = self._templates.get_template("login.html.j2")
        where = request.query_params.get("next", "/")
        html = template.render(
            fabric=self._settings.fabric,
            failed="failed" in request.query_params,
            next=where if where.startswith("/") and not where.startswith(("//", "/\\")) else "/",
        )
        return HTMLResponse(html, headers={"Cache-Control": "no-store"})

    def alert(self, rule: str = "", subject: str = "", cause: str = "", finding: str = "") -> RedirectResponse:
        """Where an alert leads: to the page of its cause or finding; by rule and subject to the cause of the finding of
        this rule on this port or device, else to the finding, else to the device.
        """
        published = self._tower.publication
        labels = [text[:LONGEST_NAME] for text in (rule, subject, cause, finding)]
        way = alerted(view_of(published), *labels) if published else "/"
        return RedirectResponse(way, 307, headers={"Cache-Control": "no-store"})

    def icon(self) -> RedirectResponse:
        """Browsers request it on their own."""
        return RedirectResponse(f"/static/{self._assets.version}/icon.svg", 308)

    def worker(self) -> Response:
        """The script that keeps the punch list for a hall without a network. Its path lets it serve `/punch`."""
        return Response(self._assets.files["worker.js"], media_type=MEDIA[".js"], headers={"Cache-Control": "no-cache"})

    def static(self, version: str, name: str) -> Response:
        """One of the page's files. Only the version that is installed is there."""
        content = self._assets.files.get(name) if version == self._assets.version else None
        if content is None:
            raise HTTPException(404, f"there is no file /static/{version}/{name}")
        return Response(content, media_type=MEDIA[suffix(name)], headers={"Cache-Control": FOREVER})
