"""A picture of each dashboard in a real Grafana, taken by a real Chromium, and the panels that show an error there."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from dashboards.check.boards import Board
from dashboards.check.complaint import Complaint, of_board
from dashboards.check.executed import SPAN_SECONDS, Source, chosen

WIDTH: Final = 1600
ROW_PIXELS: Final = 38
"""A row of Grafana's grid, 30 px and the gap below. Only what is in the window is drawn, so it is as high as all."""
HEAD_PIXELS: Final = 250
WAIT_MILLISECONDS: Final = 30_000
PANEL: Final = '[data-testid^="data-testid Panel header"]'
ERROR: Final = '[data-testid="data-testid Panel status error"]'
"""A panel, and the mark on one that could not be drawn: Components.Panels.Panel of npm @grafana/e2e-selectors."""
BROWSERS: Final = ("chromium-headless-shell", "chromium", "google-chrome")


class Site(Source, Protocol):
    """A Grafana and who asks it."""

    @property
    def url(self) -> str: ...

    @property
    def authorization(self) -> str: ...


def pictures(boards: Sequence[Board], grafana: Site, folder: Path) -> list[Complaint]:
    """Writes UID.png for each dashboard into the folder. Gives a complaint for each that shows an error."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser(), args=["--no-sandbox"])
        headers = {"Authorization": grafana.authorization}
        context = browser.new_context(extra_http_headers=headers, viewport={"width": WIDTH, "height": 900})
        found = [one for board in boards for one in _taken(board, grafana, context, folder / f"{board.uid}.png")]
        browser.close()
    return found


def _taken(board: Board, grafana: Site, context: BrowserContext, file: Path) -> Iterator[Complaint]:
    page = context.new_page()
    page.set_viewport_size({"width": WIDTH, "height": _height(board)})
    answer = page.goto(f"{grafana.url}/d/{board.uid}?kiosk&{_choice(board, grafana)}", timeout=WAIT_MILLISECONDS)
    if answer is None or not answer.ok:
        yield of_board("grafana", board, f"answers {answer.status if answer else 'nothing'}")
        return
    try:
        page.locator(PANEL).first.wait_for(timeout=WAIT_MILLISECONDS)
        page.wait_for_load_state("networkidle", timeout=WAIT_MILLISECONDS)
    except TooLate as error:
        yield of_board("grafana", board, f"is not drawn: {error.message.partition(chr(10))[0]}")
    page.screenshot(path=file)
    for mark in page.locator(ERROR).all():
        yield of_board("grafana", board, f"a panel shows {mark.get_attribute('aria-label') or 'an error'}")
    page.close()


def _browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _choice(board: Board, grafana: Site) -> str:
    """What is chosen of each variable: the first there is, and of time the span that queries are checked for."""
    values = next(chosen(board.variables, grafana, dict(grafana.times)), {})
    several = {one.name for one in board.variables if one.json.get("multi")}
    named = {f"var-{one.name}": values.get(one.name, "") for one in board.variables if one.type == "query"}
    kept = {key: "$__all" if key.removeprefix("var-") in several else value for key, value in named.items()}
    return urlencode({**kept, "from": f"now-{SPAN_SECONDS}s", "to": "now"})


def _height(board: Board) -> int:
    ends = [int(panel.json["gridPos"]["y"]) + int(panel.json["gridPos"]["h"]) for panel in board.panels]
    return HEAD_PIXELS + ROW_PIXELS * max(ends)
