"""The demo leads from each fault of its traffic to its cause within the time that its page promises, whatever the clock
of the machine does: the fabric and the service's evaluator live in simulated seconds, at the demo's pace.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.draws import draws
from tests.living_site import Site
from truerail.analysis.published import JournalState
from truerail.cli.demo_live import ROUND_SECONDS, demo_settings
from truerail.errors import NoRoomError
from truerail.model import Cause
from truerail.service.evaluator import Evaluator
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.live import Pace, Trouble
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.simulator.traffic.flow_faults import KINDS

K = FlowFaultKind
PAGE = Path(__file__).parents[1] / "docs" / "first-hour.md"
ROW = re.compile(r"^\| `([a-z-]+)` \|[^|]*\| (?:`([a-z-]+)`|none) \| (?:(\d+) s )?\|$", re.MULTILINE)
PROMISED = {K(kind): (cause, float(seconds or 60)) for kind, cause, seconds in ROW.findall(PAGE.read_text())}
COUNTERS = ("nic_counters", "rdma_counters", "port_counters", "pfc_counters", "queue_counters")
RAILS = draws(4, 8)
HOSTS = draws(16, 32)
LARGE = {K.STORM: 64, K.POLARIZATION: 64, K.INCAST: 64, K.DEAD_MEMBER: 32}
"""Hosts where paths are shared: the demo's 64, or those whose flows are enough to miss a dead member among them."""


def reported(site: Site, evaluator: Evaluator, seconds: float) -> tuple[Cause, ...]:
    """The causes on the page so many seconds after the demo began."""
    began = site.seconds
    while site.seconds - began < seconds:
        site.wait(ROUND_SECONDS)
        last = site.seconds - began >= seconds
        seen = site.round(None if last else COUNTERS)
        counted = [reading for reading in seen.readings if reading.collector in COUNTERS]
        if not last:
            evaluator.window.put(counted)
    publication = evaluator.evaluate(
        site.fabric.plan, seen.snapshot(), counted, (), {}, JournalState(), (), (), site.now
    ).publication
    return publication.evaluation.causes


def culprits(site: Site, trouble: Trouble) -> set[str]:
    """The ports that a fault is about, and their devices; of an incast also those who take part in it."""
    ports = [site.fabric.traffic.net.ports[port] for port in trouble.placed.ports]
    if trouble.kind is K.POLARIZATION:
        return {name for name, device in site.fabric.plan.devices.items() if device.role == "spine"}
    job = trouble.placed.job
    slots = {(host, name) for host in job.hosts for name in nic_names(site, host, job.slots)} if job else set()
    part = {name for host, nic in slots for name in (host, f"{host}/{nic}")} if trouble.kind is K.INCAST else set()
    return {*map(str, ports), *(port.device for port in ports), *part}


def far_ends(site: Site, trouble: Trouble) -> set[str]:
    """The other ends of the links that a fault sits on: a link is one thing, named by either end."""
    return {str(site.fabric.traffic.net.ports[port]) for port in trouble.placed.ports[1:]}


def nic_names(site: Site, host: str, slots: Iterable[int]) -> Iterator[str]:
    """What a host calls these NICs."""
    yield from (site.fabric.living.world.nic_name(host, slot).netdev for slot in slots)


def test_the_page_promises_something_for_every_fault_of_traffic() -> None:
    assert set(PROMISED) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "hosts"),
    [*((kind, LARGE.get(kind, HOSTS)) for kind in KINDS), *((kind, HOSTS) for kind in draws(0, 1) * [*LARGE])],
)
def test_each_fault_of_traffic_leads_to_its_cause_in_the_promised_time(kind: FlowFaultKind, hosts: int) -> None:
    """With more hosts those whose paths are shared by more of them; the others are of one host or link."""
    fault = FlowFault(kind)
    site = Site(troubles=[fault], shape=living_shape(hosts, RAILS, [kind]), pace=Pace())
    (trouble,) = site.director.standing
    assert isinstance(trouble, Trouble)
    cause, seconds = PROMISED[kind]
    causes = reported(site, Evaluator.begin(demo_settings(Path(), "127.0.0.1", 0)), seconds)
    named = [subject for one in causes if one.kind == cause for subject in one.subjects]
    assert bool(named) == bool(cause), causes
    assert set(named) <= culprits(site, trouble)
    if trouble.cause.subjects and kind is not K.DEADLOCK:
        assert {*trouble.cause.subjects, *far_ends(site, trouble)} & set(named)
    assert {one.kind.value for one in causes} == ({cause} if cause else set())


@pytest.mark.parametrize("kinds", [(K.STORM,), (K.DEADLOCK,), (K.STORM, K.INCAST)], ids="-".join)
def test_what_a_storm_pauses_is_no_incast_and_an_incast_beside_it_is_named(kinds: tuple[FlowFaultKind, ...]) -> None:
    site = Site(troubles=[FlowFault(kind) for kind in kinds], shape=living_shape(HOSTS, RAILS, kinds), pace=Pace())
    causes = reported(site, Evaluator.begin(demo_settings(Path(), "127.0.0.1", 0)), 60)
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
