"""When a pod counts as in use: half of its cables right at some time in the last seven days."""

from dataclasses import replace
from datetime import timedelta

from tests.small_fabric import AT, World, make_plan
from truerail.analysis.cabling import Wiring
from truerail.analysis.round import Round
from truerail.model import Port
from truerail.service.notify.pod_use import merged, pods_in_use, right_by_pod, use_after


def wiring(unplugged: int) -> Wiring:
    """Two pods of four cables each, in two rails; so many of the first pod's are out."""
    plan = make_plan(4, 2)
    pods = {"h1": "p1", "h2": "p1", "h3": "p2", "h4": "p2"}
    plan = replace(plan, devices={name: replace(one, pod=pods.get(name, "")) for name, one in plan.devices.items()})
    world = World(plan)
    for port in (Port("h1", "nica"), Port("h2", "nica"), Port("h1", "nicb"), Port("h2", "nicb"))[:unplugged]:
        world.where[port] = None
    return Round(plan, world.snapshot(), None).cabling


def test_the_share_of_a_pod_is_the_mean_over_its_rails() -> None:
    assert right_by_pod(wiring(3)) == {"p1": 0.25, "p2": 1.0}


def test_a_fabric_without_rails_has_no_pod_in_use() -> None:
    plan = make_plan(2, 2)
    bare = replace(plan, cables=tuple(cable for cable in plan.cables if cable.rail is None))
    use = use_after({}, Round(bare, World(plan).snapshot(), None).cabling, AT)
    assert pods_in_use(use) == frozenset()


def test_a_pod_stays_in_use_for_a_week_after_its_cables_were_right() -> None:
    before = use_after({}, wiring(0), AT)
    broken = use_after(before, wiring(3), AT + timedelta(days=7))
    assert pods_in_use(broken) == {"", "p1", "p2"}
    assert pods_in_use(use_after(broken, wiring(3), AT + timedelta(days=8))) == {"", "p2"}


def test_the_greatest_share_of_a_day_counts_in_whatever_order_it_comes() -> None:
    day, morning = AT.date().isoformat(), use_after({}, wiring(3), AT)
    assert use_after(morning, wiring(0), AT) == use_after(use_after({}, wiring(0), AT), wiring(3), AT)
    assert merged({day: {"p1": 0.2}}, {day: {"p1": 0.7, "p2": 0.1}}) == {day: {"p1": 0.7, "p2": 0.1}}
