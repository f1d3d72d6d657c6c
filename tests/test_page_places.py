"""Ports with the days of a link that gets worse, racks and topology in a real Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.fake_tower import fabric
from tests.page_site import Site, Watched, publication
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.rule import Case
from truerail.model import Snapshot
from truerail.model.facts import Optic
from truerail.model.reading import Reading
from truerail.rounds import evaluate
from truerail.testing.cases import scene
from truerail.views.link_health import link_health

BROKEN, SEEN = fabric()
CABLE = next(cable for cable in BROKEN.plan.host_cables if cable.a.device == "gpu-007")
PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\ngpu-2/nic0 leaf-0/swp2 rail=0 speed=400"
TREND = {"gpu-1": [Optic("nic0", 1, -3.8, -1.0, None, 45.0, part="A")], "gpu-2": [Optic("nic0", 1, -2.0, part="A")]}
PAST = {
    "gpu-1/nic0": {"rx_dbm": [-2.0 - day / 5 for day in range(10)], "ber": [-9.0 + day / 4 for day in range(10)]},
    "gpu-2/nic0": {"rx_dbm": [-2.0] * 10},
}
DARK = Reading("gpu-007", "optics", SEEN.at, (Optic(CABLE.a.name, 1, -20.0, 0.5, serial="<b>S1"),))


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(publication(BROKEN.plan, Snapshot(SEEN.at, [*SEEN.readings, DARK]))) as one:
        yield one


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


def worsening() -> Published:
    """A link that gets worse beside one that does not."""
    made = scene(Case(TREND, plan=PLAN, past=PAST))
    return Published(1, "lab", EvaluatedRound(made, evaluate(made)), plan_digest="d1")


def test_an_end_has_its_days_where_its_link_gets_worse() -> None:
    lines = {line.subject: line for line in link_health(worsening()).items}
    near, far = lines["gpu-1/nic0"].ends
    assert [one is None for one in near.rx_dbm_days] == [True] * 4 + [False] * 10
    assert (near.rx_dbm_days[4], near.rx_dbm_days[-1]) == (-2.0, -3.801)
    assert len(near.margin_db_days) == 14
    assert far.rx_dbm_days == ()
    assert lines["gpu-2/nic0"].ends[0].rx_dbm_days == ()


def test_the_page_draws_the_days_of_a_link_that_gets_worse(browser: Browser) -> None:
    with Site(worsening()) as site:
        watched = Watched(browser, site)
        page = watched.open("/ports")
        drawn = page.get_by_role(
            "img", name="received light by day: −3.8 dBm to −2.0 dBm, 4 of 14 samples not reported"
        )
        expect(drawn).to_have_count(1)
        expect(page.get_by_role("img", name="margin over FEC's limit by day")).to_have_count(1)
        expect(page.get_by_text("is reached in")).to_have_count(1)
        watched.close()
        assert not watched.complaints
