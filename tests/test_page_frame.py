"""What holds for every page, in a real Chromium: one zone for all times, keys, and nothing that axe-core finds."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, expect

from tests.fake_tower import SHAPE, fabric
from tests.page_site import Site, Watched, publication
from truerail.model.history import MaintenanceWindow

BROKEN, SEEN = fabric(shape=replace(SHAPE, hosts=4, pods=1, uplinks=2))
AT = datetime(2026, 3, 28, 22, 15, 30, tzinfo=UTC)
ZONED = re.compile(r"\d\d:\d\d:\d\d (UTC(?:[+-]\d+(?::\d\d)?)?)")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(publication(BROKEN.plan, SEEN)) as one:
        one.tower.remember(links=4)
        window = MaintenanceWindow(1000, "device", "gpu-003", AT, AT + timedelta(days=900), "ann", "new NIC", AT)
        one.tower.history.open_windows[window.id] = window
        yield one


def test_times_are_in_the_browsers_zone_or_in_utc_and_name_it(browser: Browser, site: Site) -> None:
    one = Watched(browser, site, timezone_id="Asia/Kolkata")
    page = one.open("/maintenance")
    expect(page.locator("#zone")).to_have_text("UTC+5:30")
    starts = page.locator("#windows time").first
    expect(starts).to_have_text("2026-03-29 03:45:30 UTC+5:30")
    page.get_by_label("Starts").fill("2026-04-01T12:00")
    page.locator("#zone").click()
    expect(starts).to_have_text("2026-03-28 22:15:30 UTC")
    expect(page.get_by_label("Starts")).to_have_value("2026-04-01T06:30")
    expect(page.locator("label small[data-zone]").first).to_have_text("UTC")
    page = one.open("/timeline?of=gpu-001")
    expect(page.locator("#zone")).to_have_text("UTC")
    expect(page.locator("main time").first).to_be_visible()
    shown = page.locator("main time").all_inner_texts()
    assert {ZONED.search(text)[1] for text in shown} == {"UTC"}  # type: ignore[index]  # each names its zone
    one.close()
    assert one.complaints == []


def test_a_zone_with_summer_time_names_the_offset_of_each_moment(browser: Browser, site: Site) -> None:
    one = Watched(browser, site, timezone_id="Europe/Berlin")
    page = one.open("/maintenance")
    expect(page.locator("#windows time").first).to_have_text("2026-03-28 23:15:30 UTC+1")
    expect(page.locator("#windows time").nth(1)).to_have_text("2028-09-14 00:15:30 UTC+2")
    one.close()


def test_what_is_announced_in_a_zone_is_meant_in_it(browser: Browser, site: Site) -> None:
    one = Watched(browser, site, timezone_id="Asia/Kolkata")
    page = one.open("/maintenance")
    page.get_by_label("What").fill("gpu-004")
    page.get_by_label("Starts").fill("2026-04-01T12:00")
    page.get_by_label("Ends").fill("2199-04-01T12:00")
    page.get_by_label("Reason").fill("fan")
    page.get_by_role("button", name="Announce").click()
    expect(page.locator("#windows")).to_contain_text("fan")
    made = next(one for one in site.tower.history.open_windows.values() if one.reason == "fan")
    assert made.starts == datetime(2026, 4, 1, 6, 30, tzinfo=UTC)
    del site.tower.history.open_windows[made.id]
    one.close()


def test_keys_work_where_nothing_has_the_focus(browser: Browser, site: Site) -> None:
    one = Watched(browser, site)
    page = one.open("/")
    expect(page.locator("#me")).to_contain_text("local")
    page.keyboard.press("n")
    said = page.locator("#map p[aria-live]")
    expect(said).to_contain_text(re.compile("wrong|missing|unknown"))
    host = said.inner_text().split()[0]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/hosts/{host}")
    page.wait_for_function("() => document.body.dataset.role")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Find a host")
    page.keyboard.press("1")
    expect(keys).to_be_visible()
    page.keyboard.press("?")
    expect(keys).to_have_count(0)
    page.keyboard.press("2")
    page.wait_for_url("**" + page.locator(".top nav a").nth(1).get_attribute("href"))  # type: ignore[operator]  # a link has an address
    one.close()
    assert one.complaints == []


OUTLINE = """() => {
  const at = document.activeElement;
  const style = (node) => node && getComputedStyle(node);
  const drawn = (node) => node && parseFloat(style(node).outlineWidth) > 0 && style(node).outlineStyle !== "none";
  return at === document.body ? null : [at.outerHTML.slice(0, 120), drawn(at) || drawn(at.nextElementSibling)];
}"""


@pytest.mark.parametrize("path", ["/", "/changes", "/maintenance"])
def test_the_focus_is_visible_wherever_it_goes(browser: Browser, site: Site, path: str) -> None:
    one = Watched(browser, site)
    page = one.open(path)
    shown = []
    for _ in range(40):
        page.keyboard.press("Tab")
        shown.append(page.evaluate(OUTLINE))
    reached = [place for place in shown if place]
    assert len(reached) > 15
    assert [place for place, visible in reached if not visible] == []
    one.close()


LEAF = next(cable.b.device for cable in BROKEN.plan.host_cables)
SHOWN = ({"width": 1440, "height": 900}, {"width": 390, "height": 844})
QUESTIONS = (
    "q=where&port=gpu-003",
    "q=job&nodes=gpu-[001-004]",
    f"q=blast&of={LEAF}",
    "q=path&from=gpu-001&to=gpu-004",
)
PAGES = (
    "/",
    "/punch",
    "/changes",
    "/storm",
    "/ports",
    "/cables",
    "/topology",
    "/racks?rack=r01",
    "/timeline?of=gpu-001",
    "/find?text=gpu",
    "/maintenance",
    "/hosts/gpu-001",
    f"/switches/{LEAF}",
    "/findings/FINDING",
    "/causes/CAUSE",
    "/nowhere",
    "/cables?state=wrong",
    "/causes",
    *(f"/ask?{question}" for question in QUESTIONS),
)
"""Each page; axe-core looks at each wide and light, and narrow and dark."""


@pytest.fixture(scope="module")
def seen(browser: Browser, site: Site) -> Iterator[Watched]:
    one = Watched(browser, site, color_scheme="light", reduced_motion="reduce")
    yield one
    one.close()


HINTS = """() => [...document.querySelectorAll(".wide > .scroll")]
    .filter((box) => box.checkVisibility())
    .map((box) => [box.scrollWidth > box.clientWidth + 1, !box.nextElementSibling.hidden])"""
"""Of each drawing: whether it is wider than the page, and whether a hint says so."""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def resize(watched: Watched, size: dict[str, int]) -> None:
    """Another size of the window, once what follows it has followed."""
    watched.page.set_viewport_size(size)  # type: ignore[arg-type]  # a width and a height
    watched.page.evaluate(DRAWN)


def violations(watched: Watched) -> list[tuple[str, str]]:
    """What axe-core finds: its rule, and the first element."""
    found = watched.page.evaluate("() => axe.run({resultTypes: ['violations']}).then((found) => found.violations)")
    return [(one["id"], one["nodes"][0]["html"]) for one in found]


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_and_a_phone_scrolls_drawings_and_never_the_page(seen: Watched, path: str) -> None:
    evaluated = seen.site.tower.publication
    assert evaluated is not None
    finding, cause = evaluated.evaluation.findings[0].id, evaluated.evaluation.causes[0].key
    page = seen.open(path.replace("FINDING", finding).replace("CAUSE", cause))
    page.evaluate(AXE_SCRIPT)
    for size, theme in zip(SHOWN, ("light", "dark"), strict=True):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]  # one of two
        resize(seen, size)
        assert violations(seen) == []
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    hints = page.evaluate(HINTS)
    assert [hint for wide, hint in hints if wide != hint] == []


def test_axe_finds_nothing_in_dialogs(seen: Watched) -> None:
    page = seen.open("/hosts/gpu-001")
    page.evaluate(AXE_SCRIPT)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(seen) == []
    page.keyboard.press("Escape")
    page.locator("[data-key^=ack-]").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(seen) == []
