"""The page about traffic in a real Chromium: storms and their trees, rates of ports."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from rules import rules
from tests.fake_tower import fabric
from tests.living_site import Site as Living
from tests.page_site import Site, Watched, publication
from truerail.analysis.counters import Window
from truerail.analysis.published import Published
from truerail.analysis.rule import Case
from truerail.files.nodesets import expand
from truerail.model import CauseKind
from truerail.questions.storm import storm
from truerail.simulator import Fault, Shape
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.testing.cases import scene

IMAGE = "<img src=x onerror=window.hacked=1>"
SCRIPT = '"><script>window.hacked=1</script>'
COUNTED = ("nic_counters", "rdma_counters", "port_counters", "pfc_counters")
FIRES, QUIET = rules()["PFC001"].fires, rules()["PFC001"].quiet
SPREAD, BEHIND, TWO = FIRES[0], FIRES[7], FIRES[8]

Shows = Callable[[Published], AbstractContextManager[Watched]]


def reported(case: Case) -> Published:
    """An example of the rule, evaluated."""
    return publication((made := scene(case)).plan, made.snapshot, counters=made.counters)


@pytest.fixture(scope="module")
def shows(browser: Browser) -> Iterator[Shows]:
    """Shows a publication in the browser, which keeps the files of the page from one test to the next."""
    with Site(None) as site:
        yield partial(_eyes, browser, site)


@contextmanager
def _eyes(browser: Browser, site: Site, shown: Published) -> Iterator[Watched]:
    """A site with a browser before it; what the browser complains about fails the test."""
    site.again(shown)
    watched = Watched(browser, site)
    try:
        yield watched
    finally:
        watched.close()
    assert watched.complaints == []
    assert watched.foreign() == []


def faked(page: Page, answer: Mapping[str, Any]) -> None:
    """Lets the page believe that this is what the API says of storms."""
    body = json.dumps(answer)
    page.route("**/api/v1/storm*", lambda route: route.fulfill(body=body, content_type="application/json"))


def tree(edges: Sequence[Mapping[str, Any]], **changed: Any) -> dict[str, Any]:
    """A storm as the API tells it; the devices follow from the waits."""
    far = {edges[0]["on"].partition("/")[0]: 0}
    for edge in edges:
        far.setdefault(edge["waiting"].partition("/")[0], edge["hops"])
    role = [(name, "host" if name.startswith("gpu") else "leaf") for name in far]
    nodes = [
        {"device": name, "role": kind, "kind": "victim" if far[name] else "culprit", "hops": far[name]}
        for name, kind in role
    ]
    hosts = [name for name, kind in role if kind == "host" and far[name]]
    given = {"finding": "", "culprit": edges[0]["on"], "behind": False, "sub_cause": "pcie", "level": "storm"}
    given |= {"priority": 3, "rail": None, "paused_share": 0.99, "mean_pause_us": 412.0, "nodes": nodes, "hosts": hosts}
    return given | {"edges": edges, "since": None, "confidence": 0.8, "summary": "", "action": ""} | changed


def wait(waiting: str, on: str, hops: int, **changed: Any) -> dict[str, Any]:
    """A paused link as the API tells it."""
    given = {"waiting": waiting, "on": on, "hops": hops, "share": 0.9, "exact": True}
    return given | {"source": "both ends", "link": "actual"} | changed


def answer(*storms: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "query": None,
        "storms": storms,
        "deadlocks": [],
        "reported": True,
        "summary": "they stand",
        "action": "look",
    }


def test_a_storm_shows_its_culprit_its_victims_and_what_to_do(shows: Shows) -> None:
    with shows(reported(SPREAD)) as eyes:
        page = eyes.open("/storm")
        card = page.locator("section.storm")
        expect(card).to_have_count(1)
        expect(card.locator("h2")).to_have_text("gpu-1/nic0")
        expect(card.locator("p.action")).to_contain_text("Drain gpu-1, or shut leaf-0/swp1")
        expect(card.locator(".stop.culprit")).to_contain_text("gpu-1")
        names = [text.split()[0] for text in card.locator(".stop .name").all_text_contents()]
        assert sorted(names) == ["gpu-1", "gpu-2", "gpu-3", "leaf-0", "leaf-1", "spine-1"]
        assert card.locator(".share").all_text_contents() == ["99 % · P3"] * 5
        assert set(card.locator(".stormtree > .soft").all_text_contents()) == {"both ends"}
        assert card.locator(".head").all_text_contents() == ["culprit", "1 hop", "2 hops", "3 hops", "4 hops"]
        assert "gpu-3/nic0 waits for leaf-1/swp1 99 % of the time on priority 3, reported by both ends; 4 hops" in (
            card.get_by_role("link", name="gpu-3/nic0 waits").get_attribute("aria-label") or ""
        )
        card.get_by_text("5 paused links in detail").click()
        expect(card.locator("tbody tr")).to_have_count(5)
        card.get_by_role("link", name="Check job on these hosts").click()
        page.wait_for_url("**/ask?q=job&nodes=gpu-%5B2-3%5D")


def test_a_tree_is_walked_by_keyboard(shows: Shows) -> None:
    with shows(reported(SPREAD)) as eyes:
        page = eyes.open("/storm")
        page.get_by_role("link", name="Evidence").focus()
        seen = []
        for _ in range(12):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? ''"))
            if seen[-1].startswith("gpu-3/nic0 waits"):
                break
        assert any(label.startswith("leaf-0/swp1 waits for gpu-1/nic0") for label in seen)
        page.keyboard.press("Enter")
        page.wait_for_url("**/hosts/gpu-3")


def test_every_storm_stands_below_the_other_and_one_can_be_asked_for(shows: Shows) -> None:
    with shows(reported(TWO)) as eyes:
        page = eyes.open("/storm")
        expect(page.locator("section.storm h2")).to_have_text(["gpu-3/nic0", "gpu-1/nic0"])
        expect(page.locator("p.verdict")).to_contain_text("2 PFC storms")
        expect(page.locator(".wait.lone")).to_have_count(1)
        page.get_by_label("With this device or port").fill("leaf-0")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("section.storm h2")).to_have_text(["gpu-1/nic0"])
        page = eyes.open("/storm?of=gpu-2")
        expect(page.get_by_role("heading", name="No PFC storm")).to_be_visible()
        expect(page.locator(".empty")).to_contain_text("that gpu-2 takes part in")
        page.get_by_role("link", name="All storms").click()
        expect(page.locator("section.storm")).to_have_count(2)


def test_a_culprit_that_nobody_monitors_is_said_to_stand_behind(shows: Shows) -> None:
    with shows(reported(BEHIND)) as eyes:
        page = eyes.open("/storm")
        expect(page.locator("section.storm h2")).to_have_text("Behind leaf-0/swp9")
        expect(page.locator(".stop.culprit.suspect")).to_contain_text("not monitored")


def test_nothing_stands_is_not_the_same_as_nobody_can_tell(shows: Shows) -> None:
    plan, seen = fabric()[0].plan, fabric()[1]
    with shows(reported(QUIET[1])) as eyes:
        page = eyes.open("/storm")
        expect(page.locator(".calm")).to_contain_text("No PFC storm")
        assert page.locator("section.storm").count() == 0
        expect(eyes.open("/").locator("article.cause a.kind", has_text="PFC storm")).to_have_count(0)
    with shows(publication(plan, seen)) as eyes:
        page = eyes.open("/storm")
        expect(page.locator(".doubtful")).to_contain_text("Whether there is a storm")
        assert page.locator(".calm").count() == 0


def test_the_overview_tells_of_a_storm_that_breaks_out_and_leads_to_it(shows: Shows) -> None:
    made = scene(SPREAD)
    calm = publication(made.plan, made.snapshot, counters=scene(replace(QUIET[1], plan=SPREAD.plan)).counters)
    with shows(calm) as eyes:
        page = eyes.open("/")
        expect(page.locator("#verdict a")).to_have_count(0)
        eyes.site.publish(replace(reported(SPREAD), number=2))
        expect(page.locator("#verdict a")).to_contain_text("gpu-1/nic0")
        expect(page.locator("article.cause a.kind", has_text="PFC storm")).to_be_visible()
        page.locator("article.cause").get_by_role("link", name="Pause tree").click()
        expect(page.locator("section.storm")).to_have_count(1)
        eyes.site.publish(replace(calm, number=3))
        expect(page.locator(".calm")).to_be_visible()


@pytest.mark.parametrize("where", ["cause", "finding"])
def test_a_cause_and_a_finding_lead_to_the_tree(shows: Shows, where: str) -> None:
    evaluated = reported(SPREAD)
    (cause,) = [one for one in evaluated.evaluation.causes if one.kind is CauseKind.PFC_STORM]
    (finding,) = [one for one in evaluated.evaluation.findings if one.rule == "PFC001"]
    with shows(evaluated) as eyes:
        page = eyes.open({"cause": f"/causes/{cause.key}", "finding": f"/findings/{finding.id}"}[where])
        page.locator(".title").get_by_role("link", name="Pause tree").click()
        page.wait_for_url("**/storm?of=gpu-1%2Fnic0")
        expect(page.locator("section.storm")).to_have_count(1)


def storming() -> tuple[str, Published]:
    """A living fabric in which a NIC storms, after some rounds: its name, and what a service shows."""
    site = Living([Fault(CauseKind.LINK_DOWN)], shape=Shape(hosts=8, rails=4, spines=2, uplinks=4))
    site.director.fix(1)
    site.settle()
    nic = site.director.disturb(FlowFault(FlowFaultKind.STORM)).cause.subjects[0]
    window = Window()
    for _ in range(6):
        site.wait(10.0)
        asked = site.round()
        window.put([reading for reading in asked.readings if reading.collector in COUNTED])
    return nic, publication(site.fabric.plan, asked.snapshot(), counters=window.view())


def test_a_storm_in_a_living_fabric_is_drawn_as_it_is_answered(shows: Shows) -> None:
    with ThreadPoolExecutor(1) as elsewhere:  # an event loop of the browser's runs in this thread
        nic, evaluated = elsewhere.submit(storming).result()
    (reported_of,) = storm(evaluated).storms
    assert reported_of.culprit == nic
    with shows(evaluated) as eyes:
        page = eyes.open("/storm")
        expect(page.locator("section.storm h2")).to_have_text(nic)
        names = {text.split()[0] for text in page.locator(".stop .name").all_text_contents()}
        assert names == {node.device for node in reported_of.nodes}
        page = eyes.open(f"/hosts/{nic.partition('/')[0]}")
        traffic = page.get_by_role("region", name="Traffic")
        expect(traffic.locator("tbody tr")).to_have_count(4)
        expect(traffic.locator("tr", has_text=nic.partition("/")[2]).locator("svg.pause rect").last).to_be_visible()
        expect(traffic).to_contain_text("Gb/s")


def test_many_who_wait_alike_are_folded_and_none_is_left_out(shows: Shows) -> None:
    edges = [wait("leaf-0/swp7", "gpu-007/nic0", 1)]
    edges += [wait(f"gpu-{n:03d}/nic0", f"leaf-0/swp{n}", 2, share=n / 100) for n in range(20, 60)]
    edges += [wait(f"leaf-{n}/swp60", f"leaf-0/swp{n + 70}", 2, share=n / 20) for n in range(1, 10)]
    edges += [wait(f"gpu-{n + 900}/nic0", f"leaf-{n}/swp1", 3, exact=False) for n in range(1, 10)]
    with shows(reported(SPREAD)) as eyes:
        faked(eyes.page, answer(tree(edges)))
        page = eyes.open("/storm")
        expect(page.locator(".stop")).to_have_count(1 + 1 + 6 + 4 + 4 + 1)
        expect(page.locator(".stop.more .name")).to_have_text(["35 more hosts", "5 more devices"])
        expect(page.locator(".stop.more .soft").first).to_contain_text("[020-054]")
        assert "≤ 90 % · P3" in page.locator(".share").all_text_contents()
        page.locator("summary", has_text="59 paused links").click()
        expect(page.locator("section.storm tbody tr")).to_have_count(59)


def test_a_circle_of_waits_ends(shows: Shows) -> None:
    edges = [wait("leaf-1/a", "leaf-0/a", 1), wait("leaf-2/a", "leaf-1/b", 2), wait("leaf-0/b", "leaf-2/b", 3)]
    with shows(reported(SPREAD)) as eyes:
        faked(eyes.page, answer(tree(edges, priority=None, level="suspect")))
        page = eyes.open("/storm")
        expect(page.locator(".stop .name")).to_have_text(["leaf-0", "leaf-1", "leaf-2", "leaf-0"])
        expect(page.locator(".tag.flapping")).to_have_text("may be a storm")


def test_names_that_would_be_markup_are_text_in_trees_and_rates(shows: Shows) -> None:
    edges = [wait(f"{IMAGE}/{SCRIPT}", f"{SCRIPT}/x", 1), wait("", f"{IMAGE}/{IMAGE}", 2, source=IMAGE)]
    hostile = tree(
        edges, summary=IMAGE, action=SCRIPT, sub_cause=IMAGE, culprit=f"{SCRIPT}/x", finding=SCRIPT, hosts=[IMAGE]
    )
    rates = {"query": IMAGE, "begins": ["2026-11-20T14:00:00+00:00"], "reported": True, "summary": SCRIPT, "ports": []}
    counts = {"tx_gbps": [1.0], "rx_gbps": [None], "paused": [0.5], "pausing": [], "errors": {IMAGE: 3}}
    port = {"port": f"h/{IMAGE}", "rail": 0, "plane": None, "peer": SCRIPT, "speed_gbps": None} | counts
    rates["ports"] = [port | {"paused_exact": False, "pausing_exact": True}]
    with shows(reported(SPREAD)) as eyes:
        faked(eyes.page, answer(hostile, hostile))
        body = json.dumps(rates)
        eyes.page.route("**/api/v1/rates*", lambda route: route.fulfill(body=body, content_type="application/json"))
        for path in ("/storm", "/hosts/gpu-1", f"/storm?of={SCRIPT}"):
            page = eyes.open(path)
            assert page.evaluate("() => window.hacked") is None, path
            assert page.locator("img, script:not([src])").count() == 0, path
            assert IMAGE in page.locator("body").inner_text(), path


def test_a_telephone_shows_the_tree_without_scrolling_aside(shows: Shows) -> None:
    with shows(reported(SPREAD)) as eyes:
        eyes.page.set_viewport_size({"width": 390, "height": 800})
        page = eyes.open("/storm")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
        wide = page.locator("svg.stormtree").bounding_box()
        assert wide
        assert wide["width"] <= 390
        assert page.locator(".share").first.text_content() == "99 % · P3 · both ends"
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(page.locator(".stormtree .head").first).to_have_text("culprit")


NAMES = [["gpu-007"], ["gpu-001", "gpu-002", "gpu-003", "gpu-007"], ["a9", "a10", "a11"], ["x", "gpu-1", "gpu-2"], []]


def test_folded_names_are_a_node_set_that_means_them(shows: Shows) -> None:
    with shows(reported(SPREAD)) as eyes:
        page = eyes.open("/storm")
        module = page.locator("link[href$='nodeset.js']").get_attribute("href")
        for names in NAMES:
            text = page.evaluate("([m, names]) => import(m).then(({ folded }) => folded(names))", [module, names])
            assert sorted(expand(text) if text else []) == sorted(names)
            assert len(text) <= len(",".join(names)) + 2


def test_ports_without_counters_are_not_reported(shows: Shows) -> None:
    plan, seen = fabric()[0].plan, fabric()[1]
    with shows(publication(plan, seen)) as eyes:
        traffic = eyes.open("/hosts/gpu-001").get_by_role("region", name="Traffic")
        expect(traffic).to_contain_text("Not reported: no device was polled for counters.")
        assert traffic.locator("table").count() == 0
    with shows(reported(SPREAD)) as eyes:
        traffic = eyes.open("/switches/leaf-0").get_by_role("region", name="Traffic")
        row = traffic.locator("tr", has_text="swp1").first
        expect(row.locator("svg.pause")).to_have_count(1)
        expect(row.locator("svg .gap")).to_have_count(1)
        expect(row.locator("td").nth(3)).to_have_text("not reported")
        expect(row.locator("td").nth(6)).to_have_text("not reported")
