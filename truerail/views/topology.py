"""The switches of the plan, tier by tier, and the cables between them, bundled by pair of switches."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truerail.analysis.published import Published
from truerail.model.columns import NONE
from truerail.model.plan import Role
from truerail.views.evaluation_index import states_at
from truerail.views.findings import severity_of
from truerail.views.lines import state_count
from truerail.views.pieces import StateCount
from truerail.views.view import View, view_of


@dataclass(frozen=True, slots=True)
class SwitchNode:
    """A switch. `hosts` are its planned cables to hosts, by state."""

    device: str
    role: str
    pod: str
    read: bool
    hosts: StateCount
    findings: int
    severity: str | None
    """The highest severity of its unmuted findings."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The planned cables between two switches, by state; `lower` is the end nearer to the GPUs."""

    lower: str
    upper: str
    count: StateCount
    severity: str | None
    cause: str | None
    """Key of a cause of what is wrong there, if there is one."""
    finding: str | None
    """Id of the most severe unmuted finding on one of the cables."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Switches from the highest tier down, each tier in natural order, and the bundles between them."""

    switches: tuple[SwitchNode, ...]
    bundles: tuple[Bundle, ...]


def topology(publication: Published) -> Topology:
    """The switches of a publication and what is between them."""
    view = view_of(publication)
    return Topology(tuple(_switches(view)), tuple(_bundles(view)))


def _switches(view: View) -> Iterator[SwitchNode]:
    layout, (findings, loudest) = view.layout, view.loudest
    below = states_at(np.where(layout.from_host, layout.b_device, NONE), view.wiring.state, len(layout.devices))
    ordered = layout.ordered_devices
    for code in ordered[np.lexsort((layout.rank[ordered], -layout.tier[ordered]))].tolist():
        device = layout.devices[code]
        if device.role is Role.HOST:
            return
        yield SwitchNode(
            device=device.name,
            role=device.role.value,
            pod=device.pod,
            read=bool(view.wiring.read[code]),
            hosts=state_count(below[code]),
            findings=int(findings[code]),
            severity=severity_of(loudest[code]),
        )


def _bundles(view: View) -> Iterator[Bundle]:
    layout, findings = view.layout, view.findings
    size = len(layout.devices)
    between = ~layout.from_host & (layout.a_device >= 0) & (layout.b_device >= 0)
    pairs, place = np.unique(layout.a_device[between] * size + layout.b_device[between], return_inverse=True)
    bundle_of = np.full(len(layout.rail) + 1, NONE, dtype=np.int64)
    bundle_of[:-1][between] = place
    states = states_at(bundle_of[:-1], view.wiring.state, len(pairs))
    worst: dict[int, int] = {}
    for number in np.flatnonzero(~view.muted & (bundle_of[findings.cable] >= 0)).tolist():
        bundle = int(bundle_of[findings.cable[number]])
        if findings.rank[number] > findings.rank[worst[bundle]] if bundle in worst else True:
            worst[bundle] = number
    for bundle, pair in enumerate(pairs.tolist()):
        found = worst.get(bundle)
        finding = None if found is None else findings.ids[found]
        yield Bundle(
            lower=layout.devices[pair // size].name,
            upper=layout.devices[pair % size].name,
            count=state_count(states[bundle]),
            severity=None if found is None else severity_of(findings.rank[found]),
            cause=view.sight.cause_of.get(finding) if finding else None,
            finding=finding,
        )
