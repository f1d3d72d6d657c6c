"""What holds for every page, in a real Chromium: one zone for all times, keys, and nothing that axe-core finds."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from tests.fake_tower import fabric
from tests.page_site import Site, Watched, chromium, publication
from truerail.model.history import MaintenanceWindow

BROKEN, SEEN = fabric()
AT = datetime(2026, 3, 28, 22, 15, 30, tzinfo=UTC)
ZONED = re.compile(r"\d\d:\d\d:\d\d (UTC(?:[+-]\d+(?::\d\d)?)?)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(publication(BROKEN.plan, SEEN)) as one:
        one.tower.remember(links=4)
        window = MaintenanceWindow(1, "device", "gpu-003", AT, AT + timedelta(days=900), "ann", "new NIC", AT)
        one.tower.history.open_windows[1] = window
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
    shown = page.locator("main time").all_inner_texts()
    assert shown
    assert {ZONED.search(text)[1] for text in shown} == {"UTC"}  # type: ignore[index] - each names its zone
    one.context.close()
    assert one.complaints == []


def test_a_zone_with_summer_time_names_the_offset_of_each_moment(browser: Browser, site: Site) -> None:
    one = Watched(browser, site, timezone_id="Europe/Berlin")
    page = one.open("/maintenance")
    expect(page.locator("#windows time").first).to_have_text("2026-03-28 23:15:30 UTC+1")
    expect(page.locator("#windows time").nth(1)).to_have_text("2028-09-14 00:15:30 UTC+2")
    one.context.close()


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
    one.context.close()
