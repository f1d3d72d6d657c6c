"""To which cause each change of a link or a finding belongs; and its rows in an answer.

A finding belongs to the cause that explained it at the time of its change; where several did while a fault was only
half seen, to the one that explained most. A link belongs to the cause of the finding on its port, else to one that
names its port or its device, and only while that cause lasted. A finding about cabling without a cause (two ends that
contradicted each other for a round) belongs to that of its link.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from truerail.errors import JournalUnavailableError
from truerail.model.columns import grouped
from truerail.model.finding import Severity
from truerail.model.history import (
    CauseEvent,
    EventKind,
    FindingEvent,
    History,
    KeptCause,
    KeptFinding,
    LinkChange,
    RowRange,
)
from truerail.model.life import LifeState
from truerail.outputs.report_words import count
from truerail.views.lines import journal_or, line_of_cause, line_of_finding
from truerail.views.pieces import CauseLine, FindingLine, MoveLine

SLACK = timedelta(minutes=10)
"""How long before its cause a change may be seen: the devices of a fault are read one after the other, and a cause
shows only when enough of them were.
"""
_CABLING = "CAB"
"""The rules about cables."""
BEGINS = (EventKind.APPEARED, EventKind.REGRESSED)
_ALWAYS = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

MOST_EXPLAINED = 200
"""Maximum number of findings listed for a cause."""
MOST_LINKS = 20_000
"""Maximum number of link changes read around the end of a cause."""
_AFTER = timedelta(hours=1)
"""A cause is reported as resolved at most this much later than it was gone."""
NOTHING = "no change of a cable was recorded then: it ended by something that the journal does not hold"


@dataclass(frozen=True)
class Episode:
    """One time that a cause lasted. `explains` are the findings that it explained in any of the episodes known."""

    key: str
    begins: datetime
    ends: datetime
    subjects: tuple[str, ...]
    explains: frozenset[str]

    def covers(self, at: datetime) -> bool:
        """Whether a change of that time may be part of it."""
        return at + SLACK >= self.begins and at <= self.ends


class CausesOfChanges:
    """The causes of changes, by the events of causes of the same time (newest first)."""

    def __init__(
        self, events: Sequence[CauseEvent], findings: Sequence[FindingEvent], links: Sequence[LinkChange]
    ) -> None:
        self._episodes = sorted(_episodes(events), key=lambda one: -len(one.explains))
        self._by_finding = grouped((finding, one) for one in self._episodes for finding in one.explains)
        self._by_subject = grouped((subject, one) for one in self._episodes for subject in one.subjects)
        self._of_finding: dict[str, str | None] = {}
        self._on_port: dict[str, list[str]] = {}
        for event in findings:  # newest first: the last change of a finding decides
            if event.finding not in self._of_finding:
                self._of_finding[event.finding] = key = self._explained(event)
                if key is not None:
                    self._on_port.setdefault(event.subject, []).append(key)
        self._link_on = {change.port: change for change in reversed(links)}

    def of_finding(self, event: FindingEvent) -> str | None:
        """The key of the cause of a finding's change."""
        found = self._explained(event)
        if found is None and event.rule.startswith(_CABLING) and event.subject in self._link_on:
            return self.of_link(self._link_on[event.subject])
        return found

    def _explained(self, event: FindingEvent) -> str | None:
        known = self._by_finding.get(event.finding, ())
        lasted = next((one.key for one in known if one.covers(event.at)), None)
        return lasted or (known[0].key if known else event.cause)

    def of_link(self, change: LinkChange) -> str | None:
        """The key of the cause of a link's change."""
        ends = [end for end in (change.port, change.was, change.now) if end is not None]
        if found := self._on_port.get(change.port):
            return found[0]
        names = (*ends, *(end.partition("/")[0] for end in ends))
        named = (one for name in names for one in self._by_subject.get(name, ()))
        return next((one.key for one in named if one.covers(change.at)), None)


def _episodes(events: Sequence[CauseEvent]) -> Iterator[Episode]:
    """Episodes from events, newest first. Without its event, one began before or has not ended."""
    by_key = grouped((event.cause, event) for event in reversed(events))
    for key, of in by_key.items():
        explains = frozenset(finding for event in of for finding in event.explains)
        begins: datetime | None = _ALWAYS[0] if of[0].kind not in BEGINS else None
        for event in of:
            if event.kind in BEGINS and begins is None:
                begins = event.at
            elif event.kind is EventKind.RESOLVED and begins is not None:
                yield Episode(key, begins, event.at, event.subjects, explains)
                begins = None
        if begins is not None:
            yield Episode(key, begins, _ALWAYS[1], of[-1].subjects, explains)


def kept_finding_line(kept: KeptFinding) -> FindingLine:
    """A finding as it was last seen; without an action once it is resolved."""
    life = kept.life
    finding = replace(kept.finding, action="") if life.state is LifeState.RESOLVED else kept.finding
    return line_of_finding(life.id, finding, kept.cause, life, muted=None, ended=life.resolved_at)


def kept_cause_line(history: History, kept: KeptCause) -> CauseLine:
    """A cause as it was last seen; once it is resolved, without an action and with what ended it."""
    life, cause = kept.life, kept.cause
    if life.state is LifeState.RESOLVED:
        cause = replace(cause, action="", to_confirm="")
    severities = (Severity(line.severity) for line in explained_by(history, kept))
    moves = tuple(MoveLine(str(m.cable), str(m.source), str(m.target), (), m.after) for m in cause.moves)
    ends = {"ended": life.resolved_at, "repair": repair_of_cause(history, kept)}
    return line_of_cause(life.id, cause, life, severities, moves, impact=0, muted=None, **ends)


def explained_by(history: History, kept: KeptCause) -> tuple[FindingLine, ...]:
    """The findings that a cause explained, as they were last seen."""
    found = journal_or(lambda: history.kept_findings(kept.cause.explains[:MOST_EXPLAINED]), ())
    return tuple(sorted(map(kept_finding_line, found), key=lambda one: (-Severity(one.severity).rank, one.subject)))


def repair_of_finding(history: History, kept: KeptFinding) -> str:
    """What ended a resolved finding: the change of its link at that time."""
    ended, subject = kept.life.resolved_at, kept.finding.subject
    if ended is None:
        return ""
    rows = _links_at(history, ended)
    return _sentence([row for row in rows if subject in (row.port, row.was, row.now)][:1])


def repair_of_cause(history: History, kept: KeptCause) -> str:
    """What ended a resolved cause: the changes of its links at that time."""
    ended = kept.life.resolved_at
    if ended is None:
        return ""
    try:
        events = history.cause_events(kept.life.since - SLACK, ended + _AFTER, page=RowRange(1000))
        findings = history.finding_events(ended - SLACK, ended + _AFTER, page=RowRange(MOST_LINKS))
    except JournalUnavailableError:
        return ""
    rows = _links_at(history, ended)
    causes = CausesOfChanges(events, findings, rows)
    mine = {row.port: row for row in reversed(rows) if causes.of_link(row) == kept.life.id}
    return _sentence(list(mine.values()))


def _links_at(history: History, ended: datetime) -> Sequence[LinkChange]:
    return journal_or(lambda: history.link_changes(ended - SLACK, ended, page=RowRange(MOST_LINKS)), ())


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
