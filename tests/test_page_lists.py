"""The lists in a real Chromium: sorted, filtered, searched, shown from an address, downloaded, 112,000 rows long."""

import csv
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.fake_tower import fabric
from tests.page_site import Site, Watched, publication

BROKEN, SEEN = fabric()
SHOWN = publication(BROKEN.plan, SEEN)
LISTS = ("causes", "findings", "cables", "devices", "switch-ports", "probed-nics")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(SHOWN) as one:
        yield one


def column(page: Page, head: str) -> list[str]:
    """The cells of a column."""
    return page.locator(f'td[data-head="{head}"]').all_inner_texts()


def test_every_list_is_reached_from_the_menu_and_shows_its_rows(watched: Watched) -> None:
    page = watched.open("/")
    links = page.locator(".group a")
    expect(links.first).to_be_hidden()
    page.locator(".group summary").click()
    assert [link.get_attribute("href") for link in links.all()] == [*(f"/{name}" for name in LISTS), "/ports"]
    links.first.click()
    page.wait_for_url("**/causes")
    for name in LISTS:
        page = watched.open(f"/{name}")
        expect(page.locator("table.rows tbody tr").first).to_be_visible()


def test_the_counts_of_the_overview_lead_to_just_those_rows(watched: Watched) -> None:
    summary = SHOWN.evaluation.summary
    for words, total in (
        (f"{summary.cables_wrong} wrong", summary.cables_wrong),
        (f"{summary.findings['critical']} critical", summary.findings["critical"]),
        (f"of {summary.hosts} hosts", summary.hosts),
    ):
        page = watched.open("/")
        page.locator("#tally a", has_text=words).click()
        expect(page.locator(".total")).to_contain_text(f"{total} ")
        assert page.locator("table.rows tbody tr").count() == total


def test_a_list_is_sorted_and_filtered_and_its_address_shows_the_same(watched: Watched) -> None:
    page = watched.open("/cables")
    page.get_by_role("combobox", name="State").select_option("wrong")
    expect(page.locator(".total")).to_contain_text(f"{SHOWN.evaluation.summary.cables_wrong} cables match")
    assert set(column(page, "State")) == {"✗ wrong"}
    head = page.locator("th", has_text="Port")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    first = column(page, "Port")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.locator('td[data-head="Port"]').first).to_have_text(first[-1])
    assert column(page, "Port") == first[::-1]
    pasted = Watched(watched.context.browser, watched.site, apart=True)  # type: ignore[arg-type]  # a context of a browser
    other = pasted.open(page.url.removeprefix(watched.site.url))
    expect(other.locator("th", has_text="Port")).to_have_attribute("aria-sort", "descending")
    assert column(other, "Port") == first[::-1]
    expect(other.get_by_role("combobox", name="State")).to_have_value("wrong")
    pasted.close()
    page.go_back()
    expect(head).to_have_attribute("aria-sort", "ascending")


def test_words_are_searched_and_a_value_that_is_not_known_is_named(watched: Watched) -> None:
    page = watched.open("/devices")
    page.get_by_role("searchbox", name="Search devices").press_sequentially("GPU-00 p1", delay=5)
    expect(page.locator(".total")).to_contain_text("9 devices match")
    assert "text=GPU-00+p1" in page.url
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".total")).to_contain_text(f"{len(BROKEN.plan.devices)} devices")
    page.get_by_role("textbox", name="Rack").fill("nowhere")
    expect(page.get_by_role("alert")).to_contain_text("Rack 'nowhere' is not known")
    watched.complaints.clear()  # the browser notes the 400


def test_columns_are_chosen_and_the_csv_has_just_what_is_shown(watched: Watched) -> None:
    page = watched.open("/cables?state=wrong&sort=-subject")
    page.locator(".columns summary").click()
    page.get_by_role("checkbox", name="Why").uncheck()
    expect(page.locator("th", has_text="Why")).to_have_count(0)
    page.get_by_role("checkbox", name="Pod").check()
    expect(page.locator("th", has_text="Pod")).to_have_count(1)
    assert "columns=subject" in page.url
    with page.expect_download() as started:
        page.locator("#csv").click()
    assert started.value.suggested_filename == "cables.csv"
    with started.value.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["subject", "planned", "actual", "rail", "pod", "state", "findings"]
    assert [row["subject"] for row in rows] == column(page, "Port")
    assert {row["state"] for row in rows} == {"wrong"}


ROWS = 112_000


def test_112_000_rows_are_turned_a_page_at_a_time(watched: Watched) -> None:
    asked: list[dict[str, list[str]]] = []

    def answer(route: Route) -> None:
        asked.append(parse_qs(urlsplit(route.request.url).query))
        first, rows = int(asked[-1]["offset"][0]), int(asked[-1]["limit"][0])
        row = {"planned": "leaf-0/swp1", "actual": None, "rail": 0, "state": "right", "why": "", "findings": []}
        items = [{**row, "subject": f"gpu-{number}/a"} for number in range(first, min(first + rows, ROWS))]
        route.fulfill(json={"items": items, "total": ROWS, "next": None})

    watched.context.route("**/api/v1/cables?*", answer)
    watched.context.route("**/api/v1/events", lambda route: route.fulfill(body="", content_type="text/event-stream"))
    page = watched.open("/cables")
    expect(page.locator(".total")).to_have_text("112,000 cables, 1 to 100 shown")
    page.get_by_role("button", name="Last").click()
    expect(page.locator("tbody tr").last).to_contain_text(f"gpu-{ROWS - 1}/a")
    assert page.locator("tbody tr").count() == 100
    page.locator(".pager input").fill("500")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr").first).to_contain_text("gpu-49900/a")
    assert "page=500" in page.url
    page.locator("th", has_text="Port").get_by_role("button").click()
    expect(page.locator(".total")).to_contain_text("1 to 100 shown")
    assert [one["offset"] for one in asked] == [["0"], ["111900"], ["49900"], ["0"]]
    assert asked[-1]["sort"] == ["subject"]
    assert page.evaluate("() => document.querySelectorAll('*').length") < 3000
    page = watched.open("/cables?page=99999")
    expect(page.locator("tbody tr").last).to_contain_text(f"gpu-{ROWS - 1}/a")


def test_on_a_phone_a_row_stands_below_its_heads(browser: Browser, site: Site) -> None:
    one = Watched(browser, site)
    one.page.set_viewport_size({"width": 390, "height": 844})
    for name in LISTS:
        page = one.open(f"/{name}")
        expect(page.locator("table.rows tbody tr").first).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    one.close()
    assert one.complaints == []
