"""What the service shows of each fault of the demo, in simulated seconds: no test waits for them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.living_site import Site
from truerail.analysis.published import JournalState, Published
from truerail.cli.demo_live import ROUND_SECONDS, demo_settings
from truerail.model import Cause, CauseKind
from truerail.outputs.metrics import Exposition
from truerail.service.evaluator import Evaluator
from truerail.simulator import KINDS, Fault
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.live import Pace, Trouble
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.simulator.traffic.flow_faults import KINDS as TROUBLES

COUNTERS = ("nic_counters", "rdma_counters", "port_counters", "pfc_counters", "queue_counters")
RAILS = 4
HOSTS = {FlowFaultKind.DEAD_MEMBER: 32}
"""Hosts where 16 do not carry enough for the fault to be seen."""
PAGE = Path(__file__).parents[1] / "docs" / "first-hour.md"
ROW = re.compile(r"^\| `([a-z-]+)` \|[^|]*\| (?:`([a-z-]+)`|none) \| (?:(\d+) s )?\|$", re.MULTILINE)
PROMISED = {
    FlowFaultKind(kind): (cause, float(seconds or 60)) for kind, cause, seconds in ROW.findall(PAGE.read_text())
}
"""The cause of each fault of traffic, empty where it has none, and the seconds until it is known."""


@dataclass(frozen=True)
class Shown:
    """A fault by its word on the demo's command line: the newest publication, the page of metrics, and the fabric."""

    fault: str
    publication: Published
    page: bytes
    site: Site


def every_fault() -> Iterator[Shown]:
    """Each fault of the demo in a fabric of its own, which is named as the fault."""
    yield from (_cabling(kind, variant) for kind in KINDS for variant in _variants(kind))
    yield from map(_traffic, TROUBLES)


def _variants(kind: CauseKind) -> tuple[str, ...]:
    return ("hung",) if kind is CauseKind.UNREACHABLE else ("",)


def _cabling(kind: CauseKind, variant: str) -> Shown:
    faults = [Fault(kind, variant)]
    site = Site(faults, shape=living_shape(16, RAILS, faults=faults), pace=Pace())
    site.settle()
    site.wait(ROUND_SECONDS)
    return _shown(kind.value, site, ROUND_SECONDS)


def _traffic(kind: FlowFaultKind) -> Shown:
    site = Site(troubles=[FlowFault(kind)], shape=living_shape(HOSTS.get(kind, 16), RAILS, [kind]), pace=Pace())
    return _shown(kind.value, site, PROMISED[kind][1])


def _shown(fault: str, site: Site, seconds: float) -> Shown:
    evaluator = Evaluator.begin(demo_settings(Path(), "127.0.0.1", 0))
    evaluator.fabric, evaluator.page_url = fault, "https://truerail.example.net"
    publication = published(site, evaluator, seconds)
    return Shown(fault, publication, Exposition().render(publication, None, {}, site.now), site)


def published(site: Site, evaluator: Evaluator, seconds: float) -> Published:
    """What is on the page so many seconds after the demo began."""
    began = site.seconds
    while True:
        site.wait(ROUND_SECONDS)
        last = site.seconds - began >= seconds
        seen = site.round(None if last else COUNTERS)
        counted = [reading for reading in seen.readings if reading.collector in COUNTERS]
        if last:
            break
        evaluator.window.put(counted)
    return evaluator.evaluate(
        site.fabric.plan, seen.snapshot(), counted, (), {}, JournalState(), (), (), site.now
    ).publication


def leads_to_its_cause(kind: FlowFaultKind, site: Site, causes: Iterable[Cause]) -> None:
    """Fails where the causes are not the one that the page promises, with a culprit among its subjects and no other."""
    (trouble,) = site.director.standing
    assert isinstance(trouble, Trouble)
    cause, _ = PROMISED[kind]
    named = [subject for one in causes if one.kind == cause for subject in one.subjects]
    assert bool(named) == bool(cause), causes
    assert set(named) <= _culprits(site, trouble)
    if trouble.cause.subjects and kind is not FlowFaultKind.DEADLOCK:
        assert {*trouble.cause.subjects, *_far_ends(site, trouble)} & set(named)
    assert {one.kind.value for one in causes} == ({cause} if cause else set())


def _culprits(site: Site, trouble: Trouble) -> set[str]:
    """The ports that a fault is about, and their devices; of an incast also those who take part in it."""
    ports = [site.fabric.traffic.net.ports[port] for port in trouble.placed.ports]
    if trouble.kind is FlowFaultKind.POLARIZATION:
        return {name for name, device in site.fabric.plan.devices.items() if device.role == "spine"}
    job = trouble.placed.job
    slots = {(host, name) for host in job.hosts for name in _nic_names(site, host, job.slots)} if job else set()
    incast = trouble.kind is FlowFaultKind.INCAST
    part = {name for host, nic in slots for name in (host, f"{host}/{nic}")} if incast else set()
    return {*map(str, ports), *(port.device for port in ports), *part}


def _far_ends(site: Site, trouble: Trouble) -> set[str]:
    """The other ends of the links that a fault sits on: a link is one thing, named by either end."""
    return {str(site.fabric.traffic.net.ports[port]) for port in trouble.placed.ports[1:]}


def _nic_names(site: Site, host: str, slots: Iterable[int]) -> Iterator[str]:
    """What a host calls these NICs."""
    yield from (site.fabric.living.world.nic_name(host, slot).netdev for slot in slots)
