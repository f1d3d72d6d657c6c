"""Fabrics for the tests of views: every shape that a view must live with, evaluated once."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Plan, Snapshot
from truerail.plans.inference import infer
from truerail.questions.where import where
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape, simulate
from truerail.views.lines import cause_lines
from truerail.views.pieces import CablePath, CauseLine
from truerail.views.view import view_of

FAULTS = (
    Fault(CauseKind.LEAF_SWAP, "labels"),
    Fault(CauseKind.CABLE_SWAP, "one-leaf"),
    Fault(CauseKind.CABLE_SWAP, "across"),
    Fault(CauseKind.CABLE_MOVE, "one-leaf"),
    Fault(CauseKind.LINK_DOWN, "host"),
    Fault(CauseKind.LINK_DOWN, "uplink"),
    Fault(CauseKind.UNREACHABLE, "off"),
    Fault(CauseKind.UNREACHABLE, "hung"),
)


def shaped(shape: Shape, faults: tuple[Fault, ...] | int = 5, seed: int = 1) -> Published:
    """A simulated fabric, evaluated."""
    made = simulate(shape, faults, seed=seed)
    return publication_of(Round(made.plan, made.snapshot()), fabric="lab")


@cache
def faulty() -> Published:
    """24 hosts with one fault of each common kind."""
    return shaped(Shape(hosts=24), FAULTS, 3)


def without(publication: Published, *collectors: str) -> Published:
    """The same fabric where nobody answered these collectors."""
    seen = publication.snapshot
    kept = Snapshot(seen.at, [reading for reading in seen.readings if reading.collector not in collectors])
    return publication_of(Round(publication.plan, kept), fabric="lab")


def inferred(publication: Published) -> Published:
    """The same fabric against the plan that it implies itself."""
    return publication_of(Round(infer(publication.snapshot).plan, publication.snapshot), fabric="lab")


def unrailed(publication: Published) -> Published:
    """The same fabric under a plan that knows no rails, and whose first ten cables bear labels."""
    cables = tuple(
        cable._replace(rail=None, label=f"X-{number}" if number < 10 else "")
        for number, cable in enumerate(publication.plan.cables)
    )
    plan: Plan = replace(publication.plan, cables=cables, rails={})
    return publication_of(Round(plan, Snapshot(publication.snapshot.at, publication.snapshot.readings)), fabric="lab")


SHAPES: dict[str, Callable[[], Published]] = {
    "faulty": faulty,
    "pods": lambda: shaped(Shape(hosts=8, pods=2, rails=4, superspines=2), 4),
    "two planes": lambda: shaped(Shape(hosts=6, rails=4, planes=2), 4),
    "rail-only": lambda: shaped(Shape(hosts=8, rails=4, spines=0, uplinks=0), 4),
    "rails share leaves": lambda: shaped(Shape(hosts=6, rails=4, rails_per_leaf=2, stride=True), 4),
    "fewer GPUs than rails": lambda: shaped(Shape(hosts=6, rails=4, gpus=2), 3),
    "more GPUs than rails": lambda: shaped(Shape(hosts=6, rails=4, gpus=8), 3),
    "named by RDMA device": lambda: shaped(Shape(hosts=6, rails=4, host_ports="rdma"), 4),
    "named by PCI address": lambda: shaped(Shape(hosts=6, rails=4, host_ports="pci"), 4),
    "inferred plan": lambda: inferred(faulty()),
    "no GPU topology": lambda: without(faulty(), "gpu_nic_topology"),
    "no RDMA": lambda: without(faulty(), "gpu_nic_topology", "rdma_link"),
    "LLDP of hosts alone": lambda: without(faulty(), "lldp_switch", "net_link"),
    "nobody answered": lambda: publication_of(Round(faulty().plan, Snapshot(faulty().at, [])), fabric="lab"),
    "no rails": lambda: unrailed(faulty()),
}


@cache
def fabric(name: str) -> Published:
    """One of `SHAPES`."""
    return SHAPES[name]()


def of_kind(publication: Published, kind: CauseKind) -> list[CauseLine]:
    """The causes of one kind, in order of harm."""
    return [line for line in cause_lines(view_of(publication)) if line.kind == kind]


def right(publication: Published) -> CablePath:
    """A host's cable that is right, on a host that answered."""
    states = publication.evaluation.cable_states
    host = next(c.a for c in publication.plan.host_cables if states[c.a] is CableState.RIGHT)
    return where(publication, str(host)).paths[0]
