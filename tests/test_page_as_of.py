"""The page as of a time, in a real Chromium over a real journal: slider, banner, address, and what is not kept."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Locator, Page, expect

from tests.as_of_journal import Kept, kept_journal
from tests.fake_tower import FakeHistory
from tests.page_site import Site, Watched

PAGES = (
    "/", "/causes", "/findings", "/cables", "/devices", "/switch-ports", "/racks", "/topology", "/hosts/h1",
    "/switches/leaf-0", "/causes/{cause}", "/findings/{finding}",
)  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    begins = datetime.now(UTC) - timedelta(hours=1)
    with kept_journal(tmp_path_factory.mktemp("page_as_of"), begins) as one:
        yield one


@pytest.fixture(scope="module")
def site(kept: Kept) -> Iterator[Site]:
    with Site(kept.live) as one:
        one.tower.history = kept.journal  # type: ignore[assignment]  # the journal itself, not a list of rows
        yield one


def cells(page: Page, head: str) -> Locator:
    """The cells of a column."""
    return page.locator(f'td[data-head="{head}"]')


def during(kept: Kept) -> str:
    """A time of the swapped cables, as the address has it."""
    return kept.at(3).isoformat().replace("+00:00", "Z")


def test_the_slider_steps_from_change_to_change_and_back_to_now(watched: Watched) -> None:
    page = watched.open("/")
    expect(page.locator("#live")).to_have_attribute("data-status", re.compile("live|stale"))
    expect(page.locator("#banner-at")).to_be_hidden()
    page.keyboard.press("b")
    slider = page.get_by_role("slider", name="Time")
    expect(slider).to_be_focused()
    assert page.locator(".ticks rect").count() == 2
    slider.press("ArrowLeft")
    expect(page.locator("#banner-at")).to_contain_text("not live")
    expect(page.locator("#time-words")).to_contain_text("cable swap ended")
    expect(page.locator("#live")).to_have_attribute("data-status", "past")
    expect(page.locator("#live")).to_have_text("not live")
    slider.press("ArrowLeft")
    expect(page.locator("#time-words")).to_contain_text("cable swap began")
    expect(page.locator("#tally")).to_contain_text("2 wrong")
    expect(page.locator("#states .wrong .figure")).to_have_text("2")
    expect(page.locator("#causes article")).to_have_count(1)
    for card in ("#coverage", "#collectors"):
        expect(page.locator(card)).to_contain_text("Unknown: the journal does not keep")
    slider.press("ArrowRight")
    expect(page.locator("#causes article")).to_have_count(0)
    slider.press("ArrowRight")
    expect(page.locator("#banner-at")).to_be_hidden()
    expect(slider).to_be_focused()
    assert "at=" not in page.url
    expect(page.locator("#live")).to_have_attribute("data-status", re.compile("live|stale"))
    page.go_back()
    expect(page.locator("#banner-at")).to_be_visible()


def test_nothing_live_is_asked_for_while_a_past_time_is_shown(watched: Watched, kept: Kept) -> None:
    page = watched.open(f"/?at={during(kept)}")
    expect(page.locator("#banner-at summary")).to_be_visible()
    asked = [url for url in watched.asked if "/api/v1/" in url]
    undated = {url.partition("/api/v1/")[2] for url in asked if "at=" not in url}
    assert undated == {"me", "journal"}
    page.locator("#banner-at summary").click()
    expect(page.locator("#banner-at li")).to_contain_text(["The journal keeps no counters"])


def test_a_card_of_a_past_cause_gives_no_order(watched: Watched, kept: Kept) -> None:
    page = watched.open(f"/?at={during(kept)}")
    card = page.locator("#causes article")
    expect(card).to_contain_text("Suggested then: Swap the two cables")
    expect(card.locator(".tag.resolved")).to_have_text("ended")
    assert card.locator(".action, ol.moves, button").count() == 0
    card.locator("a.kind").click()
    page.wait_for_url(re.compile(r"/causes/\w+\?at="))
    expect(page.locator("#page")).to_contain_text("What ended it: 2 cables changed")
    expect(page.locator("#page")).to_contain_text("Repair that was proposed: 2 cables")
    assert page.locator("#page .action, #page button").count() == 0


def test_a_pasted_address_shows_the_same_and_links_keep_the_time(watched: Watched, kept: Kept) -> None:
    page = watched.open(f"/?at={during(kept)}")
    page.locator("#tally a", has_text="2 wrong").click()
    page.wait_for_url(re.compile(r"/cables\?state=wrong&at="))
    expect(page.locator(".total")).to_have_text("2 cables match")
    page.get_by_role("combobox", name="State").select_option("right")
    expect(page.locator("#csv")).to_have_attribute("href", re.compile(r"state=right.*at="))
    assert "at=" in page.url
    page.get_by_role("link", name="Causes", exact=True).last.click()
    page.wait_for_url(re.compile(r"/causes\?at="))
    for head, shown in (("Suggested then", 1), ("Ended", 1), ("What to do", 0), ("Cables to move", 0)):
        expect(page.locator("th", has_text=head)).to_have_count(shown)
    page.locator("#now").click()
    expect(page.locator("#answer")).to_contain_text("No causes here.")
    assert page.url == f"{watched.site.url}/causes"
    assert "at=" not in (page.locator("#pages a").first.get_attribute("href") or "")


def test_every_page_with_a_time_says_that_it_is_not_now(watched: Watched, kept: Kept) -> None:
    past = kept.past(3).publication.evaluation
    for path in PAGES:
        url = path.format(cause=past.causes[0].key, finding=past.findings[0].id)
        page = watched.open(f"{url}?at={during(kept)}")
        expect(page.locator("#banner-at")).to_contain_text("As of")
        expect(page.locator("#banner-at li").first).to_be_attached()
        buttons = page.locator("main button").all_inner_texts()
        assert not {"Acknowledge", "Recheck now"} & set(buttons)
        assert not page.locator("main .failed, main .action").count(), url


def test_an_exact_time_is_typed_and_one_before_the_journal_is_an_error(watched: Watched, kept: Kept) -> None:
    page = watched.open("/cables")
    page.locator("#past").click()
    field = page.get_by_label("Exact time")
    local = page.evaluate("at => new Date(Date.parse(at) - new Date().getTimezoneOffset() * 60000)", during(kept))
    field.fill(f"{local:%Y-%m-%dT%H:%M:%S}")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("#banner-at")).to_be_visible()
    expect(cells(page, "State").filter(has_text="wrong")).to_have_count(2)
    field.fill("2001-01-01T00:00:00")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("main .failed")).to_contain_text("lies before the journal, which begins at")
    page.locator("#now").click()
    expect(cells(page, "State").filter(has_text="wrong")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    assert all("400" in one for one in watched.complaints)  # Chromium reports each answer 400
    watched.complaints.clear()


def test_words_in_the_address_become_a_time(watched: Watched, kept: Kept) -> None:
    page = watched.open("/cables?at=57m")
    page.wait_for_url(re.compile(r"at=20\d\d-"))
    expect(page.locator("#banner-at time").first).to_be_visible()


def test_without_a_journal_there_is_no_earlier_time(watched: Watched, kept: Kept) -> None:
    tower = watched.site.tower
    tower.history = FakeHistory()
    page = watched.open("/")
    page.locator("#past").click()
    expect(page.locator("#time")).to_contain_text("There is no journal")
    tower.history = kept.journal  # type: ignore[assignment]  # the journal itself, not a list of rows


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_the_control_fits_and_axe_finds_nothing(
    browser: Browser, site: Site, kept: Kept, width: int, scheme: str
) -> None:
    one = Watched(browser, site, color_scheme=scheme, bypass_csp=True)
    one.page.set_viewport_size({"width": width, "height": 800})
    page = one.open(f"/?at={during(kept)}")
    expect(page.get_by_role("slider", name="Time")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("() => axe.run({resultTypes: ['violations']}).then((found) => found.violations)")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    one.close()
