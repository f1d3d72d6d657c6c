"""The page's jobs in a real Chromium: 1,000 of them, one alone, hostile names, and what is not known."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.oncall_fabrics import SPINES, simulated
from tests.page_site import Site, Watched, publication
from truerail.analysis.published import Published
from truerail.model import CauseKind, Reading, SchedulerJob, Snapshot
from truerail.simulator import Fault

SIMULATION = simulated(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"))
SEEN = SIMULATION.snapshot()
HOSTS = [name for name, device in SIMULATION.plan.devices.items() if device.role.tier == 0]
HOSTILE = "</td><img src=x onerror=alert(1)>‮evil"
MANY = 1000


def job(number: int, *nodes: str, **more: object) -> SchedulerJob:
    values = {"name": f"train-{number}", "user": "ann", "state": "RUNNING", "gpus": 8 * len(nodes)}
    start = int(SEEN.at.timestamp()) - 3600
    return SchedulerJob(**{"job": str(number), "job_id": number, "nodes": nodes, "start_at": start, **values, **more})  # type: ignore[arg-type]  # fields by name


def shown(*readings: Reading) -> Published:
    return publication(SIMULATION.plan, Snapshot(SEEN.at, [*SEEN.readings, *readings]))


def slurm(*jobs: SchedulerJob, error: str = "") -> Reading:
    return Reading("slurm", "slurm_jobs", SEEN.at, jobs, error)


BAD = shown().evaluation.causes[0].subjects[0].partition("/")[0]
WELL = [host for host in HOSTS if host != BAD]
JOBS = (
    *(job(number, WELL[number % len(WELL)]) for number in range(1, MANY - 3)),
    job(MANY, BAD, *WELL[:3]),
    job(MANY + 1, WELL[0], name=HOSTILE, user=HOSTILE, gpus=None),
    job(MANY + 2, "elsewhere-1", "elsewhere-2"),
    job(MANY + 3, WELL[1], "elsewhere-3"),
)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(shown(slurm(*JOBS))) as one:
        yield one


def test_a_thousand_jobs_are_listed_the_affected_one_first(watched: Watched) -> None:
    page = watched.open("/")
    page.locator("nav[aria-label=Pages] a", has_text="Jobs").click()
    page.wait_for_url("**/jobs")
    rows = page.locator("table.rows tbody tr")
    expect(rows).to_have_count(100)
    expect(page.locator(".total")).to_contain_text("1,000 jobs, 1 to 100 shown")
    expect(rows.first).to_contain_text("✗ affected by 1 cause")
    expect(rows.first.locator('td[data-head="Job"]')).to_contain_text(str(MANY))
    page.get_by_role("button", name="Last").click()
    expect(page.locator(".total")).to_contain_text("901 to 1,000 shown")
    assert parse_qs(urlsplit(page.url).query) == {"page": ["10"]}


def test_jobs_are_found_by_words_state_and_place(watched: Watched) -> None:
    page = watched.open("/jobs?state=unknown")
    rows = page.locator("table.rows tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text=str(MANY + 2))).to_contain_text("? unknown: the plan has none of its hosts")
    expect(rows.filter(has_text=str(MANY + 3))).to_contain_text("? unknown: 1 host not in the plan")
    page.get_by_role("combobox", name="Network").select_option("affected")
    expect(rows).to_have_count(1)
    page = watched.open("/jobs")
    page.get_by_role("searchbox", name="Search jobs").fill("train-7 ANN")
    expect(page.locator(".total")).to_contain_text("111 jobs match")
    page = watched.open(f"/jobs?on={BAD}")
    expect(page.locator("table.rows tbody tr")).to_have_count(1)
    page.locator("table.rows tbody tr a.port").first.click()
    page.wait_for_url(f"**/jobs/{MANY}")


def test_a_job_of_which_something_is_not_evaluated_is_unknown_and_one_with_a_finding_affected(watched: Watched) -> None:
    run = {"harm": [], "findings": [], "ended": None, "cables": 4, "cables_unknown": 0, "not_in_plan": []}
    asked = [run | {"unevaluated": "not evaluated: RAL001"}, run | {"unevaluated": "", "findings": ["cut off"]}]
    shown = watched.open("/jobs").evaluate(
        """async (runs) => {
            const { facts } = await import(new URL("runs.js", document.querySelector("script[type=module]").src));
            return runs.map((run) => [facts(run).state, facts(run).why]);
        }""",
        asked,
    )
    assert shown == [["unknown", "unknown: not evaluated: RAL001"], ["affected", "affected: cut off"]]


def test_a_job_shows_what_affects_it_its_rails_by_host_and_the_findings(watched: Watched) -> None:
    page = watched.open(f"/jobs/{MANY}")
    expect(page.locator("h1")).to_have_text(str(MANY))
    expect(page.get_by_role("region", name="What affects it")).to_contain_text("cable swap")
    grid = page.get_by_role("region", name="Its hosts by rail")
    expect(grid.locator("tbody tr")).to_have_count(1)
    expect(grid.locator("tbody tr")).to_contain_text(BAD)
    expect(grid.get_by_role("img", name="lost")).to_have_count(2)
    expect(grid).to_contain_text("3 further hosts have all rails")
    findings = page.get_by_role("region", name="Findings on its hosts")
    expect(findings.locator("li").first).to_contain_text(BAD)
    assert page.locator("main").inner_text().count("undefined") == 0


def test_names_stay_names_and_what_is_unknown_is_shown_so(watched: Watched) -> None:
    page = watched.open(f"/jobs?text={MANY + 1}")
    row = page.locator("table.rows tbody tr")
    expect(row).to_have_count(1)
    expect(row.locator('td[data-head="GPUs"]')).to_have_text("unknown")
    assert row.locator("bdi", has_text="evil").count() == 2
    assert page.locator("main img[src]").count() == 0
    page = watched.open(f"/jobs/{MANY + 1}")
    expect(page.locator("dl.facts").first).to_contain_text(HOSTILE)
    assert page.locator("main img[src]").count() == 0


def test_a_job_that_does_not_run_is_not_found(browser: Browser, site: Site) -> None:
    one = Watched(browser, site)
    expect(one.open("/jobs/no%2Fsuch").locator(".empty h2")).to_have_text("Not found")
    one.close()


def test_a_scheduler_that_does_not_answer_is_named_and_without_one_no_job_is_known(browser: Browser) -> None:
    silent = Reading("slurm", "slurm_jobs", SEEN.at, (), "slurm_load_jobs error: <b>Unable to contact</b>")
    for published, words in (
        (shown(silent), ["slurm", "<b>Unable to contact</b>", "Its jobs are unknown."]),
        (shown(), ["No scheduler is asked for jobs, so none is known."]),
    ):
        with Site(published) as site:
            one = Watched(browser, site)
            page = one.open("/jobs")
            for word in words:
                expect(page.locator(".note")).to_contain_text(word)
            expect(page.locator("table.rows")).to_have_count(0)
            one.close()


def test_a_new_round_shows_its_jobs(browser: Browser) -> None:
    with Site(shown(slurm(job(1, WELL[0])))) as site:
        one = Watched(browser, site)
        page = one.open("/jobs")
        expect(page.locator("table.rows tbody tr")).to_have_count(1)
        later = publication(
            SIMULATION.plan,
            Snapshot(SEEN.at + timedelta(minutes=1), [*SEEN.readings, slurm(job(1, WELL[0]), job(2, BAD))]),
            number=2,
        )
        site.publish(later)
        expect(page.locator("table.rows tbody tr")).to_have_count(2)
        expect(page.locator("table.rows tbody tr").first).to_contain_text("✗ affected")
        one.close()
