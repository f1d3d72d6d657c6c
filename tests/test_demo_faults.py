"""The demo leads from each fault of its traffic to its cause within the time that its page promises, whatever the clock
of the machine does: the fabric and the service's evaluator live in simulated seconds, at the demo's pace.
"""

from pathlib import Path

import pytest

from tests.demo_faults_shown import PROMISED, leads_to_its_cause, published
from tests.draws import draws
from tests.living_site import Site
from truerail.cli.demo_live import demo_settings
from truerail.errors import NoRoomError
from truerail.model import Cause
from truerail.service.evaluator import Evaluator
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.live import Pace, Trouble
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.simulator.traffic.flow_faults import KINDS

K = FlowFaultKind
RAILS = draws(4, 8)
HOSTS = draws(16, 32)
LARGE = (K.STORM, K.POLARIZATION, K.INCAST)
"""Where paths are shared: by more flows in the demo's 64 hosts."""


def reported(site: Site, seconds: float) -> tuple[Cause, ...]:
    """The causes on the page so many seconds after the demo began."""
    return published(site, Evaluator.begin(demo_settings(Path(), "127.0.0.1", 0)), seconds).evaluation.causes


def test_the_page_promises_something_for_every_fault_of_traffic() -> None:
    assert set(PROMISED) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "hosts"), [*((kind, 64) for kind in LARGE), *((kind, 32) for kind in draws(0, 1) * KINDS)]
)
def test_each_fault_of_traffic_leads_to_its_cause_in_the_promised_time(kind: FlowFaultKind, hosts: int) -> None:
    """With 16 hosts, and a dead member with 32: test_alerts_end_to_end.py."""
    site = Site(troubles=[FlowFault(kind)], shape=living_shape(hosts, RAILS, [kind]), pace=Pace())
    leads_to_its_cause(kind, site, reported(site, PROMISED[kind][1]))


@pytest.mark.parametrize("kinds", [(K.STORM,), (K.DEADLOCK,), (K.STORM, K.INCAST)], ids="-".join)
def test_what_a_storm_pauses_is_no_incast_and_an_incast_beside_it_is_named(kinds: tuple[FlowFaultKind, ...]) -> None:
    site = Site(troubles=[FlowFault(kind) for kind in kinds], shape=living_shape(HOSTS, RAILS, kinds), pace=Pace())
    causes = reported(site, 60)
    assert {one.kind.value for one in causes} == {PROMISED[kind][0] for kind in kinds}
    named = {subject for one in causes for subject in one.subjects}
    planted = [trouble for trouble in site.director.standing if isinstance(trouble, Trouble)]
    assert all(named & set(trouble.cause.subjects) for trouble in planted if trouble.kind is not K.DEADLOCK)


def test_a_fault_that_was_wanted_stands_alone_until_it_is_fixed() -> None:
    site = Site(troubles=[FlowFault(K.DEADLOCK)], shape=living_shape(32, 4), pace=Pace(trouble_seconds=(10.0, 20.0)))
    for _ in range(60):
        site.wait(20.0)
    (trouble,) = site.director.standing
    assert trouble.kind is K.DEADLOCK
    site.director.fix(trouble)
    site.wait(21.0)
    assert trouble not in site.director.standing


def test_a_fabric_without_a_third_tier_says_how_to_see_polarization() -> None:
    site = Site(troubles=[FlowFault(K.STORM)], shape=living_shape(32, 4))
    with pytest.raises(NoRoomError, match="start the demo with --fault polarization"):
        site.director.disturb(FlowFault(K.POLARIZATION))
