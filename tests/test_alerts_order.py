"""What mutes an alert is evaluated after it, so that it ends after it, and no two alerts mute each other."""

from dataclasses import replace
from graphlib import CycleError

import pytest
import yaml

from dashboards.generate import GENERATED, ROOT
from dashboards.rules import ALERTS, GROUPS, inhibitions
from dashboards.rules.declared import Alert, Severity
from dashboards.rules.inhibitions import INHIBITIONS, Inhibition, Which, in_order

PAIRS = [
    (mutes, source, target)
    for mutes in INHIBITIONS
    for source in ALERTS
    for target in ALERTS
    if mutes.source.fits(source) and mutes.target.fits(target)
]


def _named(name: str, severity: Severity = Severity.WARNING) -> Alert:
    return next(alert for alert in ALERTS if (alert.name, alert.severity) == (name, severity))


def test_every_alert_is_evaluated_once() -> None:
    evaluated = [alert for group in GROUPS for alert in group.alerts]
    assert len(evaluated) == len(ALERTS)
    assert set(evaluated) == set(ALERTS)


def test_what_mutes_stands_behind_what_it_mutes_in_one_group() -> None:
    places = {alert: (group.name, at) for group in GROUPS for at, alert in enumerate(group.alerts)}
    assert len(PAIRS) > 100
    for _, source, target in PAIRS:
        assert places[source][0] == places[target][0], (source.name, target.name)
        assert places[source][1] > places[target][1], (source.name, source.severity, target.name)


@pytest.mark.parametrize("mutes", INHIBITIONS, ids=lambda mutes: mutes.target.name or mutes.target.has)
def test_every_inhibition_has_both_ends(mutes: Inhibition) -> None:
    """A name with a slip in it would mute nothing."""
    assert any(mutes is found for found, _, _ in PAIRS)
    for which in (mutes.source, mutes.target):
        for name in which.name.split("|") if "(" not in which.name else ():
            assert not name or any(Which(name).fits(alert) for alert in ALERTS), name


@pytest.mark.parametrize("mutes", INHIBITIONS, ids=lambda mutes: mutes.target.name or mutes.target.has)
def test_what_must_be_equal_is_there(mutes: Inhibition) -> None:
    """Alertmanager takes two alerts without a label for equal in it."""
    for _, source, target in (pair for pair in PAIRS if pair[0] is mutes):
        for which, alert in ((mutes.source, source), (mutes.target, target)):
            reported = {key for key, value in alert.story.fires if value} | {which.has}
            assert set(mutes.equal) <= reported, alert.name


def test_two_that_mute_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rail that no cable cuts is critical, and its cable a warning: with both rules no alert would be sent."""
    each = [replace(mutes, source=replace(mutes.source, but="")) for mutes in INHIBITIONS]
    monkeypatch.setattr(inhibitions, "INHIBITIONS", each)
    with pytest.raises(CycleError):
        in_order(ALERTS)


def test_the_order_given_is_kept_where_nothing_mutes() -> None:
    alike = [_named("TruerailOversubscribed"), _named("TruerailGpuNicOrder"), _named("TruerailIncast")]
    assert list(in_order(alike)) == alike


def test_a_cable_without_a_link_mutes_the_host_only_while_it_pages() -> None:
    """Both end at once when a cable is mended: the host's alert must be gone first."""
    cable, host = _named("TruerailCableMissing", Severity.CRITICAL), _named("TruerailHostRailsDown")
    assert in_order([cable, host]) == (host, cable)


def test_what_is_said_to_alertmanager() -> None:
    said = yaml.safe_load((ROOT / GENERATED / "alertmanager/alertmanager.yml").read_text())["inhibit_rules"]
    assert said[2] == {
        "source_matchers": ['alertname!="TruerailRailCut"', 'severity="critical"', 'nic!=""'],
        "target_matchers": ['severity="warning"', 'nic!=""'],
        "equal": ["fabric", "host", "nic"],
    }
    assert said[3]["source_matchers"] == ['alertname="TruerailHostRailsDown"', 'severity="critical"']
    assert said[3]["target_matchers"] == ['alertname=~"TruerailCableMissing|TruerailPlaneLost"']
