"""`timeline PORT|DEVICE`: all its events, newest first."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from truerail.analysis.published import Published
from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget, expand
from truerail.model.history import Acknowledgement, EventKind, History, MaintenanceWindow, RowRange
from truerail.model.names import device_key
from truerail.outputs.report_words import count
from truerail.questions.answers.resolve import ResolvedTarget, recognise
from truerail.questions.timeline import Timeline, TimelineEvent
from truerail.views.view import View, view_of

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_PAGES = 20
"""Maximum number of pages of a device's events read for one of its ports: older events are not needed."""
MOST_SCOPED = 250_000
"""Maximum number of names of an announced window: twice the number of devices of a fabric of 100,000 GPUs."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The scope of the answer: devices whose rows are read, and the subjects that count (all, if empty)."""

    devices: frozenset[str]
    subjects: frozenset[str]
    rails: frozenset[int]
    pods: frozenset[str]

    def has(self, subject: str) -> bool:
        """Whether this subject is in scope."""
        return not self.subjects or subject in self.subjects


def timeline(publication: Published, history: History, of: str, limit: int = 100) -> Timeline:
    """The events of a port or a device: findings, links, acknowledgements, maintenance, new plans.

    Raises NotFoundError, and JournalUnavailableError if the journal cannot be read.
    """
    view = view_of(publication)
    meant = recognise(view, of)
    scope = _scope(view, meant)
    events = [*_findings(publication, history, scope, limit), *_links(publication, history, scope, limit)]
    ids = {event.finding for event in events if event.finding} | _open_findings(view, meant, scope)
    events += [*_acknowledged(view, history, ids), *_maintenance(history, scope), *_plans(history)]
    events.sort(key=lambda event: event.at, reverse=True)
    reported = tuple(events[:limit])
    whole = len(events) <= limit
    return Timeline(of, reported, whole, _says(meant.name, reported, whole))


def _scope(view: View, meant: ResolvedTarget) -> _Scope:
    """The devices and, for a port, the ends of its cables."""
    ends = frozenset(str(end) for cable in meant.cables.tolist() for end in view.plan.cables[cable][:2])
    names = frozenset(
        {view.index.devices.names[meant.device]} if meant.device >= 0 else {e.partition("/")[0] for e in ends}
    )
    rails = frozenset(int(rail) for rail in view.layout.rail[meant.cables].tolist())
    pods = frozenset(view.plan.devices[name].pod for name in names if name in view.plan.devices)
    if meant.matched_type in ("host", "switch"):
        return _Scope(names, frozenset(), rails, pods)
    return _Scope(names, ends | {meant.name}, rails, pods)


def _open_findings(view: View, meant: ResolvedTarget, scope: _Scope) -> set[str]:
    """Ids of the current findings on it."""
    findings = view.findings
    places = {place for subject in scope.subjects for place in findings.by_subject.get(subject, ())}
    return {
        findings.ids[place]
        for place in places.union(() if scope.subjects else findings.by_device.get(meant.device, ()))
    }


def _until(publication: Published) -> datetime:
    """After the newest row: a row may have the time of the evaluation itself."""
    return publication.at + timedelta(days=1)


def _findings(publication: Published, history: History, scope: _Scope, limit: int) -> Iterator[TimelineEvent]:
    before, found = None, 0
    for _ in range(_PAGES):
        page = RowRange(limit=limit + 1, before=before)
        rows = history.finding_events(_BEGIN, _until(publication), devices=scope.devices, page=page)
        for row in rows:
            if scope.has(row.subject):
                found += 1
                summary = f"{row.rule} {row.kind.value}: {row.summary}"
                yield TimelineEvent(row.at, row.kind.value, row.subject, summary, row.finding, row.severity)
        if len(rows) <= limit or found > limit:
            return
        before = rows[-1].seq


def _links(publication: Published, history: History, scope: _Scope, limit: int) -> Iterator[TimelineEvent]:
    before, found = None, 0
    for _ in range(_PAGES):
        page = RowRange(limit=limit + 1, before=before)
        rows = history.link_changes(_BEGIN, _until(publication), devices=scope.devices, page=page)
        for row in rows:
            if scope.subjects.isdisjoint({row.port, row.was, row.now}) and scope.subjects:
                continue
            found += 1
            summary = f"{row.was or 'nothing'} ({row.was_state}) → {row.now or 'nothing'} ({row.now_state})"
            yield TimelineEvent(row.at, EventKind.LINK.value, row.port, summary)
        if len(rows) <= limit or found > limit:
            return
        before = rows[-1].seq


def _acknowledged(view: View, history: History, ids: Collection[str]) -> Iterator[TimelineEvent]:
    causes = {view.sight.cause_of[one] for one in ids if one in view.sight.cause_of}
    for one in history.acknowledgements(open_only=False):
        if one.target in ids or one.target in causes:
            yield from _acknowledgement(one, one.target if one.target in ids else None)


def _acknowledgement(one: Acknowledgement, finding: str | None) -> Iterator[TimelineEvent]:
    until = f" until {one.until:%Y-%m-%d %H:%M}" if one.until else ""
    summary = f"acknowledged by {one.author}{until}: {one.reason}"
    yield TimelineEvent(one.at, EventKind.ACKNOWLEDGED.value, one.target, summary, finding, author=one.author)
    if one.ended_at:
        yield TimelineEvent(one.ended_at, EventKind.WITHDRAWN.value, one.target, "acknowledgement ended", finding)


def _maintenance(history: History, scope: _Scope) -> Iterator[TimelineEvent]:
    for window in history.windows(open_only=False):
        if _covers(window, scope):
            until = min(window.ends, window.ended_at or window.ends)
            summary = f"maintenance by {window.author} until {until:%Y-%m-%d %H:%M}: {window.reason}"
            what = f"{window.scope} {window.what}"
            yield TimelineEvent(window.starts, EventKind.MAINTENANCE.value, what, summary, author=window.author)
            if window.ended_at:
                ended = "maintenance ended early"
                yield TimelineEvent(window.ended_at, EventKind.MAINTENANCE_ENDED.value, what, ended)


def _covers(window: MaintenanceWindow, scope: _Scope) -> bool:
    match window.scope:
        case "rail":
            return window.what in {str(rail) for rail in scope.rails}
        case "pod":
            return window.what in scope.pods
        case _:
            try:
                named = {device_key(name) for name in expand(window.what, Budget(MOST_SCOPED))}
            except NodeSetError:
                return False
            return not named.isdisjoint(map(device_key, scope.devices))


def _plans(history: History) -> Iterator[TimelineEvent]:
    for plan in history.plans():
        summary = f"plan {plan.digest[:12]} in force: {count(plan.devices, 'device')}, {count(plan.cables, 'cable')}"
        yield TimelineEvent(plan.at, EventKind.PLAN.value, plan.source, summary)


def _says(name: str, reported: tuple[TimelineEvent, ...], whole: bool) -> str:
    if not reported:
        return f"The journal has no events of {name}."
    first = f"{count(len(reported), 'event')} of {name}, the newest at {reported[0].at:%Y-%m-%d %H:%M:%S}"
    return f"{first}." if whole else f"{first}; there are older ones."
