"""The open faults of an evaluation: its causes and the findings without one, and those not resolved yet, worst first;
and the alert of each: what fires, since when, and where it is sent.

What is away for the moment (recovering, unseen) stays open until its life ends, if it had lasted long enough to alert:
else a cable that is moved by hand would alert after it is in its port. What a present cause took over is not open any
more: a cable that was dark and is now swapped is one fault.

Prometheus evaluates the alert from `truerail_cause_info` and `truerail_finding_info`; this is the same from the same
open fault, so that the page of a cause and the alert agree. A scrape and an evaluation of Prometheus come on top.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from truerail.analysis.published import EvaluatedRound, Published
from truerail.model.cause_kinds import CAUSE_KINDS, FINDING_ALERT, minutes_of
from truerail.model.columns import distinct
from truerail.model.finding import Cause, Finding, Severity
from truerail.model.life import Life, Mute
from truerail.model.names import some
from truerail.model.open_fault import OpenFault
from truerail.model.plan import Plan
from truerail.views.cause_jobs import jobs_by_cause, named_jobs
from truerail.views.view import EvaluationIndex

MOST_NAMED = 3


def open_faults(
    evaluated: EvaluatedRound,
    cause_lives: Mapping[str, Life],
    lives: Mapping[str, Life],
    pending_causes: Iterable[Cause] = (),
    pending_findings: Iterable[Finding] = (),
) -> tuple[OpenFault, ...]:
    """All open faults: most severe first, then most affected GPUs, then the oldest."""
    index = evaluated.once(EvaluationIndex)
    away = tuple(pending_causes)
    found = {finding.id: finding for finding in (*evaluated.evaluation.findings, *pending_findings)}
    explained = {one for cause in (*evaluated.evaluation.causes, *away) for one in cause.explains}
    faults = [_present(index, key, cause, found) for key, cause in index.causes.items()]
    faults += [_of_cause(index.evaluation.plan, one.key, one, found) for one in _kept(index, away, found)]
    alone = (f for one, f in found.items() if one not in explained and f.severity is not Severity.INFO)
    faults += [_of_finding(index.evaluation.plan, finding) for finding in alone]
    affected = {key: f"; it affects {named_jobs(hit)}" for key, hit in evaluated.once(jobs_by_cause).items()}
    present = {*index.causes, *(finding.id for finding in evaluated.evaluation.findings)}
    dated = []
    for fault in faults:
        life = (cause_lives if fault.kind else lives).get(fault.key)
        if fault.key in present or _lasted(fault, life):
            summary = fault.summary + affected.get(fault.key, "")
            dated.append(replace(fault, since=life.since if life else None, summary=summary))
    return tuple(sorted(dated, key=_worst))


def _worst(fault: OpenFault) -> tuple[int, int, float, str]:
    since = fault.since.timestamp() if fault.since else 0.0
    return -fault.severity.rank, -(fault.affected_gpus or 0), since, fault.key


def _kept(index: EvaluationIndex, away: Sequence[Cause], found: Mapping[str, Finding]) -> Iterable[Cause]:
    """Causes that are away and that no present cause took over, with a finding that is still open."""
    taken = {name for cause in index.causes.values() for name in (*cause.subjects, *cause.explains)}
    for cause in away:
        if taken.isdisjoint((*cause.subjects, *cause.explains)) and any(one in found for one in cause.explains):
            yield cause


def _lasted(fault: OpenFault, life: Life | None) -> bool:
    """Whether a fault that is away was present for as long as its alert waits."""
    minutes = minutes_of(fault.kind, fault.severity)
    return life is not None and minutes is not None and life.last_seen - life.since >= timedelta(minutes=minutes)


def _present(index: EvaluationIndex, key: str, cause: Cause, found: Mapping[str, Finding]) -> OpenFault:
    fault = _of_cause(index.evaluation.plan, key, cause, found)
    gpus, cables = index.impact[key], index.affected[key]
    if not index.harm_known(key):
        return fault
    device, layout = index.index.a_device[cables], index.layout
    hosts = distinct(device[index.index.from_host[cables]])
    misordered = sum(layout.code.get(name, -1) >= 0 for name in cause.subjects) if gpus and not len(hosts) else 0
    return replace(fault, affected_gpus=gpus, affected_hosts=len(hosts) or misordered)


def _of_cause(plan: Plan, key: str, cause: Cause, found: Mapping[str, Finding]) -> OpenFault:
    severities = (found[one].severity for one in cause.explains if one in found)
    worst = max(severities, key=lambda severity: severity.rank, default=Severity.INFO)
    severity = min(worst, Severity.WARNING, key=lambda one: one.rank) if cause.names_only else worst
    fault = OpenFault(cause.key, cause.kind, "", severity, "", "", cause.summary, cause.action, cause.explains)
    return _placed(plan, replace(fault, key=key), cause.subjects)


def _of_finding(plan: Plan, finding: Finding) -> OpenFault:
    one, summary = finding.id, finding.summary
    said = summary if finding.subject in summary else f"{finding.subject}: {summary}"
    fault = OpenFault(one, None, finding.rule, finding.severity, "", "", said, finding.action, (one,))
    return _placed(plan, fault, (finding.subject,))


def _placed(plan: Plan, fault: OpenFault, subjects: Sequence[str]) -> OpenFault:
    """The fault with its place: the pod of all its subjects, the racks of the first ones, the unit of a single one."""
    named = dict.fromkeys(subject if subject in plan.devices else subject.partition("/")[0] for subject in subjects)
    devices = [plan.devices[name] for name in named if name in plan.devices]
    pods, racks = {device.pod for device in devices}, dict.fromkeys(device.rack for device in devices if device.rack)
    pod, unit = pods.pop() if len(pods) == 1 else "", devices[0].unit if len(devices) == 1 else None
    where = "" if unit is None else str(unit)
    return replace(fault, pod=pod, subject=some(subjects, MOST_NAMED), rack=some([*racks], MOST_NAMED), unit=where)


# ----------------------------------------------------------------------------------------------------------------------
# The alert of an open fault.


@dataclass(frozen=True, slots=True)
class MutedBy:
    """Why an alert is muted: `kind` is `acknowledged` or `maintenance`."""

    kind: str
    author: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class FaultAlert:
    """One alert. `state` is `pending` until `fires_at`, then `firing`; `muted`, or `none` where nothing is sent."""

    name: str
    """`TruerailCableSwap`; empty where nothing is sent."""
    title: str
    severity: str
    state: str
    why_none: str
    """Why nothing is sent."""
    wait_minutes: int | None
    """How long the fault must last."""
    since: datetime | None
    fires_at: datetime | None
    """When it has lasted that long; None if it is not known when it began."""
    in_use_only: bool
    """Whether a critical one is a warning in a pod that is still being cabled."""
    muted: tuple[MutedBy, ...]
    notification: Mapping[str, str]
    """The labels that alerts of one notification share."""
    runbook: str
    """The code of the runbook: `CAB001`."""
    runbook_url: str
    """Empty without the setting `page.runbooks`."""
    dashboard_url: str
    """Empty without the setting `page.grafana`."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Addresses of what alerts lead to; empty ones are not set."""

    runbooks: str = ""
    grafana: str = ""


def fault_alerts(publication: Published, key: str, elsewhere: Elsewhere) -> tuple[FaultAlert, ...]:
    """The alert of the open cause or finding `key`; nothing where it is not open or a cause has it."""
    return tuple(_alert(publication, fault, elsewhere) for fault in publication.open_faults if fault.key == key)


def _alert(publication: Published, fault: OpenFault, elsewhere: Elsewhere) -> FaultAlert:
    known = CAUSE_KINDS[fault.kind] if fault.kind else None
    minutes = minutes_of(fault.kind, fault.severity)
    fires_at = fault.since + timedelta(minutes=minutes) if fault.since and minutes is not None else None
    muted = _muted(publication.mutes, fault.findings)
    name = "" if minutes is None else known.alert if known else FINDING_ALERT
    runbook = known.runbook if known else fault.rule
    return FaultAlert(
        name=name,
        title=known.title if known else "A finding that no cause explains",
        severity=fault.severity.value,
        state=_state(name, muted, fires_at, publication.at),
        why_none="" if name else _why_none(fault),
        wait_minutes=minutes,
        since=fault.since,
        fires_at=fires_at,
        in_use_only=bool(known and known.needs_use),
        muted=muted,
        notification=_notification(publication, fault, name),
        runbook=runbook,
        runbook_url=f"{elsewhere.runbooks}/{runbook}.md" if elsewhere.runbooks and runbook else "",
        dashboard_url=_dashboard(publication, known.dashboard if known else "overview", elsewhere),
    )


def _state(name: str, muted: tuple[MutedBy, ...], fires_at: datetime | None, at: datetime) -> str:
    if not name or muted:
        return "muted" if name else "none"
    return "firing" if fires_at is not None and fires_at <= at else "pending"


def _why_none(fault: OpenFault) -> str:
    if fault.kind and not CAUSE_KINDS[fault.kind].runbook:
        return f"a cause of kind {fault.kind} explains findings and is no fault"
    return f"its severity is {fault.severity}"


def _muted(mutes: Mapping[str, Mute], findings: tuple[str, ...]) -> tuple[MutedBy, ...]:
    """Why all of its findings are muted; nothing if one is not."""
    found = [mutes.get(one) for one in findings]
    if not found or None in found:
        return ()
    each = {(one.kind, one.id): one for one in found if one is not None}
    return tuple(MutedBy(one.kind.value, one.author, one.reason, one.until) for one in each.values())


def _notification(publication: Published, fault: OpenFault, name: str) -> Mapping[str, str]:
    key = {"cause": fault.key} if fault.kind else {"rule": fault.rule}
    labels = {"alertname": name, "fabric": publication.fabric, "pod": fault.pod, **key}
    return {label: value for label, value in labels.items() if value} if name else {}


def _dashboard(publication: Published, board: str, elsewhere: Elsewhere) -> str:
    chosen = urlencode({"var-fabric": publication.fabric})
    return f"{elsewhere.grafana}/d/truerail-{board}?{chosen}" if elsewhere.grafana else ""
