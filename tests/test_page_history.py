"""The page Ask's history: ready-made questions over a real store, in a real Chromium."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.api_client import problem_of
from tests.fake_tower import published
from tests.history_rows import NOW, ago, cable, hour, patient, store_of
from tests.live_site import Run
from tests.page_site import Site, Watched
from truerail.cli import query

_patient = patient


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(
        tmp_path_factory.mktemp("web") / "store",
        counters_hours=[hour(f"gpu-{n}", "nic0", 5, link_downs=9.0 - n) for n in (1, 2, 3)],
        rounds=[{"answered": ago(4)}, {"answered": ago(3)}],
        cables=[cable(f"gpu-{n}", 200, None, "leaf-0", "right", planned_port=f"swp{n}") for n in (1, 2, 3)],
    )


@pytest.fixture(scope="module")
def site(store: Path) -> Iterator[Site]:
    with Site(published(), history={"path": store}) as one:
        one.tower.moment = NOW
        yield one


def test_a_question_is_picked_asked_and_shared(browser: Browser, site: Site) -> None:
    watched = Watched(browser, site)
    page = watched.open("/ask")
    page.get_by_role("link", name="History").click()
    page.get_by_label("Question").select_option("flapping-ports")
    page.get_by_role("textbox", name="Since").fill("1d")
    page.get_by_role("textbox", name="Device").fill("gpu-2")
    page.get_by_role("button", name="Ask").click()
    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text("gpu-2")
    expect(row).to_contain_text("leaf-0/swp2")
    expect(page.locator("code")).to_have_text("truerail query flapping-ports --since 1d --device gpu-2")
    assert page.url.endswith("/ask/history?q=flapping-ports&since=1d&device=gpu-2")
    page.reload()
    expect(page.get_by_role("textbox", name="Device")).to_have_value("gpu-2")
    expect(page.get_by_role("row").nth(1)).to_contain_text("gpu-2")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert "gpu-2" in download.value.path().read_text()
    watched.close()
    assert watched.complaints == []


def test_an_empty_answer_says_what_it_means_and_a_wrong_one_why(browser: Browser, site: Site) -> None:
    watched = Watched(browser, site)
    page = watched.open("/ask/history?q=ber-drift")
    expect(page.get_by_text("No port reported such a rate over enough days: it is unknown.")).to_be_visible()
    expect(
        page.get_by_text("Lights: has no rows in this time.").or_(page.get_by_text("lights: has no rows"))
    ).to_be_visible()
    page = watched.open("/ask/history?q=ber-drift&since=never")
    expect(page.get_by_role("alert")).to_contain_text("is not a time")
    watched.close()


def test_a_service_without_a_store_shows_how_to_add_one(browser: Browser) -> None:
    with Site(published()) as site:
        watched = Watched(browser, site)
        page = watched.open("/ask/history")
        expect(page.get_by_role("heading", name="This service keeps no history store")).to_be_visible()
        expect(page.get_by_text("history: {path: history}")).to_be_visible()
        watched.close()
        assert watched.complaints == []
        response = httpx.get(f"{site.url}/api/v1/history/questions/flapping-ports")
        assert "history: {path: DIR}" in problem_of(response, 404)["detail"]


def test_the_command_line_asks_the_service_where_no_store_is_named(
    site: Site, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(query, "_PAGE_ROWS", 2)
    asked = ("query", "flapping-ports", "--since", "1d", "--service", site.url)
    code, shown, lacks = run(*asked)
    assert (code, shown.splitlines()[0]) == (0, "Top flapping links")
    assert [line.split()[0] for line in shown.splitlines()[3:]] == ["gpu-1", "gpu-2", "gpu-3"]
    assert "The store ends at 2026-11-20 09:00:00 UTC, 3:00:00 before the time asked for." in lacks
    _, shown, lacks = run(*asked, "--format", "json", "--limit", "1")
    assert [row["device"] for row in json.loads(shown)] == ["gpu-1"]
    assert "Only the first 1 rows: --limit shows more." in lacks
    for words, error in (("--format csv", "is written from a store"), ("--step 1h", "has no parameter 'step'")):
        code, _, lacks = run(*asked, *words.split())
        assert (code, error in lacks) == (2, True)
    code, _, lacks = run("query", "select 1", "--service", site.url)
    assert (code, "give the history store: --store DIR" in lacks) == (2, True)
