"""The routes of the page: each answers with its frame, and the browser fetches what stands in it from the API."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

import truerail
from truerail.history.ready.ready_question import ready_questions
from truerail.model.names import printable
from truerail.questions import questions
from truerail.service.api import ServiceAPI
from truerail.service.settings import Settings
from truerail.views.view import View, view_of

# ----------------------------------------------------------------------------------------------------------------------
# The page's own files, read once and named by a version made of what they hold: browsers may keep them forever.

MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_IMPORT = re.compile(r"""^import\b[^;'"(]*['"]\./([\w.-]+)['"]""", re.MULTILINE)
_LATER = re.compile(r"""\bimport\(['"]\./([\w.-]+)['"]\)""")


@dataclass(frozen=True)
class Assets:
    """Every static file by its name."""

    files: Mapping[str, bytes]

    @cached_property
    def version(self) -> str:
        """Changes with any byte of any file."""
        digest = blake2s(digest_size=6)
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    def imports(self, module: str) -> list[str]:
        """A module and all that it imports, near ones first: what a page asks the browser to load at once."""
        found = {module: None}
        for name in (queue := [module]):
            for needed in _IMPORT.findall(self.files[name].decode()):
                if needed not in found:
                    found[needed] = None
                    queue.append(needed)
        return list(found)

    def later(self, module: str) -> list[str]:
        """What a module imports after its first work, and all that this needs, without what is there by then."""
        first = self.imports(module)
        found = {name: None for late in _LATER.findall(self.files[module].decode()) for name in self.imports(late)}
        return [name for name in found if name not in first]


def load() -> Assets:
    """The files as they were installed."""
    folder = files("truerail.web.page") / "static"
    return Assets({entry.name: entry.read_bytes() for entry in folder.iterdir() if suffix(entry.name) in MEDIA})


def suffix(name: str) -> str:
    """`.js` of `map.js`."""
    return name[name.rfind(".") :]


# ----------------------------------------------------------------------------------------------------------------------
# The page of what an alert is about. An alert has labels: the key of its cause or the id of its finding, or rule and
# subject.

_KEY = re.compile(r"[0-9a-f]{12}")


def alerted(view: View, rule: str, subject: str, cause: str = "", finding: str = "") -> str:
    """The path of the page of an alert.

    By the key of a cause or the id of a finding, also past ones, its page; that of its cause where one explains the
    finding by now. By rule and subject the path of the cause's page; without one that of the finding, without one that
    of the device, else `/`.

    A finding of the rule comes first: on the port itself, or on its device, as for rules that compare the ports of one;
    then any other on the port, since an alert on a cable has the name of one rule for several.
    """
    if _KEY.fullmatch(cause):
        return f"/causes/{cause}"
    if _KEY.fullmatch(finding):
        known = view.cause_of(finding)
        return f"/causes/{view.sight.key_of(known)}" if known else f"/findings/{finding}"
    device = subject.partition("/")[0]
    own, beside = view.findings_on([subject]), view.findings_on([device])
    found = next((one for one in (*own, *beside) if one.rule == rule), own[0] if own else None)
    if found is not None:
        return alerted(view, "", "", finding=found.id)
    code = view.device(device)
    if not device or not view.is_planned(code):
        return "/"
    room = "hosts" if view.index.devices.is_host(code) else "switches"
    return f"/{room}/{quote(view.index.devices.names[code], safe='')}"


# ----------------------------------------------------------------------------------------------------------------------
# The routes of the page: each answers with its frame, and the browser fetches what stands in it from the API.

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
ELSEWHERE = (
    ("/ports", "Ports", "ports"),
    ("/timeline", "Timeline", "timeline"),
    ("/ask/history", "Ask the history", "ask_history"),
    ("/find", "Find", "find"),
)
"""Pages that the navigation does not have, or has among its lists."""
TITLES = {"/storm": "PFC storms"}
"""Titles that are longer than in the navigation."""


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
        for path, title, name in (*NAVIGATION, *ELSEWHERE):
            if path:
                router.add_api_route(path, self._fixed(str(name), TITLES.get(path, title)), response_class=HTMLResponse)
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
        where = request.query_params.get("next", "/")
        html = self._templates.get_template("login.html.j2").render(
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
