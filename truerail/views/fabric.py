"""The fabric at a glance."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from truerail.analysis.cabling.named_by import VERIFIED
from truerail.analysis.published import CollectorRun, Published
from truerail.model.finding import Severity, Verdict
from truerail.model.plan import Role
from truerail.outputs.unevaluated import rule_name
from truerail.views.headline import overview_headline
from truerail.views.index import EvaluationIndex, states_at
from truerail.views.lines import count_of, state_count
from truerail.views.models import Coverage, FabricView, RailLine
from truerail.views.pieces import AsOf
from truerail.views.plain import as_json
from truerail.views.view import View, view_of


def fabric_view(publication: Published, now: datetime) -> FabricView:
    """The status of the whole fabric. `now` (aware, UTC) gives the age of the collectors' last data."""
    view = view_of(publication)
    sight, plan, evaluation = view.sight, publication.plan, publication.evaluation
    wiring, layout, words = view.wiring, view.layout, overview_headline(view)
    switches = np.flatnonzero(layout.tier > Role.HOST.tier)
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
        findings=_by_severity(view),
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


def _by_severity(view: View) -> dict[str, int]:
    """Unmuted findings, highest severity first."""
    ranks = Counter(view.findings.rank[~view.muted].tolist())
    return {severity.value: ranks[severity.rank] for severity in reversed(Severity)}


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
