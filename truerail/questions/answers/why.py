"""`why FINDING`: its evidence, the alternatives, what was ruled out, since when, and who acknowledged it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from rules import rules
from truerail.analysis.published import Published
from truerail.errors import JournalUnavailableError, NotFoundError
from truerail.model.facts import Fact
from truerail.model.finding import Evidence, Finding
from truerail.model.history import FindingRecord, History
from truerail.model.life import MuteKind
from truerail.model.names import printable
from truerail.questions.answers.rail_status import rail_status_of
from truerail.questions.answers.ruled_out import ruled_out
from truerail.questions.why import EvidenceLine, Why
from truerail.views.lines import cable_paths, cause_line, finding_line
from truerail.views.pieces import FindingLine
from truerail.views.view import View, view_of


def why(publication: Published, history: History, finding: str) -> Why:
    """Everything about one finding, by its id. A resolved one comes from the journal, without evidence.

    Raises NotFoundError for an id that is neither in the evaluation nor in the journal.
    """
    view = view_of(publication)
    wanted = finding.strip().lower()
    found = view.finding(wanted)
    record = _record(history, wanted)
    if found is None:
        if record is None:
            raise NotFoundError(
                f"no finding has the id {printable(finding, 80)!r}: it may be resolved, or belong to another fabric"
            )
        return _remembered(record)
    return _present(view, history, found, record)


def _present(view: View, history: History, found: Finding, record: FindingRecord | None) -> Why:
    one = found.id
    cause, cable = view.cause_of(one), _cable(view, found)
    life = view.lives.get(one) or (record.life if record else None)
    mute = view.mutes.get(one)
    known = mute if mute and mute.kind is MuteKind.ACKNOWLEDGED else None
    paths = cable_paths(view, np.array([cable]), history) if cable >= 0 else ()
    return Why(
        finding=finding_line(view, found),
        detail=dict(found.detail),
        cause=cause_line(view, cause) if cause else None,
        path=paths[0] if paths else None,
        evidence=tuple(_evidence(view, evidence) for evidence in found.evidence),
        alternatives=tuple(alternative.summary for alternative in cause.alternatives) if cause else (),
        ruled_out=ruled_out(view, rail_status_of(view.evaluated), cable, cause) if cable >= 0 else (),
        explanation=_explanation(found.rule),
        episodes=life.episodes if life else 1,
        first_seen=life.first_seen if life else None,
        acknowledged_by=known.author if known else None,
        acknowledged_reason=known.reason if known else None,
    )


def _remembered(record: FindingRecord) -> Why:
    """A finding that is resolved, in its last known state."""
    line = FindingLine(
        record.life.id, record.rule, record.name, record.severity, record.subject, record.rail, record.expected,
        record.observed, record.summary, record.action, 1.0, record.cause,
        record.life.state.value, record.life.since, None,
    )  # fmt: skip
    return Why(
        line, {}, None, None, (), (), (), _explanation(record.rule), record.life.episodes, record.life.first_seen,
        None, None,
    )  # fmt: skip


def _record(history: History, finding: str) -> FindingRecord | None:
    try:
        return history.finding(finding)
    except JournalUnavailableError:
        return None


def _cable(view: View, found: Finding) -> int:
    """The finding's cable; -1 if it is about a device."""
    return int(view.findings.cable[view.findings.number[found.id]])


def _evidence(view: View, evidence: Evidence) -> EvidenceLine:
    return EvidenceLine(
        device=evidence.device,
        collector=evidence.collector,
        at=evidence.at,
        kind=type(evidence.fact).__name__,
        source=_source(view, evidence),
        fact=_plain(evidence.fact),
    )


def _source(view: View, evidence: Evidence) -> str:
    """The command or file of the reading; empty if the reading is no longer in the snapshot."""
    device = view.wiring.identity.filed(evidence.device)
    wanted: tuple[str, str, datetime] = (evidence.device, evidence.collector, evidence.at)
    for reading in view.sight.readings.get(device, ()):
        if (reading.device, reading.collector, reading.at) == wanted:
            return reading.source
    return ""


def _plain(fact: Fact) -> Mapping[str, Any]:
    return {key: value for key, value in fact._asdict().items() if value not in (None, ())}


def _explanation(code: str) -> str:
    """The rule's own page; empty for a rule that this release does not have."""
    rule = rules().get(code)
    return rule.explanation.strip() if rule else ""
