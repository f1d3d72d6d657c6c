"""The page as people get it, for tests: the real application on a real port of loopback, and a real Chromium."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Error, Page, Request, ViewportSize, expect, sync_playwright

from tests.fake_tower import FakeTower, settings
from tests.patience import ENOUGH
from tests.real import require
from truerail.analysis.counters import CounterView
from truerail.analysis.published import CollectorRun, EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.model import Plan, Snapshot
from truerail.outputs.worklist import Worklist
from truerail.rounds import evaluate
from truerail.service.current import reported
from truerail.views.fabric_map import fabric_map
from truerail.views.faults import open_faults
from truerail.views.lists import step_lines
from truerail.web.application import create_app

expect.set_options(timeout=1000 * ENOUGH)
ANSWER_SECONDS = 10.0
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=BackForwardCache",  # a page that was left keeps no process, and no connection
)
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
_PAGES: WeakKeyDictionary[Browser, dict[frozenset[tuple[str, Any]], Page]] = WeakKeyDictionary()
"""The pages of a browser that tests use one after the other, by what is special about them."""


def publication(plan: Plan, snapshot: Snapshot, number: int = 1, counters: CounterView | None = None) -> Published:
    """An evaluation of just now."""
    now = datetime.now(UTC)
    round = Round(plan, snapshot, counters)
    evaluation = replace(evaluate(round), at=now)
    idle = {name: CollectorRun(name, 60.0) for name in ("ib_fabric", "pfc_snmp")}
    runs = {"lldp_host": CollectorRun("lldp_host", 60.0, now, 0.4, 24, 23, number), **idle}
    evaluated = EvaluatedRound(round, evaluation)
    faults = open_faults(evaluated, {}, {})
    return Published(number, "test fabric", evaluated, plan_digest="d1", runs=runs, open_faults=faults)


class Site:
    """The application in a thread of its own. `publish` brings a new evaluation, as a round does."""

    def __init__(self, first: Published | None, **changed: Any) -> None:
        self.tower = FakeTower()
        self._begin(first)
        app = create_app(self.tower, settings(**changed))
        config = uvicorn.Config(app, port=0, log_level="critical", ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server.serve())

    def __enter__(self) -> "Site":
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("the application did not start")
            self._thread.join(0.02)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join(ENOUGH)

    def _begin(self, first: Published | None) -> None:
        fresh = vars(FakeTower(first)) | {"events": self.tower.events, "moment": datetime.now(UTC)}
        vars(self.tower).update(fresh)
        self.worklist = Worklist()
        if first:
            self._take(first)

    def again(self, first: Published | None) -> None:
        """All as at the start, but the address: a browser keeps the files of the page, most of what a load costs."""
        self.action(lambda: self._begin(first))

    def _take(self, evaluated: Published) -> None:
        self.worklist.update(evaluated.evaluation)
        self.tower.steps = step_lines(self.worklist, evaluated)

    def action(self, act: Callable[[], object]) -> None:
        """Runs something in the application's thread, and waits for it."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (act(), done.set()))
        assert done.wait(ENOUGH)

    def publish(self, evaluated: Published) -> None:
        """A new evaluation and its event."""

        def act() -> None:
            before = self.tower.publication
            self._take(evaluated)
            self.tower.publication = evaluated
            kind, data = reported(fabric_map(before) if before else None, fabric_map(evaluated), evaluated)
            self.tower.events.add(kind, data)

        self.action(act)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium without a window: one that can show windows takes three times the processor time."""
    require("chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=list(FLAGS), timeout=1000 * ENOUGH
        )
        yield browser
        browser.close()


class Watched:
    """What a browser says and asks for while a test drives it.

    Tests of one browser use the same page, which `close` empties: a page of its own costs four times as much as all
    that is done on it. `apart`: one of its own, for what cannot be taken back.
    """

    def __init__(self, browser: Browser, site: Site, *, apart: bool = False, **how: Any) -> None:
        self.site, self._apart, self._scheme = site, apart, how.get("color_scheme", "null")
        kept, key = _PAGES.setdefault(browser, {}), frozenset(how.items())
        page = None if apart else kept.get(key)
        if page is None:
            context = browser.new_context(viewport=VIEWPORT, **how)
            context.set_default_timeout(1000 * ENOUGH)
            page = context.new_page()
            if not apart:
                kept[key] = page
        self.page: Page = page
        self.context: BrowserContext = page.context
        self.asked: list[str] = []
        self.waiting: set[Request] = set()
        self.complaints: list[str] = []
        self._listeners: dict[str, Callable[[Any], object]] = {
            "request": self._sent,
            "requestfinished": self._answered,
            "requestfailed": self._answered,
            "console": self._said,
        }
        for event, listener in self._listeners.items():
            self.context.on(event, listener)  # type: ignore[call-overload]  # any event
        self.page.on("pageerror", self._raised)

    def close(self) -> None:
        """Leaves the site, and forgets what it stored."""
        for event, listener in self._listeners.items():
            self.context.remove_listener(event, listener)
        self.page.remove_listener("pageerror", self._raised)
        if self._apart:
            self.context.close()
            return
        self.page.unroute_all()
        self.context.unroute_all()
        self.context.set_offline(False)
        self.context.clear_cookies()
        with suppress(Error):  # where the site has ended
            self.page.goto(f"{self.site.url}/healthz")
        self.page.set_viewport_size(VIEWPORT)
        self.page.emulate_media(media="null", color_scheme=self._scheme)
        devtools = self.context.new_cdp_session(self.page)
        devtools.send("Storage.clearDataForOrigin", {"origin": self.site.url, "storageTypes": "all"})
        devtools.detach()

    def _raised(self, error: Any) -> None:
        self.complaints.append(str(error))

    def _sent(self, request: Request) -> None:
        self.asked.append(request.url)
        if "/api/v1/events" not in request.url:  # this one lasts
            self.waiting.add(request)

    def _answered(self, request: Request) -> None:
        self.waiting.discard(request)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, path: str) -> Page:
        """Goes there, and waits until the page has its first data: all that it asks for, if that comes in time."""
        self.waiting.clear()
        self.page.goto(self.site.url + path)
        self.page.wait_for_function("() => document.body.dataset.role")
        ends = time.monotonic() + ANSWER_SECONDS
        while self.waiting and time.monotonic() < ends:
            self.page.wait_for_timeout(10)
        self.page.wait_for_function("() => !document.querySelector('main .skeleton, main .loading')")
        return self.page

    def foreign(self) -> list[str]:
        """Requests that left the site."""
        return [url for url in self.asked if not url.startswith((self.site.url, "data:"))]
