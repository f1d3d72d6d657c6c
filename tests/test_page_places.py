"""Ports, racks and topology in a real Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.fake_tower import fabric
from tests.page_site import Site, Watched, chromium, publication
from truerail.model import Snapshot
from truerail.model.facts import Optic
from truerail.model.reading import Reading

BROKEN, SEEN = fabric()
CABLE = next(cable for cable in BROKEN.plan.host_cables if cable.a.device == "gpu-007")
DARK = Reading("gpu-007", "optics", SEEN.at, (Optic(CABLE.a.name, 1, -20.0, 0.5, serial="<b>S1"),))


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    seen = Snapshot(SEEN.at, [*SEEN.readings, DARK])
    with chromium() as browser, Site(publication(BROKEN.plan, seen)) as site:
        one = Watched(browser, site)
        yield one
        one.context.close()
        assert one.complaints == []
        assert one.foreign() == []


def test_ports_show_both_ends_worst_first_and_unknown_as_unknown(watched: Watched) -> None:
    page = watched.open("/ports")
    first = page.locator("table.ends tbody").first
    expect(first).to_have_class("warning")
    near, far = first.locator("tr").nth(0), first.locator("tr").nth(1)
    expect(near).to_contain_text(str(CABLE.a))
    expect(near).to_contain_text("−20.0")
    expect(near).to_contain_text("<b>S1")
    expect(far).to_contain_text(str(CABLE.b))
    expect(far.locator("td").nth(3)).to_have_text("unknown")
    expect(first.locator("tr.why a")).to_have_count(1)
    page.get_by_label("Show").select_option("reported")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("table.ends tbody")).to_have_count(1)
    assert page.url.endswith("/ports?only=reported")
