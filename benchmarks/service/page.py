"""How soon the overview stands, and how soon a change is seen on it, in a real Chromium.

python -m benchmarks.service.page [--loads 7] [--write PAGE]
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import orjson
from playwright.sync_api import Browser, Page

from tests.page_site import Site, chromium, publication
from truerail.analysis.published import Published
from truerail.model import CauseKind
from truerail.simulator import Fault, Shape, simulate
from truerail.views.fabric_map import cells_of, fabric_map

SIZES = ((64, 1), (1_500, 6), (12_500, 50))
FAULTS = (Fault(CauseKind.CABLE_SWAP, "one-host"), Fault(CauseKind.HOST_SWAP, "labels"), Fault(CauseKind.LINK_DOWN))
CHANGES = 200
ROUNDS = 15
SEES_PAINTING = """
const restore = CanvasRenderingContext2D.prototype.restore;
CanvasRenderingContext2D.prototype.restore = function () {
  restore.call(this);
  window.painted = performance.now();
};
"""
TIMES = """() => ({
  contents: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  map: performance.getEntriesByName("truerail:map")[0].startTime,
  ready: performance.getEntriesByName("truerail:ready")[0].startTime,
  longest: window.longest,
})"""
SEES_TASKS = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({type: "longtask", buffered: true});
"""
DELAY = """() => {
  const round = performance.getEntriesByName("truerail:round")[0];
  return round && window.painted > round.startTime ? window.painted - round.startTime : null;
}"""


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds, medians. `contents`, `map` and `ready` (all that the overview shows) from the click on;
    `longest` is the longest task of all loads, 0 below 50 ms; `change` from the event to its pixels.
    """

    hosts: int
    contents: float
    map: float
    ready: float
    longest: float
    change: float
    kilobytes: float


def measure(browser: Browser, hosts: int, pods: int, loads: int) -> Times:
    """One size of fabric, 8 rails."""
    simulation = simulate(Shape(hosts=hosts, rails=8, pods=pods, spines=4, uplinks=32), FAULTS, seed=1)
    with Site(publication(simulation.plan, simulation.snapshot())) as site:
        first = [_load(browser, site) for _ in range(loads)]
        changes = list(_changes(browser, site))
        drawn = fabric_map(_evaluated(site))
    size = len(orjson.dumps(drawn)) / 1000
    contents, drawn_at, ready = (median(one[name] for one in first) for name in ("contents", "map", "ready"))
    return Times(hosts, contents, drawn_at, ready, max(one["longest"] for one in first), median(changes), size)


def _evaluated(site: Site) -> Published:
    """What the site shows."""
    if site.tower.publication is None:
        raise RuntimeError("the site shows nothing")
    return site.tower.publication


def _load(browser: Browser, site: Site) -> dict[str, float]:
    """`TIMES` of one load, with nothing in the browser's cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(SEES_TASKS)
    page.goto(site.url)
    page.wait_for_function("() => performance.getEntriesByName('truerail:ready').length")
    times: dict[str, float] = page.evaluate(TIMES)
    context.close()
    return times


def _changes(browser: Browser, site: Site) -> Iterator[float]:
    """From a round's event to the picture, each time with other cells changed."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(SEES_PAINTING)
    page.goto(site.url)
    page.wait_for_function("() => document.getElementById('live').dataset.status === 'live' && window.painted")
    for number in range(2, ROUNDS + 2):
        _round(site, number)
        yield _delay(page, number)
    context.close()


def _round(site: Site, number: int) -> None:
    """An event as a round sends it: other cells each time, spread over the whole fabric."""
    evaluated = _evaluated(site)
    cells = len(cells_of(fabric_map(evaluated)))
    step = max(1, cells // CHANGES)
    reported = {"number": number, "at": evaluated.at, "tone": "bad", "headline": "measured", "findings": {}, "muted": 0}
    changed = [[(i * step + number) % cells, 2 + number % 3] for i in range(min(CHANGES, cells))]
    site.action(lambda: site.tower.events.add("round", orjson.dumps({**reported, "changed": changed})))


def _delay(page: Page, number: int) -> float:
    page.wait_for_function(f"() => document.getElementById('number').textContent === 'round {number}'")
    while (delay := page.evaluate(DELAY)) is None:
        time.sleep(0.01)
    time.sleep(0.15)
    return float(delay)


def report(found: list[Times]) -> str:
    """The page."""
    rows = "".join(
        f"| {one.hosts:,} x 8 | {one.hosts * 8:,} | {one.kilobytes:,.0f} kB"
        f" | {one.contents:.0f} ms | {one.map:.0f} ms | {one.ready:.0f} ms | {_longest(one)}"
        f" | {one.change:.1f} ms |\n"
        for one in found
    )
    return f"""# The page, as measured

`make bench` writes this page: the service's own application and a headless Chromium on the same
{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians, nothing cached. "First contents", "map drawn" and "all
drawn" (causes, counts and coverage too) count from the navigation on; "longest task" is the longest time in any of the
loads for which the browser answers nothing; "{CHANGES} cells" from the arrival of a round's event to the end of its
painting, which waits for the browser's next frame (16.7 ms apart).

| Fabric | Cells | Map | First contents | Map drawn | All drawn | Longest task | {CHANGES} cells changed |
|---|---|---|---|---|---|---|---|
{rows}"""


def _longest(one: Times) -> str:
    return f"{one.longest:.0f} ms" if one.longest else "below 50 ms"


def main() -> None:
    """Measures, and writes the page or prints it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loads", type=int, default=7, help="loads of each size")
    parser.add_argument("--hosts", type=int, help="this size only")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page here instead of printing it")
    asked = parser.parse_args()
    with chromium() as browser:
        sizes = [size for size in SIZES if asked.hosts in (None, size[0])]
        page = report([measure(browser, hosts, pods, asked.loads) for hosts, pods in sizes])
    if asked.write:
        asked.write.write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
