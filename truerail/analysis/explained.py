"""A round with its findings and their causes: what the rules evaluate that join causes with jobs."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.round import Round
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm
from truerail.model.columns import NONE, Codes, Mask, RowsBy, components, distinct, distinct_pairs, grouped
from truerail.model.finding import Cause, Finding, Severity, Verdict
from truerail.model.index import PlanColumns, PlanIndex
from truerail.model.plan import Plan, Port

AFFECTED_BY = "affected_by"
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
    def hosts_affected(self) -> Mapping[str, Codes]:
        """The hosts that each cause affects, by its key; without causes that affect none."""
        wiring = self.round.cabling
        found = {key: hosts_affected(wiring, cause, self.affected[key]) for key, cause in self.by_key.items()}
        return {key: hosts for key, hosts in found.items() if len(hosts)}

    @cached_property
    def hosts_in_doubt(self) -> frozenset[int]:
        """The hosts of which it is unknown whether a cause affects them."""
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
    keys = ((dict(finding.detail).get(AFFECTED_BY), finding.id) for finding in findings)
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
    """Numbers the connected parts of the switches, shape (devices,)."""
    links = use & ~index.from_host & (index.a_device >= 0) & (end >= 0)
    return components(index.a_device[links], end[links], size)


# ----------------------------------------------------------------------------------------------------------------------
# What a cause affects: host cables that lose their rail or are slower on it, and the affected hosts.


class DeviceCables:
    """The cables at each planned device. The plan owns it."""

    def __init__(self, plan: Plan) -> None:
        columns = plan.once(PlanColumns)
        self._ends = RowsBy(np.concatenate([columns.a_device, columns.b_device]))
        self._cables = len(plan.cables)
        self.code = {name: code for code, name in enumerate(plan.devices)}

    def at(self, name: str) -> Codes:
        """The cables of a planned device."""
        return np.asarray(self._ends.at(self.code[name]) % self._cables, dtype=np.int64)


def affected_cables(wiring: Wiring, findings: Mapping[str, Finding], cause: Cause, hidden: Collection[Port]) -> Codes:
    """The cables that carry less traffic, none, or traffic to the wrong place while a cause lasts: those of its
    subjects (a leaf means all its cables), its moves and the findings it explains. `findings` are by id.

    A cable in another port of the same rail, or in a free port of its leaf, has no impact; nor has one that is in its
    leaf behind a wrong name (`hidden`). A cable in unknown state counts.
    """
    if cause.names_only:
        return np.empty(0, dtype=np.int64)
    if CAUSE_KINDS[cause.kind].harm is Harm.STARVES:
        return _starved(wiring, findings, cause)
    touched = distinct(np.fromiter(_cables(wiring, findings, cause), dtype=np.int64))
    settled = {_number(wiring, str(port)) for port in hidden}
    cables = touched[(touched >= 0) & ~np.isin(touched, list(settled))]
    return cables[_off_rail(wiring, cables)]


def _starved(wiring: Wiring, findings: Mapping[str, Finding], cause: Cause) -> Codes:
    """The cables of the cause's ports, and of the victims that its findings name."""
    ports = [subject for subject in cause.subjects if subject not in wiring.index.plan.devices]
    for explained in cause.explains:
        if explained in findings:
            ports += [str(victim["port"]) for victim in dict(findings[explained].detail).get("victims", ())]
    cables = distinct(np.array([NONE, *(_number(wiring, port) for port in ports)], dtype=np.int64))
    return cables[cables >= 0]


def _cables(wiring: Wiring, findings: Mapping[str, Finding], cause: Cause) -> Iterator[int]:
    for subject in cause.subjects:
        yield from cables_at(wiring, subject)
    for move in cause.moves:
        yield from cables_at(wiring, str(move.cable))
    for explained in cause.explains:
        if explained in findings and findings[explained].subject not in wiring.index.plan.devices:
            yield _number(wiring, findings[explained].subject)


def cables_at(wiring: Wiring, subject: str) -> Iterator[int]:
    """The cables of a device, or the one at a port."""
    plan = wiring.index.plan
    whole = subject in plan.devices
    yield from plan.once(DeviceCables).at(subject).tolist() if whole else (_number(wiring, subject),)


def _number(wiring: Wiring, subject: str) -> int:
    device, _, name = subject.partition("/")
    index = wiring.index
    code = np.array([index.plan.once(DeviceCables).code.get(device, NONE)])
    return int(index.cables_at(index.find(code, [name or None]))[0])


def _off_rail(wiring: Wiring, cables: Codes) -> Mask:
    """Which cables are not known to end on their rail and plane."""
    index, state = wiring.index, wiring.state[cables]
    place = wiring.place[cables]
    there = index.cables_at(place)
    free_port = (there < 0) & (index.ports.device_of(place) == index.b_device[cables])
    same_rail = (there >= 0) & (index.rail[there] == index.rail[cables]) & (index.plane[there] == index.plane[cables])
    stays = free_port | same_rail
    return np.asarray((state != State.RIGHT) & ~((state == State.WRONG) & stays), dtype=bool)


def hosts_affected(wiring: Wiring, cause: Cause, affected: Codes) -> Codes:
    """The hosts that a cause affects, ascending: none where that is unknown. `affected` are its cables."""
    harm = CAUSE_KINDS[cause.kind].harm
    if harm in (Harm.UNREAD, Harm.INTENDED) or cause.names_only or cause.undecided:
        return np.empty(0, dtype=np.int64)
    on_hosts = harm is Harm.STARVES or cause.kind is CauseKind.GPU_NIC_ORDER
    return _hosts(wiring, affected, cause.subjects if on_hosts else ())


def hosts_in_doubt(wiring: Wiring, cause: Cause, affected: Codes) -> Codes:
    """The hosts of which it is unknown whether a cause affects them, ascending: they are not read, or swapped cables
    explain it as well as swapped names.
    """
    if cause.kind is not CauseKind.UNREACHABLE and not cause.undecided:
        return np.empty(0, dtype=np.int64)
    return _hosts(wiring, affected, cause.subjects)


def _hosts(wiring: Wiring, cables: Codes, subjects: Iterable[str]) -> Codes:
    """The hosts of cables, and those among some subjects."""
    index = wiring.index
    found = {*index.a_device[cables].tolist(), *(index.devices.find(subject) for subject in subjects)}
    return np.array(sorted(code for code in found if code >= 0 and index.devices.is_host(code)), dtype=np.int64)


def hidden_by_names(plan: Plan, causes: Iterable[Cause]) -> frozenset[Port]:
    """Cables that are on their planned device but appear elsewhere because device names are swapped, among the moves of
    causes, by the end nearer to the GPUs. A move that waits only for names to be
    corrected names its ports as they are called afterwards.
    """
    known = tuple(causes)
    names = {cause.key for cause in known if cause.names_only}
    found = set()
    for move in (move for cause in known for move in cause.moves if move.after_causes):
        cable = plan.cable_at(move.cable)
        if cable is not None and names.issuperset(move.after_causes) and move.source.device == cable.b.device:
            found.add(cable.a)
    return frozenset(found)
