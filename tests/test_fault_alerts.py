"""Which alert an open cause or finding fires: in the API, on its page, and as Prometheus' rules have it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from dashboards.outputs.alertmanager import GROUPED_BY
from tests.api_client import Api
from tests.fake_tower import NOW, FakeTower, fabric
from tests.page_site import Site, Watched, chromium, publication
from truerail.analysis.published import Published
from truerail.model.cause_kinds import CAUSE_KINDS, FINDING_ALERT, CauseKind
from truerail.model.finding import Severity
from truerail.model.life import Mute, MuteKind
from truerail.model.open_fault import OpenFault
from truerail.views.faults import Elsewhere, fault_alerts
from truerail.views.view import view_of
from truerail.web.page.routes import alerted

BROKEN, SEEN = fabric()
WIKI, GRAFANA = "https://wiki.example.net/rails", "https://grafana.example.net"
FOUND = OpenFault("f00d", None, "TEL003", Severity.WARNING, "p1", "leaf-1", "it is", "do it", ("f00d",), since=NOW)


@pytest.fixture
def browser() -> Iterator[Browser]:
    """Of one test: while it runs, its event loop is that of the thread, and the API's tests have one of their own."""
    with chromium() as one:
        yield one


def evaluated(since: datetime | None, mutes: dict[str, Mute] | None = None) -> Published:
    """The fabric's evaluation; each of its causes began then."""
    made = publication(BROKEN.plan, SEEN)
    faults = tuple(replace(fault, since=since) for fault in made.open_faults)
    return replace(made, open_faults=faults, mutes=mutes or {})


def of_kind(made: Published, kind: CauseKind) -> OpenFault:
    return next(fault for fault in made.open_faults if fault.kind is kind)


def test_a_cause_waits_as_long_as_its_rule_and_then_fires() -> None:
    at = publication(BROKEN.plan, SEEN).at
    for ago, state in ((1, "pending"), (20, "firing")):
        made = evaluated(at - timedelta(minutes=ago))
        fault = of_kind(made, CauseKind.CABLE_SWAP)
        (alert,) = fault_alerts(made, fault.key, Elsewhere(WIKI, GRAFANA))
        rule = CAUSE_KINDS[CauseKind.CABLE_SWAP]
        assert (alert.name, alert.state, alert.title) == ("TruerailCableSwap", state, rule.title)
        assert alert.wait_minutes == rule.minutes(fault.severity)
        assert alert.fires_at == at + timedelta(minutes=alert.wait_minutes - ago)
        assert alert.notification["cause"] == fault.key
        assert set(alert.notification) <= set(GROUPED_BY)
        assert alert.notification["fabric"] == "test fabric"
        assert (alert.runbook, alert.runbook_url) == ("CAB001", f"{WIKI}/CAB001.md")
        assert alert.dashboard_url == f"{GRAFANA}/d/truerail-overview?var-fabric=test+fabric"


def test_a_beginning_that_is_not_known_is_no_time() -> None:
    made = evaluated(None)
    (alert,) = fault_alerts(made, made.open_faults[0].key, Elsewhere())
    assert (alert.state, alert.since, alert.fires_at) == ("pending", None, None)
    assert (alert.runbook_url, alert.dashboard_url) == ("", "")


def test_it_is_muted_where_all_of_its_findings_are_and_says_by_whose_reason() -> None:
    fault = of_kind(evaluated(NOW), CauseKind.CABLE_SWAP)
    mute = Mute(MuteKind.ACKNOWLEDGED, 3, "jo", "known", NOW)
    all_of_it = dict.fromkeys(fault.findings, mute)
    (alert,) = fault_alerts(evaluated(NOW, all_of_it), fault.key, Elsewhere())
    assert alert.state == "muted"
    assert [(one.kind, one.author, one.reason, one.until) for one in alert.muted] == [
        ("acknowledged", "jo", "known", NOW)
    ]
    assert len(fault.findings) > 1
    (alert,) = fault_alerts(evaluated(NOW, {fault.findings[0]: mute}), fault.key, Elsewhere())
    assert alert.muted == ()


def test_a_finding_without_a_cause_has_the_alert_of_findings_and_some_faults_have_none() -> None:
    made = replace(evaluated(NOW), open_faults=(FOUND,))
    (alert,) = fault_alerts(made, "f00d", Elsewhere(WIKI))
    assert (alert.name, alert.runbook) == (FINDING_ALERT, "TEL003")
    assert alert.notification == {
        "alertname": FINDING_ALERT, "fabric": "test fabric", "pod": "p1", "rule": "TEL003",
    }  # fmt: skip
    for kind, severity, why in (
        (CauseKind.MAINTENANCE, Severity.WARNING, "a cause of kind maintenance explains findings and is no fault"),
        (CauseKind.LINK_DOWN, Severity.INFO, "its severity is info"),
    ):
        fault = replace(FOUND, kind=kind, severity=severity)
        (alert,) = fault_alerts(replace(made, open_faults=(fault,)), "f00d", Elsewhere())
        assert (alert.name, alert.state, alert.why_none, alert.notification) == ("", "none", why, {})
    assert fault_alerts(made, "cafe", Elsewhere()) == ()


def test_the_api_has_it_with_the_sites_own_addresses() -> None:
    made = evaluated(NOW - timedelta(days=1))
    fault = made.open_faults[0]
    with Api(FakeTower(made), page={"runbooks": f"{WIKI}/"}) as api:
        (alert,) = api.json(f"causes/{fault.key}/alerts")
        assert alert["runbook_url"] == f"{WIKI}/{alert['runbook']}.md"
        assert alert["state"] == "firing"
        assert api.json("causes/0123456789ab/alerts") == []
        assert api.json(f"findings/{fault.findings[0]}/alerts") == [], "its cause has the alert"


def test_an_alert_leads_by_the_key_that_it_carries() -> None:
    made = evaluated(NOW)
    fault = made.open_faults[0]
    view = view_of(made)
    assert alerted(view, "", "", cause=fault.key) == f"/causes/{fault.key}"
    assert alerted(view, "", "", cause="0123456789ab") == "/causes/0123456789ab", "of the past, too"
    assert alerted(view, "", "", finding=fault.findings[0]) == f"/causes/{fault.key}"
    assert alerted(view, "", "", finding="0123456789ab") == "/findings/0123456789ab"
    assert alerted(view, "", "", cause="//evil.example", finding="../login") == "/"
    with Api(FakeTower(made)) as api:
        assert api.ask("GET", "//alert", params={"cause": fault.key}).headers["location"] == f"/causes/{fault.key}"


def test_the_page_of_a_cause_shows_its_alert_and_follows_a_mute(browser: Browser) -> None:
    made = evaluated(publication(BROKEN.plan, SEEN).at - timedelta(minutes=20))
    fault = of_kind(made, CauseKind.CABLE_SWAP)
    with Site(made, page={"runbooks": WIKI, "grafana": GRAFANA}) as site:
        watched = Watched(browser, site)
        card = watched.open(f"/causes/{fault.key}").get_by_role("region", name="Alert")
        expect(card).to_contain_text("TruerailCableSwap · Two cables are swapped")
        expect(card).to_contain_text("firing since")
        expect(card).to_contain_text(f"cause={fault.key}")
        expect(card.get_by_role("link", name="CAB001")).to_have_attribute("href", f"{WIKI}/CAB001.md")
        mute = Mute(MuteKind.MAINTENANCE, 3, "jo", "<b>new leaf</b>", NOW)
        muted = evaluated(made.at, dict.fromkeys(fault.findings, mute))
        site.publish(replace(muted, number=2))
        expect(card).to_contain_text("maintenance by jo: <b>new leaf</b>, until")
        watched.close()
        assert watched.complaints == []
