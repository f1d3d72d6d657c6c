"""The page when things are not as usual: nothing evaluated, nothing new, no one there, hostile names, no one logged
in, a Grafana beside it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.accuracy.list_forms import FORMS
from benchmarks.accuracy.lists import written
from dashboards.grafana.boards import BOARDS
from tests.access_site import OPERATOR, READER, WITH_TOKENS
from tests.fake_tower import fabric
from tests.page_site import Site, Watched, publication
from tests.small_fabric import World, make_plan
from truerail.analysis.published import JournalHealth, JournalState, Published
from truerail.errors import SettingsError
from truerail.model import Port
from truerail.service.loading import load_settings
from truerail.simulator import Noise, Shape, simulate

BROKEN, SEEN = fabric()
IMAGE = "<img src=x onerror=window.hacked=1>"
GRAFANA = "https://grafana.example.net/sub"
SCRIPT = '"><script>window.hacked=1</script>'


def first() -> Published:
    """The fabric's evaluation of just now."""
    return publication(BROKEN.plan, SEEN)


@pytest.fixture(scope="module")
def started() -> Iterator[Site]:
    with Site(None) as one:
        yield one


@pytest.fixture(scope="module")
def guarded() -> Iterator[Site]:
    with Site(None, access=WITH_TOKENS) as one:
        yield one


def test_before_the_first_evaluation_it_says_so_and_then_fills_itself(browser: Browser, started: Site) -> None:
    started.again(None)
    one = Watched(browser, started)
    page = one.open("/")
    expect(page.locator("#map")).to_contain_text("The first round is running")
    started.publish(first())
    expect(page.locator("article.cause").first).to_be_visible()
    expect(page.locator("#verdict")).to_have_class("verdict bad")
    expect(page.locator("#map canvas")).to_be_visible()
    one.close()
    assert all("503" in words for words in one.complaints)


def test_a_refusal_for_now_is_shown_in_its_own_words(browser: Browser, started: Site) -> None:
    one, away = Watched(browser, started), {"title": "Judge away", "detail": "ask again later"}
    one.page.route("**/api/v1/racks*", lambda route: route.fulfill(status=503, json=away))
    expect(one.open("/racks").get_by_role("alert")).to_have_text("Judge awayAsk again later.")
    one.close()
    assert all("503" in words for words in one.complaints)


def test_no_news_for_three_rounds_is_stale_and_a_lost_service_is_reported(browser: Browser) -> None:
    seen = first()
    old = replace(seen.evaluation, at=datetime.now(UTC) - timedelta(minutes=10))
    with Site(replace(seen, evaluated=replace(seen.evaluated, evaluation=old))) as site:
        one = Watched(browser, site)
        page = one.open("/")
        expect(page.locator("#live")).to_have_attribute("data-status", "stale")
        expect(page.locator("#banner-clock")).to_contain_text("may be out of date")
    expect(page.locator("#live")).to_contain_text("disconnected")
    expect(page.locator("#banner-clock")).to_contain_text("Reconnecting")
    expect(page.locator("article.cause").first).to_be_visible()
    one.close()


def test_a_journal_that_fails_and_an_inferred_plan_are_reported_on_every_page(browser: Browser, started: Site) -> None:
    guessed = publication(replace(BROKEN.plan, inferred=True), SEEN)
    journal = JournalState(JournalHealth.FAILING, "disk full", datetime.now(UTC), waiting=7)
    started.again(replace(guessed, journal=journal))
    one = Watched(browser, started)
    for path in ("/", "/punch", "/hosts/gpu-001"):
        page = one.open(path)
        expect(page.locator("#banner-journal")).to_contain_text("disk full")
        expect(page.locator("#banner-plan")).to_contain_text("No plan is given")
    one.close()
    assert one.complaints == []


@pytest.mark.parametrize("form", ["ports PN", "ports N + 100"])
def test_a_map_of_names_is_a_note_and_a_question_is_a_cause(browser: Browser, started: Site, form: str) -> None:
    simulation = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4, platforms=("cumulus",)), (), Noise(), 7)
    started.again(publication(written(simulation, FORMS[form]).plan, simulation.snapshot()))
    one = Watched(browser, started)
    page = one.open("/")
    if form == "ports PN":
        page.locator("[data-key=notes] summary").click()
        expect(page.locator("[data-key=notes]")).to_contain_text("P1 is swp1")
        expect(page.locator("article.cause")).to_have_count(0)
    else:
        expect(page.locator("article.cause")).to_have_count(1)
        expect(page.locator("article.cause")).to_contain_text("perhaps P101 is swp1")
        page = one.open("/punch")
        expect(page.locator("main")).to_contain_text("is P101 its swp1?")
    one.close()
    assert one.complaints == []


def test_what_is_not_there_is_named(browser: Browser, started: Site) -> None:
    started.again(first())
    one = Watched(browser, started)
    page = one.open("/hosts/gpu-9999")
    expect(page.get_by_role("alert")).to_contain_text("gpu-9999")
    page = one.open("/findings/000000000000")
    expect(page.get_by_role("alert")).to_contain_text("000000000000")
    one.close()


def test_an_address_that_leads_nowhere_is_a_page_with_a_way_on(browser: Browser, started: Site) -> None:
    started.again(first())
    one = Watched(browser, started)
    page = one.open("/gpu-003")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.locator("#meant").get_by_role("link", name="gpu-003", exact=True).click()
    page.wait_for_url("**/hosts/gpu-003")
    page = one.open(f"/no/{IMAGE}".replace("<", "%3C"))
    expect(page.locator(".lost .port")).to_contain_text("<img src=x")
    assert page.evaluate("() => window.hacked") is None
    one.close()
    assert all("404" in words for words in one.complaints)
    assert one.foreign() == []


def hostile() -> Published:
    """A fabric whose machines call themselves what an attacker would."""
    plan = make_plan()
    rack = replace(plan.devices["h1"], rack=SCRIPT, pod=IMAGE)
    cables = tuple(cable._replace(label=IMAGE) for cable in plan.cables)
    plan = replace(plan, devices={**plan.devices, "h1": rack}, cables=cables)
    world = World(plan, called={"h2": IMAGE, "leaf-1": SCRIPT})
    world.swap(Port("h1", "nica"), Port("h1", "nicc"))
    return publication(plan, world.snapshot())


def test_names_that_would_be_markup_are_text_everywhere(browser: Browser, started: Site) -> None:
    evaluated = hostile()
    started.again(evaluated)
    ids = [finding.id for finding in evaluated.evaluation.findings]
    causes = [cause.key for cause in evaluated.evaluation.causes]
    one = Watched(browser, started)
    shown = ""
    things = ["/", "/punch", "/hosts/h1", "/switches/leaf-0", "/switches/leaf-1", f"/find?text={IMAGE}"]
    questions = [f"/ask?q=where&port={SCRIPT}", "/ask?q=blast&of=leaf-1", "/changes", f"/timeline?of={IMAGE}"]
    questions += ["/causes", "/findings", "/cables?sort=label", "/devices", "/switch-ports"]
    details = [f"/findings/{ids[0]}", f"/findings/{ids[-1]}", *(f"/causes/{key}" for key in causes[:3])]
    for path in (*things, *questions, *details, f"/hosts/{IMAGE}".replace("/hosts/<", "/hosts/%3C")):
        page = one.open(path.replace("#", "%23"))
        page.wait_for_timeout(60)
        assert page.evaluate("() => window.hacked") is None, path
        assert page.locator("img, script:not([src])").count() == 0, path
        shown += page.locator("body").inner_text()
    one.close()
    assert "<img src=x" in shown
    assert "<script>" in shown
    assert one.foreign() == []


def test_a_reader_logs_in_sees_and_is_offered_no_writes(browser: Browser, guarded: Site) -> None:
    guarded.again(first())
    one = Watched(browser, guarded)
    one.page.goto(f"{guarded.url}/hosts/gpu-003")
    one.page.get_by_label("Token").fill(READER[:-1] + "x")
    one.page.get_by_role("button", name="Log in").click()
    expect(one.page.get_by_role("alert")).to_be_visible()
    one.page.get_by_label("Token").fill(READER)
    one.page.get_by_role("button", name="Log in").click()
    one.page.wait_for_url("**/hosts/gpu-003")
    expect(one.page.locator("#me")).to_contain_text("rita")
    expect(one.page.locator("svg.railmap")).to_be_visible()
    expect(one.page.get_by_role("button", name="Recheck now")).to_be_hidden()
    one.page.get_by_role("button", name="Log out").click()
    expect(one.page.get_by_label("Token")).to_be_visible()
    one.close()


def test_an_operator_who_logged_in_may_write(browser: Browser, guarded: Site) -> None:
    guarded.again(first())
    one = Watched(browser, guarded)
    one.page.goto(f"{guarded.url}/hosts/gpu-003")
    one.page.get_by_label("Token").fill(OPERATOR)
    one.page.get_by_role("button", name="Log in").click()
    one.page.get_by_role("button", name="Recheck now").click()
    expect(one.page.get_by_role("button", name="Queued", exact=True)).to_be_visible()
    assert guarded.tower.rechecked == ["gpu-003"]
    one.close()


def test_a_device_links_to_its_dashboard_where_the_settings_name_a_grafana(browser: Browser) -> None:
    with Site(first(), page={"grafana": f"{GRAFANA}/"}) as site:
        watched = Watched(browser, site)
        for path, link in (
            ("/hosts/gpu-005", f"{GRAFANA}/d/truerail-host?var-fabric=test+fabric&var-host=gpu-005"),
            ("/switches/p1-leaf-1", f"{GRAFANA}/d/truerail-switch?var-fabric=test+fabric&var-switch=p1-leaf-1"),
        ):
            button = watched.open(path).get_by_role("link", name="Grafana")
            expect(button).to_have_attribute("href", link)
            expect(button).to_have_attribute("rel", "noopener")
        watched.close()
        assert watched.complaints == []


def test_without_a_grafana_in_the_settings_there_is_no_link(browser: Browser, started: Site) -> None:
    started.again(first())
    watched = Watched(browser, started)
    page = watched.open("/hosts/gpu-005")
    expect(page.get_by_role("link", name="Impact if down")).to_be_visible()
    expect(page.get_by_role("link", name="Grafana")).to_have_count(0)
    watched.close()


def test_the_dashboards_are_there_and_take_what_the_links_say() -> None:
    taken = {board.name: {one.build().name for one in board.variables} for board in BOARDS}
    assert "host" in taken["host"]
    assert "switch" in taken["switch"]


@pytest.mark.parametrize(
    "value",
    ["javascript:alert(1)", "grafana.example.net", "ftp://grafana.example.net", "https://", "https://g.example.net?a=1",
     "https://admin:secret@g.example.net", "https://g.example.net#top", "http://["],
)  # fmt: skip
def test_a_grafana_with_no_address_of_the_web_is_refused(value: str, tmp_path: Path) -> None:
    file = tmp_path / "truerail.yaml"
    file.write_text(f'inventory: inventory.yaml\npage: {{grafana: "{value}"}}\n')
    with pytest.raises(SettingsError, match=r"truerail\.yaml:2: page\.grafana"):
        load_settings(file)


def test_hostile_characters_in_the_address_of_grafana_stay_text(browser: Browser) -> None:
    with Site(first(), page={"grafana": 'https://g.example.net/"><script>'}) as site:
        watched = Watched(browser, site)
        button = watched.open("/hosts/gpu-005").get_by_role("link", name="Grafana")
        expect(button).to_have_attribute(
            "href", 'https://g.example.net/"><script>/d/truerail-host?var-fabric=test+fabric&var-host=gpu-005'
        )
        watched.close()
        assert watched.complaints == []
