"""A round with its findings and their causes: what the rules evaluate that join causes with jobs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerail.analysis.affected import affected_cables, hidden_by_names, hosts_hurt, hosts_in_doubt
from truerail.analysis.cabling import State
from truerail.analysis.round import Round
from truerail.model.columns import NONE, Codes, Mask, distinct, distinct_pairs, grouped
from truerail.model.finding import Cause, Finding, Severity, Verdict
from truerail.model.index import PlanColumns, PlanIndex
from truerail.model.plan import Plan

HURT_BY = "hurt_by"
"""The field of a finding's detail with the key of the cause that explains it."""


@dataclass(frozen=True)
class Explained:
    """The findings of a round, and the causes that explain them."""

    round: Round
    findings: Sequence[Finding]
    causes: Sequence[Cause]
    verdicts: Sequence[Verdict] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Finding]:
        """The findings by their ids."""
        return {finding.id: finding for finding in self.findings}

    @cached_property
    def by_key(self) -> Mapping[str, Cause]:
        """The causes by their keys."""
        return {cause.key: cause for cause in reversed(self.causes)}

    @cached_property
    def affected(self) -> Mapping[str, Codes]:
        """The cables that each cause affects, by its key."""
        wiring = self.round.cabling
        hidden = hidden_by_names(self.round.plan, self.causes)
        return {key: affected_cables(wiring, self.by_id, cause, hidden) for key, cause in self.by_key.items()}

    @cached_property
    def hosts_hurt(self) -> Mapping[str, Codes]:
        """The hosts that each cause hurts, by its key; without causes that hurt none."""
        wiring = self.round.cabling
        found = {key: hosts_hurt(wiring, cause, self.affected[key]) for key, cause in self.by_key.items()}
        return {key: hosts for key, hosts in found.items() if len(hosts)}

    @cached_property
    def hosts_in_doubt(self) -> frozenset[int]:
        """The hosts of which it is unknown whether a cause hurts them."""
        wiring = self.round.cabling
        found = (hosts_in_doubt(wiring, cause, self.affected[key]) for key, cause in self.by_key.items())
        return frozenset(host for hosts in found for host in hosts.tolist())

    @cached_property
    def cause_of(self) -> Mapping[str, str]:
        """Finding id to the key of the cause that explains it."""
        return {finding: key for key, cause in self.by_key.items() for finding in cause.explains}

    @cached_property
    def ends(self) -> Codes:
        """The switch at the upper end of each cable; -1 where it has none. A cable behind a wrong name is where it
        belongs. Shape (cables,).
        """
        wiring = self.round.cabling
        index = wiring.index
        seen = np.where(wiring.state == State.WRONG, index.ports.device_of(wiring.place), index.b_device)
        ends = np.where(wiring.state == State.MISSING, NONE, seen)
        for cause in self.causes:
            if cause.names_only or cause.undecided:
                subjects = {self.by_id[one].subject for one in cause.explains if one in self.by_id}
                wrong = wiring.cables(State.WRONG).tolist()
                behind = [cable for cable in wrong if str(index.a_port(cable)) in subjects]
                ends[behind] = index.b_device[behind]
        return np.asarray(ends)

    @cached_property
    def parts(self) -> Codes:
        """Numbers the connected parts of the switches, over uplinks that are seen or in unknown state. Shape
        (devices,).
        """
        index = self.round.cabling.index
        return connected_parts(index, self.ends, self.ends >= 0, len(index.devices.names))

    def severity(self, cause: Cause) -> Severity:
        """The highest severity of the findings that a cause explains."""
        found = (self.by_id[one].severity for one in cause.explains if one in self.by_id)
        return max(found, key=lambda severity: severity.rank, default=Severity.INFO)


def with_explained(causes: Iterable[Cause], findings: Iterable[Finding]) -> tuple[Cause, ...]:
    """The causes with the findings that name them in their detail."""
    keys = ((dict(finding.detail).get(HURT_BY), finding.id) for finding in findings)
    more = grouped((str(key), found) for key, found in keys if key is not None)
    if not more:
        return tuple(causes)
    added = ((cause, more.pop(cause.key, ())) for cause in causes)
    return tuple(replace(cause, explains=(*cause.explains, *own)) if own else cause for cause, own in added)


def rails_apart(plan: Plan) -> bool:
    """Whether the plan has no way from one rail to another: no switch above the leaves, or none that two rails share.
    Then NCCL cannot go round what is off its rail.
    """
    columns, parts = plan.once(PlanColumns), plan.once(planned_parts)
    if columns.from_host.all():
        return True
    railed = columns.from_host & (columns.rail >= 0)
    part, rail = distinct_pairs(parts[columns.b_device[railed]], columns.rail[railed])
    return len(distinct(rail)) > 1 and len(distinct(part)) == len(part)


def planned_parts(plan: Plan) -> Codes:
    """Numbers the parts of the switches that planned links connect, shape (devices,)."""
    columns = plan.once(PlanColumns)
    return connected_parts(columns, columns.b_device, columns.b_device >= 0, len(plan.devices))


def connected_parts(index: PlanIndex | PlanColumns, end: Codes, use: Mask, size: int) -> Codes:
    """Numbers the connected parts of the switches, shape (devices,): union by the smaller number."""
    part = list(range(size))

    def root(device: int) -> int:
        while part[device] != device:
            part[device] = part[part[device]]
            device = part[device]
        return device

    links = use & ~index.from_host & (index.a_device >= 0) & (end >= 0)
    for packed in distinct(index.a_device[links] << 32 | end[links]).tolist():
        one, other = root(packed >> 32), root(packed & 0xFFFFFFFF)
        part[max(one, other)] = min(one, other)
    return np.array([root(device) for device in range(size)], dtype=np.int64)
