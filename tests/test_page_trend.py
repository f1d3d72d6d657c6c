"""The page Ports shows the days of a link that gets worse, in a real browser."""

from playwright.sync_api import expect

from tests.page_site import Site, Watched, chromium
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.rule import Case
from truerail.model import Optic
from truerail.rounds import evaluate
from truerail.testing.cases import scene
from truerail.views.link_health import link_health

PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\ngpu-2/nic0 leaf-0/swp2 rail=0 speed=400"
FACTS = {"gpu-1": [Optic("nic0", 1, -3.8, -1.0, None, 45.0, part="A")], "gpu-2": [Optic("nic0", 1, -2.0, part="A")]}
PAST = {
    "gpu-1/nic0": {"rx_dbm": [-2.0 - day / 5 for day in range(10)], "ber": [-9.0 + day / 4 for day in range(10)]},
    "gpu-2/nic0": {"rx_dbm": [-2.0] * 10},
}


def worsening() -> Published:
    """A link that gets worse beside one that does not."""
    made = scene(Case("", PLAN, FACTS, past=PAST))
    return Published(1, "lab", EvaluatedRound(made, evaluate(made)), plan_digest="d1")


def test_an_end_has_its_days_where_its_link_gets_worse() -> None:
    lines = {line.subject: line for line in link_health(worsening()).items}
    near, far = lines["gpu-1/nic0"].ends
    assert [one is None for one in near.rx_dbm_days] == [True] * 4 + [False] * 10
    assert (near.rx_dbm_days[4], near.rx_dbm_days[-1]) == (-2.0, -3.801)
    assert len(near.margin_db_days) == 14
    assert far.rx_dbm_days == ()
    assert lines["gpu-2/nic0"].ends[0].rx_dbm_days == ()


def test_the_page_draws_them() -> None:
    with Site(worsening()) as site, chromium() as browser:
        watched = Watched(browser, site)
        page = watched.open("/ports")
        drawn = page.get_by_role(
            "img", name="received light by day: −3.8 dBm to −2.0 dBm, 4 of 14 samples not reported"
        )
        expect(drawn).to_have_count(1)
        expect(page.get_by_role("img", name="margin over FEC's limit by day")).to_have_count(1)
        expect(page.get_by_text("is reached in")).to_have_count(1)
        assert not watched.complaints
        watched.close()
