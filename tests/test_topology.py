"""Switches by tier, and the cables between them in bundles with their states."""

from collections import Counter

from tests.view_fabrics import fabric
from truerail.model.plan import Role
from truerail.views.fabric import topology


def test_each_cable_between_switches_is_in_one_bundle_and_each_of_a_host_at_its_switch() -> None:
    for name in ("faulty", "pods", "rail-only", "nobody answered"):
        published = fabric(name)
        plan, drawn = published.plan, topology(published)
        between = [cable for cable in plan.cables if plan.role_of(cable.a.device) is not Role.HOST]
        planned = Counter((cable.a.device, cable.b.device) for cable in between)
        assert {(one.lower, one.upper): one.count.planned for one in drawn.bundles} == dict(planned)
        assert sum(one.hosts.planned for one in drawn.switches) == len(plan.cables) - len(between)
        tiers = [plan.devices[one.device].role.tier for one in drawn.switches]
        assert tiers == sorted(tiers, reverse=True)
        states = published.evaluation.cable_states
        wrong = Counter((cable.a.device, cable.b.device) for cable in between if states[cable.a].value == "wrong")
        assert {(one.lower, one.upper): one.count.wrong for one in drawn.bundles if one.count.wrong} == dict(wrong)


def test_a_bundle_that_is_not_right_leads_to_its_cause() -> None:
    published = fabric("faulty")
    keys = {cause.key for cause in published.evaluation.causes}
    bad = [one for one in topology(published).bundles if one.count.missing or one.count.wrong]
    assert bad
    assert any(one.cause in keys for one in bad)
    for one in bad:
        assert (one.severity is None) == (one.finding is None)
