"""What the service shows of each fault of the demo, in simulated seconds: no test waits for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.living_site import Site
from truerail.analysis.published import JournalState, Published
from truerail.cli.demo_live import ROUND_SECONDS, demo_settings
from truerail.model import CauseKind
from truerail.outputs.metrics import Exposition
from truerail.service.evaluator import Evaluator
from truerail.simulator import KINDS, Fault
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.live import Pace
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.simulator.traffic.flow_faults import KINDS as TROUBLES

COUNTERS = ("nic_counters", "rdma_counters", "port_counters", "pfc_counters", "queue_counters")
RAILS = 4
HOSTS = {FlowFaultKind.DEAD_MEMBER: 32}
"""Hosts where 16 do not carry enough for the fault to be seen."""
SLOWEST = {FlowFaultKind.SLOW_RECEIVER: 120, FlowFaultKind.STORM: 30, FlowFaultKind.DEADLOCK: 30}
"""Seconds until the cause of a trouble is known, where it is not a minute (docs/first-hour.md)."""


@dataclass(frozen=True)
class Shown:
    """A fault by its word on the demo's command line: the newest publication, and the page of metrics."""

    fault: str
    publication: Published
    page: bytes


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
    return _shown(kind.value, site, 2 * ROUND_SECONDS)


def _traffic(kind: FlowFaultKind) -> Shown:
    site = Site(troubles=[FlowFault(kind)], shape=living_shape(HOSTS.get(kind, 16), RAILS, [kind]), pace=Pace())
    return _shown(kind.value, site, SLOWEST.get(kind, 60))


def _shown(fault: str, site: Site, seconds: float) -> Shown:
    evaluator = Evaluator.begin(demo_settings(Path(), "127.0.0.1", 0))
    evaluator.fabric, evaluator.page_url = fault, "https://truerail.example.net"
    began = site.seconds
    while True:
        site.wait(ROUND_SECONDS)
        last = site.seconds - began >= seconds
        seen = site.round(None if last else COUNTERS)
        counted = [reading for reading in seen.readings if reading.collector in COUNTERS]
        if last:
            break
        evaluator.window.put(counted)
    publication = evaluator.evaluate(
        site.fabric.plan, seen.snapshot(), counted, (), {}, JournalState(), (), (), site.now
    ).publication
    return Shown(fault, publication, Exposition().render(publication, {}, site.now))
