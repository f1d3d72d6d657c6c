"""Findings and causes of the journal as rows of an answer, and what ended them."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from truerail.errors import JournalUnavailableError
from truerail.model.finding import Severity
from truerail.model.history import History, KeptCause, KeptFinding, LinkChange, RowRange
from truerail.model.life import Life, LifeState
from truerail.outputs.report_words import count
from truerail.questions.answers.causes_of_changes import SLACK, CausesOfChanges
from truerail.views.pieces import CauseLine, FindingLine, MoveLine

MOST_EXPLAINED = 200
"""Maximum number of findings listed for a cause."""
MOST_LINKS = 20_000
"""Maximum number of link changes read around the end of a cause."""
_AFTER = timedelta(hours=1)
"""A cause is reported as resolved at most this much later than it was gone."""
NOTHING = "no change of a cable was recorded then: it ended by something that the journal does not hold"


def kept_finding_line(kept: KeptFinding) -> FindingLine:
    """A finding as it was last seen; without an action once it is resolved."""
    record, life, one = kept.record, kept.record.life, kept.finding
    return FindingLine(
        life.id, record.rule, record.name, record.severity, record.subject, record.rail, record.expected,
        record.observed, record.summary, _action(record.action, life), one.confidence, record.cause, life.state.value,
        life.since, None, life.resolved_at,
    )  # fmt: skip


def kept_cause_line(history: History, kept: KeptCause) -> CauseLine:
    """A cause as it was last seen; once it is resolved, without an action and with what ended it."""
    record, life, cause = kept.record, kept.record.life, kept.cause
    severities = [Severity(line.severity) for line in explained_by(history, kept)]
    return CauseLine(
        key=life.id,
        id=cause.id,
        kind=record.kind,
        subjects=record.subjects,
        summary=record.summary,
        action=_action(record.action, life),
        confidence=cause.confidence,
        severity=max(severities, key=lambda one: one.rank, default=Severity.INFO).value,
        explains=cause.explains,
        moves=tuple(MoveLine(str(m.cable), str(m.source), str(m.target), (), m.after) for m in cause.moves),
        alternatives=tuple(one.summary for one in cause.alternatives),
        to_confirm="" if life.state is LifeState.RESOLVED else cause.to_confirm,
        impact=0,
        state=life.state.value,
        since=life.since,
        muted=None,
        ended=life.resolved_at,
        repair=repair_of_cause(history, kept),
    )


def explained_by(history: History, kept: KeptCause) -> tuple[FindingLine, ...]:
    """The findings that a cause explained, as they were last seen."""
    try:
        found = history.kept_findings(kept.cause.explains[:MOST_EXPLAINED])
    except JournalUnavailableError:
        return ()
    return tuple(sorted(map(kept_finding_line, found), key=lambda one: (-Severity(one.severity).rank, one.subject)))


def _action(action: str, life: Life) -> str:
    return "" if life.state is LifeState.RESOLVED else action


def repair_of_finding(history: History, kept: KeptFinding) -> str:
    """What ended a resolved finding: the change of its link at that time."""
    ended, subject = kept.record.life.resolved_at, kept.record.subject
    if ended is None:
        return ""
    rows = _links_at(history, ended)
    return _sentence([row for row in rows if subject in (row.port, row.was, row.now)][:1])


def repair_of_cause(history: History, kept: KeptCause) -> str:
    """What ended a resolved cause: the changes of its links at that time."""
    ended = kept.record.life.resolved_at
    if ended is None:
        return ""
    try:
        events = history.cause_events(kept.record.life.since - SLACK, ended + _AFTER, page=RowRange(1000))
        findings = history.finding_events(ended - SLACK, ended + _AFTER, page=RowRange(MOST_LINKS))
    except JournalUnavailableError:
        return ""
    rows = _links_at(history, ended)
    causes = CausesOfChanges(events, findings, rows)
    mine = {row.port: row for row in reversed(rows) if causes.of_link(row) == kept.record.life.id}
    return _sentence(list(mine.values()))


def _links_at(history: History, ended: datetime) -> Sequence[LinkChange]:
    try:
        return history.link_changes(ended - SLACK, ended, page=RowRange(MOST_LINKS))
    except JournalUnavailableError:
        return ()


def _sentence(rows: Sequence[LinkChange]) -> str:
    if not rows:
        return NOTHING
    newest = max(row.at for row in rows)
    if len(rows) == 1:
        row = rows[0]
        state = "as planned" if row.now_state == "right" else row.now_state
        places = f"from {row.was or 'no link'} to {row.now or 'no link'} ({state})"
        return f"{row.port} moved {places}, {newest:%Y-%m-%d %H:%M:%S UTC}"
    states = Counter("as planned" if row.now_state == "right" else row.now_state for row in rows)
    words = ", ".join(f"{number:,} {state}" for state, number in states.most_common())
    return f"{count(len(rows), 'cable')} changed until {newest:%Y-%m-%d %H:%M:%S UTC}: {words}"
