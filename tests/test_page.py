"""The page in a real Chromium: what people see, click and type, on a simulated fabric with planted faults."""

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fake_tower import FakeTower, fabric
from tests.page_site import Site, Watched, publication
from tests.patience import soon
from truerail.analysis.round import Round
from truerail.model import Role
from truerail.model.history import CauseEvent, EventKind, FindingEvent, KeptCause, KeptFinding, LinkChange, LinkPlace
from truerail.model.life import Life, LifeState
from truerail.model.step_marks import MarkAction, StepChange, changed
from truerail.outputs.report import Options, render
from truerail.rounds import evaluate
from truerail.simulator import demo_simulation
from truerail.views.fabric_map import fabric_map
from truerail.views.plain import as_json

BROKEN, SEEN = fabric()
_, WHOLE = fabric(faults=False)
FIRST = publication(BROKEN.plan, SEEN)


@pytest.fixture(scope="module")
def started() -> Iterator[Site]:
    with Site(None) as one:
        yield one


@pytest.fixture
def site(started: Site) -> Site:
    started.again(FIRST)
    return started


@pytest.fixture
def watched(watched: Watched) -> Iterator[Watched]:
    yield watched
    assert len(watched.asked) > 5


@pytest.fixture
def apart(browser: Browser, site: Site) -> Iterator[Watched]:
    one = Watched(browser, site, apart=True)
    yield one
    one.close()
    assert one.complaints == []


def test_the_overview_shows_the_verdict_causes_by_impact_counts_collectors_and_a_legend(watched: Watched) -> None:
    page = watched.open("/")
    evaluated = watched.site.tower.publication
    assert evaluated is not None
    summary = evaluated.evaluation.summary
    first = page.locator("article.cause a.kind").first
    assert page.locator("#verdict a").get_attribute("href") == first.get_attribute("href")
    expect(page.locator("article.cause")).to_have_count(len(evaluated.evaluation.causes))
    expect(page.locator("#live")).to_contain_text("as of")
    wrong = page.locator("button.chip.wrong .figure").inner_text()
    assert int(wrong) == summary.cables_wrong
    impacts = [int(text.split()[0]) for text in page.locator(".impact").all_inner_texts() if text[0].isdigit()]
    assert len(impacts) > 1
    assert impacts == sorted(impacts, reverse=True)
    tally = page.locator("#tally")
    expect(tally).to_contain_text(f"{summary.cables_right} of {summary.cables_planned} right")
    expect(tally).to_contain_text(f"{summary.hosts_read} of {summary.hosts} hosts")
    expect(tally).to_contain_text(f"Causes{len(evaluated.evaluation.causes)}")
    expect(page.locator("#collectors tbody tr")).to_have_count(1)
    expect(page.locator("#collectors tbody tr")).to_contain_text("lldp_host23/24")
    expect(page.locator("#collectors tfoot")).to_have_text("No device polled: ib_fabric, pfc_snmp")
    legend = page.locator("#legend")
    for words in ("as planned", "wrong", "missing", "unknown", "one cause", "muted", "critical", "changed"):
        expect(legend).to_contain_text(words)
    assert legend.locator("canvas").count() == 10


MARKED = """() => {
  const {width, height} = document.querySelector('#map canvas');
  const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(document.querySelector('#map canvas'), 0, 0);
  const {data} = copy.getImageData(0, 0, width, height);
  const found = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    found.set(colour, (found.get(colour) ?? 0) + 1);
  }
  return [...found.keys()];
}"""


def _colour(page: Page, name: str) -> int:
    value = page.evaluate("(name) => getComputedStyle(document.documentElement).getPropertyValue(name)", name)
    return int(value.strip().removeprefix("#"), 16)


def test_cells_take_the_colours_of_their_causes_and_the_address_says_so(watched: Watched) -> None:
    page = watched.open("/")
    number = page.locator(".cause-number").first
    expect(number).to_be_hidden()
    assert _colour(page, "--cause-1") not in page.evaluate(MARKED)
    page.locator("#by-cause").click()
    expect(number).to_have_text("1")
    soon(lambda: _colour(page, "--cause-1") in page.evaluate(MARKED))
    expect(page.locator("#legend")).to_contain_text("cause 1")
    page.reload()
    expect(page.locator("#by-cause")).to_have_attribute("aria-pressed", "true")
    page.locator("#by-state").click()
    assert "?" not in page.url


def test_on_a_phone_causes_come_first_and_the_menu_has_every_page(browser: Browser, site: Site) -> None:
    one = Watched(browser, site)
    one.page.set_viewport_size({"width": 390, "height": 844})
    page = one.open("/")
    tops = page.evaluate("() => ['.causes', '.fabric'].map((one) => document.querySelector(one).offsetTop)")
    assert tops[0] < tops[1]
    entries = page.locator("#pages a")
    expect(entries.first).to_be_hidden()
    page.locator("#menu").click()
    for entry in entries.all():
        box = entry.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    expect(entries.first).to_be_hidden()
    one.close()
    assert one.complaints == []


COUNTS = """
window.drawn = 0;
for (const name of ["fillRect", "strokeRect", "fillText", "fill", "stroke"]) {
  const work = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...parts) {
    window.drawn += 1;
    return work.apply(this, parts);
  };
}
"""


def test_a_large_fabric_costs_the_page_little_work(apart: Watched) -> None:
    hosts, rails = 12_500, 8
    codes = bytes(2 if at % 1000 == 7 else 1 for at in range(hosts * rails))
    large = {
        **as_json(fabric_map(publication(BROKEN.plan, SEEN))),
        "rails": list(range(rails)),
        "hosts": [f"gpu-{number:05d}" for number in range(hosts)],
        "racks": [""] * hosts,
        "pods": [{"name": f"p{number}", "first": number * 250, "hosts": 250} for number in range(50)],
        "cells": b64encode(codes).decode(),
    }
    apart.context.route("**/api/v1/map", lambda route: route.fulfill(json=large))
    apart.context.route("**/api/v1/events", lambda route: route.fulfill(body="", content_type="text/event-stream"))
    apart.page.add_init_script(COUNTS)
    page = apart.open("/")
    page.wait_for_function("() => performance.getEntriesByName('truerail:ready').length")
    expect(page.locator("#broken summary")).to_contain_text("100 hosts")
    assert page.evaluate("() => window.drawn") < 10_000, "cells that are right are drawn column by column"
    assert page.evaluate("() => document.querySelectorAll('*').length") < 1500


def test_a_cell_opens_its_host(watched: Watched) -> None:
    page = watched.open("/")
    page.locator("#map canvas").click(position={"x": 150, "y": 60})
    page.wait_for_url("**/hosts/*")
    host = page.url.rpartition("/")[2]
    expect(page.locator("h1")).to_have_text(host)
    expect(page.locator("svg.railmap .badge")).to_have_count(4)


def test_a_round_changes_cells_causes_and_verdict_while_one_looks(watched: Watched) -> None:
    page = watched.open("/")
    expect(page.locator("article.cause").first).to_be_visible()
    watched.site.publish(publication(BROKEN.plan, WHOLE, 2))
    expect(page.locator("#verdict")).to_contain_text("are right")
    expect(page.locator("#verdict")).to_have_class("verdict good")
    expect(page.locator("button.chip.wrong .figure")).to_have_text("0")
    expect(page.locator("article.cause")).to_have_count(0)
    expect(page.locator("#broken summary")).to_have_text("All cables of hosts are right")
    expect(page.locator("#number")).to_have_text("round 2")


def test_everything_can_be_done_by_keyboard(watched: Watched) -> None:
    page = watched.open("/")
    page.keyboard.press("/")
    page.keyboard.type("gpu-005")
    expect(page.locator("#found [role=option]").first).to_contain_text("gpu-005")
    page.keyboard.press("Enter")
    page.wait_for_url("**/hosts/gpu-005")
    page = watched.open("/")
    page.locator("#map canvas").focus()
    page.keyboard.press("n")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    said = page.locator("#map p[aria-live]").inner_text()
    assert any(word in said for word in ("wrong", "missing", "unknown"))
    page.keyboard.press("+")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/hosts/{said.split()[0]}")


def test_the_list_behind_the_map_names_what_the_map_shows(watched: Watched) -> None:
    page = watched.open("/")
    page.locator("#broken summary").click()
    expect(page.locator("#broken tbody th").first).to_be_visible()
    names = page.locator("#broken tbody th").all_inner_texts()
    states = watched.site.tower.publication.evaluation.cable_states  # type: ignore[union-attr]  # the site has one
    hosts = {cable.a.device for cable in BROKEN.plan.host_cables if states[cable.a].value != "right"}
    assert set(names) == hosts


def test_a_finding_is_acknowledged_with_a_reason(watched: Watched) -> None:
    evaluated = watched.site.tower.publication
    assert evaluated is not None
    finding = evaluated.evaluation.findings[0].id
    page = watched.open(f"/findings/{finding}")
    page.locator(".title").get_by_role("button", name="Acknowledge").click()
    page.get_by_role("dialog").get_by_role("button", name="Acknowledge").click()
    assert page.get_by_role("dialog").is_visible(), "a reason is required"
    page.get_by_label("Reason").fill("optics <b>ordered</b>")
    page.get_by_role("dialog").get_by_role("button", name="Acknowledge").click()
    expect(page.locator(".note")).to_contain_text("optics <b>ordered</b>")
    expect(page.locator(".title").get_by_role("button", name="Acknowledge")).to_have_count(0)
    note = next(iter(watched.site.tower.history.notes.values()))
    assert (note.target, note.reason, note.author) == (finding, "optics <b>ordered</b>", "local")
    assert note.until is not None


def test_a_device_is_rechecked(watched: Watched) -> None:
    page = watched.open("/hosts/gpu-003")
    page.get_by_role("button", name="Recheck now").click()
    expect(page.get_by_role("button", name="Queued", exact=True)).to_be_visible()
    assert watched.site.tower.rechecked == ["gpu-003"]


def test_the_punch_list_walks_the_racks_and_ticks_itself_off(watched: Watched) -> None:
    page = watched.open("/punch")
    steps = page.locator("li.step")
    expect(steps).to_have_count(len(watched.site.tower.steps))
    racks = page.locator(".rack h2").all_inner_texts()
    assert racks == sorted(racks)
    expect(page.locator(".far small").first).to_contain_text("rack")
    rack = racks[0].removeprefix("Rack ")
    page.locator("#rack").fill(rack)
    expect(page.locator(".rack")).to_have_count(1)
    page.locator("#rack").fill("")
    watched.site.publish(publication(BROKEN.plan, WHOLE, 2))
    expect(page.locator("li.step.done")).to_have_count(len(watched.site.tower.steps))
    expect(page.locator("#progress")).to_contain_text(f"{len(watched.site.tower.steps)} of")


def test_devices_without_an_answer_share_one_line_and_serial_numbers_are_shown(watched: Watched) -> None:
    tower = watched.site.tower
    silent = [replace(tower.steps[0], key=f"u{n}", kind="unreachable", device=f"gpu-{n:03d}") for n in (7, 8, 9)]
    watched.site.publish(publication(BROKEN.plan, SEEN, 7))  # the browser keeps what other tests got
    tower.steps = (*tower.steps, *(replace(step, serial="SN-7") for step in silent))
    page = watched.open("/punch")
    expect(page.locator("details[data-key=unreachable] > summary")).to_contain_text("gpu-[007-009]")
    expect(page.locator("li.step:visible")).to_have_count(len(tower.steps) - 3)
    page.locator("details[data-key=unreachable] > summary").click()
    expect(page.locator("li.step:visible", has_text="SN-7")).to_have_count(3)


def test_a_switch_shows_its_front_panel(watched: Watched) -> None:
    leaf = next(c.b.device for c in BROKEN.plan.host_cables)
    page = watched.open(f"/switches/{leaf}")
    down = sum(cable.b.device == leaf for cable in BROKEN.plan.host_cables)
    up = sum(cable.a.device == leaf for cable in BROKEN.plan.cables)
    expect(page.locator("a.jack:not(.free)")).to_have_count(down + up)
    expect(page.locator("a.jack.up")).to_have_count(up)


def test_a_cause_shows_its_moves_and_leads_to_its_findings(watched: Watched) -> None:
    page = watched.open("/")
    page.locator("article.cause", has=page.locator("ol.moves")).first.locator("a.kind").click()
    expect(page.locator("h1")).not_to_contain_text("impact")
    expect(page.locator("svg.crossing path.now").first).to_be_attached()
    page.locator('ul.lines a[href^="/findings/"]').first.click()
    page.wait_for_url("**/findings/*")
    expect(page.get_by_role("heading", name="Ruled out")).to_be_visible()
    expect(page.locator(".evidence").first).to_be_visible()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("q=where&port=gpu-003", "svg.railmap"),
        ("q=job&nodes=gpu-[001-008]", "text=Host pairs"),
        ("q=path&from=gpu-001&to=gpu-004", ".hop"),
        ("q=rails", "section[aria-label=Rails] tbody tr"),
        ("q=counters&of=gpu-001", ".verdict"),
        ("q=drain&of=spine-1&job=a=gpu-001", "section[aria-label=Announcement] pre"),
        ("q=plan-repair&job=a=gpu-001", "article.repair .impact"),
    ],
)
def test_questions_stand_in_the_address(watched: Watched, question: str, answer: str) -> None:
    expect(watched.open(f"/ask?{question}").locator(answer).first).to_be_visible()


def test_a_question_is_asked_by_its_form(watched: Watched) -> None:
    leaf = next(c.b.device for c in BROKEN.plan.host_cables)
    page = watched.open("/ask")
    page.get_by_label("Switch, host or port").fill(leaf)
    page.get_by_role("button", name="Show impact").click()
    expect(page.locator("dd.large").first).to_be_visible()
    assert f"of={leaf}" in page.url


def test_an_answer_without_a_drawing_is_shown_as_values_and_tables(watched: Watched) -> None:
    page = watched.open("/ask")
    page.evaluate(
        """async () => {
            const here = document.querySelector("script[type=module]").src;
            const { plain } = await import(new URL("plain.js", here));
            const rows = [{ port: "<b>", up: true }, { port: "p2", up: null }];
            const drawn = plain({ query: "leaf-3", free_ports: [1, 2], rows, summary: "2 ports" });
            document.getElementById("answer").append(...drawn.flat().filter(Boolean));
        }"""
    )
    answer = page.locator("#answer")
    expect(answer.locator(".verdict")).to_have_text("2 ports.")
    assert answer.locator("dt, dd").all_inner_texts() == ["query", "leaf-3", "free ports", "1, 2"]
    assert answer.locator("td").all_inner_texts() == ["<b>", "yes", "p2", "–"]


def test_maintenance_is_announced_and_ended(watched: Watched) -> None:
    page = watched.open("/maintenance")
    page.get_by_label("What").fill("gpu-003")
    page.get_by_label("Reason").fill("new NIC")
    page.get_by_role("button", name="Announce").click()
    expect(page.locator("#windows")).to_contain_text("new NIC")
    page.get_by_role("button", name="End").click()
    expect(page.locator("#windows")).to_contain_text("No maintenance")
    assert not watched.site.tower.history.open_windows


def test_changes_are_shown_for_a_time_and_against_the_plan(watched: Watched) -> None:
    page = watched.open("/changes")
    expect(page.locator(".verdict")).to_have_text("Nothing changed.")
    page.get_by_text("Against the plan").click()
    page.locator("details.change summary").first.click()
    expect(page.locator("tbody tr").first).to_be_visible()


def test_changes_are_folded_below_their_cause(watched: Watched) -> None:
    evaluated, history = watched.site.tower.publication, watched.site.tower.history
    assert evaluated is not None
    cause = max(evaluated.evaluation.causes, key=lambda one: len(one.explains))
    of = [one for one in evaluated.evaluation.findings if one.id in cause.explains]
    at = watched.site.tower.moment - timedelta(minutes=20)
    began = CauseEvent(
        1, at, EventKind.APPEARED, at, cause.key, cause.kind.value, cause.subjects, cause.summary, cause.explains
    )
    history.caused.append(began)
    for seq, one in enumerate(of, 1):
        history.happened.append(
            FindingEvent(seq, at, EventKind.APPEARED, one.id, one.rule, "critical", one.subject, one.summary)
        )
        history.changes.append(LinkChange(seq, at, one.subject, "a/b", "c/d", "right", "wrong"))
    lone = LinkChange(len(of) + 1, at, "gpu-020/x", "a/b", None, "right", "missing")
    history.changes.append(lone)
    page = watched.open("/changes")
    line = page.locator("details.change")
    expect(line).to_have_count(1)
    expect(line.locator("summary")).to_contain_text(f"{len(of)} finding")
    expect(line.locator("tbody tr").first).to_be_hidden()
    line.locator("summary").click()
    expect(line.locator("tbody tr")).to_have_count(2 * len(of))
    expect(line.get_by_role("link", name="The cause")).to_have_attribute("href", f"/causes/{cause.key}")
    expect(page.get_by_role("region", name="1 link without a cause").locator("tbody tr")).to_have_count(1)
    page = watched.open(f"/timeline?of={cause.subjects[0]}")
    expect(page.locator("ol.timeline > li.appeared").first).to_be_visible()
    folded = page.locator("details.folded")
    expect(folded.locator("li").first).to_be_hidden()
    folded.locator("summary").click()
    expect(folded.locator("li").first).to_be_visible()


def test_a_resolved_cause_and_finding_keep_their_pages(watched: Watched) -> None:
    evaluated, tower = watched.site.tower.publication, watched.site.tower
    assert evaluated is not None
    cause = next(one for one in evaluated.evaluation.causes if one.moves)
    of = [one for one in evaluated.evaluation.findings if one.id in cause.explains]
    began, ended = tower.moment - timedelta(days=30), tower.moment - timedelta(days=29)
    for one in of:
        life = Life(one.id, LifeState.RESOLVED, began, began, ended, ended)
        tower.history.kept_findings_by_id[one.id] = KeptFinding(life, one, cause.key)
    life = Life(cause.key, LifeState.RESOLVED, began, began, ended, ended)
    tower.history.kept_causes[cause.key] = KeptCause(life, cause)
    tower.history.changes.append(LinkChange(1, ended, of[0].subject, "c/d", "a/b", "wrong", "right"))
    watched.site.publish(publication(BROKEN.plan, WHOLE, 2))
    page = watched.open(f"/causes/{cause.key}")
    expect(page.locator("h1")).not_to_be_empty()
    expect(page.locator(".past")).to_contain_text("resolved from")
    expect(page.locator(".action")).to_have_count(0)
    expect(page.locator("ul.lines li").first).to_be_visible()
    page = watched.open(f"/findings/{of[0].id}")
    expect(page.locator(".past").first).to_contain_text(f"{of[0].subject} moved from c/d to a/b")
    expect(page.locator("article.evidence").first).to_be_visible()
    expect(page.locator(".action, ol.moves")).to_have_count(0)
    page = watched.open("/findings/feedfeedfeed")
    expect(page.locator(".failed h2")).to_have_text("Not in the journal")
    assert not [words for words in watched.complaints if "404" not in words]
    watched.complaints.clear()


def test_a_question_about_a_time_says_that_it_is_not_live(watched: Watched) -> None:
    evaluated, tower = watched.site.tower.publication, watched.site.tower
    assert evaluated is not None
    port = str(evaluated.plan.cables[0].a)
    tower.history.since = tower.moment - timedelta(days=3)
    tower.history.past = replace(
        tower.history.past, plan_digest="d1", links={port: LinkPlace(str(evaluated.plan.cables[0].b), "right")}
    )
    at = tower.moment - timedelta(hours=2)
    page = watched.open(f"/ask?q=where&port={port}&at={at:%Y-%m-%dT%H:%M:%SZ}")
    banner = page.locator("#answer .note.past")
    expect(banner).to_contain_text("not live")
    expect(banner).to_contain_text("cables are unknown")
    expect(page.locator("#answer")).to_contain_text("right")
    field = page.locator("form[data-question=where] input[name=at]")
    expect(field).not_to_have_value("")
    banner.get_by_role("button", name="Now").click()
    expect(banner).to_have_count(0)
    expect(field).to_have_value("")
    page.get_by_label("Hours back", exact=False).first.fill("5")
    expect(field).not_to_have_value("")


def test_a_tab_in_the_background_gives_its_stream_back(apart: Watched) -> None:
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
    hide += " document.dispatchEvent(new Event('visibilitychange')); }"
    apart.page.clock.install()
    page = apart.open("/")
    expect(page.locator("#live")).to_have_attribute("data-status", "live")
    soon(lambda: apart.site.tower.events.readers == 1)
    page.evaluate(hide, True)
    page.clock.fast_forward(25_000)
    soon(lambda: apart.site.tower.events.readers == 0)
    apart.site.publish(publication(BROKEN.plan, WHOLE, 2))
    page.evaluate(hide, False)
    expect(page.locator("#verdict")).to_contain_text("are right")
    soon(lambda: apart.site.tower.events.readers == 1)


def test_dark_and_light_follow_the_system_until_one_is_chosen(browser: Browser, site: Site) -> None:
    one = Watched(browser, site, color_scheme="dark")
    page = one.open("/")
    paper = "() => getComputedStyle(document.querySelector('.card')).backgroundColor"
    dark = page.evaluate(paper)
    page.locator("#theme").click()
    light = page.evaluate(paper)
    assert dark != light == "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(paper) == light
    one.close()
    assert one.complaints == []


def test_a_report_of_64_hosts_with_six_faults_prints_on_ten_pages(browser: Browser) -> None:
    simulation = demo_simulation()
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert (len(evaluation.plan.of_role(Role.HOST)), len(evaluation.causes)) == (64, 6)
    page = browser.new_page(java_script_enabled=False)

    page.set_content(str(render(evaluation, "html")))
    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True, scale=1)))
    assert 4 <= sheets <= 10
    page.emulate_media(media="print")
    expect(page.locator("tr[id^=f-]:visible, .evidence:visible, #punch:not(:visible)")).to_have_count(0)
    page.set_content(str(render(evaluation, "html", Options(details=True))))
    expect(page.locator("tr[id^=f-]:visible")).to_have_count(len(evaluation.findings))
    expect(page.locator(".evidence:visible").first).to_be_visible()
    page.close()


def _mark(watched: Watched, step: str, action: MarkAction, name: str, **more: str) -> None:
    """What somebody else writes on a step meanwhile."""
    tower = watched.site.tower

    def act() -> None:
        tower.marks[step] = changed(
            tower.marks.get(step), StepChange(step, action, name, tower.moment, **more), tower.moment
        )
        tower.events.add("steps", b"{}")

    watched.site.action(act)


def test_a_step_is_taken_ticked_and_noted_and_is_not_repaired_by_that(watched: Watched) -> None:
    page, tower = watched.open("/punch"), watched.site.tower
    step = page.locator("li.step").first
    key = str(step.get_attribute("data-step"))
    step.get_by_role("button", name="Take").click()
    assert key not in tower.marks
    page.locator("#name").fill("Ada")
    step.get_by_role("button", name="Take").click()
    expect(step.locator(".hand", has_text="taken by Ada")).to_be_visible()
    step.get_by_role("button", name="Tick").click()
    expect(page.locator("#progress")).to_contain_text("1 ticked and not confirmed")
    step.get_by_role("button", name="Note").click()
    page.locator("dialog textarea").fill("new\ncable <b>")
    page.get_by_role("button", name="Save").click()
    expect(step.locator(".hand.note")).to_contain_text("“new cable <b>” Ada")
    expect(page.locator("#queue")).not_to_contain_text("not sent")
    mark = tower.marks[key]
    assert (mark.taken_by, mark.ticked_by, mark.note) == ("Ada", "Ada", "new cable <b>")
    assert next(line for line in tower.steps if line.key == key).mark != "done"
    expect(page.locator("li.step.done")).to_have_count(0)


def test_the_punch_list_works_without_a_network_and_sends_what_was_written_later(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, tower = watched.open("/punch"), watched.site.tower
    page.locator("#name").fill("Ada")
    page.locator("#name").blur()
    expect(page.locator("#queue")).to_contain_text("opens without a network")
    keys = [line.key for line in tower.steps]
    mine, theirs = (page.locator(f"li[data-step='{key}']") for key in keys[:2])
    watched.context.set_offline(True)
    page.reload()
    expect(page.locator("li.step")).to_have_count(len(keys))
    for step in (mine, theirs):
        step.get_by_role("button", name="Take").click()
        expect(step.locator(".hand", has_text="taken by Ada")).to_be_visible()
    mine.get_by_role("button", name="Tick").click()
    page.reload()
    expect(page.locator("#queue")).to_contain_text("3 entries not sent yet")
    expect(mine.locator(".waits")).to_be_visible()
    assert tower.marks == {}
    written = datetime.now(UTC)
    _mark(watched, keys[1], MarkAction.TAKE, "Bea")
    tower.moment = written + timedelta(minutes=10)
    with monkeypatch.context() as kept:
        kept.setattr(FakeTower, "step_marks", ())  # an older list: this browser's, or that of a front
        watched.context.set_offline(False)
        expect(theirs.locator(".refused")).to_contain_text("Conflict: Taken by Bea")
        expect(page.locator("#queue")).not_to_contain_text("not sent")
        theirs.get_by_role("button", name="Write mine").click()
        soon(lambda: tower.marks[keys[1]].taken_by == "Ada")
    mark = tower.marks[keys[0]]
    assert (mark.taken_by, mark.ticked_by) == ("Ada", "Ada")
    assert mark.ticked_at is not None
    assert mark.ticked_at < written < mark.at
    watched.site.action(lambda: tower.events.add("steps", b"{}"))
    expect(theirs.locator(".hand", has_text="taken by Ada")).to_be_visible()
    expect(theirs.locator(".refused, .waits")).to_have_count(0)
    offline = ("ERR_INTERNET_DISCONNECTED", "409")
    watched.complaints = [words for words in watched.complaints if not any(word in words for word in offline)]
