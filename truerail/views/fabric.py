"""The fabric at a glance; and its switches, tier by tier, with the cables between them, bundled by pair of switches."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from truerail.analysis.cabling.named_by import VERIFIED
from truerail.analysis.published import CollectorRun, Published
from truerail.model.columns import NONE, Codes
from truerail.model.finding import Severity, Verdict
from truerail.model.plan import Role
from truerail.outputs.report_words import as_sentence, count, sentence
from truerail.outputs.unevaluated import rule_name
from truerail.views.findings import severity_of
from truerail.views.lines import cause_lines, count_of, state_count
from truerail.views.pieces import AsOf, CauseLine, StateCount
from truerail.views.plain import as_json
from truerail.views.view import EvaluationIndex, View, states_at, view_of

# ----------------------------------------------------------------------------------------------------------------------
# The overview's headline: the worst fault, before the count of cables.

_NEXT_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class OverviewHeadline:
    """The verdict in two sentences. `worst` is the key of the cause that `headline` names; None if it names none."""

    tone: str
    headline: str
    repair: str
    worst: str | None


def overview_headline(view: View) -> OverviewHeadline:
    """The worst of what is not muted: the first cause that costs GPUs their rail, else critical findings without a
    cause, else the first cause of at least a warning, else the cables that are not right, else other findings of at
    least a warning. The view owns it.
    """
    return view.once(_overview_headline)


def _overview_headline(view: View) -> OverviewHeadline:
    cables = view.headline
    repair = cables.repair if view.hindsight is None else ""  # of the past not what was to be done
    cause, alone = _worst_cause(view), _unexplained(view)
    summary = view.evaluated.evaluation.summary
    critical = bool(len(alone)) and view.findings.all[alone[0]].severity is Severity.CRITICAL
    if cause and (cause.impact or not critical):
        return OverviewHeadline(cables.tone.value, _of_cause(cause), repair, cause.key)
    if critical or (len(alone) and summary.cables_right == summary.cables_planned):
        return OverviewHeadline(cables.tone.value, _of_findings(view, alone.tolist()), repair, None)
    return OverviewHeadline(cables.tone.value, cables.cables, repair, None)


def _worst_cause(view: View) -> CauseLine | None:
    loud = (one for one in cause_lines(view) if not one.muted and Severity(one.severity).rank >= Severity.WARNING.rank)
    return next(loud, None)


def _unexplained(view: View) -> Codes:
    """Findings of at least a warning that no cause explains and that are not muted, highest severity first."""
    findings, cause_of = view.findings, view.sight.cause_of
    alone = np.array([one not in cause_of for one in findings.ids], dtype=bool)
    places = np.flatnonzero(alone & ~view.muted & (findings.rank >= Severity.WARNING.rank))
    return places[np.argsort(-findings.rank[places], kind="stable")]


def first_sentence(text: str) -> str:
    """The first sentence of several."""
    return _NEXT_SENTENCE.split(sentence(text), 1)[0]


def _of_cause(cause: CauseLine) -> str:
    words = as_sentence(first_sentence(cause.summary))
    if not cause.impact:
        return words
    gpus = count(cause.impact, "GPU")
    return f"{words} {f'Perhaps {gpus}' if cause.undecided else gpus} affected."


def _of_findings(view: View, places: list[int]) -> str:
    first = view.findings.all[places[0]]
    alike = sum(view.findings.all[place].severity is first.severity for place in places)
    more = f" {count(alike, f'{first.severity.value} finding')} without a common cause." if alike > 1 else ""
    return f"{as_sentence(first_sentence(first.summary))}{more}"


# ----------------------------------------------------------------------------------------------------------------------
# The fabric at a glance.


@dataclass(frozen=True, slots=True)
class RailLine:
    """The status of one rail. `rail` None contains the cables without a rail, uplinks excluded."""

    rail: int | None
    name: str
    count: StateCount


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of planned cables confirmed by both ends, by one, by other sources than LLDP, by none; and the share
    by both, 0..1. None as of a time: the journal does not keep it.
    """

    both_ends: int | None
    one_end: int | None
    other_sources: int | None
    none: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class FabricView:
    """The fabric at a glance. `tone` is `good`, `doubt` or `bad`; `headline` says what matters most."""

    name: str
    number: int
    at: datetime
    tone: str
    headline: str
    repair: str
    worst: str | None
    """Key of the cause that the headline names."""
    plan_source: str
    plan_inferred: bool
    plan_digest: str
    hosts: int
    hosts_read: int
    switches: int
    switches_read: int
    pods: tuple[str, ...]
    cables: StateCount
    uplinks: StateCount
    rails: tuple[RailLine, ...]
    coverage: Coverage
    findings: Mapping[str, int]
    """By severity, without muted ones."""
    muted: int
    causes: int
    collectors: tuple[Mapping[str, Any], ...]
    """`CollectorRun` as JSON, and `age_seconds`."""
    journal: Mapping[str, Any]
    """`JournalState` as JSON."""
    verdicts: tuple[Mapping[str, Any], ...]
    """Rule, name, status, missing, error."""
    notes: tuple[str, ...]
    as_of: AsOf | None = None
    """The time, and what is unknown of it; None: now."""
    stale_since: datetime | None = None
    """Since when no evaluation is confirmed, because the process that evaluates does not report; None: it does."""
    stale_reason: str = ""
    """What keeps a front on another machine from the judge that leads."""


def fabric_view(publication: Published, now: datetime) -> FabricView:
    """The status of the whole fabric. `now` (aware, UTC) gives the age of the collectors' last data."""
    view = view_of(publication)
    sight, plan, evaluation = view.sight, publication.plan, publication.evaluation
    wiring, layout, words = view.wiring, view.layout, overview_headline(view)
    switches = np.flatnonzero(layout.tier > Role.HOST.tier)
    ranks = Counter(view.findings.rank[~view.muted].tolist())
    return FabricView(
        name=publication.fabric,
        number=publication.number,
        at=publication.at,
        tone=words.tone,
        headline=words.headline,
        repair=words.repair,
        worst=words.worst,
        plan_source=plan.source or plan.name,
        plan_inferred=plan.inferred,
        plan_digest=publication.plan_digest,
        hosts=len(layout.hosts),
        hosts_read=int(np.count_nonzero(wiring.read[layout.hosts])),
        switches=len(switches),
        switches_read=int(np.count_nonzero(wiring.read[switches])),
        pods=tuple(dict.fromkeys(pod for code in layout.hosts.tolist() if (pod := layout.devices[code].pod))),
        cables=count_of(wiring, np.arange(len(plan.cables))),
        uplinks=count_of(wiring, np.flatnonzero(~layout.from_host)),
        rails=rail_lines(sight),
        coverage=coverage_of(sight) if publication.hindsight is None else Coverage(None, None, None, None, None),
        findings={severity.value: ranks[severity.rank] for severity in reversed(Severity)},
        muted=int(np.count_nonzero(view.muted)),
        causes=len(sight.causes),
        collectors=tuple(_run(publication.runs[name], now) for name in sorted(publication.runs)),
        journal=as_json(publication.journal),
        verdicts=tuple(_verdict(one) for one in sorted(evaluation.verdicts, key=lambda one: one.rule)),
        notes=evaluation.notes,
        as_of=as_of(publication),
    )


def as_of(publication: Published) -> AsOf | None:
    """The time of an evaluation of the past; None for the one in force."""
    of = publication.hindsight
    return None if of is None else AsOf(of.at, of.round_at, of.unknown)


def rail_lines(sight: EvaluationIndex) -> tuple[RailLine, ...]:
    """The status of each rail by its host cables, in order; cables without a rail, if any, come last."""
    layout, state = sight.layout, sight.wiring.state
    rails, place = np.unique(layout.rail[layout.from_host], return_inverse=True)
    counts = zip(rails.tolist(), states_at(place, state[layout.from_host], len(rails)), strict=True)
    lines = [RailLine(None if rail < 0 else rail, _rail_name(sight, rail), state_count(row)) for rail, row in counts]
    return tuple(sorted(lines, key=lambda line: line.rail is None))


def _rail_name(sight: EvaluationIndex, rail: int) -> str:
    planned = sight.evaluation.plan.rails.get(rail)
    return planned.name if planned and planned.name else "no rail" if rail < 0 else f"rail {rail}"


def coverage_of(sight: EvaluationIndex) -> Coverage:
    """What confirms the planned cables. A cable with one end that names only the device counts as one end."""
    none, device, other, one, both = np.bincount(sight.verified, minlength=len(VERIFIED)).tolist()
    total = len(sight.verified)
    return Coverage(both, device + one, other, none, both / total if total else None)


def _run(run: CollectorRun, now: datetime) -> Mapping[str, Any]:
    age = None if run.last_at is None else (now - run.last_at).total_seconds()
    return {**as_json(run), "age_seconds": age}


def _verdict(verdict: Verdict) -> Mapping[str, Any]:
    return {
        "rule": verdict.rule,
        "name": rule_name(verdict.rule),
        "status": verdict.status.value,
        "missing": list(verdict.missing),
        "why": verdict.why,
        "error": verdict.error,
        "unknown": [part.as_dict() for part in verdict.not_evaluated],
    }


# ----------------------------------------------------------------------------------------------------------------------
# The switches, tier by tier, and the cables between them.


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
