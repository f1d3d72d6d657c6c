"""The page of probes in a real Chromium: what was tried, what failed, what was not tried, on 1,024 hosts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.fake_tower import fabric
from tests.page_site import Site, Watched, publication
from tests.probed_fabric import nics_of_plan, with_probes
from truerail.model import Snapshot
from truerail.simulator import Shape, Simulation

SCRIPT = "<img src=x onerror=window.hacked=1>"
FIFTH = 4


@pytest.fixture(scope="module")
def nics() -> list[str]:
    plan = broken()[0].plan
    return [str(plan.cables[nic.cable].a) for nic in nics_of_plan(plan)]


def broken() -> tuple[Simulation, Snapshot]:
    """The large fabric, made when the first test of it runs."""
    return fabric(True, Shape(hosts=1024, rails=2, pods=2, spines=2, uplinks=4))


@pytest.fixture(scope="module")
def site(nics: list[str]) -> Iterator[Site]:
    (simulation, snapshot), busy = broken(), nics[-1].partition("/")[0]
    lost, left_out = [nics[FIFTH]], {busy: f"no login: {SCRIPT}"}
    seen = with_probes(simulation.plan, snapshot, lists=("A",), lost=lost, left_out=left_out)
    with Site(publication(simulation.plan, seen)) as one:
        yield one


def test_untried_is_counted_beside_what_failed_and_is_not_fine(watched: Watched) -> None:
    page = watched.open("/probes")
    expect(page.locator("#verdict")).to_contain_text("1 NIC loses packets of probes")
    chips = page.locator("#states .chip")
    assert [text.split()[-1] for text in chips.all_inner_texts()] == ["2,045", "1", "0", "2"]
    assert {"reached", "lost", "untried"} <= {text.split()[-2] for text in chips.all_inner_texts()}
    assert page.locator("#rails tbody tr").count() == 2
    row = page.locator("#rails tbody tr").first.inner_text()
    assert row.split()[:6] == ["0", "1,024", "1,022", "0", "1", "1"]
    expect(page.locator("#left-out")).to_contain_text(SCRIPT)
    assert page.evaluate("window.hacked") is None


def test_the_map_leads_to_the_nics_of_a_host_and_says_what_they_are(watched: Watched, nics: list[str]) -> None:
    page = watched.open("/probes")
    canvas = page.locator("#map canvas")
    canvas.focus()
    canvas.press("n")
    expect(page.locator("#map [aria-live]")).to_have_text(f"{nics[FIFTH].partition('/')[0]} rail 0: lost")
    canvas.press("Enter")
    page.wait_for_url("**/probed-nics?nodes=*")
    expect(page.locator(".total")).to_contain_text("2 NICs match")
    assert "✗ lost" in page.locator("table.rows").inner_text()
    page = watched.open("/probes")
    page.locator("#rails a", has_text="1").first.click()
    page.wait_for_url("**/probed-nics?rail=0&state=*")
    expect(page.locator(".total")).to_contain_text("1 NIC matches")


def test_a_fabric_that_was_never_probed_says_so(browser, watched: Watched) -> None:  # type: ignore[no-untyped-def]  # a fixture
    small, seen = fabric()
    with Site(publication(small.plan, seen)) as other:
        one = Watched(browser, other, apart=True)
        page = one.open("/probes")
        expect(page.locator("#verdict")).to_contain_text("Nothing was probed")
        assert "doubt" in (page.locator("#verdict").get_attribute("class") or "")
        expect(page.locator("#left")).to_be_hidden()
        one.close()
