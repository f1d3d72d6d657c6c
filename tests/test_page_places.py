"""Ports, racks and topology in a real Chromium."""

import re
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
        one.close()
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


def test_a_rack_shows_its_devices_from_the_top_and_leads_to_its_work(watched: Watched) -> None:
    page = watched.open("/racks")
    racks = {device.rack for device in BROKEN.plan.devices.values()}
    expect(page.locator("a.tile")).to_have_count(len(racks))
    work = {step.rack for step in watched.site.tower.steps}
    page.keyboard.press("n")
    expect(page.locator("#rack h2")).to_have_text(f"Rack {min(work)}")
    inside = [device for device in BROKEN.plan.devices.values() if device.rack == min(work)]
    units = [f"U{unit}" for unit in sorted((device.unit or 0 for device in inside), reverse=True)]
    expect(page.locator(".slot .unit")).to_have_text(units)
    assert page.url.endswith(f"/racks?rack={min(work)}")
    page.locator("#rack .port").first.click()
    page.wait_for_url(re.compile("/(hosts|switches)/"))
    page.go_back()
    page.get_by_role("link", name="Punch list:").click()
    page.wait_for_url(f"**/punch?rack={min(work)}")


def test_the_topology_shows_what_is_wrong_between_switches_and_leads_on(watched: Watched) -> None:
    page = watched.open("/topology")
    pods = {device.pod for device in BROKEN.plan.devices.values() if device.pod}
    expect(page.locator("details.pod")).to_have_count(len(pods))
    pod = page.locator("details.pod").first
    pod.locator("summary").click()
    leaves = [one for one in BROKEN.plan.devices.values() if one.pod == min(pods) and one.role == "leaf"]
    for leaf in leaves:
        expect(pod.locator(f"a.switch[aria-label^='{leaf.name},']")).to_be_visible()
    pod.locator(f"a.switch[aria-label^='{leaves[0].name},']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/switches/{leaves[0].name}")
